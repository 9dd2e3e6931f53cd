#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit: 300
# The server of the file system that the recording is on goes away for a while and comes back: the job does not notice, what was not sampled is a gap
# that is told, and what was recorded before and after is whole. A job that ends meanwhile ends, and it is said what may be missing.
. "$TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root may mount"
[ -c /dev/fuse ] || skip "there is no /dev/fuse"
if [ -z "${OWN_MOUNTS:-}" ]; then
	OWN_MOUNTS=1 exec unshare --mount --propagation private bash "$0"
fi
AWAY=4
[ -z "$LONG" ] || AWAY=60
mkdir far
"$PYTHON" "$TOP/tests/fuse.py" far >ready 2>why &
server=$!
trap 'kill -9 $server' EXIT
wait_for 30 grep -q ready ready

# The job looks at the clock ten times a second: no look is late for the server's sake.
cat >job.py <<'END'
import sys
import time

most, last, end = 0, time.monotonic(), time.monotonic() + float(sys.argv[1])
while last < end:
    time.sleep(0.1)
    now = time.monotonic()
    most, last = max(most, now - last), now
print(most)
END
"$SONDE" run --quiet -i 100ms -o far/through -- "$PYTHON" job.py $((AWAY + 4)) >most &
run=$!
samples() {
	"$SONDE" show --json far/through 2>/dev/null | json_says ".nodes[0].samples >= $1" >/dev/null
}
wait_for 30 samples 5
kill -STOP $server
sleep $AWAY
kill -CONT $server
wait $run || fail "status of the job: $?"
holds "the job was not kept" "$(cat most) < $AWAY / 2"
equal "damage" 0 "$(figure far/through .damages)"
equal "complete" true "$(figure far/through .job.complete)"
skipped=$(figure far/through .monitor.skipped_samples)
holds "samples that were not taken are counted: $skipped" "$skipped >= $AWAY * 10 - 15"
"$SONDE" show --all far/through >shown 2>&1 || fail "show: $?"
contains shown "samples were late or skipped"

# It ends while the server is away.
"$SONDE" run --quiet -i 100ms -o far/ended -- sh -c 'sleep 2; exit 3' 2>said &
run=$!
sleep 1
kill -STOP $server
status=0
wait $run || status=$?
equal "status of a job that ends meanwhile" 3 $status
kill -CONT $server
contains said "the recorder ended, or did not answer, before it was done; what it recorded is in far/ended"
readable() {
	"$SONDE" show --json far/ended 2>/dev/null | json_says '.nodes[0].samples >= 5 and .damages == 0' >/dev/null
}
wait_for 30 readable
