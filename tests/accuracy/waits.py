# SPDX-License-Identifier: Apache-2.0
# quiet
# limit: 900
"""Time of threads by what they waited for (--waits). Mixes of threads that work and wait in lengths by chance (sleep, pipe, socket, poll, mutex, condition,
child) for 20 s each measure their wall and CPU time by their own clocks: of the worst thread of all mixes the recorded time is compared with that, and the share that it waited or
was ready, in points of its time. The first bound is extended by the time that
others kept that thread from a core: then neither the thread's first look at its clock nor Sonde's at the thread is on time. Jobs that do nothing but compute (C, Python, shell, perl) must
not be said to wait for anything, and no verdict may name a wait."""
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys

import accuracy

MIX_S, AT_ONCE = 20, 4
MIXES, BUSY = (20, 100) if os.environ.get("LONG") or os.environ.get("ACCURACY") else (3, 4)  # all of them for docs/accuracy.md
KINDS = ("sleep", "pipe", "socket", "poll", "mutex", "condition", "child")
table = accuracy.Comparison("Waits")


def record(name, *command):
    done = subprocess.run([accuracy.SONDE, "run", "-q", "--waits", "--stacks=off", "-o", name, "--", *command], check=True, capture_output=True, text=True)
    return done.stdout


def shown(*words):
    return json.loads(subprocess.run([accuracy.SONDE, "show", "--json", *words], check=True, capture_output=True, text=True).stdout)


# ---- mixes ----
def mix(seed):
    """Of each thread: wall as recorded, and by its own clock; how long it was ready; the share of it that it waited or was ready, in both ways."""
    draw, name = random.Random(seed), f"mix{seed}"
    parts = [f"{kind}:{draw.random() * 20:.1f}:{draw.uniform(200, 500) if kind == 'child' else draw.uniform(5, 85):.1f}" for kind in KINDS]
    lines = [line.split() for line in record(name, accuracy.program("wait_mix"), str(MIX_S), *parts).splitlines()]
    rows = {row["tid"]: row for row in shown("--waits", name)["thread"]}
    shutil.rmtree(name)
    for _, tid, wall, cpu, *_ in lines:
        row, wall, cpu = rows[int(tid)], float(wall), float(cpu)
        assert abs(row["on_cpu_seconds"] + row["ready_seconds"] + row["waited_seconds"] - row["wall_seconds"]) < 1e-6, row
        yield row["wall_seconds"], wall, row["ready_seconds"], (row["ready_seconds"] + row["waited_seconds"]) / row["wall_seconds"], 1 - cpu / wall


def at_once(function, numbers):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(function, numbers))


threads = [thread for found in at_once(lambda seed: list(mix(seed)), range(MIXES)) for thread in found]
seen, wall, ready, _, _ = max(threads, key=lambda t: abs(t[0] - t[1]) - t[2])
table.row("wall_seconds", f"the thread's own clock; the worst of {len(threads)} threads of {MIXES} mixes", seen, wall, apart=0.01 * wall + ready)
_, _, _, seen, truth = max(threads, key=lambda t: abs(t[3] - t[4]))
table.row("waited or ready, of its time, %", "its own clocks; likewise the worst", 100 * seen, 100 * truth, apart=2)


# ---- busy jobs ----
LOOPS = {
    "python": [sys.executable, "-c", "import time\nend = time.monotonic() + 2.2\nwhile time.monotonic() < end: sum(range(1000))"],
    "shell": ["bash", "-c", "end=$((SECONDS + 3)); while [ $SECONDS -lt $end ]; do :; done"],
    "perl": ["perl", "-e", "$end = time + 3; while (time < $end) { $x++ }"],
    "c": [accuracy.program("hold_up"), "works", "2.2"],
}
kinds = [kind for kind, command in LOOPS.items() if shutil.which(command[0])]


def busy(number):
    """The share of its time that the first thread of a busy job is said to have waited for something, and the verdicts on waits."""
    name = f"busy{number}"
    record(name, *LOOPS[kinds[number % len(kinds)]])
    main = max(shown("--waits", name)["thread"], key=lambda row: row["wall_seconds"])
    named = [v["rule"] for v in shown(name)["verdicts"] if v["rule"].startswith("waits-")]
    shutil.rmtree(name)
    waited = main["waited_seconds"] - main["unseen_seconds"]
    if waited > 0.001 * main["wall_seconds"] or named:
        print(kinds[number % len(kinds)], main, named)
    return waited / main["wall_seconds"], named


found = at_once(busy, range(BUSY))
table.row("waited for something, of its time, %", f"nothing; the worst of {BUSY} jobs", 100 * max(share for share, _ in found), 0, apart=0.1)
table.row("verdicts on waits", f"none, of {BUSY} busy jobs", sum(len(named) for _, named in found), 0, apart=0)
table.end()
