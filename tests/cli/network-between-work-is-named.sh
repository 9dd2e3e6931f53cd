# SPDX-License-Identifier: Apache-2.0
# limit: 60
# A job that asks a server for one thing after the other, and works on each, is told that it waits for the network between, though it never does
# little for long.
. "$TOP/tests/lib.sh"
cat >server.py <<'END'
import socket, time
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
client = server.accept()[0]
while client.recv(64):
    time.sleep(0.1)
    client.sendall(b"answer")
END
cat >job.py <<'END'
import socket, sys, time
server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for item in range(50):
    server.sendall(b"question")
    server.recv(64)
    until = time.process_time() + 0.03
    while time.process_time() < until:
        sum(range(500))
END
"$PYTHON" server.py >port &
server=$!
wait_for 20 test -s port
"$SONDE" run --quiet -o out -- "$PYTHON" job.py "$(cat port)"
kill "$server" 2>/dev/null || true
"$SONDE" show --json out | jq -r '.verdicts[] | .rule + ": " + .sentence' >said
grep -q '^network-between: Waits for the network between its work' said || fail "$(cat said)"
equal "other words on it" "" "$(grep -E '^(idle|waited|cores-unused|single-core|polling)' said)"
