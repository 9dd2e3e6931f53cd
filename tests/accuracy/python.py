# SPDX-License-Identifier: Apache-2.0
# quiet
# limit: 600
"""Lines of Python's scripts in which threads wait (--waits=20), and functions that have the CPU time (--stacks), for each interpreter that is here. Sixteen threads, four processes of
multiprocessing with four threads each, or an event loop of asyncio with an executor of fifteen threads sleep, wait for a lock, a queue and a pipe, and compute, each at a line of its own and for lengths by
chance. They measure each line by their own clocks: the time that passed without the thread's CPU time, and without that for which it was ready. A line's share of the time at all these lines is compared with what was recorded: the
row has the worst line, and at how many waits there was a look; the standard error of that share is that of as many independent looks, and the bound is three points and one standard error. Of the functions that compute, the share of the samples is compared with
that of the thread's CPU clock. Where py-spy is installed (PY_SPY names it, or the path), it looks at the same processes meanwhile, at the same rate, without stopping them."""
import collections
import concurrent.futures
import json
import math
import os
import shutil
import subprocess
import sys
import time

import accuracy
import interpreters
from patience import patience

LONG = os.environ.get("LONG") or os.environ.get("ACCURACY")
SECONDS = 15 if LONG else 6
CPU_SECONDS = 12 if LONG else 4
HZ, LOOKS = 20, 400
PY_SPY = os.environ.get("PY_SPY") or shutil.which("py-spy")
WAITS = """import asyncio, multiprocessing, os, queue, random, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
END = time.monotonic() + float(sys.argv[2])
def fed():
    things, (r, w), lock = queue.Queue(), os.pipe(), threading.Lock()
    draw = random.Random(os.getpid())
    def feed():
        while time.monotonic() < END + 4:
            time.sleep(draw.uniform(0.0, 0.1))
            things.put(1)
            os.write(w, b'x')
    def hold():
        while time.monotonic() < END + 4:
            with lock:
                time.sleep(draw.uniform(0.0, 0.12))
            time.sleep(draw.uniform(0.0, 0.05))
    for one in feed, hold:
        threading.Thread(target=one, daemon=True).start()
    return things, r, lock
def clocks():
    fd = os.open('/proc/thread-self/schedstat', os.O_RDONLY)
    ready = int(os.read(fd, 100).split()[1]) / 1e9
    os.close(fd)
    return time.monotonic(), time.thread_time() + ready
def note(spent, name, before):
    wall, cpu = clocks()
    spent[name] = spent.get(name, 0) + (wall - before[0]) - (cpu - before[1])
def work(seed, things, r, lock, spent):
    draw = random.Random(seed)
    while time.monotonic() < END:
        what = draw.randrange(5)
        before = clocks()
        if what == 0:
            time.sleep(draw.uniform(0.001, 0.15)) # short
            note(spent, 'short', before)
        elif what == 1:
            time.sleep(draw.uniform(0.1, 0.3)) # long
            note(spent, 'long', before)
        elif what == 2:
            things.get() # queue
            note(spent, 'queue', before)
        elif what == 3:
            os.read(r, 1) # pipe
            note(spent, 'pipe', before)
        else:
            lock.acquire() # lock
            note(spent, 'lock', before)
            lock.release()
        sum(range(3000))
def run_threads(n, seed, out):
    things, r, lock = fed()
    all = [{} for _ in range(n)]
    threads = [threading.Thread(target=work, args=(seed + i, things, r, lock, all[i])) for i in range(n)]
    for t in threads: t.start()
    for t in threads: t.join()
    total = {}
    for spent in all:
        for name, seconds in spent.items():
            total[name] = total.get(name, 0) + seconds
    out(total)
def told(total):
    sys.stdout.write(''.join('%s %.6f\\n' % one for one in total.items()))
    sys.stdout.flush()
def child(i):
    run_threads(4, 100 * i, told)
async def blocks(spent):
    draw = random.Random(9)
    while time.monotonic() < END:
        before = clocks()
        time.sleep(draw.uniform(0.001, 0.03)) # blocks
        note(spent, 'blocks', before)
        await asyncio.sleep(draw.uniform(0.0, 0.2))
async def main_of_loop():
    things, r, lock = fed()
    all = [{} for _ in range(16)]
    loop = asyncio.get_running_loop()
    pool = ThreadPoolExecutor(15)
    jobs = [loop.run_in_executor(pool, work, i, things, r, lock, all[i]) for i in range(15)]
    before = clocks()
    await blocks(all[15])
    for one in jobs: await one
    all[15]['loop'] = clocks()[0] - before[0] - (clocks()[1] - before[1]) - all[15]['blocks']
    total = {}
    for spent in all:
        for name, seconds in spent.items():
            total[name] = total.get(name, 0) + seconds
    told(total)
if __name__ == '__main__':
    if sys.argv[1] == 'threads':
        run_threads(16, 0, told)
    elif sys.argv[1] == 'asyncio':
        asyncio.run(main_of_loop()) # loop
    else:
        some = [multiprocessing.get_context('fork').Process(target=child, args=(i,)) for i in range(4)]
        for one in some: one.start()
        for one in some: one.join()
"""
# Kernel time is no part of samples: each function uses memory that is there already, and frees what it made before it returns.
COMPUTES = """import hashlib, sys, time
spent = {}
data = b'x' * 3000000
def loops():
    n = 0
    for i in range(100000):
        n += i * i
def hashes():
    hashlib.sha256(data).digest()
def sorts():
    for _ in range(10):
        sorted(range(6000), key=lambda i: -i)
def dicts():
    d = {}
    for i in range(40000):
        d[str(i % 1000)] = i
    del d
def part(function):
    began = time.thread_time()
    function()
    spent[function.__name__] = spent.get(function.__name__, 0) + time.thread_time() - began
rounds = 0
while sum(spent.values()) < float(sys.argv[1]):
    part(loops); part(hashes); part(sorts); part(dicts)
    rounds += 1
print('rounds', rounds)
for name, seconds in spent.items():
    print(name, seconds)
"""
LINE = {number: line.rsplit("# ", 1)[1] for number, line in enumerate(WAITS.splitlines(), 1) if "# " in line}
table = accuracy.Comparison("Lines of Python")
for name, text in (("waits.py", WAITS), ("computes.py", COMPUTES)):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def sums(text):
    total = collections.Counter()
    for name, seconds in (line.split() for line in text.splitlines()):
        total[name] += float(seconds)
    return total


