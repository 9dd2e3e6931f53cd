# SPDX-License-Identifier: Apache-2.0
# limit: 90
# What a job waited for is one verdict, however many rules see it: nearly all of a run is not its end, and a failure that tells what
# its process did before is not followed by the same as an idle time.
. "$TOP/tests/lib.sh"

record() { # OUT COMMAND...
	out=$1
	shift
	"$SONDE" run --quiet -i 100ms -o "$out" -- "$@" >"$out.printed" 2>&1
	"$SONDE" show --json "$out" >"$out.json" || fail "show $out"
}
record upload sh -c 'awk "BEGIN { for (i = 0; i < 40000; i++) print i, \"a line of the results\" }" | /usr/bin/python3 -c "
import sys, time
for piece in range(13):
    sys.stdin.buffer.raw.read(4096)
    time.sleep(0.55)"' &
record refused /usr/bin/python3 -c '
import socket, time
for attempt in range(12):
    try:
        socket.create_connection(("127.0.0.1", 9))
    except ConnectionRefusedError:
        time.sleep(0.55)
socket.create_connection(("127.0.0.1", 9))' &
record fetch /usr/bin/python3 -c '
import socket
here, there = socket.socketpair()
here.settimeout(6.5)
try:
    here.recv(1)
except TimeoutError:
    pass' &
wait

waits='select(.rule | test("^(idle|waited|polling|waits-|failed-after|no-progress|hung|slow-files|file-lock)"))'
for job in upload refused fetch; do
	equal "verdicts on the waiting of $job" 1 "$(jq "[.verdicts[] | $waits] | length" $job.json)"
	equal "an end that is all of $job" 0 "$(jq '[.verdicts[] | select(.rule == "idle-tail" or .rule == "idle-head")] | length' $job.json)"
done
contains <(jq -r '.verdicts[0].sentence' refused.json) "Connection refused"
