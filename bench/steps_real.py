# SPDX-License-Identifier: Apache-2.0
"""Programs that iterate, in Python and shell, recorded for real: the median plain step that `sonde show --steps` finds beside what they measured themselves.
And some that do not. Two families: 20 + 8 that keep to a clock, and, written later, 30 + 20 whose steps last as long as their work: validation, warm-up, loops within steps, subprocesses, pools, servers; half of these
were kept aside. Prints columns: what and percent, beside each job on standard error.

    steps_real.py first|open|kept [FOLDER]     FOLDER: keeps the recordings there, or judges those that are there again"""
import concurrent.futures
import os
import random
import subprocess
import sys

from steps_tally import judge, main, print_tally

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

# ---- the second family ----

STRUCTURES = ("training", "warm-up", "stages", "inner loop", "solver", "subprocesses", "script", "jitter", "reads and writes", "log", "pool", "threads", "memory", "server", "adaptive")
APERIODIC = ("any work", "build", "downloads", "one computation", "queue", "sweep", "walk", "commands", "phases", "archive")
PROGRAM = r"""
import multiprocessing, os, random, subprocess, sys, threading, time
kind, p, steps, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
rng, lengths, every = random.Random(seed), [], 5 + seed % 6

def burn(s):
    end = time.thread_time() + s
    while time.thread_time() < end:
        sum(range(200))

def rest(s):
    time.sleep(max(0, s))

def about(s, by=0.04):
    return s * max(0.5, 1 + by * rng.gauss(0, 1))

# It ends on time where others keep it from a core for a while.
def work(busy, idle):
    end = time.monotonic() + about((busy + idle) * p)
    burn(0.25 * busy * p)
    rest(end - time.monotonic())

def write(name, n, sync=False):
    with open(name, "ab" if sync else "wb") as f:
        f.write(b"x" * n)
        if sync:
            os.fsync(f.fileno())

def training(i):
    with open("batches", "rb") as f:
        f.read()
    work(0.2, 0.7)

def validation(i):
    for _ in range(4 if i % every == every - 1 else 0):
        work(0.1, 0.2)

def warm_up(i):
    factor = (3, 2, 1.5, 1.2)[i] if i < 4 else 1
    work(0.3 * factor, 0.6 * factor)

def checkpoint(i):
    if i % 8 == 7:
        write("checkpoint", 15000000)
        rest(0.8 * p)

def stages(i):
    for _ in range(3):
        work(0.1, 0.18)
    write("out", 300000)
    rest(0.1 * p)

def inner_loop(i):
    for _ in range(25):
        work(0.01, 0.02)
    rest(about(0.2 * p))

def solver(i):
    for _ in range(rng.randint(4, 7)):
        work(0.06, 0.05)
    write("out", 500000)
    rest(about(0.3 * p))

def subprocesses(i):
    end = time.monotonic() + about(p)
    subprocess.run("head -c 500000 /dev/urandom | gzip -1 | wc -c", shell=True, stdout=subprocess.DEVNULL)
    rest(end - time.monotonic())

def jitter(i):
    end = time.monotonic() + p * rng.lognormvariate(0, 0.1)
    burn(0.05 * p)
    rest(end - time.monotonic())

def reads_and_writes(i):
    with open("input", "rb") as f:
        for _ in range(16):
            f.read(500000)
            rest(p / 40)
    write("out", 2000000)
    rest(about(0.3 * p))

def log(i):
    for _ in range(5):
        write("log", 50000, sync=True)
    rest(about(0.9 * p))

def worker(s):
    end = time.monotonic() + s
    burn(0.03 * p)
    rest(end - time.monotonic())

def pool(i):
    workers.map(worker, [rng.uniform(0.7, 0.9) * p for _ in range(3)], chunksize=1)

def threads(i):
    running = [threading.Thread(target=worker, args=(about(0.6 * p, 0.08),)) for _ in range(4)]
    for t in running:
        t.start()
    for t in running:
        t.join()
    rest(0.2 * p)

def memory(i):
    held = []
    for _ in range(10):
        held.append(b"x" * 4000000)
        rest(about(0.07 * p))
    del held
    rest(0.3 * p)

def serve(pipe):
    while pipe.recv():
        work(0.2, 0.3)
        pipe.send(1)

def server(i):
    rest(about(0.4 * p))
    ours.send(1)
    ours.recv()

def adaptive(i):
    factor = 1 + 0.3 * i / steps
    work(0.25 * factor, 0.75 * factor)

def loop(one, after=lambda i: None):
    for i in range(steps):
        begin = time.monotonic()
        one(i)
        lengths.append("%f%s" % (time.monotonic() - begin, " warm-up" * (kind == "warm-up" and i < 4)))
        after(i)
    with open("truth", "w") as f:
        print(*lengths, sep="\n", file=f)

# ---- no steps ----

def any_work():
    if rng.random() < 0.5:
        burn(rng.expovariate(8))
    else:
        rest(rng.expovariate(4))

def build():
    busy = "import time\ne = time.thread_time() + %f\nwhile time.thread_time() < e: sum(range(200))\nopen('o', 'wb').write(b'x' * 100000)"
    compilers = [subprocess.Popen([sys.executable, "-S", "-E", "-c", busy % rng.lognormvariate(-2, 0.9)]) for _ in range(rng.randint(1, 3))]
    for c in compilers:
        c.wait()
    rest(rng.expovariate(12))

def downloads():
    rest(rng.expovariate(5))
    write("part", int(rng.lognormvariate(13, 1)), sync=rng.random() < 0.3)

def one_computation():
    burn(0.05)
    rest(0.001 * rng.random())

def queue():
    with open("input", "rb") as f:
        f.read(rng.randint(1, 8000000))
    size = rng.lognormvariate(-1, 0.9)
    burn(0.3 * size)
    rest(0.4 * size)

size = [0.02]
def sweep():
    size[0] *= 1.3
    burn(0.3 * size[0])
    write("out", 100000)
    rest(0.5 * size[0])

share = [0.2]
def walk():
    share[0] = min(0.5, max(0.02, share[0] + 0.05 * rng.gauss(0, 1)))
    burn(0.05 * share[0])
    rest(0.05 * (1 - share[0]))

def commands():
    subprocess.run(rng.choice(("head -c 2000000 /dev/urandom | gzip -1 >x.gz", "ls -lR /usr/share/doc | wc -l", "sort --version", "sleep 0.2", "head -c 4000000 /dev/zero >x")),
                   shell=True, stdout=subprocess.DEVNULL)
    rest(rng.expovariate(3))

def phases():
    a, b, n = rng.uniform(0.02, 0.4), rng.uniform(0.02, 0.1), rng.randint(2, 60)
    for _ in range(n):
        burn(0.1 * a * rng.random())
        rest(b * rng.random())

def archive():
    subprocess.run("tar cf - /usr/share/doc 2>/dev/null | head -c %d | gzip -1 >x.tgz" % rng.randint(1000000, 30000000), shell=True)
    rest(rng.expovariate(4))

write("batches", 2000000)
write("input", 8000000)
rest(rng.uniform(0.2, 3) * p)
if kind == "pool":
    workers = multiprocessing.Pool(3)
elif kind == "server":
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=serve, args=(theirs,), daemon=True).start()
name = kind.replace(" ", "_").replace("-", "_")
if steps:
    loop(globals()[name], {"training": validation, "warm-up": checkpoint}.get(kind, lambda i: None))
else:
    end = time.monotonic() + 14
    while time.monotonic() < end:
        globals()[name]()
"""
SCRIPT = r"""
period=$1 steps=$2; head -c 200000 /dev/urandom >input; date +%s.%N >times
for i in $(seq $steps); do cp input copy; gzip -1 <copy >copy.gz; sleep $period; rm copy copy.gz; date +%s.%N >>times; done
awk 'NR > 1 { printf "%.6f\n", $1 - last } { last = $1 }' times >truth
"""