def shares(total, names):
    whole = sum(total[name] for name in names)
    return {name: total[name] / whole if whole else 0 for name in names}


def error_of(share, n):
    return math.sqrt(share * (1 - share) / n) if n else 1


def shown(*words):
    return json.loads(subprocess.run([accuracy.SONDE, "show", "--json", *words], check=True, capture_output=True, text=True).stdout)


def of_py_spy(path):
    """Looks by line: the innermost frame of the script, if it is at one of the lines. The file is removed."""
    looks = collections.Counter()
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    os.remove(path)
    for line in lines:
        stack, _, n = line.rpartition(" ")
        for frame in reversed(stack.split(";")):
            file, _, number = frame.rpartition("(")[2].rstrip(")").rpartition(":")
            if file.endswith("waits.py") and number.isdigit():
                if int(number) in LINE:
                    looks[LINE[int(number)]] += int(n)
                break
    return looks


def by_py_spy(pid):
    return subprocess.Popen([PY_SPY, "record", "--pid", str(pid), "--nonblocking", "--idle", "--threads", "--subprocesses", "--rate", str(HZ), "--duration", str(SECONDS - 3), "--format", "raw",
                             "--output", "spy.txt"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def worst(found, truth):
    return max(truth, key=lambda name: abs(found[name] - truth[name]))


# ---- lines that wait ----
def waits(version, path, kind):
    name = f"waits-{version}-{kind}"
    with subprocess.Popen([accuracy.SONDE, "run", "-q", f"--waits={HZ}", "--stacks=off", "-o", name, "--", path, "waits.py", kind, str(SECONDS)], stdout=subprocess.PIPE, text=True) as job:
        spy = None
        if PY_SPY:
            time.sleep(2)
            children = subprocess.run(["pgrep", "-P", str(job.pid), "-f", "waits.py"], capture_output=True, text=True, check=False).stdout.split()
            spy = by_py_spy(children[0]) if children else None
        out = job.communicate(timeout=SECONDS + patience(120))[0]
        assert job.returncode == 0, (version, kind, job.returncode)
        if spy:
            spy.wait(timeout=patience(60))
    truth = sums(out)
    seen, places = collections.Counter(), shown("--waits", "--by", "place", name)["place"]
    for row in places:
        if (row["file"] or "").endswith("waits.py") and row["line"] in LINE:
            seen[LINE[row["line"]]] += row["waited_seconds"]
    return truth, seen, name


def compared(version, path, kind):
    truth, seen, name = waits(version, path, kind)
    names = sorted(truth)
    wanted, found = shares(truth, names), shares(seen, names)
    at = worst(found, wanted)
    looks = int(accuracy.Recording(name).raw("job.wait_looks")[-1][1])
    error = 100 * error_of(wanted[at], looks)
    print(version, kind, {one: (round(100 * wanted[one], 1), round(100 * found[one], 1)) for one in names})
    spied = of_py_spy("spy.txt") if os.path.exists("spy.txt") else {}
    beside = ""
    if sum(spied.values()):
        its = shares(spied, names)
        off = worst(its, wanted)
        print("py-spy", {one: round(100 * its[one], 1) for one in names}, sum(spied.values()))
        beside = f"; py-spy meanwhile, {sum(spied.values()):,} looks: {100 * abs(its[off] - wanted[off]):.1f} points off ({off})"
    table.row("waited at a line, %", f"CPython {version}, {kind}: the worst of {len(names)} lines ({at}); {looks:,} waits looked at, standard error {error:.1f}{beside}", 100 * found[at], 100 * wanted[at],
              apart=3 + error * (1 if LONG else 3))
    shutil.rmtree(name)


# ---- functions that compute ----
def computes(version, path, one_cpu):
    """Recorded once more if there are too few looks. With one CPU for Sonde and the program, they never run at the same time. Looks come several to a call of a function: as many are independent as there
    were calls."""
    where = "Sonde on the same CPU" if one_cpu else "Sonde on any CPU"
    pin = (lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})) if one_cpu else None
    truth, seen, looks, name = collections.Counter(), collections.Counter(), 0, f"computes-{version}"
    for _ in range(2):
        done = subprocess.run([accuracy.SONDE, "run", "-q", "--stacks=997", "-o", name, "--", path, "computes.py", str(CPU_SECONDS)], check=True, capture_output=True, text=True, preexec_fn=pin)
        code = shown("--code", name)
        shutil.rmtree(name)
        if not code["python"]:
            continue
        for what, seconds in sums(done.stdout).items():
            truth[what] += seconds
        for row in code["python"]["function"]:
            seen[row["name"]] += row["total_ratio"] * code["python"]["samples"]
        looks += int(code["python"]["samples"])
        if looks >= LOOKS or not LONG:
            break
    calls = 4 * truth.pop("rounds", 0)
    names = sorted(truth)
    wanted = shares(truth, names)
    found = {one: seen[one] / max(sum(seen[x] for x in names), 1) for one in names}
    if not names or looks < (LOOKS if LONG else 60):
        assert not one_cpu, f"CPython {version}, {where}: {looks} looks"
        table.left_out("CPU time of a function, %", f"CPython {version}, {where}: {looks} looks only")
        return
    at = worst(found, wanted)
    error = 100 * error_of(wanted[at], min(looks, calls))
    print(version, where, {one: (round(100 * wanted[one], 1), round(100 * found[one], 1)) for one in names}, looks, calls)
    table.row("CPU time of a function, %", f"CPython {version}, {where}: the worst of {len(names)} functions ({at}); {looks:,} looks at {calls:,} calls, standard error {error:.1f}", 100 * found[at], 100 * wanted[at],
              apart=3 + error * (1 if LONG else 3))


known = {version: path for (version, _), path in interpreters.known().items()}
interpreters.told(interpreters.known())
if not known:
    print("no Python is here whose frames are known")
    sys.exit(77)
for version, path in known.items() if LONG else list(known.items())[:1]:
    # Most of the time they wait. py-spy would look at all of them at once.
    with concurrent.futures.ThreadPoolExecutor(1 if PY_SPY or LONG else 3) as pool:
        list(pool.map(lambda kind, version=version, path=path: compared(version, path, kind), ("threads", "asyncio", "multiprocessing")))
    for one_cpu in False, True:
        computes(version, path, one_cpu)
table.end()
