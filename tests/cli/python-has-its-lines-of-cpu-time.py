# SPDX-License-Identifier: Apache-2.0
"""CPU time by functions and lines of Python, of each interpreter that is here and that Sonde knows: shares as the program's own clock has them,
libraries in C at the function that called them, nothing at a line that only waits, and no line outside of its function."""
# limit: 900
import gzip
import json
import os
import subprocess
import sys

import interpreters

from ordinary_user import need_unwind
from patience import patience

SONDE, BUILD = os.environ["SONDE"], os.environ["BUILD"]
# Kernel time is no part of samples: each function uses memory that is there already, and frees what it made before it returns. A thread whose turn is
# over loses its CPU where it reads its clock, which looks on a busy machine would find it at: it does so after many calls only.
PROGRAM = """import hashlib, sys, threading, time
spent = {"loops": 0, "hashes": 0, "sorts": 0}
data = b"x" * 3000000
def loops():
    n = 0
    for i in range(100000):
        n += i * i
def hashes():
    hashlib.sha256(data).digest()
def sorts():
    for _ in range(10):
        sorted(range(6000), key=lambda i: -i)
def pause():
    time.sleep(0.002)
def part(function):
    began = time.thread_time()
    for _ in range(30):
        function()
    spent[function.__name__] += time.thread_time() - began
def work():
    while sum(spent.values()) < float(sys.argv[1]):
        part(loops); part(hashes); part(sorts); pause()
thread = threading.Thread(target=work)
thread.start()
thread.join()
for name, seconds in spent.items():
    print(name, seconds)
"""
LINES = {"loops": range(4, 8), "hashes": range(8, 10), "sorts": range(10, 13), "sorts.<locals>.<lambda>": range(12, 13), "<lambda>": range(12, 13), "part": range(15, 20),
         "work": range(20, 23), "pause": range(13, 15)}
need_unwind()
with open("program.py", "w", encoding="utf-8") as f:
    f.write(PROGRAM)
known = interpreters.known()
interpreters.told(known)
if not known:
    print("no Python is here whose frames are known")
    sys.exit(77)


def record(version, path, seconds):
    """Its output, and what Sonde found."""
    name = f"of-{version}-{seconds}"
    done = subprocess.run([SONDE, "run", "-q", "--stacks=499", "-o", name, "--", path, "program.py", str(seconds)], check=True, capture_output=True, text=True,
                          timeout=patience(200))
    code = json.loads(subprocess.run([SONDE, "show", "--code", "--json", name], check=True, capture_output=True, text=True).stdout)
    if (code["not_recorded"] or "").startswith("forbidden"):
        print(code["not_recorded"])
        sys.exit(77)
    return {word[0]: float(word[1]) for word in map(str.split, done.stdout.splitlines())}, code


def check_exports(name, found):
    """Files of their own beside those of native code: the same looks, functions of the script from the outermost."""
    subprocess.run([SONDE, "export", "--to", "folded,pprof,speedscope", "-o", f"out-{name}", name], check=True, stdout=subprocess.DEVNULL)
    with open(f"out-{name}/python-stacks.folded", encoding="utf-8") as f:
        stacks = {path: int(us) for path, us in (line.rsplit(" ", 1) for line in f)}
    assert abs(sum(stacks.values()) / 1e6 - found["sampled_seconds"]) < 0.01, (sum(stacks.values()), found["sampled_seconds"])
    assert any(";work;part;" in path for path in stacks), stacks
    with open(f"out-{name}/stacks.folded", encoding="utf-8") as f:
        assert ";work;part;" not in f.read()
    with open(f"out-{name}/python-stacks.speedscope.json", encoding="utf-8") as f:
        scope = json.load(f)
    assert {"name": "part"} in scope["shared"]["frames"], name
    assert abs(sum(one["endValue"] for one in scope["profiles"]) - found["sampled_seconds"]) < 0.01, scope["profiles"]
    with gzip.open(f"out-{name}/python-stacks.pb.gz") as f:
        assert b"program.py" in f.read(), name


looked = 0
for (version, _), path in known.items():
    # On a busy machine few looks find both sides running.
    for length in (4, 12):
        spent, code = record(version, path, length)
        if code["python"] and code["python"]["samples"] >= 40:
            break
    found = code["python"]
    if not found:
        print(version, "no look found it running")
        continue
    looked += 1
    rows = {row["name"]: row for row in found["function"]}
    print(version, found["sampled_seconds"], found["samples"], {what: round(row["total_ratio"], 3) for what, row in rows.items()})
    if found["samples"] >= 40:
        for what, seconds in spent.items():
            wanted, row = seconds / sum(spent.values()), rows[what]
            assert abs(wanted - row["total_ratio"]) <= 0.05 + 2 * max(row["error_ratio"], 0.05), (version, what, wanted, row)
    assert rows.get("pause", {"self_ratio": 0})["self_ratio"] <= 0.1, rows["pause"]
    assert found["sampled_seconds"] <= 1.1 * (code["user_seconds"] + code["system_seconds"]), (version, found, code["user_seconds"])
    own = [row for row in found["line"] if row["file"] and row["file"].endswith("program.py") and row["function"] in LINES]
    check_exports(f"of-{version}-{length}", found)
    assert own and all(row["line"] is None or row["line"] in LINES[row["function"]] for row in own), (version, own)
assert looked, "Sonde and a program never ran at the same time"
