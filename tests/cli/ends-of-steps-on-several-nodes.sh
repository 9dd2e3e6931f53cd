# SPDX-License-Identifier: Apache-2.0
# Steps one after another on two nodes: the wall time is that of both. Where a node's recording is missing or was cut, nobody says that the job
# succeeded, nor that the node was lost; an exit code above 128 that the command chose is not called a signal's.
. "$TOP/tests/lib.sh"
need jq
unset PBS_JOBID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
on_node() { # DIR NODE STEP COMMAND...
	local out=$1 node=$2 step=$3
	shift 3
	env SLURM_JOB_ID=60 SLURM_JOB_NODELIST="n[1-3]" SLURM_JOB_NUM_NODES=3 SLURM_STEP_ID="$step" SLURM_PROCID=0 SLURM_NTASKS=1 SLURMD_NODENAME="$node" \
		"$SONDE" run --quiet --node-recorder own -i 50ms -o "$out" -- "$@"
}
heading() { "$SONDE" show "$1" 2>/dev/null | head -1; }

on_node steps n1 0 sleep 1
on_node steps n2 1 sleep 1
holds "wall time of both steps" "$(figure steps .job.wall_seconds) >= 2"
holds "they did not run at once" "$(figure steps .job.wall_seconds) < 60"
heading steps >said
contains said "Succeeded as far as recorded (exit code 0)"

on_node steps n3 2 sleep 0.1
heading steps >said
contains said "Succeeded (exit code 0)"

truncate -s 2000 steps/node-n2.sonde
rm -f steps/node-n2.tail
heading steps >said
contains said "Succeeded as far as recorded (exit code 0)"
"$SONDE" show --all steps >said 2>&1
contains said "damage"
! grep -q "Lost node" said || fail "a node is lost: $(cat said)"

equal "exit code" 139 "$(status_of "$SONDE" run --quiet -o own -- "$PYTHON" -c "import sys; sys.exit(139)")"
"$SONDE" show --all own | tr -s ' \n' ' ' >said
contains said "exit code 139"
contains said "what shells report if a command was killed by SIGSEGV"