def first_jobs():
    rng = random.Random(30)
    for i in range(28):
        kind, period, interval = KINDS[i % len(KINDS)], rng.uniform(0.25, 0.8), rng.choice(("20ms", "40ms"))
        if i >= 20:
            yield "any work", "40ms", [sys.executable, "-c", OTHER, str(i)]
        elif kind == "shell":
            yield kind, interval, ["bash", "-c", SHELL, "sh", f"{period:.3f}", "30"]
        else:
            yield kind, interval, [sys.executable, "-c", LOOP, kind, str(period), str(rng.uniform(0, 0.1)), "40", str(rng.choice((0, 10))), str(i)]


def second_jobs(seed):
    rng = random.Random(seed)
    for i, kind in enumerate(STRUCTURES + APERIODIC):
        period, steps, interval = rng.uniform(0.5, 1.2), rng.randint(24, 34), rng.choice(("20ms", "40ms", "80ms"))
        if period < 0.7 and interval == "80ms":
            interval = "40ms"
        if kind == "script":
            yield kind, interval, ["bash", "-c", SCRIPT, "sh", f"{period:.3f}", str(steps)]
        else:
            yield kind, interval, [sys.executable, "-c", PROGRAM, kind, str(period), str(steps if i < len(STRUCTURES) else 0), str(seed + i)]


def record(folder, interval, command):
    if os.path.exists(f"{folder}/rec"):
        return
    os.makedirs(folder)
    subprocess.run([SONDE, "run", "-q", "-i", interval, "-o", "rec", "--", *command], check=True, cwd=folder)


def run(family, scratch):
    jobs = list(first_jobs() if family == "first" else second_jobs({"open": 31, "kept": 900031}[family]))
    folders = [f"{scratch}/{family}-{i}" for i in range(len(jobs))]
    with concurrent.futures.ThreadPoolExecutor(1 if family == "first" else 3) as pool:
        list(pool.map(lambda x: record(x[0], x[1][1], x[1][2]), zip(folders, jobs)))
    print_tally(x for folder, (kind, _, _) in zip(folders, jobs) for x in judge(folder, kind))


main(run)
