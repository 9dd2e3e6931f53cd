# SPDX-License-Identifier: Apache-2.0
# limit: 60
# While the recorder is stopped, the job starts more threads than its rings hold: the process is still one process.
. "$TOP/tests/lib.sh"
perf_permitted || skip "perf events are not permitted"
cat >threads.py <<'P'
import threading, time
end = time.monotonic() + 5
while time.monotonic() < end:
    group = [threading.Thread(target=int) for _ in range(4)]
    for t in group: t.start()
    for t in group: t.join()
P
"$SONDE" run --quiet -i 100ms -o out -- "$PYTHON" threads.py &
wait_for 30 recorder_of out >wait.log
recorder=$(recorder_of out)
sleep 0.5
kill -STOP "$recorder"
sleep 2.5
kill -CONT "$recorder"
wait $! || fail "run"
contains <(figure out .job.mechanisms) lost
equal "processes_started" 1 "$(figure out .job.processes_started)"
holds "cpu_seconds" "$(figure out '.job.cpu_seconds / (.job.cpu_user_seconds + .job.cpu_system_seconds)') < 1.02"
holds "skipped_samples" "$(figure out .monitor.skipped_samples) >= 20"
"$SONDE" export --to csv -o tables out >/dev/null || fail "export"
equal "samples in which it lives" "" "$(awk -F, '$2 == "job.processes_live_count" && $5 > 0.3 && $5 < 4.5 && $6 != 1' tables/series.csv)"
