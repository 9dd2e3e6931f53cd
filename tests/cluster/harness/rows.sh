# SPDX-License-Identifier: Apache-2.0
# What Sonde and sacct say of the same jobs: each function is a row, of a job that it submits to a cluster with accounts. Rows go to the file rows.
export SONDE PROGRAMS
# shellcheck disable=SC2034 # read by who has this
wrong=0
id=

compare() { # WHAT ID DIR...: when the job is over
	wait_for 120 accounted "$2"
	# shellcheck disable=SC2034
	"$PYTHON" "$TOP/tests/cluster/harness/sacct.py" "$@" >>rows || wrong=1
}

# SECONDS of CPU time, beside 600 MiB; then, with a word behind it, nothing until somebody ends it.
cat >work <<'END'
#!/bin/bash
"$PROGRAMS/mem" private 600 3500 &
"$PROGRAMS/spin" $(($1 * 1000000))
wait
# What the kernel charged to them, as this shell was told when it waited for each.
times >"own.${SLURM_ARRAY_JOB_ID:-${SLURM_HET_JOB_ID:-$SLURM_JOB_ID}}.$SLURM_JOB_ID.$SLURM_PROCID.${SLURM_RESTART_COUNT:-0}"
[ -z "${2:-}" ] || "$2"
END
printf '#!/bin/bash\ntouch "waits.$SLURM_JOB_ID.$SLURM_PROCID"\nexec sleep 1000\n' >forever
chmod 755 work forever
PATH=$PATH:$PWD

job() { # ID-VARIABLE SBATCH-ARGUMENTS... -- LINES
	local into=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	printf '#!/bin/bash\n%s\n' "$2" >script
	printf -v "$into" %s "$(submit "${options[@]}" script)"
}

all_wait() { # ID TASKS
	[ "$(find . -maxdepth 1 -name "waits.$1.*" | wc -l)" = "$2" ]
}

recorded='srun "$SONDE" run -q -i 200ms --'

row_plain() {
	job id -N3 --ntasks-per-node=1 -- "$recorded work 3"
	wait_for 120 job_gone "$id"
	compare "three nodes, \`srun sonde run\`" "$id" "sonde_$id"
}

row_array() { # ELEMENTS AT-ONCE
	job id -N1 -n1 -a "1-$1%$2" -- "$recorded work 2"
	wait_for 900 job_gone "$id"
	compare "a job array of $1" "$id" sonde_"${id}"_*
}

row_het() {
	job id -N1 -n1 : -N2 -n2 --ntasks-per-node=1 -- 'srun --het-group=0 -n1 "$SONDE" run -q -i 200ms -- work 3 : --het-group=1 -n2 "$SONDE" run -q -i 200ms -- work 3'
	wait_for 120 job_gone "$id"
	compare "a heterogeneous job" "$id" "sonde_$id"
}

row_overlap() {
	job id -N2 --ntasks-per-node=1 -- 'srun --overlap --ntasks-per-node=1 "$SONDE" attach -q -i 50ms --grace 1s --job &
for _ in $(seq 600); do [ "$(find "sonde_$SLURM_JOB_ID" -name "node-*.sonde" -size +0 2>/dev/null | wc -l)" != 2 ] || break; sleep 0.05; done
srun --overlap work 8
wait'
	wait_for 120 job_gone "$id"
	OWN_STEP=0 compare "\`srun --overlap sonde attach --job\` beside the application" "$id" "sonde_$id"
}

row_failure() {
	job id -N3 --ntasks-per-node=1 -- 'srun -K "$SONDE" run -q -i 200ms -- bash -c "work 3; [ \$SLURM_PROCID != 1 ] || kill -SEGV \$\$; exec sleep 100"'
	wait_for 120 job_gone "$id"
	compare "rank 1 dies by SIGSEGV, \`srun -K\` ends the rest" "$id" "sonde_$id"
}

row_cancelled() {
	job id -N2 --ntasks-per-node=1 -- "$recorded work 3 forever"
	wait_for 120 all_wait "$id" 2
	scancel "$id"
	wait_for 120 job_gone "$id"
	compare "\`scancel\`" "$id" "sonde_$id"
}

row_signal() {
	job id -N2 --ntasks-per-node=1 -- "$recorded work 3 forever"
	wait_for 120 all_wait "$id" 2
	scancel --signal=USR2 "$id.0"
	wait_for 120 job_gone "$id"
	compare "\`scancel --signal=USR2\` of the step" "$id" "sonde_$id"
}

row_requeue() {
	job id --requeue -N1 -n1 -- "$recorded work 8 \$([ -n \"\$SLURM_RESTART_COUNT\" ] || echo forever)"
	wait_for 120 all_wait "$id" 1
	scontrol requeue "$id"
	begins() {
		[ "$(find "sonde_$id" -name 'node-*.sonde' | wc -l)" = 2 ] && return
		scontrol update "jobid=$id" StartTime=now
		sleep 0.5
		false
	}
	wait_for 200 begins
	wait_for 120 job_gone "$id"
	compare "\`scontrol requeue\`: the last attempt" "$id" "sonde_$id"
}

row_time() {
	job id -N2 --ntasks-per-node=1 -t 1 -- "$recorded work 3 forever"
	wait_for 300 job_gone "$id"
	compare "\`--time\` reached" "$id" "sonde_$id"
}

# The most that the control group of a job held on a node, as the kernel keeps it: printed when the group is gone.
group_peak() { # ID NODE
	local file peak=0
	file=/sys/fs/cgroup/memory/slurm_$2/uid_$(id -u)/job_$1/memory.max_usage_in_bytes
	wait_for 120 test -e "$file"
	while peak=$(cat "$file" 2>/dev/null || ! echo "$peak"); do sleep 0.1; done
	echo "${peak%%[!0-9]*}" # the group may go while it is read
}

row_memory() {
	job id -N2 --ntasks-per-node=1 --mem=800 -- 'srun -K "$SONDE" run -q -i 100ms -- bash -c "work 3; [ \$SLURM_PROCID != 1 ] || \"\$PROGRAMS/mem\" private 1000 1000 || kill -KILL \$\$; exec sleep 100"'
	OWN_MEMORY=$(group_peak "$id" n2)
	export OWN_MEMORY
	wait_for 120 job_gone "$id"
	compare "rank 1 wants more than \`--mem=800\` (control groups of version 1)" "$id" "sonde_$id"
	unset OWN_MEMORY
}

row_node() { # last: node n3 is lost afterwards
	job id --no-requeue -N3 --ntasks-per-node=1 -- "$recorded work 3 forever"
	wait_for 120 all_wait "$id" 3
	kill -KILL "$(cat "$CLUSTER/slurmd.n3.pid")"
	wait_for 300 state_is "$id" NODE_FAIL
	compare "a node fails: its slurmd is killed" "$id" "sonde_$id"
}

state_is() { # ID STATE
	[ "$(state_of "$1")" = "$2" ]
}
