# SPDX-License-Identifier: Apache-2.0
# limit: 120
# While the recorder is stopped, the job starts more threads than its rings hold: the process is still one process.
. "$TOP/tests/lib.sh"
perf_permitted || skip "perf events are not permitted"
cat >threads.py <<'P'
import os, threading, time
def start(groups):
    for _ in range(groups):
        group = [threading.Thread(target=int) for _ in range(4)]
        for t in group: t.start()
        for t in group: t.join()
start(10)
open("ready", "w").close()
while not os.path.exists("go"): time.sleep(0.01)
start(10000)
open("done", "w").close()
end = time.monotonic() + 1
while time.monotonic() < end: start(1)
P
"$SONDE" run --quiet -i 100ms -o out -- "$PYTHON" threads.py &
sonde=$!
wait_for 30 recorder_of out >wait.log
recorder=$(recorder_of out)
wait_for 30 test -e ready
sleep 0.3
stopped=$(now)
kill -STOP "$recorder"
: >go
wait_for 60 test -e "done"
going=$(now)
kill -CONT "$recorder"
wait $sonde || fail "run"
contains <(figure out .job.mechanisms) lost
contains <("$SONDE" show out) "records of process starts and exits lost"
equal "processes_started" 1 "$(figure out .job.processes_started)"
holds "cpu_seconds" "$(figure out '.job.cpu_seconds / (.job.cpu_user_seconds + .job.cpu_system_seconds)') < 1.02"
holds "skipped_samples" "$(figure out .monitor.skipped_samples) >= ($going - $stopped) * 10 - 2"
"$SONDE" export --to csv -o tables out >/dev/null || fail "export"
end=$(calc "$(figure out .job.wall_seconds) - 0.3")
equal "samples in which it lives" "" \
	"$(awk -F, -v end="$end" '$2 == "job.processes_live_count" && $5 > 0.2 && $5 < end && $6 != 1' tables/series.csv)"
