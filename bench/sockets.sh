#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What --peers costs with 1,000 sockets of one process (500 connections on loopback, both ends): CPU time of the recorder with and without it, in
# turns; and how right it is about what limits a transfer, and about bytes, on mixes whose limit is made (sockets_mixes.py, SEED). Six minutes;
# QUICK=1: two.
set -eu
BUILD=${BUILD:-build}
PAIRS=5 SECONDS_EACH=15
[ -z "${QUICK:-}" ] || PAIRS=2 SECONDS_EACH=8
# shellcheck source=bench/bar.sh
. bench/bar.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sonde=$(realpath "$BUILD/sonde")
here=$(realpath bench)
cd "$scratch"
cat >sockets.py <<'PROGRAM'
import resource
import socket
import sys
import time

resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
server = socket.create_server(("127.0.0.1", 0), backlog=600)
ends = []
for _ in range(500):
    ends += [socket.create_connection(server.getsockname()), server.accept()[0]]
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    for one in ends[::20]:
        one.send(b"x" * 100)
    time.sleep(0.1)
PROGRAM

cost() { # OPTIONS... : CPU time of the recorder as a share of one core, in percent
	rm -rf run
	"$sonde" run --quiet --json --stacks=off -i 1s -o run "$@" -- python3 sockets.py "$SECONDS_EACH" >/dev/null
	"$sonde" show --json run | python3 -c '
import json, sys
run = json.load(sys.stdin)
print(100 * run["monitor"]["cpu_seconds"] / run["job"]["wall_seconds"])'
}

for _ in $(seq "$PAIRS"); do
	cost >>off
	cost --peers >>on
done
paste on off | awk '{ print $1 - $2 }' >added
figure 'recorder without --peers' "$(median <off)" '% of a core'
bar 'more with --peers, 1,000 sockets' "$(median <added)" '% of a core' '<=' 0.3

words=()
[ -z "${QUICK:-}" ] || words=(far short bursts)
SONDE=$sonde python3 "$here/sockets_mixes.py" "${SEED:-1}" "${words[@]}" | tee mixes
read -r right judged exact counted <<<"$(tail -n 1 mixes)"
bar "what limits a transfer, $judged ends of mixes: named right" "$(awk "BEGIN { print 100 * $right / $judged }")" % '>=' 95
bar "bytes of $counted ends of 2 s and more: exact" "$(awk "BEGIN { print 100 * $exact / $counted }")" % '>=' 100
exit "$missed"
