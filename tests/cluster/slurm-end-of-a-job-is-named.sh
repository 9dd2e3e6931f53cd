# SPDX-License-Identifier: Apache-2.0
# limit: 600
# Time limit, scancel and a lost node all end a job's tasks by SIGTERM. The first verdict names which it was: the limit; that it was cancelled; the node, and
# when it was last heard of. A step that the batch script left behind when it ended, and one that got a signal, are none of these.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
sed -i 's/^SlurmdTimeout=.*/SlurmdTimeout=10/' "$SLURM_CONF"
scontrol reconfigure
export SONDE PROGRAMS
printf '#!/bin/bash\n"$PROGRAMS/spin" 300000\ntouch "waits.$SLURM_JOB_ID.$SLURM_PROCID"\n[ -z "$1" ] || trap "exit $1" TERM\nsleep 1000 &\nwait\n' >work
chmod 755 work

begin() { # TASKS SBATCH-ARGUMENTS... -- LINE: sets id, once all tasks wait
	local n=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	printf '#!/bin/bash\n%s\n' "$2" >script
	id=$(submit "-N$n" --ntasks-per-node=1 "${options[@]}" script)
	all_wait() { [ "$(find . -name "waits.$id.*" | wc -l)" = "$n" ]; }
	wait_out "$id" all_wait
}

first() { # DIR: rule and sentence of the first verdict, and the headline
	figure "$1" '.verdicts[0] | .rule + ": " + .sentence'
	"$SONDE" show "$1" 2>/dev/null | head -n 1
}

recorded='srun "$SONDE" run -q -i 100ms -- ./work'

for how in '' 143; do # killed by it, or ended by a handler
	begin 2 -t 1 -- "$recorded $how"
	scontrol update "jobid=$id" EndTime=now+1
	wait_out "$id" job_gone "$id"
	equal "state" TIMEOUT "$(state_of "$id")"
	first "sonde_$id" >said
	contains said "time-limit: Ended at the time limit of 1 min 00 s"
	contains said "Ended at the time limit after"
done

begin 2 -t 5 -- "$recorded"
scancel "$id"
wait_out "$id" job_gone "$id"
first "sonde_$id" >said
contains said "cancelled-told: Ended from outside: the batch system reports CANCELLED"
contains said "Cancelled after"

begin 2 -- "$recorded"
scancel --signal=TERM "$id.0"
wait_out "$id" job_gone "$id"
first "sonde_$id" >said
contains said "ended-together: "

begin 2 -- "$recorded & until [ -e waits.\$SLURM_JOB_ID.0 -a -e waits.\$SLURM_JOB_ID.1 ]; do sleep 0.1; done; sleep 1"
wait_out "$id" job_gone "$id"
equal "state" COMPLETED "$(state_of "$id")"
first "sonde_$id" >said
! grep -E '^(cancelled|time-limit|node-lost)' said || fail "a script that ended: $(cat said)"

begin 3 --no-requeue -- "$recorded"
kill -KILL "$(cat "$CLUSTER/slurmd.n3.pid")"
has_failed() { [ "$(state_of "$id")" = NODE_FAIL ]; }
wait_out "$id" has_failed
closed() { figure "sonde_$id" '[.nodes[] | select(.complete).host] | join(" ")' | grep -qx 'n1 n2'; }
wait_out "$id" closed
first "sonde_$id" >said
contains said "node-lost: Lost node: n3 (Not responding), last recorded"
contains said "Ended: node lost"
holds "when it was last heard of" "$(figure "sonde_$id" '.verdicts[0].sentence' | sed -n 's/.*last recorded \(.*\) s after.*/\1/p;t;s/.*/null/p') > 1"
