# SPDX-License-Identifier: Apache-2.0
# limit: 150
# Jobs that are stopped, poll, queue for a lock on a file, or start an interpreter again and again are told so; their healthy neighbours are not.
. "$TOP/tests/lib.sh"
need jq
need flock
need perl

job() { # NAME COMMAND...: in a folder of its own, side by side with others
	name=$1
	shift
	(mkdir "$name-work" && cd "$name-work" && exec "$SONDE" run --quiet -i 100ms -o "../$name" -- "$@") &
}
works='$end = time + 2; $x = sqrt($x + 7) while time < $end'

job stopped sh -c 'perl -e "\$end = time + 3; \$x = sqrt(\$x + 7) while time < \$end" & w=$!; sleep 1; kill -STOP $w; sleep 5; kill -CONT $w; wait'
job polls sh -c 'for i in $(seq 12); do grep -q x nothing 2>/dev/null; sleep 0.5; done; true'
job naps "$PYTHON" -c 'import time
for i in range(60):
    time.sleep(0.1)'
job queue sh -c "for i in 1 2 3 4; do flock lock perl -e '$works' & done; wait"
job feeds sh -c 'perl -e "$1"; "$0" -c "import time
for i in range(80):
    time.sleep(0.1)
    print(i, flush=True)" | "$0" -c "import sys
sys.stdin.read()"; perl -e "$1"' "$PYTHON" "$works"
# What another process has locked, and a server that is not there, asked for again and again.
cat >holds.py <<'END'
import fcntl, sys, time
f = open(sys.argv[1], "w")
fcntl.lockf(f, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
END
"$PYTHON" holds.py locked-out >held &
holder=$!
disown "$holder" # nobody waits for it
until grep -q held held; do sleep 0.1; done
job tries "$PYTHON" -c 'import fcntl, time
f = open("../locked-out", "r+")
for i in range(30):
    try:
        fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        time.sleep(0.2)'
job refused "$PYTHON" -c 'import socket, time
taken = socket.socket()
taken.bind(("127.0.0.1", 0))
for i in range(12):
    with socket.socket() as s:
        s.connect_ex(taken.getsockname())
    time.sleep(0.5)'
# A shell that has the lock that flock(1) took, and a program that waits for it.
job shells sh -c 'exec 9>one; flock 9; "$0" -c "import fcntl
fcntl.flock(open(\"one\"), fcntl.LOCK_EX)" 9>&- & sleep 6; exec 9>&-; wait' "$PYTHON"
# A server whose client waits for an answer.
cat >serves.py <<'END'
import os, socket, time
server = socket.socket(socket.AF_UNIX)
server.bind("door")
server.listen()
main = os.getpid()
if not os.fork():
    client = socket.socket(socket.AF_UNIX)
    client.connect("door")
    client.recv(1)
    os.kill(main, 15)
    os._exit(0)
while True:
    end, _ = server.accept()
    if not os.fork():
        time.sleep(7)
        end.send(b"x")
        os._exit(0)
END
job answers sh -c '"$0" ../serves.py; true' "$PYTHON"
# An event loop, with a new connection for each of its questions.
cat >asks.py <<'END'
import asyncio, os, signal

async def answer(reader, writer):
    await reader.readline()
    await asyncio.sleep(0.1)
    writer.write(b"yes\n")
    writer.close()

async def serve(out):
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    os.write(out, str(server.sockets[0].getsockname()[1]).encode())
    await asyncio.sleep(60)

async def ask(port):
    for i in range(70):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"is it?\n")
        await reader.read()
        writer.close()

async def ask_twice(port):
    await asyncio.gather(ask(port), ask(port))

ours, theirs = os.pipe()
child = os.fork()
if not child:
    asyncio.run(serve(theirs))
asyncio.run(ask_twice(int(os.read(ours, 9))))
os.kill(child, signal.SIGTERM)
END
job asks "$PYTHON" ../asks.py
# Their neighbours.
job sleeps sh -c 'sleep 6 & sleep 6 & sleep 6 & sleep 6; wait'
job waits sh -c 'sleep 7 | cat'
job guards sh -c "perl -e '\$end = time + 6; \$x = sqrt(\$x + 7) while time < \$end' & w=\$!; while kill -0 \$w 2>/dev/null; do sleep 0.5; done"
job threads "$PYTHON" -c 'import threading, time
def work(end):
    while time.time() < end:
        sum(range(10000))
threads = [threading.Thread(target=work, args=(time.time() + 4,)) for i in range(6)]
for t in threads:
    t.start()
for t in threads:
    t.join()
time.sleep(5)'
job locked sh -c "flock lock perl -e '\$end = time + 6; \$x = sqrt(\$x + 7) while time < \$end'"
wait
job starts bash -c 'n=0; end=$((SECONDS + 4)); while [ $n -lt 30 ] || [ $SECONDS -lt $end ]; do "$0" -c "import json, subprocess"; n=$((n + 1)); done' "$PYTHON"
# Processes with work to do, and children of one program.
job chunks bash -c 'for i in $(seq 12); do "$0" -c "import time
while time.process_time() < 0.3: pass"; done' "$PYTHON"
wait
job forks "$PYTHON" -c 'import os
for i in range(60):
    if not os.fork():
        sum(range(1000000))
        os._exit(0)
    os.wait()'
# Many system calls, and not a file.
job clock "$PYTHON" -c 'import time
end = time.time() + 5
while time.time() < end:
    time.process_time()'
job copies sh -c 'head -c 100000000 /dev/zero >a; end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do cp a b; cp b c; done; rm a b c'
wait

rules() { # NAME
	"$SONDE" show --json "$1" >"$1.json" || fail "show $1"
	jq -r '.verdicts[].rule' "$1.json" | tr '\n' ' '
}
says() { # NAME RULE WORDS [RULES THAT ARE SILENT]...
	local name=$1 rule=$2 words=$3 of
	shift 3
	of=$(rules "$name")
	case " $of" in *" $rule "*) ;; *) fail "$name: no $rule among: $of" ;; esac
	jq -r --arg r "$rule" '.verdicts[] | select(.rule == $r) | .sentence' "$name.json" >"$name.says"
	contains "$name.says" "$words"
	silent "$name" "$@"
}
silent() { # NAME RULES
	local name=$1 of rule
	shift
	of=$(rules "$name")
	for rule; do
		case " $of" in *" $rule "*) fail "$name: $rule among: $of" ;; esac
	done
}

