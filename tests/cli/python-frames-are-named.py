# SPDX-License-Identifier: Apache-2.0
"""sonde stacks names Python's functions and lines of threads that wait and that run, of each interpreter that is here and that it knows, and
invents none of one that it does not know."""
# limit: 120
import json
import os
import subprocess
import sys
import time

import interpreters

from ordinary_user import need_unwind
from patience import patience

SONDE, BUILD = os.environ["SONDE"], os.environ["BUILD"]
PROGRAM = """import os, threading, time, queue
q, lock = queue.Queue(), threading.Lock()
def consumer(): # Ünïcode in a name below
    q.get()
class Wörker:
    def läuft(self):
        with lock:
            pass
def generator():
    yield time.sleep(5000)
def spin():
    n = 0
    while True:
        n += 1
lock.acquire()
threads = [threading.Thread(target=t, name=n, daemon=True) for n, t in (("queue", consumer), ("lock", Wörker().läuft), ("generator", lambda: list(generator())), ("spin", spin))]
[t.start() for t in threads]
print([getattr(t, "native_id", 0) for t in [threading.main_thread()] + threads], flush=True)
os.read(os.pipe()[0], 1)
"""
# Of main, queue, lock, generator and spin: what a thread waits for, and functions with lines that follow each other.
WANTED = [("pipe_read", [("<module>", 19)]),
          ("semaphore", [("Queue.get", None), ("consumer", 4), ("Thread.run", None)]),
          ("semaphore", [("Wörker.läuft", 7), ("Thread.run", None)]),
          ("timer", [("generator", 10), ("<lambda>", 16)]),
          (None, [("spin", (13, 14))])]
need_unwind()


def faults(version, threads, ids):
    for tid, (what, functions) in zip(ids, WANTED):
        thread, functions = threads[tid], [(interpreters.unqualified(version, name), line) for name, line in functions]
        frames = [(f["function"], f["line"]) for f in thread["frames"] if f["module"] == "[python]"]
        if what and thread["waits_for"] != what:
            yield f"{thread['waits_for']}, not {what}"
        at = next((i for i, f in enumerate(frames) if f[0] == functions[0][0]), None)
        if at is None:
            yield f"no {functions[0][0]} in {frames}"
            continue
        for i, (function, line) in enumerate(functions):
            got = frames[at + i] if at + i < len(frames) else (None, None)
            if got[0] != function or (line is not None and got[1] not in (line if isinstance(line, tuple) else (line,))):
                yield f"{got}, not {function}:{line} in {frames}"


def look(pid):
    done = subprocess.run([SONDE, "stacks", "--json", "--only", str(pid)], capture_output=True, text=True, check=True, timeout=patience(60))
    return {t["tid"]: t for t in json.loads(done.stdout)["threads"]}


with open("program.py", "w", encoding="utf-8") as file:
    file.write(PROGRAM)
found = interpreters.known(("3.6", "3.7", *interpreters.FRAMES))
checked = 0
for (version, _), python in found.items():
    known = version in interpreters.FRAMES
    process = subprocess.Popen([python, "program.py"], stdout=subprocess.PIPE, text=True)  # pylint: disable=consider-using-with
    try:
        numbers = json.loads(process.stdout.readline())
        end, wrong = time.monotonic() + patience(20), ["not tried"]
        while wrong and time.monotonic() < end:
            time.sleep(0.2)
            seen = look(process.pid)
            wrong = list(faults(version, seen, numbers)) if known else []
        assert not wrong, (python, wrong)
        if not known:
            assert not [f for t in seen.values() for f in t["frames"] if f["module"] == "[python]"], python
        checked += known
    finally:
        process.kill()
        process.wait()
interpreters.told(found)
if not checked:
    print("no Python is here whose frames are known")
    sys.exit(77)
