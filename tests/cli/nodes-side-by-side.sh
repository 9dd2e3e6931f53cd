# SPDX-License-Identifier: Apache-2.0
# The nodes of a job side by side: shares of 1, 2 and 3 give an imbalance of a half, and name who has the least and the most; nodes without a
# recording, without an end and with a second recorder are named, and the others are there.
. "$TOP/tests/lib.sh"
unset SLURM_PROCID

on() { # NODE COMMAND...: one task of a step there, of a job of five nodes
	local node=$1
	shift
	SLURM_JOB_ID=5 SLURM_STEP_ID=0 SLURM_JOB_NODELIST='n[1-5]' SLURMD_NODENAME=n$node SLURM_PROCID=$node SLURM_GTIDS=$node \
		"$SONDE" run -q -i 100ms -o out -- "$@"
}
for n in 1 2 3; do
	on $n "$PROGRAMS/spin" $((n * 200000))
done
compared() { # FILTER
	figure out ".comparisons[] | select(.metric == \"job.cpu_seconds\") | $1"
}
equal "least and most" "n1 n3" "$(compared '.least_host + " " + .most_host')"
equal "nodes" 3 "$(compared .hosts)"
holds "average" "$(compared .average) >= 0.4 && $(compared .average) < 0.45"
holds "total" "$(compared .total) == $(figure out .job.cpu_seconds)"
holds "imbalance" "$(compared .imbalance_ratio) > 0.4 && $(compared .imbalance_ratio) < 0.6"
equal "missing" "n4 n5" "$(figure out '.missing_hosts | join(" ")')"
equal "of a host" n2 "$(figure out '.hosts[1] | select(.cpu_seconds >= 0.4 and .cpu_seconds < 0.5) | .host')"

# The recorder of n4 is killed, and another one goes on; that of n5 is killed with its task.
on 4 sh -c 'touch runs.4; until [ -e over ]; do sleep 0.05; done' &
fourth=$!
wait_for 30 test -e runs.4
recorder=$(recorder_of out)
kill -KILL "$recorder"
second() {
	[ -e out/node-n4.2.sonde ] || [ "$(find out -name 'node-n4*.sonde' | wc -l)" = 2 ]
}
wait_for 30 second
touch over
wait $fourth || fail "task of n4: $?"
on 5 sh -c 'echo $$ >runs.5; exec sleep 1000' &
fifth=$!
wait_for 30 test -s runs.5
recorder=$(recorder_of out)
pkill -STOP -P $fifth # the launcher starts no other one
kill -KILL "$recorder"
pkill -KILL -P $fifth
kill -KILL $fifth "$(cat runs.5)"
"$SONDE" show --all out >shown || fail "show: $?"
contains shown "without an end: n5"
contains shown "with a second recorder: n4"
equal "restarted" n4 "$(figure out '[.hosts[] | select(.restarted).host] | join(" ")')"
equal "lost" n5 "$(figure out '[.hosts[] | select(.lost).host] | join(" ")')"
equal "missing" "" "$("$SONDE" show --json out | jq -r '.missing_hosts | join(" ")')"
contains shown "least on "
"$SONDE" show --metrics 'node.load*' out >shown
contains shown node.load
"$SONDE" report out >/dev/null 2>&1 || fail "report: $?"
contains out/report.html "Nodes side by side"

# One node is no comparison.
"$SONDE" run -q -o single -- true
equal "comparisons of one node" 0 "$("$SONDE" show --json single | jq '.comparisons | length')"
"$SONDE" show --all single >shown
! grep -q '^Nodes' shown || fail "one node side by side"
