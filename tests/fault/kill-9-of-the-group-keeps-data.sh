# SPDX-License-Identifier: Apache-2.0
# limit: 300
# quiet
# kill -9 of the launcher's whole process group takes the job with it; the recorder ends by itself, the recording is whole.
. "$TOP/tests/lib.sh"
RANDOM=11
for round in $(seq 10); do
	rm -rf out
	setsid "$SONDE" run --quiet -i 20ms -o out -- sh -c 'echo $$ >job.pid; while :; do :; done' &
	sonde=$!
	wait_for 30 recorder_of out >wait.log
	recorder=$(recorder_of out)
	wait_for 5 test -s job.pid
	sleep "$(calc "$RANDOM / 32768 * 0.6")"
	kill -9 -- -$sonde
	wait $sonde 2>/dev/null
	wait_for 5 process_gone "$recorder"
	wait_for 5 process_gone "$(cat job.pid)"
	"$SONDE" show --json out >show.json || fail "round $round: show"
	holds "round $round: samples" "$(jq '.nodes[0].samples' show.json) >= $(jq .job.wall_seconds show.json) / 0.02 * 0.7"
	holds "round $round: wall" "$(jq .job.wall_seconds show.json) > 0 && $(jq .job.wall_seconds show.json) < 30"
	equal "round $round: the node's recording is complete" true "$(jq '.nodes[0].complete' show.json)"
	equal "round $round: damage" 0 "$(jq '.damages' show.json)"
	rm -f job.pid
done
