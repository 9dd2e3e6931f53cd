# SPDX-License-Identifier: Apache-2.0
"""The wall time of a job's threads is what they were on a CPU, ready and waiting: each thread's parts add up, and each wait has its kind and the
function of the program that waited (tests/programs/wait_mix.c). An ordinary user records it; the job is not disturbed."""
# limit: 300
import json
import os
import pathlib
import subprocess

import jsonschema
import schemas

from ordinary_user import USER, enter_room, need_unwind
from patience import patience
from stacks import Stacks

SONDE, PROGRAMS, BUILD, TOP = (os.environ[name] for name in ("SONDE", "PROGRAMS", "BUILD", "TOP"))
MIX = PROGRAMS + "/wait_mix"
WAITS = 2
SECONDS = 8
# Of the program: kind, work and wait in ms; of the recording: the kind of wait, and where it is.
PARTS = [("sleep", 1, 30, "timer", "wait_in_sleep"), ("pipe", 1, 40, "pipe_read", "wait_on_file"), ("socket", 1, 30, "socket_read", "wait_on_file"),
         ("poll", 1, 30, "pipe_read", "wait_in_poll"), ("mutex", 1, 60, "mutex", "wait_on_mutex"), ("condition", 1, 30, "condition", "wait_on_condition"),
         ("child", 1, 400, "child", "wait_on_child"), ("none", 10, 0, None, None)]
need_unwind()
room = enter_room()


def sonde(*words, status=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == status, (words, ended)
    return ended.stdout, ended.stderr


def record(name, *command, options=("--waits", "--stacks=off")):
    subprocess.run([*USER, SONDE, "run", "-q", *options, "-o", name, "--", *command], check=True, stdout=open(name + ".out", "w"), timeout=patience(120))
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)
    return pathlib.Path(name + ".out").read_text().splitlines()


