# SPDX-License-Identifier: Apache-2.0
# limit: 400
# scontrol requeue: the last attempt is the job, with its own wall time, nodes and end; those before it are told, each with its end. Six jobs, ten with
# LONG, each with other attempts: how many, how each ended, on which nodes.
export CREDENTIAL_SECONDS=5 # for so long Slurm keeps a job waiting that begins again
. "$TOP/tests/cluster/harness/slurm.sh"
[ "$(id -u)" = 0 ] || skip "not root: Slurm keeps a job two minutes in the queue when it begins again"
cluster_start
export SONDE PROGRAMS
cat >task <<'END'
#!/bin/bash
# ENDING...: of each attempt; "wait" until Slurm ends it. Rank 0 ends so, the others succeed, unless Slurm ends them.
attempt=${SLURM_RESTART_COUNT:-0}
shift "$attempt"
if [ "$1" != wait ] && [ "$SLURM_PROCID" != 0 ]; then
	exec "$PROGRAMS/spin" 300000
fi
"$PROGRAMS/spin" 300000
case $1 in
wait) exec sleep 60 ;;
[0-9]*) exit "$1" ;;
*) kill -"$1" $$ ;;
esac
END
cat >job <<'END'
#!/bin/bash
# NAME ENDING...: rank 0 that fails requeues the job before anybody else can end it
name=$1
shift
attempt=${SLURM_RESTART_COUNT:-0}
srun "$SONDE" run -q -i 100ms -o "out.$name" -- ./task "$@"
status=$?
touch "ended.$name.$attempt"
[ "$attempt" -lt $(($# - 1)) ] && sleep 60
exit $status
END
chmod 755 task

of_attempts() { # NAME: how many have begun to be recorded on all their nodes
	find "out.$1" -name 'node-*.sonde' -size +0 2>/dev/null | wc -l
}
is_over() { # ID
	case $(state_of "$1") in COMPLETED | FAILED | NODE_FAIL) ;; *) return 1 ;; esac
}
attempt_is_ready() { # NAME ATTEMPT ENDING RECORDINGS: to be requeued
	[ "$(of_attempts "$1")" -ge "$4" ] || return 1
	[ "$3" = wait ] || [ -e "ended.$1.$2" ]
}

# NAME NODES END FIRST-VERDICT TOLD ENDING...: TOLD is what is said of the attempts before the last one, in a line
requeued() {
	local name=$1 nodes=$2 end=$3 rule=$4 told=$5 id attempt=0 begun
	shift 5
	id=$(submit --requeue -J "$name" -N"$nodes" -n"$nodes" --ntasks-per-node=1 job "$name" "$@")
	while [ $attempt -lt $(($# - 1)) ]; do
		attempt=$((attempt + 1))
		wait_out "$id" attempt_is_ready "$name" $((attempt - 1)) "${!attempt}" $((attempt * nodes))
		begun=$(now)
		scontrol requeue "$id"
	done
	wait_out "$id" is_over "$id"
	wait_out "$id" job_gone "$id"
	equal "end of $name" "$end" "$(figure "out.$name" '.job | if .signal then "signal \(.signal)" else "\(.exit_code)" end')"
	equal "nodes of $name" "$nodes" "$(figure "out.$name" '.nodes | length')"
	holds "wall time of $name" "$(figure "out.$name" .job.wall_seconds) < $(now) - $begun - 4"
	# Not those of an attempt before; on a busy machine shells cost more to start.
	cpu_within "out.$name" "$(calc "0.3 * $nodes")" $((12 * nodes))
	# Of how it ended the first says; what a busy machine adds is not asked for.
	figure "out.$name" '.verdicts[].rule' | grep -xE 'began-again|failed.*|killed.*|first-failure|ended-together|out-of-memory.*' >"rules.$name"
	equal "first verdict of $name" "$rule" "$(head -n 1 "rules.$name")"
	figure "out.$name" '.verdicts[] | select(.rule == "began-again").sentence' | tr ',' '\n' | grep -oE 'attempt [0-9]+|killed by [A-Z]+|exit code [0-9]+' | tr '\n' ' ' >"ends.$name"
	equal "attempts of $name" "$told " "$(cat "ends.$name")"
}

# Side by side: most of the time each waits for Slurm.
variants=()
beside() {
	requeued "$@" &
	variants+=($!)
}
beside ended 2 0 began-again 'attempt 1 killed by SIGTERM' wait 0
beside crashed 1 0 began-again 'attempt 1 killed by SIGSEGV' SEGV 0
beside both 2 7 first-failure 'attempt 1 exit code 4' 4 7
beside then-crashed 1 'signal 6' killed 'attempt 1 killed by SIGTERM' wait ABRT
beside on-three 3 0 began-again 'attempt 1 killed by SIGBUS' BUS 0
beside four 1 2 failed 'attempt 1 exit code 1 attempt 2 killed by SIGFPE attempt 3 exit code 0' 1 FPE 0 2
if [ -n "$LONG" ]; then
	beside failed 2 0 began-again 'attempt 1 exit code 3' 3 0
	beside good-before 2 5 first-failure 'attempt 1 exit code 0' 0 5
	beside thrice 2 0 began-again 'attempt 1 killed by SIGTERM attempt 2 exit code 9' wait 9 0
	beside killed 2 0 began-again 'attempt 1 killed by SIGKILL' KILL 0
fi
for variant in "${variants[@]}"; do
	wait "$variant" || exit 1
done
