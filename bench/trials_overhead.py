# SPDX-License-Identifier: Apache-2.0
"""trials_overhead.py FOLDER PAIRS: a script of about 1 s, bare and by `sonde bench run` in turns. Prints by how many percent it takes
longer: the Hodges-Lehmann estimate over pairs (the median of all means of two of them), and the upper bound of its 95 % interval, that of
Wilcoxon's signed ranks; the same estimate of the script's own CPU time; and how many milliseconds of CPU Sonde takes for a trial, all that
it does before and after the script included."""
import json
import math
import os
import resource
import subprocess
import sys
import time

SONDE, FOLDER, PAIRS = os.path.abspath(os.environ["SONDE"]), sys.argv[1], int(sys.argv[2])
os.chdir(FOLDER)
NOTHING = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1)]


def script(rounds):
    with open("script", "w") as f:
        f.write("#!/usr/bin/awk -f\nBEGIN { for (i = 0; i < %d; i++) s += i * i;\n"
                'print "{\\"name\\": \\"PiLoop\\", \\"component\\": \\"awk\\", \\"@parameters\\": {}, \\"@result\\": {\\"sum\\": 1}}" }\n' % rounds)
    os.chmod("script", 0o755)


def bare():
    """Seconds from before its fork until it was waited for, as Sonde measures, and of CPU."""
    began = time.monotonic()
    _, status, used = os.wait4(os.posix_spawn("./script", ["./script"], os.environ, file_actions=NOTHING), 0)
    took = time.monotonic() - began
    if status:
        sys.exit("the script failed")
    return took, used.ru_utime + used.ru_stime


def all_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_sonde(number):
    before = all_cpu()
    done = subprocess.run([SONDE, "bench", "run", "-q", "--json", "-o", f"d{number}", "--store", "store.sqlite", "./script"], capture_output=True, check=True)
    figures = {name: f["mean"] for name, f in json.loads(done.stdout)["batches"][0]["figures"].items()}
    cpu = figures["ru_utime"] + figures["ru_stime"]
    own.append(all_cpu() - before - cpu)
    return figures["duration_seconds"], cpu


def estimate(values):
    """Of what lies symmetrically around it, whatever its tails."""
    n = len(values)
    means = sorted((values[i] + values[k]) / 2 for i in range(n) for k in range(i, n))
    out = math.floor(len(means) / 2 - 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    middle = len(means) // 2
    return means[middle] if len(means) % 2 else (means[middle - 1] + means[middle]) / 2, means[-1 - max(out, 0)]


own = []
script(1000000)
script(int(1000000 / min(bare()[0] for _ in range(3))))
by_sonde(0)
own.clear()
wall, cpu = [], []
for i in range(1, PAIRS + 1):
    without, with_it = (bare(), by_sonde(i)) if i % 2 else tuple(reversed((by_sonde(i), bare())))
    wall.append(100 * (with_it[0] / without[0] - 1))
    cpu.append(100 * (with_it[1] / without[1] - 1))
middle, high = estimate(wall)
print(f"{middle:.3f} {high:.3f} {estimate(cpu)[0]:.3f} {1000 * sorted(own)[PAIRS // 2]:.1f}")
