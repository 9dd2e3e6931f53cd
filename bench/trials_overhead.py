# SPDX-License-Identifier: Apache-2.0
"""trials_overhead.py FOLDER PAIRS: a script of about 1 s, bare and by `sonde bench run` in turns. Prints by how many percent it takes
longer: the mean over pairs, and the upper bound of its 95 % interval."""
import json
import math
import os
import subprocess
import sys
import time

SONDE, FOLDER, PAIRS = os.path.abspath(os.environ["SONDE"]), sys.argv[1], int(sys.argv[2])
# Student's t, 0.975, of so many degrees of freedom or more.
T = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (7, 2.365), (9, 2.262), (14, 2.145), (19, 2.093), (29, 2.045), (39, 2.023), (59, 2.001)]
os.chdir(FOLDER)


def script(rounds):
    with open("script", "w") as f:
        f.write("#!/usr/bin/awk -f\nBEGIN { for (i = 0; i < %d; i++) s += i * i;\n"
                'print "{\\"name\\": \\"PiLoop\\", \\"component\\": \\"awk\\", \\"@parameters\\": {}, \\"@result\\": {\\"sum\\": 1}}" }\n' % rounds)
    os.chmod("script", 0o755)


def bare():
    began = time.monotonic()
    subprocess.run(["./script"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began


def by_sonde(number):
    done = subprocess.run([SONDE, "bench", "run", "-q", "--json", "-o", f"d{number}", "--store", "store.sqlite", "./script"], capture_output=True, check=True)
    return json.loads(done.stdout)["batches"][0]["figures"]["duration_seconds"]["mean"]


script(1000000)
script(int(1000000 / min(bare() for _ in range(3))))
by_sonde(0)
percent = []
for i in range(1, PAIRS + 1):
    pair = (bare(), by_sonde(i)) if i % 2 else tuple(reversed((by_sonde(i), bare())))
    percent.append(100 * (pair[1] / pair[0] - 1))
mean = sum(percent) / PAIRS
sd = math.sqrt(sum((p - mean) ** 2 for p in percent) / (PAIRS - 1))
t = [value for df, value in T if df <= PAIRS - 1][-1]
print(f"{mean:.3f} {mean + t * sd / math.sqrt(PAIRS):.3f}")
