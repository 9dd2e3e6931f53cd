# SPDX-License-Identifier: Apache-2.0
"""A job that waits is told for what, where, and for whom (tests/programs/hold_up.c, shell, Python): convoys, barriers, slow ends of pipes, workers
that are too slow, children one after the other, locks on files, polling, slow files. Jobs that wait as they should are told nothing of the kind."""
# limit: 600
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from ordinary_user import need_unwind
from patience import patience

SONDE, PROGRAMS, BUILD, TOP = (os.environ[name] for name in ("SONDE", "PROGRAMS", "BUILD", "TOP"))
need_unwind()
if len(os.sched_getaffinity(0)) < 2:
    print("it needs two cores")
    sys.exit(77)
room = tempfile.TemporaryDirectory(dir="/tmp")  # pylint: disable=consider-using-with
os.chdir(room.name)
for word in ("app", "gen", "slow", "step"):
    shutil.copy(PROGRAMS + "/hold_up", word)

POOL = """
import concurrent.futures, time
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    list(pool.map(abs, range(8)))
    end = time.monotonic() + 3
    while time.monotonic() < end:
        sum(range(1000))
"""
PROCESSES = """
import multiprocessing, time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
with multiprocessing.Pool(2) as pool:
    pool.map(work, [0.25] * 10)
"""
FEW_WORKERS = """
import multiprocessing, time
def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
def load(i):
    work(0.06)
    return i
with multiprocessing.Pool(1) as pool:
    for batch in pool.imap(load, range(50)):
        work(0.015)
"""
# A job, its rule, and what the sentence says.
HELD_UP = {
    "convoy": (["./app", "convoy", "3"], "waits-lock",
               ["4 threads of app (pid ", ": each waits for a mutex at 0x", " in take_the_lock (hold_up.c:"]),
    "uneven": (["./app", "uneven", "3"], "waits-barrier",
               ["3 threads of app (pid ", " wait in a barrier in meet (hold_up.c:", " for thread ", " works for "]),
    "starve": (["./app", "starve", "3"], "waits-workers",
               ["app (pid ", "waits for a condition variable in next_batch (hold_up.c:", "; its busy thread works for "]),
    "loader": ([sys.executable, "-c", FEW_WORKERS], "waits-workers", ["; its busy child process works for "]),
    "reader": (["sh", "-c", "./gen writes 3 0 | ./slow reads 0 30"], "waits-reader",
               ["gen (pid ", "waits for room in a pipe in writes (hold_up.c:", "and slow (pid ", ", which reads it, works for "]),
    "sleepy": (["sh", "-c", f"./gen writes 3 0 | {sys.executable} reader.py"], "waits-reader", ["which reads it, sleeps (timer) for "]),
    "feeder": (["sh", "-c", "./gen writes 3 40 | ./slow reads 0 15"], "waits-feeder",
               ["slow (pid ", "waits for data from a pipe in read_block (hold_up.c:", "and gen (pid ", ", which writes it, works for "]),
    "children": (["sh", "-c", "for i in 1 2 3 4 5; do ./step works 0.7; done"], "waits-children", ["sh (pid ", " ran 5 times step, one at a time"]),
    "locks": (["sh", "-c", "for i in 1 2 3; do ./app locks 3 & done; wait"], "waits-file-lock",
              ["3 threads wait for a lock on a file", "/one.lock in lock_file (hold_up.c:"]),
    "polls": (["./app", "polls", "3"], "waits-sleep", ["Short sleeps: app (pid ", "(hold_up.c:", " slept for "]),
}
HEALTHY = {
    "polite": ["./app", "polite", "3"],
    "even": ["./app", "even", "3"],
    "followers": ["./app", "followers", "3"],
    "pool": ["./app", "pool", "3"],
    "workers": ["./app", "workers", "3"],
    "events": ["./app", "events", "3"],
    "shell": ["sh", "-c", "./app works 3; true"],
    "output": ["sh", "-c", "x=$(./app works 3; echo 1); echo $x"],
    "log": ["sh", "-c", "./gen writes 3 100 | cat >/dev/null"],
    "steps": ["sh", "-c", "./app works 0.8; ./gen works 0.8; ./slow works 0.8; ./step works 0.8"],
    "rest": ["sleep", "3"],
    "threads": [sys.executable, "-c", POOL],
    "processes": [sys.executable, "-c", PROCESSES],
}
with open("reader.py", "w", encoding="utf-8") as f:
    f.write("import sys, time\nwhile sys.stdin.buffer.read(65536):\n    time.sleep(0.03)\n")


