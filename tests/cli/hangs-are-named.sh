# SPDX-License-Identifier: Apache-2.0
# limit: 60
# A job that hung until timeout ended it: what it waited for is the first verdict, in plain words, with a next step.
. "$TOP/tests/lib.sh"
mkfifo empty
jobs=0

hangs() { # WORDS CMD...: under timeout; several at once
	local words=$1
	shift
	jobs=$((jobs + 1))
	echo "$words" >"wanted.$jobs"
	"$SONDE" run --quiet -i 200ms -o "out.$jobs" -- timeout 10 "$@" >"job.$jobs" 2>&1 &
}

hangs "waits for a lock held by another thread" "$PROGRAMS/deadlock"
hangs "cat (pid PID) waits for a FIFO that nobody writes" cat empty
hangs "waits for the network: 127.0.0.1:" "$PYTHON" -c '
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).recv(1)'
hangs "waits for the network: 127.0.0.1:53 (DNS)" "$PYTHON" -c '
import select, socket
asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
asked.connect(("127.0.0.1", 53))
poll = select.poll()
poll.register(asked, select.POLLIN)
poll.poll()'
# Of two connections it polls the second only; then both.
two='
import select, socket, sys
servers = [socket.create_server(("127.0.0.1", 0)) for i in range(2)]
ends = [socket.create_connection(s.getsockname()) for s in servers]
open(sys.argv[1], "w").write(" or ".join("127.0.0.1:%d" % s.getsockname()[1] for s in servers[2 - int(sys.argv[2]):]))'
hangs @second "$PYTHON" -c "$two
poll = select.poll()
poll.register(ends[1], select.POLLIN)
poll.poll()" second 1
hangs @both "$PYTHON" -c "$two
select.select(ends, [], [])" both 2
# The child that should end the wait worked, and failed: then began the silence, however long it took.
hangs ": spin (pid PID), T after the start, with exit code 3. Then" sh -c 'mkfifo never; exec 9<>never; "$0" 100000 3 & read x <&9' "$PROGRAMS/spin"
# That nothing was found is no failure.
hangs "waits for a FIFO that nobody writes. Then" sh -c 'mkfifo silent; sleep 0.5 | grep nothing; read x <silent'
hangs "sleep (pid PID) sleeps (timer)" sh -c 'sleep 30; true'
hangs "waits for a lock on a file" "$PYTHON" -c '
import fcntl
held, wanted = open("lock", "w"), open("lock", "w")
fcntl.flock(held, fcntl.LOCK_EX)
fcntl.flock(wanted, fcntl.LOCK_EX)'
# It slept when it was looked at first.
hangs "waits for another thread" "$PYTHON" -c '
import threading, time
time.sleep(1.5)
lock = threading.Lock()
lock.acquire()
threading.Thread(target=lock.acquire).start()
lock.acquire()'
wait
for i in $(seq $jobs); do
	"$SONDE" show --json "out.$i" | jq -r '.verdicts[0] | .rule + ": " + .sentence' >first
	sed -i 's/(pid [0-9]*/(pid PID/g; s/), [0-9.]* [mu]*s after/), T after/' first
	case $(cat "wanted.$i") in @*) # a file with the addresses
		sed -i 's/^/waits for the network: /; s/$/. Then/' "$(tail -c +2 "wanted.$i")"
		mv "$(tail -c +2 "wanted.$i")" "wanted.$i"
		;;
	esac
	grep -q '^hung: Hung for [0-9.]* s: ' first || fail "$(cat "wanted.$i"): $(cat first)"
	contains first "$(cat "wanted.$i")"
	contains first "Then: timeout ended it. "
done

# Who fails after a long wait says for what.
"$SONDE" run --quiet -i 200ms -o failed -- sh -c 'sleep 3.5; exit 3'
"$SONDE" show --json failed | jq -r '.verdicts[0] | .rule + ": " + .sentence' >first
grep -q '^failed-after-waiting: Failed: exit code 3 after [0-9.]* s, the last [0-9.]* s spent waiting: sleep (pid [0-9]*) sleeps (timer)' first || fail "$(cat first)"

# What looks at a given rate until it is ended, and a server without clients, did not hang.
"$SONDE" run --quiet -i 200ms -o monitor -- timeout 5 sh -c 'while :; do cat /proc/loadavg >>load; sleep 0.5; done' &
"$SONDE" run --quiet -i 200ms -o server -- timeout 5 "$PYTHON" -c 'import socket
socket.create_server(("127.0.0.1", 0)).accept()' &
wait
for name in monitor server; do
	equal "$name" ended-while-waiting "$("$SONDE" show --json "$name" | jq -r '.verdicts[0].rule')"
done

# Who works until it is ended does not hang, nor who is not watched.
"$SONDE" run --quiet -i 200ms -o busy -- timeout 2 "$PROGRAMS/spin" 9000000
equal "a job that works" "" "$("$SONDE" show --json busy | jq -r '.verdicts[] | select(.rule == "hung") | .rule')"
"$SONDE" run --quiet -i 200ms --watch-hang 0 -o unwatched -- timeout 2 sleep 9
equal "not watched" "" "$("$SONDE" show --json unwatched | jq -r '.verdicts[] | select(.rule == "hung") | .rule')"
