# SPDX-License-Identifier: Apache-2.0
# limit: 300
# A node whose slurmd is killed goes on with its task, and so does its recorder. A node that is lost, with all its processes, is told from
# the others, and what it had recorded is there.
. "$TOP/tests/cluster/harness/namespaces.sh"
machines_start
slurmd_of() { # NODE
	pgrep -x slurmd | while read -r pid; do
		! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- "-N $1 " || echo "$pid"
	done
}

cat >job <<'END'
#!/bin/bash
srun "$SONDE" run -q -i 100ms -o out -- bash -c '"$PROGRAMS/spin" 200000; until [ -e enough ]; do sleep 0.1; done; "$PROGRAMS/spin" 100000'
END
export SONDE PROGRAMS
submit -N3 -n3 job >/dev/null
wait_for 60 started_on 3 out
kill -KILL "$(slurmd_of n2)"
machine_kill 3
touch enough
finished() { # HOST: its recording is
	"$SONDE" show --json out | json_says ".nodes[] | select(.host == \"$1\") | .complete" >/dev/null
}
wait_for 60 finished n1
wait_for 60 finished n2
"$SONDE" show --all out >shown 2>&1 || fail "show: $(cat shown)"
"$SONDE" report out >reported 2>&1 || fail "report: $(cat reported)"
equal "nodes" "n1 n2 n3" "$(hosts_of out)"
equal "incomplete nodes" n3 "$(figure out '[.nodes[] | select(.complete | not).host] | join(" ")')"
equal "complete" false "$(figure out '.job.complete | tostring')"
contains shown n3
for node in n1 n2; do
	holds "CPU time of $node" "$(figure out ".nodes[] | select(.host == \"$node\").metadata[\"job.cpu_ns\"]") >= 3e8"
done
holds "CPU time" "$(figure out .job.cpu_seconds) >= 0.6"
