# SPDX-License-Identifier: Apache-2.0
# perfmon's three job scripts for Slurm, with nothing filled in but their directory, where steps wait for each other as in Slurm 20.11, 21.08, 22.05 and
# 23.11 (tests/fake_slurm.py): the job runs to its end, and is recorded. One of them in all four, the others in the oldest or the newest, with LONG all
# in all. tests/cluster/ runs all three on a real 22.05.
# limit: 600
. "$TOP/tests/lib.sh"
need jq
"$PYTHON" -c 'import os, sys; sys.exit(not hasattr(os, "waitstatus_to_exitcode"))' || skip "Python is older than 3.9"
unset PBS_JOBID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID SLURM_OVERLAP
export SONDE PROGRAMS
mkdir bin src
PATH=$PWD/bin:$PATH
for command in srun scontrol fake_slurm.py; do
	ln -s "$TOP/tests/fake_slurm.py" "bin/$command"
done
# shellcheck disable=SC2016
printf '#!/bin/bash\nexec -a perfmon "$SONDE" -i 200ms "$@"\n' >bin/perfmon
# As Open MPI's: its daemons are started by an srun of its own, with what Slurm 23.11 adds.
printf '%s\n' '#!/bin/bash' 'shift 2' 'srun $OMPI_MCA_plm_slurm_args --nodes=1 --ntasks=1 "$@"' >bin/mpirun
printf '%s\n' '#!/bin/bash' '"$PROGRAMS/spin" 1000000' 'echo computed' >matmul
printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/ssh
printf '%s\n' 'import time' 'time.sleep(1000)' >bin/dask-scheduler
printf '%s\n' 'import time' 'open("workers", "w")' 'time.sleep(1000)' >bin/dask-worker
printf '%s\n' 'import os, sys, time' 'while not os.path.exists("workers"): time.sleep(0.1)' 'time.sleep(2)' 'print("computed for", sys.argv[1])' >src/cluster_dask_test.py
chmod 755 bin/perfmon bin/mpirun bin/ssh bin/dask-scheduler bin/dask-worker matmul
job=700

run_script() { # VERSION NAME ASIDE PROGRAM
	job=$((job + 1))
	rm -rf workers fake ska_sdp_monitoring_metrics*.log
	mkdir fake
	sed "s|/path/to/matmul/executable|$PWD|" "$TOP/tests/fixtures/perfmon/$2.job" >"$2.job"
	echo "Slurm $1, $2"
	FAKE_SLURM=$PWD/fake FAKE_JOB=$job FAKE_VERSION=$1 FAKE_LIMIT=60 "$PYTHON" "$TOP/tests/fake_slurm.py" batch "$2.job" >out 2>&1 ||
		fail "Slurm $1, $2: $(cat out ska_sdp_monitoring_metrics.log)"
	contains out computed
	equal "left the step, Slurm $1, $2" "$3" "$(grep -c 'continues in a step of its own' ska_sdp_monitoring_metrics.log)"
	! grep -E 'WARNING|ERROR' ska_sdp_monitoring_metrics.log || fail "Slurm $1, $2: the log warns"
	contains ska_sdp_monitoring_metrics.log meta_data.json
	equal "rows of $4, Slurm $1, $2" true "$(figure "sonde_$job" "[.commands[] | select(.name | test(\"$4\"))] | length > 0 | tostring")"
	equal "Sonde's own" 0 "$(figure "sonde_$job" '[.commands[] | select(.name | test("sonde|perfmon|scontrol"))] | length')"
	equal "complete" true "$(figure "sonde_$job" '.job.complete | tostring')"
	equal "recordings" 1 "$(find "sonde_$job" -name 'node-*.sonde' | wc -l)"
}

for version in 20.11 21.08 22.05 23.11; do
	# Since 23.11 mpirun's srun takes no CPUs, and does not wait.
	aside=1
	[ $version != 23.11 ] || aside=0
	run_script $version slurm $aside spin
	holds "CPU time" "$(figure "sonde_$job" .job.cpu_seconds) >= 0.6"
	[ -z "$LONG" ] && [ $version != 23.11 ] || run_script $version slurm-finished $aside spin
	[ -z "$LONG" ] && [ $version != 20.11 ] || run_script $version slurm-dask 1 dask-worker
done
