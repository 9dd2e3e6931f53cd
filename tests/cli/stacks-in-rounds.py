# SPDX-License-Identifier: Apache-2.0
"""As on machines with many CPUs, threads are sampled in rounds, fewer at a time than there are: each part of a program has the share that its own clock
measured, also across processes, exec and threads that begin and end; the sum is the CPU time; what has no sample is said."""
# limit: 900
import glob
import json
import math
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

from ordinary_user import USER, enter_room, need_unwind
from patience import patience
from stacks import Stacks

SONDE, PROGRAMS, BUILD = (os.environ[name] for name in ("SONDE", "PROGRAMS", "BUILD"))
CROWD, KINDS = PROGRAMS + "/crowd", PROGRAMS + "/stack_kinds"
AT_A_TIME = 16
need_unwind()
room = enter_room()


def start(name, *command, threads=AT_A_TIME, hz=999, **more):
    return subprocess.Popen([*USER, SONDE, "run", f"--stacks={hz}", "-q", "-o", name, "--", *command], stdout=open(name + ".out", "w"),
                            env={**os.environ, "SONDE_STACKS_THREADS": str(threads)}, **more)


def ended(job, name):
    assert job.wait(timeout=patience(600)) == 0, name
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)
    found = Stacks(name)
    if not found.samples and "forbidden" in str(found.metadata.get("source.stacks")):
        print(found.metadata["source.stacks"])
        sys.exit(77)
    shown = json.loads(subprocess.run([SONDE, "show", "--code", "--json", name], check=True, capture_output=True, text=True).stdout)
    return found, shown


def record(name, *command, **more):
    return ended(start(name, *command, **more), name)


def weight(found, *functions):
    """CPU seconds of samples through all of these."""
    return sum(s.weight * s.unit for s in found.samples if all(f in found.path(s.node) for f in functions)) / 1e9


def measured(name):
    """What the threads' own clocks said."""
    both = [[float(word) for word in line.split()] for line in open(name + ".out")]
    return sum(a for a, _ in both), sum(b for _, b in both)


def check_shares(name, found):
    """Within four standard errors. Samples of one turn are not independent: a thread may be in the same call at the next one. So it is turns that the
    error is computed from: how far each is from the share of all."""
    third, rest = measured(name)
    share, turns = third / (third + rest), {}
    for s in found.samples:
        functions = set(found.path(s.node))
        turn = turns.setdefault((s.tid, s.t0), [0, 0])
        turn[0] += s.weight * s.unit * ("one_third" in functions)
        turn[1] += s.weight * s.unit * bool(functions & {"one_third", "two_thirds"})
    own, of = (sum(turn[i] for turn in turns.values()) for i in (0, 1))
    error = math.sqrt(sum((a - own / of * b) ** 2 for a, b in turns.values())) / of
    print(f"{name}: {sum(s.weight for s in found.samples)} samples in {len(turns)} turns, one_third {100 * share:.2f} % by its clock, {100 * own / of:.2f} +- {100 * error:.2f} % by samples")
    assert error <= 0.04, (name, error)
    assert abs(share - own / of) <= 4 * error, (name, third, rest, own, of, error)


def check_sum(name, shown, part=0.01):
    print(f"{name}:", {key: shown[key] for key in ("user_seconds", "system_seconds", "sampled_seconds", "too_short_seconds", "unsampled_seconds")},
          shown["missing"]["threads_unsampled"], shown["missing"]["threads_unsampled_seconds"])
    # Time of threads that never had a turn is told. It is part of what has no samples, or by name of the processes that were too short for them, as a shell
    # that executes another program before its first turn.
    rest = shown["unsampled_seconds"] - shown["missing"]["threads_unsampled_seconds"]
    rest = min(abs(rest), abs(rest + shown["too_short_seconds"]))
    assert rest <= part * (shown["user_seconds"] + shown["system_seconds"]), (name, rest)


# 40 threads in 8 processes, 16 at a time; nothing inherits an event, and there are no more of them than may be.
job = start("many", CROWD, "8", "5", "0", "0.3")
most = 0
while job.poll() is None:
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            if open(path).read() == "sonde-unwind\n" and f"SONDE_STACKS_THREADS={AT_A_TIME}\0" in open(path[:-4] + "environ", errors="replace").read():
                links = [os.readlink(link) for link in glob.glob(path[:-4] + "fd/*")]
                most = max(most, sum("perf_event" in link for link in links))
        except OSError:
            pass
    time.sleep(0.2)
