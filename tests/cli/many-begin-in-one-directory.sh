# SPDX-License-Identifier: Apache-2.0
# Copies of one job that begin in one directory at the same moment are all recorded; none takes another's unwritten file for another job's.
. "$TOP/tests/lib.sh"
for round in 1 2 3 4 5 6; do
	for _ in $(seq 20); do
		SLURM_JOB_ID=7 "$SONDE" run -q -o "out$round" -- true 2>>said &
	done
	wait
done
equal "what they said" "" "$(cat said)"
SLURM_JOB_ID=8 "$SONDE" run -q -o out1 -- true 2>refused
contains refused "another job"
SLURM_JOB_ID='' "$SONDE" run -q -o out1 -- true 2>refused
contains refused "another job"
