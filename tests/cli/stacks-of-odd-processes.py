# SPDX-License-Identifier: Apache-2.0
"""sonde stacks and a recorder with --waits go on with what is hard to look at, and invent nothing: a stack pointer into memory that is gone, into
a file that has become shorter or of a server that is silent, a process in state D, 32-bit programs, threads that end, execute and change their stacks
while they are read."""
# limit: 200
import json
import os
import pathlib
import struct
import subprocess
import sys
import time

from ordinary_user import need_unwind
from patience import patience

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
ODD = PROGRAMS + "/odd_stack"
need_unwind()


def look(*command):
    """Of a program that runs for a moment: its state, and all threads that a look finds."""
    job = subprocess.Popen(command)  # pylint: disable=consider-using-with
    try:
        time.sleep(0.5)
        state = pathlib.Path(f"/proc/{job.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        said = subprocess.run([SONDE, "stacks", "--json", str(job.pid)], capture_output=True, text=True, check=True, timeout=patience(60))
        return state, job.pid, json.loads(said.stdout)["threads"]
    finally:
        children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), 9)
        job.kill()
        job.wait()


def functions(thread):
    return [frame["function"] for frame in thread["frames"]]


for kind in "unmapped", "truncated":
    _, pid, threads = look(ODD, kind)
    odd = [t for t in threads if t["tid"] != pid]
    # What the program counter says is known, and no caller is made up.
    assert len(odd) == 1 and odd[0]["waits_for"] == "signal" and functions(odd[0])[:2] in (["pause_at"], ["pause_at", kind]), (kind, odd)
    assert "start_thread" not in functions(odd[0]) and "main" not in functions(odd[0]), odd

state, pid, threads = look(ODD, "vfork")
assert state == "D", state
parent = [t for t in threads if t["tid"] == pid]
assert parent and parent[0]["waits_for"] == "child", threads

# waitpid(0, 0, 0) after fork() of 32 bits, without a C library; the child pauses. Of 64 bits 7 is poll().
code = (b"\xb8\x02\x00\x00\x00\xcd\x80\x85\xc0\x74\x0f"  # fork; the child goes on 15 bytes further
        b"\xb8\x07\x00\x00\x00\x31\xdb\x31\xc9\x31\xd2\xcd\x80\xeb\xf1"
        b"\xb8\x1d\x00\x00\x00\xcd\x80\xeb\xf7")
head = b"\x7fELF\x01\x01\x01".ljust(16, b"\0") + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0x8048054, 52, 0, 0, 52, 32, 1, 40, 0, 0)
image = head + struct.pack("<8I", 1, 0, 0x8048000, 0x8048000, 84 + len(code), 84 + len(code), 5, 0x1000) + code
pathlib.Path("small").write_bytes(image)
os.chmod("small", 0o755)
try:
    _, pid, threads = look("./small")
    assert pid in [t["tid"] for t in threads] and len(threads) == 2, threads
    assert {t["waits_for"] for t in threads} == {"unknown"}, threads
except OSError as error:
    print("no program of 32 bits can run here:", error)

job = subprocess.Popen([SONDE, "run", "-q", "--waits=50", "-o", "changing", "--", "timeout", str(patience(15)), ODD, "changing"])  # pylint: disable=consider-using-with
looks, allowed = 0, {"nap", "changing", "other", "main", "execl", "getcontext", "makecontext", "swapcontext", "pthread_create", "nanosleep"}
pid = None
while job.poll() is None:
    if pid is None or not os.path.exists(f"/proc/{pid}"):
        found = subprocess.run(["pgrep", "-f", f"^{ODD} changing"], capture_output=True, text=True, check=False).stdout.split()
        pid = int(found[0]) if found else None
    else:
        said = subprocess.run([SONDE, "stacks", "--json", "--only", str(pid)], capture_output=True, text=True, check=False, timeout=patience(60))
        for thread in json.loads(said.stdout)["threads"] if said.returncode == 0 else []:
            looks += 1
            own = [f["function"] for f in thread["frames"] if f["module"] and f["module"].endswith("/odd_stack")]
            assert set(own) <= allowed | {"_start", None}, thread
    time.sleep(0.05)
assert job.wait() == 124, job.returncode
assert looks, "no look found it"
waits = json.loads(subprocess.run([SONDE, "show", "--waits", "--json", "changing"], capture_output=True, text=True, check=True).stdout)
own = {p["function"] for p in waits["place"] if p["module"] and p["module"].endswith("/odd_stack")}
assert own <= allowed | {"_start", None}, own
assert waits["wall_seconds"] > 0, waits
print(looks, "looks at", ODD)

# ---- a stack pointer into a file whose server is silent: reading it does not come back ----
SCRIPT = f"""
mkdir -p far
rm -f now
{sys.executable} {os.environ["TOP"]}/tests/fuse.py far >ready 2>why &
server=$!
for i in $(seq 300); do grep -q ready ready && break; sleep 0.1; done
truncate -s 65536 far/stack$1
{SONDE} run -q --waits -o silent$1 -- {ODD} mapped far/stack$1 &
run=$!
for i in $(seq 300); do job=$(pgrep -f "^{ODD} mapped") && [ $(ls /proc/$job/task | wc -l) = 2 ] && break; sleep 0.1; done
kill -STOP $server
touch now
sleep 1
{SONDE} stacks --json $job >silent.json
echo "stacks $?"
(sleep 60; touch late; kill -9 $server) >/dev/null 2>&1 &
limit=$!
sleep $1
kill $job
wait $run
echo "run $?"
kill $limit
kill -9 $server
"""
if os.getuid() == 0 and os.path.exists("/dev/fuse") and "OWN_MOUNTS" not in os.environ:
    # What reads from the silent server ends with it only.
    def silent(seconds):
        name = f"silent{seconds}"
        said = subprocess.run(["unshare", "--mount", "--propagation", "private", "bash", "-c", SCRIPT, "-", str(seconds)], capture_output=True, text=True, check=False, timeout=patience(120))
        assert "stacks 0\nrun 143\n" in said.stdout and not os.path.exists("late"), said
        shown = subprocess.run([SONDE, "show", "--waits", "--json", name], capture_output=True, text=True, check=True).stdout
        return json.loads(shown)

    # Within ten seconds nobody notices, and it is said; later the others are looked at without it.
    assert "did not answer" in silent(0)["not_recorded"]
    seen = silent(14)
    threads = json.loads(pathlib.Path("silent.json").read_text())["threads"]
    assert sorted(t["state"] for t in threads) == ["silent", "waits"], threads
    assert [t["waits_for"] for t in threads if t["state"] == "waits"] == ["signal"], threads
    assert seen["wall_seconds"] > 1 and seen["forbidden_seconds"] > 0 and seen["waits_for"] == "signal", seen