seen, code = ended(job, "many")
assert 0 < most <= AT_A_TIME or not most, most
assert seen.metadata["stacks.threads_at_a_time"] == AT_A_TIME and "stacks.note" not in seen.metadata, seen.metadata
check_shares("many", seen)
check_sum("many", code)
assert len({s.tid for s in seen.samples}) == 40 and len({s.instance for s in seen.samples}) == 8
assert {s.command for s in seen.samples} == {"crowd"}
SAID = f"Sampled in rounds, at most {AT_A_TIME} threads of a node at a time"
assert code["missing"]["threads_at_a_time"] == AT_A_TIME and SAID in subprocess.run([SONDE, "show", "--code", "many"], check=True, capture_output=True,
                                                                                       text=True).stdout
subprocess.run([SONDE, "report", "-o", "page", "many"], check=True)
assert SAID in pathlib.Path("page/report.html").read_text(encoding="utf-8")

# Threads that begin and end, in processes that execute themselves four times.
seen, code = record("turns", CROWD, "2", "6", "0", "1", "4", threads=5)
check_shares("turns", seen)
check_sum("turns", code, 0.03)
named = sum(s.weight * s.unit for s in seen.samples if not any("+0x" in part or part.startswith("(") for part in seen.path(s.node)))
assert named >= 0.97e9 * code["sampled_seconds"], (named, seen.ends())

# Another program: from then on the samples have its name and its functions.
shutil.copy(CROWD, "second")
os.chmod("second", 0o755)
seen, code = record("exec", "sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; exec ./second 1 1 0 1.5")
names = {s.command: 0 for s in seen.samples}
for s in seen.samples:
    names[s.command] += s.weight * s.unit / 1e9
print("exec:", names, weight(seen, "work"))
assert set(names) <= {"sh", "dash", "bash", "second"} and weight(seen, "work") >= 1.3, (names, seen.ends())
assert all("work" not in seen.path(s.node) for s in seen.samples if s.command != "second")
check_sum("exec", code, 0.03)

# A thousand threads that wait, and two that do not.
seen, code = record("idle", CROWD, "1", "2", "1000", "1.5")
check_shares("idle", seen)
check_sum("idle", code, 0.03)
each = {s.tid: 0 for s in seen.samples}
for s in seen.samples:
    each[s.tid] += s.weight * s.unit / 1e9
print("idle:", sorted(each.values()))
# What they used before their first turn is in none, on a busy machine a third of a second.
assert sum(1 < t < 1.75 for t in each.values()) == 2, each

# Processes that end before they are found: their time is named, and given to none.
seen, code = record("short", KINDS, "short", "0.007", "100", hz=99)
print("short:", code["user_seconds"], code["sampled_seconds"], code["too_short_seconds"], code["too_short"])
assert code["too_short_seconds"] + code["sampled_seconds"] + abs(code["unsampled_seconds"]) >= 0.95 * code["user_seconds"], code
assert code["sampled_seconds"] <= code["user_seconds"], code

# What is used before Sonde attaches does not count.
before = subprocess.Popen([CROWD, "1", "3", "0", "2.5"], stdout=subprocess.DEVNULL)
while (used := time.clock_gettime((~before.pid << 3) | 2)) < 2:
    time.sleep(0.05)
job = subprocess.Popen([SONDE, "attach", "--stacks=499", "-q", "-o", "attached", "-p", str(before.pid)], env={**os.environ, "SONDE_STACKS_THREADS": "2"})
assert before.wait(timeout=patience(600)) == 0 and job.wait(timeout=patience(60)) == 0
seen = Stacks("attached")
sampled = weight(seen)
print("attached:", sampled, "after", used)
assert 1 < sampled <= 1.01 * (3 * 2.5 - used), (sampled, used, seen.ends())

# No more at a time than there are descriptors and locked memory for.
seen, code = record("files", CROWD, "1", "1", "0", "0.1", threads=64, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
assert 8 <= seen.metadata["stacks.threads_at_a_time"] <= 16, seen.metadata["stacks.threads_at_a_time"]
if USER and os.sysconf("SC_PAGESIZE") == 4096:
    may = int(open("/proc/sys/kernel/perf_event_mlock_kb").read()) * os.sysconf("SC_NPROCESSORS_ONLN") // 2
    seen, code = record("locked", CROWD, "1", "1", "0", "0.1", threads=64, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0)))
    assert seen.metadata["stacks.threads_at_a_time"] == min(64, may // 36), (seen.metadata, may)

# Tried beforehand.
said = subprocess.run([SONDE, "doctor"], capture_output=True, text=True, env={**os.environ, "SONDE_STACKS_THREADS": "8"}, check=False).stdout
assert "sampled in rounds, at most 8 threads at a time" in said, said