# Past the kernel's cache, in large pieces.
DIRECT = """
import mmap, os, sys, time
room = mmap.mmap(-1, 1 << 20)
def load():
    fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
    while os.readv(fd, [room]) > 0:
        pass
    os.close(fd)
end = time.monotonic() + 3
while time.monotonic() < end:
    load()
"""
with open("direct.py", "w", encoding="utf-8") as f:
    f.write(DIRECT)


def verdicts(name, command, **env):
    subprocess.run([SONDE, "run", "-q", "--waits", "--stacks", "-o", name, "--", *command], check=True, stdout=subprocess.DEVNULL, timeout=patience(120), env=os.environ | env)
    shown = subprocess.run([SONDE, "show", "--json", name], check=True, capture_output=True, text=True).stdout
    found = json.loads(shown)["verdicts"]
    print(name, [v["sentence"] for v in found])
    return {v["rule"]: v for v in found if v["rule"].startswith("waits-")}


def held_up(name, command, rule, words, **env):
    # Where others have the cores for a while, nobody was held up by his own: then once more.
    found = verdicts(name, command, **env) or verdicts(name + "-again", command, **env)
    assert list(found) == [rule], (name, found)
    for word in words:
        assert word in found[rule]["sentence"], (name, word, found[rule]["sentence"])


for name, (command, rule, words) in HELD_UP.items():
    held_up(name, command, rule, words)
# GPUs of which those that prepare the work are too few: their use is that of a stand-in for NVIDIA's library.
held_up("gpu", ["./app", "starve", "3"], "waits-workers-gpu",
        ["The data loader starves the GPU, used for 10 % of the time: app (pid ", "waits for a condition variable in next_batch (hold_up.c:"],
        SONDE_NVML=f"{BUILD}/stubs/fake_nvml.so", FAKE_NVML_GPUS="1")
for name, command in HEALTHY.items():
    found = verdicts(name, command)
    assert not found, (name, found)

# ---- without --waits nothing of it is said ----
subprocess.run([SONDE, "run", "-q", "-o", "without", "--", "./app", "convoy", "3"], check=True, timeout=patience(60))
shown = subprocess.run([SONDE, "show", "--json", "without"], check=True, capture_output=True, text=True).stdout
assert not [v for v in json.loads(shown)["verdicts"] if v["rule"].startswith("waits-")], shown

# ---- files of a disk ----
with tempfile.NamedTemporaryFile(dir="/var/tmp") as data:
    for _ in range(64):
        data.write(os.urandom(1 << 20))
    data.flush()
    os.fsync(data.fileno())
    try:
        os.close(os.open(data.name, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        print("files of", data.name, "are in memory or far away:", error)
    else:
        held_up("disk", [sys.executable, "direct.py", data.name], "waits-storage",
                ["Waits for storage, for ", " waits for storage: " + data.name + " (", " in load (direct.py:6)"])

# ---- files that come from far ----
READ = """
import os, time
end = time.monotonic() + 5
while time.monotonic() < end:
    for name in os.listdir("far"):
        with open(f"far/{name}", "rb") as f:
            f.read()
"""
if os.getuid() == 0 and os.path.exists("/dev/fuse") and "OWN_MOUNTS" not in os.environ:
    script = f"""
mkdir far
{sys.executable} {TOP}/tests/fuse.py far 0.02 >ready 2>why &
server=$!
for i in $(seq 300); do grep -q ready ready && break; sleep 0.1; done
for i in $(seq 20); do echo 1 >far/part$i; done
{SONDE} run -q --waits -o far.sonde -- {sys.executable} read.py
rc=$?
kill -9 $server
exit $rc
"""
    with open("read.py", "w", encoding="utf-8") as f:
        f.write(READ)
    began = time.monotonic()
    subprocess.run(["unshare", "--mount", "--propagation", "private", "bash", "-c", script], check=True, timeout=patience(120))
    shown = json.loads(subprocess.run([SONDE, "show", "--json", "far.sonde"], check=True, capture_output=True, text=True).stdout)
    found = {v["rule"]: v["sentence"] for v in shown["verdicts"]}
    assert "waits-network" in found and "slow-files" not in found, (found, time.monotonic() - began)
    assert "waits for storage: " in found["waits-network"] and "/far/" in found["waits-network"] and "(fuse" in found["waits-network"], found
