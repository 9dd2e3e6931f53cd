# SPDX-License-Identifier: Apache-2.0
"""Waits of Python's threads are in the functions and lines of the script, of each interpreter that is here and known; code that takes the place of
other code has its own lines; what cannot be read is dropped and counted. Threads that want the interpreter's lock are a convoy."""
# limit: 300
import json
import os
import shutil
import subprocess
import sys
import tempfile

import interpreters

from ordinary_user import need_unwind
from patience import patience

SONDE, BUILD = (os.environ[name] for name in ("SONDE", "BUILD"))
KINDS = """import os, queue, subprocess, threading, time
END = time.monotonic() + 5
lock, q = threading.Lock(), queue.Queue()
def sleeper():
    while time.monotonic() < END:
        time.sleep(0.05)
def consumer():
    while q.get():
        pass
def work(s):
    end = time.thread_time() + s
    while time.thread_time() < end:
        pass
def locked():
    while time.monotonic() < END:
        with lock:
            time.sleep(0.03)
        time.sleep(0.001)
def reader(fd):
    while os.read(fd, 1):
        pass
def child():
    while time.monotonic() < END:
        subprocess.run(["sleep", "1.2"])
r, w = os.pipe()
threads = [threading.Thread(target=t, args=a) for t, a in ((sleeper, ()), (consumer, ()), (locked, ()), (locked, ()), (reader, (r,)), (child, ()))]
[t.start() for t in threads]
while time.monotonic() < END:
    os.write(w, b"x")
    q.put(1)
    work(0.001)
    time.sleep(0.2)
q.put(0)
os.close(w)
[t.join() for t in threads]
"""
# Function, line, kind, and how many seconds at least.
WANTED = [("sleeper", 6, "timer", 3.5), ("consumer", 8, "semaphore", 3.5), ("locked", 16, "lock", 1.5), ("locked", 17, "timer", 2),
          ("reader", 20, "pipe_read", 3.5), ("child", 24, "child", 3.5), ("<module>", 32, "timer", 2)]
# Lines on which something may be waited for: the lock of the interpreter anywhere in work.
LINES = {6, 8, 10, 11, 12, 13, 5, 15, 16, 17, 18, 20, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35}
REPLACED = """import time
def one(k):
    exec(compile("\\n" * k + "time.sleep(0.31)", "made.py", "exec"))
time.sleep(1.5)  # until it is watched
for turn in range(4):
    for k in (1, 4, 2, 7):
        one(k)
"""
TORN = """import ctypes, sys, time
def broken():
    time.sleep(0.05)
name = ctypes.c_uint64.from_address(id(broken.__code__) + (128 if sys.version_info >= (3, 11) else 112))
right, end = name.value, time.monotonic() + 4
name.value = 8
while time.monotonic() < end:
    broken()
name.value = right
"""
BUSY = """import threading, time
def one():
    end = time.monotonic() + 5
    while time.monotonic() < end:
        sum(range(2000))
threads = [threading.Thread(target=one) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
need_unwind()
room = tempfile.TemporaryDirectory(dir="/tmp")  # pylint: disable=consider-using-with
os.chdir(room.name)


def shown(name, *words):
    return json.loads(subprocess.run([SONDE, "show", *words, "--json", name], check=True, capture_output=True, text=True).stdout)


def record(name, python, script, *options):
    with open(name + ".py", "w", encoding="utf-8") as f:
        f.write(script)
    shutil.rmtree(name, ignore_errors=True)
    subprocess.run([SONDE, "run", "-q", "--waits=20", *options, "-o", name, "--", python, name + ".py"], check=True, timeout=patience(100))
    places = shown(name, "--waits")["place"]
    torn = [m for m in shown(name, "--all")["metrics"] if m["name"] == "job.wait_looks_torn_per_second"]
    return places, sum(m["mean"] * m["n"] for m in torn)


found = interpreters.known()
interpreters.told(found)
known = {version: path for (version, _), path in found.items()}
if not known:
    print("there is no Python that it knows")
    sys.exit(77)
for version, python in known.items():
    name = "kinds" + version
    places, _ = record(name, python, KINDS)
    own = [p for p in places if p["file"] and p["file"].endswith(name + ".py")]
    for function, line, kind, least in WANTED:
        seconds = sum(p["waited_seconds"] for p in own if (p["function"], p["line"], p["waits_for"]) == (function, line, kind))
        assert seconds >= least, (version, function, line, kind, seconds, own)
    wrong = [p for p in own if p["line"] not in LINES]
    assert not wrong, (version, wrong)
    # No function of the interpreter is left that a script's stands for, but at its beginning and end.
    inner = sum(p["waited_seconds"] for p in places if p["module"] and "/python" in p["module"] and p not in own)
    assert inner < 0.5, (version, inner, places)

python = next(iter(known.values()))
places, torn = record("replaced", python, REPLACED)
lines = {}
for p in places:
    if p["file"] == "made.py":
        lines[p["line"]] = lines.get(p["line"], 0) + p["waited_seconds"]
assert set(lines) == {2, 3, 5, 8} and all(0.8 < s < 1.7 for s in lines.values()), lines
assert torn == 0, torn

for python in {known[min(known, key=lambda v: int(v[2:]))], python}:
    places, torn = record("torn", python, TORN)
    assert torn > 5, (python, torn)
    assert not [p for p in places if p["function"] == "broken"], (python, places)
    assert not [p for p in places if p["file"] and p["file"].endswith("torn.py") and p["waits_for"] == "timer" and p["line"] not in (3, 8)], (python, places)

places, _ = record("busy", python, BUSY, "--no-paths")
gil = [p for p in places if p["object"] == "Python's GIL"]
assert gil and gil[0]["waits_for"] == "lock" and gil[0]["function"] == "one", places
assert {p["file"] for p in gil} <= {"busy.py", "threading.py"}, gil  # without directories a library is not known
assert {p["line"] for p in gil if p["function"] == "one"} <= {4, 5}, gil

said = {v["rule"]: v["sentence"] for v in shown("busy")["verdicts"]}
if sum(p["waited_seconds"] for p in gil) / 4 > 0.3 * shown("busy", "--waits")["thread"][0]["wall_seconds"]:  # else others had the cores
    assert "4 threads of " in said["waits-lock"] and "waits for a lock: Python's GIL in one (busy.py:" in said["waits-lock"], said