new="stopped polling file-lock repeated-starts"
says stopped stopped "perl (pid" polling idle-hole single-core cores-unused
says polls polling "a script started sleep 12 times, grep 12 times." stopped idle waited cores-unused
says naps polling "sleeps (timer)" stopped idle cores-unused
says tries polling "/locked-out, which it has open, is locked by " idle waited
contains tries.says "(pid $holder)"
kill "$holder"
says refused polling " attempts to connect failed on its node" idle waited
says shells file-lock "/one, held by sh (pid " polling idle
rules answers >answers.rules # which of them depends on how long Python takes to start
jq -r '.verdicts[].sentence' answers.json >answers.says
contains answers.says "waits for another process (local socket)"
says asks round-trips "waits for the network" idle idle-throughout waited
grep -q " or 127" asks.says && fail "one peer is named twice: $(cat asks.says)"
says feeds idle-hole "waits for data from a pipe, while " stopped idle
contains feeds.says "sleeps (timer)"
if [ "$(nproc)" -gt 1 ]; then
	says queue file-lock "waits for a lock on a file: /" polling single-core serial-phase
fi
for neighbour in sleeps waits guards threads locked chunks forks clock copies; do
	silent $neighbour $new
done
says starts repeated-starts "was started" single-core kernel-time
silent clock names-storm data-copied
silent copies names-storm kernel-time
