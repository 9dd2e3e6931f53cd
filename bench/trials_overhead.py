# SPDX-License-Identifier: Apache-2.0
"""trials_overhead.py FOLDER ROUNDS: what `sonde bench run` costs a script of 1 s, in parts that can be measured sharply where the processor's
speed changes from second to second. Prints, separated by spaces:

- milliseconds that a script which does nothing takes longer, from before its fork until it was waited for;
- percent by which the CPU time of the same work grows: a bare script and one under Sonde live at the same time and take turns of 5 ms;
- milliseconds of CPU that Sonde takes for each second of a script: for one of 1 s less those for one that does nothing;
- percent that these are together of 1 s, Sonde's CPU time counted as if the script had waited for all of it, and the upper bound of the
  95 % interval of that: of each part that of 98.3 % (Bonferroni);
- percent that a script of 1 s takes longer as a whole, in turns, with the ends of its own 95 % interval;
- milliseconds of CPU that Sonde takes for a trial of 1 s, all before and after it included.

Estimates and their intervals: bench/estimate.py."""
import json
import os
import resource
import statistics
import subprocess
import sys
import time

from estimate import estimate

SONDE, FOLDER, ROUNDS = os.path.abspath(os.environ["SONDE"]), sys.argv[1], int(sys.argv[2])
TURNS, ONE, EACH = 60, 1.96, 2.394
os.chdir(FOLDER)
NOTHING = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1)]
SAID = '{"name": "PiLoop", "component": "loop", "@parameters": {}, "@result": {"sum": 1}}'


def script(name, text):
    with open(name, "w") as f:
        f.write(text)
    os.chmod(name, 0o755)


def loop(rounds):
    script("loop", "#!/usr/bin/awk -f\nBEGIN { for (i = 0; i < %d; i++) s += i * i; print \"%s\" }\n" % (rounds, SAID.replace('"', '\\"')))


def bare(name):
    """Seconds from before its fork until it was waited for, as Sonde measures."""
    began = time.monotonic()
    _, status, _ = os.wait4(os.posix_spawn("./" + name, ["./" + name], os.environ, file_actions=NOTHING), 0)
    took = time.monotonic() - began
    if status:
        sys.exit("the script failed")
    return took


def all_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_sonde(*words):
    """Seconds of the script, and of Sonde's CPU."""
    global runs
    runs += 1
    before = all_cpu()
    done = subprocess.run([SONDE, "bench", "run", "-q", "--json", "-o", f"d{runs}", "--store", "store.sqlite", *words], capture_output=True, check=True)
    figures = {name: f["mean"] for name, f in json.loads(done.stdout)["batches"][0]["figures"].items()}
    return figures["duration_seconds"], all_cpu() - before - figures["ru_utime"] - figures["ru_stime"]


def in_turns(i, first, second):
    return (first(), second()) if i % 2 else tuple(reversed((second(), first())))


def growth(i):
    """Percent; the median turn counts."""
    with subprocess.Popen(["./turns", "a", "b", str(i % 2)], stdout=subprocess.DEVNULL) as other:
        by_sonde("./turns", "b", "a", str(1 - i % 2))
    if other.returncode:
        sys.exit("the script failed")
    took = []
    for name in "ba":
        with open(name + ".json") as f:
            took.append(json.load(f)[5:])
    return 100 * (statistics.median(x / y for x, y in zip(*took)) - 1)


script("turns", f"""#!{sys.executable}
import json, os, sys, time, zlib
mine, theirs, begins = sys.argv[1:]
inbox, outbox = (os.open("to_" + name, os.O_RDWR) for name in (mine, theirs))
block, took = bytes(range(256)) * 1024, []
if begins == "1":
    os.write(inbox, b".")
for _ in range({TURNS}):
    os.read(inbox, 1)
    began = time.process_time_ns()
    for _ in range(20):
        zlib.crc32(block)
    took.append(time.process_time_ns() - began)
    os.write(outbox, b".")
with open(mine + ".json", "w") as f:
    json.dump(took, f)
print('{SAID}')
""")
runs = 0
for name in "ab":
    os.mkfifo("to_" + name)
loop(1000000)
loop(int(1000000 / min(bare("loop") for _ in range(3))))
script("nothing", f"#!/bin/sh\necho '{SAID}'\n")
by_sonde("./nothing")

fixed, grown, second, whole, own = [], [], [], [], []
for i in range(ROUNDS):
    for k in range(3):
        with_it, without = in_turns(k, lambda: by_sonde("./nothing"), lambda: bare("nothing"))
        fixed.append(1000 * (with_it[0] - without))
        short = 1000 * with_it[1]
    grown.append(growth(i))
    if i % 2:
        continue
    with_it, without = in_turns(i // 2, lambda: by_sonde("./loop"), lambda: bare("loop"))
    whole.append(100 * (with_it[0] / without - 1))
    own.append(1000 * with_it[1])
    second.append(own[-1] - short)

start, work, second = (estimate(v, EACH) for v in (fixed, grown, second))
total, high = (start[i] / 10 + work[i] + max(second[i], 0) / 10 for i in (0, 2))
print(" ".join(f"{v:.3f}" for v in (start[0], work[0], second[0], total, high, *estimate(whole, ONE), statistics.median(own))))
