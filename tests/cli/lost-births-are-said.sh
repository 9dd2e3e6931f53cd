# SPDX-License-Identifier: Apache-2.0
# limit: 120
# quiet
# While the recorder is stopped, more is started than the connector's buffer holds: that is said, with a bound.
. "$TOP/tests/lib.sh"
need jq
"$SONDE" doctor --json | json_says '.mechanisms[] | select(.name == "process.connector") | .state == "available"' >/dev/null ||
	skip "the proc connector is not permitted"
"$SONDE" run --process-events connector -i 100ms --summary summary.txt -o out -- \
	sh -c 'until [ -e go ]; do sleep 0.01; done; "$0" 6000 /bin/true; : >done; sleep 0.5; "$0" 100 /bin/true' "$PROGRAMS/spawner" >spun &
sonde=$!
wait_for 30 recorder_of out >wait.log
recorder=$(recorder_of out)
kill -STOP "$recorder"
: >go
wait_for 60 test -e "done"
kill -CONT "$recorder"
wait $sonde || fail "run"
contains <(figure out .job.mechanisms) "some of which were lost"
started=$(figure out .job.processes_started)
holds "the first and the last were seen" "$started >= 100 && $started < 6000"
holds "at most" "$(figure out .job.processes_started_at_most) >= 6100"
contains summary.txt "seen to start (at most"
"$SONDE" show out >shown
contains shown "records of process starts and exits lost"
