# SPDX-License-Identifier: Apache-2.0
"""Programs that iterate, in Python and shell, recorded for real: the median step that `sonde show --steps` finds beside what they measured themselves: of all steps the median, since others may keep a few of them from a core.
And some that do not. Prints two columns, what and percent."""
import json
import os
import random
import subprocess
import sys
import tempfile

SONDE = os.environ["SONDE"]
KINDS = ("compute and sleep", "compute and write", "write only", "two processes", "shell")
LOOP = r"""
import json, os, random, sys, time, subprocess
kind, period, jitter, steps, every, seed = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6])
rng, lengths = random.Random(seed), []
def burn(s):
    end = time.thread_time() + s
    while time.thread_time() < end:
        sum(range(200))
def until(t):
    time.sleep(max(0, t - time.monotonic()))
for i in range(steps):
    begin, s = time.monotonic(), period * (1 + jitter * max(-2, min(2, rng.gauss(0, 1))))
    if kind == "compute and sleep":
        burn(0.08 * s)
    elif kind == "compute and write":
        burn(0.05 * s)
        open("out", "wb").write(b"x" * 400000)
    elif kind == "write only":
        open("out", "wb").write(b"x" * 2000000)
    else:
        subprocess.run([sys.executable, "-S", "-E", "-c", "import time\ne = time.thread_time() + %f\nwhile time.thread_time() < e: sum(range(200))" % (0.06 * s)])
    until(begin + s)
    lengths.append(time.monotonic() - begin)
    if every and i % every == every - 1:
        open("checkpoint", "wb").write(b"x" * 20000000)
        time.sleep(1.2 * period)
print(*lengths, sep="\n", file=open("truth", "w"))
"""
SHELL = r"""
period=$1 steps=$2; date +%s.%N >times
for i in $(seq $steps); do n=0; while [ $n -lt 4000 ]; do n=$((n+1)); done; sleep $period; date +%s.%N >>times; done
awk 'NR > 1 { printf "%.6f\n", $1 - last } { last = $1 }' times >truth
"""
OTHER = r"""
import random, sys, time
rng, end = random.Random(int(sys.argv[1])), time.monotonic() + 12
while time.monotonic() < end:
    if rng.random() < 0.5:
        stop = time.thread_time() + rng.expovariate(8)
        while time.thread_time() < stop:
            sum(range(200))
    else:
        time.sleep(rng.expovariate(5))
"""


def record(command, interval):
    subprocess.run([SONDE, "run", "-q", "-i", interval, "-o", "rec", "--", *command], check=True)
    return json.loads(subprocess.run([SONDE, "show", "--steps", "--json", "rec"], check=True, capture_output=True, text=True).stdout)


def loop(i, rng):
    kind, period, interval = KINDS[i % len(KINDS)], rng.uniform(0.25, 0.8), rng.choice(("20ms", "40ms"))
    if kind == "shell":
        found = record(["bash", "-c", SHELL, "sh", f"{period:.3f}", "30"], interval)
    else:
        found = record([sys.executable, "-c", LOOP, kind, str(period), str(rng.uniform(0, 0.1)), "40", str(rng.choice((0, 10))), str(i)], interval)
    with open("truth", encoding="utf-8") as f:
        lengths = sorted(float(line) for line in f)
    truth = lengths[len(lengths) // 2]
    median = found["median_seconds"]
    good = median is not None and abs(median / truth - 1) <= 0.02
    print(f"{kind}: {truth:.3f} s, found {median} in {found['metric']}; longest {lengths[-1]:.3f}", file=sys.stderr)
    return good


def main():
    rng, good, invented, loops, others = random.Random(30), 0, 0, 20, 8
    for i in range(loops + others):
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)
            if i < loops:
                good += loop(i, rng)
            else:
                found = record([sys.executable, "-c", OTHER, str(i)], "40ms")
                invented += len(found["steps"]) > 0
            os.chdir("/")
    print(f"median\t{100 * good / loops:.1f}\ninvented\t{100 * invented / others:.1f}")


main()