def shown(name):
    document = json.loads(sonde("show", "--waits", "--json", name)[0])
    with open(TOP + "/docs/schema/waits.json", encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator(schemas.strict(schema)).validate(document)
    return document


# ---- parts of each thread ----
lines = [line.split() for line in record("mix", MIX, str(SECONDS), *(f"{kind}:{work}:{wait}" for kind, work, wait, _, _ in PARTS))]
seen = shown("mix")
assert seen["not_recorded"] is None, seen
threads = {row["tid"]: row for row in seen["thread"]}
found = Stacks("mix")
waits = {}
for s in found.samples:
    assert s.kind == WAITS and s.unit == 1000 and s.t1 >= s.t0, s
    waits.setdefault(s.tid, {}).setdefault(tuple(found.path(s.node)), 0)
    waits[s.tid][tuple(found.path(s.node))] += s.weight / 1e6
assert len(lines) == len(PARTS), lines
for (kind, tid, wall, cpu, _, _, _), (_, _, _, named, function) in zip(lines, PARTS):
    row, tid, wall, cpu = threads[int(tid)], int(tid), float(wall), float(cpu)
    parts = row["on_cpu_seconds"] + row["ready_seconds"] + row["waited_seconds"]
    assert abs(parts - row["wall_seconds"]) < 1e-6, row
    # The end of a thread between two looks is not known, nor are they on time where others have the cores.
    # Before a thread reads its clock, and after, it may wait for a core.
    assert wall - 2 < row["wall_seconds"] <= wall + 0.1 + row["ready_seconds"], (kind, wall, row)
    assert cpu - 2 < row["on_cpu_seconds"] <= cpu + 0.1, (kind, cpu, row)
    assert abs(sum(waits[tid].values()) - row["wall_seconds"]) < 1e-3, (kind, waits[tid], row)
    blocked = {path: s for path, s in waits[tid].items() if len(path) > 1}
    if not named:
        assert row["waited_seconds"] < 0.2 * wall, (kind, row)
        continue
    right = sum(s for path, s in blocked.items() if function in path and named in path[-2:])
    # The mutex is also waited for in short sleeps until the other thread has it.
    assert right > (0.5 if kind == "mutex" else 0.98) * sum(blocked.values()) > 0, (kind, blocked)
    assert all(path[0] in ("__clone3", "clone3", "__clone", "clone") for path in blocked), (kind, blocked)
    assert row["waits_for"] == named, (kind, row)
assert abs(seen["wall_seconds"] - sum(row["wall_seconds"] for row in seen["thread"])) < 1e-6
for table in ("command", "process", "rank", "node", "phase"):
    assert abs(seen["wall_seconds"] - sum(row["wall_seconds"] for row in seen[table])) < 1e-6, table
for table in ("object", "function", "class"):
    rest = seen["waited_seconds"] - seen["unseen_seconds"] - seen["forbidden_seconds"]
    assert abs(rest - sum(row["waited_seconds"] for row in seen[table])) < 1e-6, table
functions = {row["name"]: row for row in seen["function"]}
for function in ("wait_on_file", "wait_in_poll", "wait_on_mutex", "wait_on_condition", "wait_on_child"):
    assert functions[function]["file"].endswith("wait_mix.c") and functions[function]["line"], functions[function]
children = [row["object"] for row in seen["object"] if row["waits_for"] == "child"]
assert set(children) <= {None, "wait_mix"}, children
pipes = [row["object"] for row in seen["object"] if row["waits_for"] == "pipe_read"]
assert set(pipes) & {"itself", "wait_mix"}, pipes

# ---- tables ----
text = sonde("show", "--waits", "mix")[0]
for line in ("Time of ", "on a CPU", "ready, but without a core", "waits for data from a pipe", "Waits by function", "wait_on_mutex (wait_mix.c:"):
    assert line in text, (line, text)
for by in ("object", "function", "class"):
    assert sonde("show", "--waits", "--by", by, "mix")[0].startswith(f"Waits by {by}\n"), by
for by in ("command", "process", "thread", "rank", "node", "phase"):
    assert sonde("show", "--waits", "--by", by, "mix")[0].startswith(f"Time by {by}\n"), by
assert sonde("show", "--by", "object", "mix")[0].startswith("Waits by object\n")
assert "waits have no table by line" in sonde("show", "--waits", "--by", "line", "mix", status=2)[1]
assert "without the others" in sonde("show", "--waits", "--code", "mix", status=2)[1]
assert "\nwaits       waiting " in sonde("show", "mix")[0], sonde("show", "mix")
assert "code" not in [line.split(" ")[0] for line in sonde("show", "mix")[0].splitlines()], "time of waits passes for CPU time"

# ---- two processes, and nothing of the job is disturbed ----
pipe = record("pipe", "sh", "-c", "(for i in 1 2 3 4; do sleep 1; echo $i; done) | (read a; read b; read c; grep TracerPid /proc/self/status)")
assert pipe == ["TracerPid:\t0"], pipe
objects = {row["name"] for row in shown("pipe")["object"]}
assert "waits for data from a pipe: sh" in objects or "waits for data from a pipe: sh, sleep" in objects, objects
# The wait began before anybody knew the child: a later look names it.
record("shell", "sh", "-c", "sleep 5; true")
named = sum(row["waited_seconds"] for row in shown("shell")["object"] if row["name"] == "waits for a child: sleep")
assert named > 2, shown("shell")["object"]
switches = {}
for name, options in (("with", ("--waits=50",)), ("without", ())):
    (line,) = record(name, MIX, "6", "sleep:0:1000", options=options)
    _, _, _, _, _, times, switches[name] = line.split()
    assert times == "6", line
assert int(switches["with"]) <= 8 and int(switches["without"]) <= 8, switches
assert len([s for s in Stacks("without").samples if s.kind == WAITS]) == 0

# ---- not recorded ----
assert shown("without")["not_recorded"] == "waits were not recorded", shown("without")
assert "no waits in without; record them with --waits" in sonde("show", "--waits", "without")[1]
assert "--waits takes a number" in sonde("run", "--waits=1000", "-o", "no", "--", "true", status=125)[1]
