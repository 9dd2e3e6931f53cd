# SPDX-License-Identifier: Apache-2.0
# limit: 600
"""sonde show --path names the chain of tasks that decided how long a job took: random graphs of tasks that sleep, by make -j, by make -j2 and as
shell scripts, whose critical path is known. Its parts add up to the job's time. No sample sees most
of them. With LONG 100 graphs, and the longest task is made half as long and
the job run again: it takes what was said."""
import json
import os
import random
import shutil
import subprocess

SONDE, LONG = os.environ["SONDE"], os.environ.get("LONG")
MARGIN = 0.15  # the second longest chain is so much shorter, so that a busy machine does not make it the longest


def graph(rng):
    """(what each task needs, how long it takes)"""
    n = rng.randint(5, 12)
    needs = {i: sorted(rng.sample(range(i), min(i, rng.randint(0, 2)))) for i in range(n)}
    return needs, {i: round(rng.uniform(0.1, 0.8), 3) for i in range(n)}


def chain(needs, seconds):
    """The time of all, and the tasks of the longest chain."""
    ends, before = {}, {}
    for i, wanted in needs.items():
        before[i] = max(wanted, key=ends.get, default=None)
        ends[i] = seconds[i] + (ends[before[i]] if wanted else 0)
    at, found = max(ends, key=ends.get), []
    whole = ends[at]
    while at is not None:
        found.append(at)
        at = before[at]
    return whole, found


def is_clear(needs, seconds):
    whole, found = chain(needs, seconds)
    return all(chain(needs, {**seconds, i: 0})[0] < whole * (1 - MARGIN) or seconds[i] < 0.3 * MARGIN for i in found)


def write_make(needs, seconds, driver):
    """driver: a shell runs each task in two halves, as cc runs cc1 and as."""
    with open("Makefile", "w", encoding="utf-8") as f:
        f.write("all: " + " ".join(f"t{i}" for i in needs) + "\n")
        for i, wanted in needs.items():
            half = seconds[i] / 2
            run = f"sh -c './task{i} {half}; ./task{i} {half}; :'" if driver else f"./task{i} {seconds[i]}"
            f.write(f"t{i}: {' '.join(f't{j}' for j in wanted)}\n\t@{run}\n")
        f.write(".PHONY: all " + " ".join(f"t{i}" for i in needs) + "\n")


def record(name, command, interval="10s"):
    """So long an interval that no sample sees most of the processes."""
    subprocess.run([SONDE, "run", "-q", "-i", interval, "-o", name, "--", *command], check=True)
    told = json.loads(subprocess.run([SONDE, "show", "--path", "--json", name], check=True, capture_output=True, text=True).stdout)
    parts = sum(part["to_seconds"] - part["from_seconds"] for part in told["parts"])
    assert abs(parts - told["wall_seconds"]) < 1e-6, (name, parts, told["wall_seconds"])
    return told


def on_path(told):
    return {int(x["name"][4:]): x for x in told["names"] if x["name"].startswith("task")}


rng = random.Random(11)
for i in range(12):
    shutil.copy("/bin/sleep", f"task{i}")
right = said = 0
count = 100 if LONG else 6
for k in range(count):
    needs, seconds = graph(rng)
    while not is_clear(needs, seconds):
        needs, seconds = graph(rng)
    write_make(needs, seconds, driver=k % 2)
    whole, found = chain(needs, seconds)
    told = record(f"job{k}", ["make", "-s", "-j", "32"])
    named = on_path(told)
    share = sum(named[i]["path_seconds"] for i in found if i in named) / told["wall_seconds"]
    right += share >= 0.95 or set(named) == set(found)
    if not LONG:
        continue
    longest = max(named, key=lambda i: named[i]["path_seconds"])
    write_make(needs, {**seconds, longest: seconds[longest] / 2}, driver=k % 2)
    again = record(f"again{k}", ["make", "-s", "-j", "32"])
    said += abs(named[longest]["wall_if_half_seconds"] - again["wall_seconds"]) < 0.1 * again["wall_seconds"]
print(f"{right} of {count} paths are the longest chain" + (f"; {said} halved jobs took what was said" if LONG else ""))
assert right >= count - max(1, 0.05 * count), (right, count)  # a busy machine may delay one
assert not LONG or said >= 0.9 * count, (said, count)

# A script: one after the other, and two side by side of which one is waited for.
told = record("script", ["sh", "-c", "./task1 0.2; ./task2 0.6 & ./task3 0.3; wait; ./task4 0.2"], "100ms")
assert [x["name"] for x in told["parts"] if x["name"] != "sh"] == ["task1", "task2", "task4"], told
text = subprocess.run([SONDE, "show", "--path", "script"], check=True, capture_output=True, text=True).stdout
assert "  ./task2 0.6\n" in text and "  ./task3 0.3\n" not in text, text
# With two jobs at a time the path is as long as the job, whatever waited for a slot.
told = record("slots", ["make", "-s", "-j", "2"])
assert sum(x["path_seconds"] for x in told["names"]) > 0.99 * told["wall_seconds"], told
# Too many short processes for each to be known by itself: what was waited for them is said to be unknown, and no name's.
shutil.copy("/bin/true", "true")
told = record("many", ["sh", "-c", f"{os.environ['PROGRAMS']}/spawner 5000 ./true >spawned"])
named = {x["name"]: x for x in told["names"]}
if told["processes_known_ratio"] < 0.9:
    assert told["unknown_wait_seconds"] > 0 and named["spawner"]["unknown_wait_seconds"] == told["unknown_wait_seconds"], told
    assert abs(sum(x["path_seconds"] for x in told["names"]) + told["unknown_wait_seconds"] - told["wall_seconds"]) < 1e-6, told
    assert "(unknown wait)" in subprocess.run([SONDE, "show", "--path", "many"], check=True, capture_output=True, text=True).stdout
ended = subprocess.run([SONDE, "show", "--path", "--code", "script"], capture_output=True, text=True, check=False)
assert ended.returncode == 2 and ended.stderr.count("\n") == 1, ended
