# SPDX-License-Identifier: Apache-2.0
# limit: 60
# More threads than perf events are opened for: then the connector tells, or else new pids are looked for, and both say so.
. "$TOP/tests/lib.sh"
need jq
cat >many.py <<'P'
import os, subprocess, threading, time
stop = threading.Event()
threads = [threading.Thread(target=stop.wait) for _ in range(300)]
for t in threads: t.start()
open("ready", "w").close()
while not os.path.exists("go"): time.sleep(0.01)
for _ in range(200): subprocess.run(["/bin/true"])
stop.set()
P
"$PYTHON" many.py &
job=$!
trap 'kill $job 2>/dev/null || true' EXIT
wait_for 30 test -e ready
"$SONDE" attach --quiet -i 100ms -p $job -o out &
sonde=$!
wait_for 30 compgen -G "out/node-*" >wait.log
sleep 0.3
: >go
wait $job
wait $sonde || fail "attach"
if "$SONDE" doctor --json | json_says '.mechanisms[] | select(.name == "process.connector") | .state == "available"' >/dev/null; then
	contains <(figure out .job.mechanisms) "the proc connector"
	equal "started" 200 "$(figure out .job.processes_started)"
else
	contains <(figure out .job.mechanisms) "new pids"
fi
holds "at most" "$(figure out .job.processes_started_at_most) >= 200"
