# SPDX-License-Identifier: Apache-2.0
# kill -9 of the launcher alone, before a sample has seen the job: the job goes on, and so does its recording.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 1500ms -o out -- sh -c 'echo $$ >job.pid; sleep 4' &
sonde=$!
wait_for 5 test -s job.pid
wait_for 30 recorder_of out >wait.log
recorder=$(recorder_of out)
kill -9 $sonde
wait $sonde 2>/dev/null
wait_for 10 process_gone "$(cat job.pid)"
wait_for 5 process_gone "$recorder"
holds "wall_seconds" "$(figure out .job.wall_seconds) > 3.5"
equal "survivors" null "$("$SONDE" show --json out | jq .job.survivors)"
