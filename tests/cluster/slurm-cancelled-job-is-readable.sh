# SPDX-License-Identifier: Apache-2.0
# limit: 300
# scancel: the application gets its TERM; what was recorded until the last moment is there on every node, whether the tasks end by TERM or
# KILL puts an end to them, to a step or to the whole job.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
cat >task <<'END'
#!/bin/bash
trap 'echo "$SLURM_PROCID TERM" >>termed; [ "$1" = obstinate ] || exit 3' TERM
"$PROGRAMS/spin" 200000
while :; do sleep 0.1; done
END
chmod 755 task

job() { # RECORDING HOW
	printf '#!/bin/sh\nsrun "%s" run -q -i 100ms -o %s -- ./task %s\n' "$SONDE" "$1" "$2" >job
	submit -N3 -n3 job
}

spun() { # DIR
	local seconds
	seconds=$("$SONDE" show --json "$1" | jq .job.cpu_seconds) && awk "BEGIN { exit !($seconds >= 0.6) }"
}

readable() { # DIR
	"$SONDE" show --all "$1" >shown 2>&1 || fail "show $1: $(cat shown)"
	holds "CPU time in $1" "$(figure "$1" .job.cpu_seconds) >= 0.6"
	equal "nodes of $1" "n1 n2 n3" "$(hosts_of "$1")"
}

id=$(job willing willing)
wait_for 60 spun willing
scancel "$id"
wait_for 60 job_gone "$id"
equal "state" CANCELLED "$(state_of "$id")"
equal "tasks that got TERM" "0 TERM,1 TERM,2 TERM," "$(sort -u termed | tr '\n' ,)"
readable willing
equal "the exit code is the tasks'" 3 "$(figure willing .job.exit_code)"

rm termed
id=$(job obstinate obstinate)
wait_for 60 spun obstinate
scancel "$id"
wait_for 60 job_gone "$id"
equal "tasks that got TERM" "0 TERM,1 TERM,2 TERM," "$(sort -u termed | tr '\n' ,)"
readable obstinate

id=$(job killed willing)
wait_for 60 spun killed
scancel "$id.0"
wait_for 60 job_gone "$id"
readable killed
