# SPDX-License-Identifier: Apache-2.0
"""Threads of Python that block again and again have their CPU time by function also where they never run beside Sonde: looks count where the CPU was
taken from them, and not where they were woken and wait for one."""
# limit: 600
import json
import os
import subprocess
import sys

from ordinary_user import need_unwind
from patience import patience

SONDE = os.environ["SONDE"]
# Three threads pass the interpreter's lock on every few milliseconds; who wakes in pause to ask for it also uses a little time there.
PROGRAM = """import sys, threading, time
def leaf(x):
    return x * 3 + 1
def twice():
    for i in range(2000):
        leaf(i)
def once():
    for i in range(1000):
        leaf(i)
def pause():
    time.sleep(0.0005)
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(100):
            twice()
        for _ in range(100):
            once()
        pause()
threads = [threading.Thread(target=work, args=(float(sys.argv[1]) / 3,)) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
LOOKS = 30
need_unwind()
with open("program.py", "w", encoding="utf-8") as f:
    f.write(PROGRAM)
one = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {one})
for seconds in (3, 9):
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        try:
            subprocess.run([SONDE, "run", "-q", "-o", f"of{seconds}", "--", sys.executable, "program.py", str(seconds)], check=True, timeout=patience(400))
        finally:
            busy.kill()
    code = json.loads(subprocess.run([SONDE, "show", "--code", "--json", f"of{seconds}"], check=True, capture_output=True, text=True).stdout)
    if (code["not_recorded"] or "").startswith("forbidden"):
        print(code["not_recorded"])
        sys.exit(77)
    found = code["python"] or {"samples": 0, "function": []}
    if found["samples"] >= LOOKS:
        break
share = {row["name"]: row["total_ratio"] for row in found["function"]}
print(found["samples"], {name: round(ratio, 3) for name, ratio in share.items()})
assert found["samples"] >= LOOKS, found["samples"]
part = share["twice"] / (share["twice"] + share["once"])
assert abs(part - 2 / 3) <= 3 * (2 / 9 / found["samples"]) ** 0.5 + 0.05, (part, found["samples"])
assert share.get("pause", 0) <= 0.2, share
