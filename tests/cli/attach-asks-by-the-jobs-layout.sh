# SPDX-License-Identifier: Apache-2.0
# attach --job in a step of its own: how many tasks the job asked for is its script's, not this step's, as far as the
# script can be seen from here.
. "$TOP/tests/lib.sh"
need jq
unset PBS_JOBID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
here=$(hostname)
job="78$$"
as_script() { # COMMAND...: as the batch script of the job, 16 tasks on two nodes
	exec env SLURM_JOB_ID="$job" SLURM_JOB_NODELIST="$here,other" SLURM_JOB_NUM_NODES=2 SLURM_NNODES=2 SLURM_NTASKS=16 \
		SLURM_JOB_CPUS_PER_NODE="32(x2)" SLURMD_NODENAME="$here" "$@"
}
as_step() { # TASKS COMMAND...: as a task of another step of it
	tasks=$1
	shift
	exec env SLURM_JOB_ID="$job" SLURM_JOB_NODELIST="$here,other" SLURM_JOB_NUM_NODES=2 SLURM_NNODES=2 SLURM_NTASKS="$tasks" \
		SLURM_JOB_CPUS_PER_NODE="32(x2)" SLURMD_NODENAME="$here" SLURM_STEP_ID=1 SLURM_PROCID=0 SLURM_LOCALID=0 \
		SLURM_STEP_NUM_TASKS="$tasks" "$@"
}
record() { # DIR
	as_step 2 "$SONDE" attach --job -q -i 100ms --grace 100ms -o "$1" &
	sidecar=$!
	seen() {
		process_gone $sidecar || [ "$("$SONDE" show --json "$1" 2>/dev/null | jq '.nodes[0].samples')" -ge 3 ]
	}
	wait_for 60 seen "$1"
	kill $app
	wait $sidecar || fail "attach --job"
}
started() {
	grep -qz "^SLURM_JOB_ID=$job\$" "/proc/$app/environ"
}

as_script "$PROGRAMS/spin" 100000000 0 5 &
app=$!
trap 'kill $app 2>/dev/null' EXIT
wait_for 60 started
record script
equal "tasks asked for, by the script" 16 "$(figure script .job.tasks_asked)"

as_step 2 "$PROGRAMS/spin" 100000000 0 5 &
app=$!
wait_for 60 started
record step
equal "tasks asked for, where no script is seen" null "$(figure step .job.tasks_asked)"
