# SPDX-License-Identifier: Apache-2.0
"""Waits go on when their helper is killed; of a process that may not be looked at the time is divided all the same; a process that executes another
program is followed; a helper that is missing or stopped costs the job nothing; objects have no secrets. CPU time of stacks and waits may be recorded together."""
# limit: 300
import csv
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from ordinary_user import USER, enter_room, need_unwind
from patience import patience
from stacks import Stacks, helper_of

SONDE, PROGRAMS, BUILD = (os.environ[name] for name in ("SONDE", "PROGRAMS", "BUILD"))
MIX = PROGRAMS + "/wait_mix"
CPU, _, WAITS = range(3)
need_unwind()
room = enter_room()


def begin(name, *command, options=("--waits",), env=None):
    return subprocess.Popen([*USER, SONDE, "run", "-q", *options, "-o", name, "--", *command], env=env)


def ended(job, name, status=0):
    assert job.wait(timeout=patience(60)) == status, name
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)
    return Stacks(name)


def shown(name):
    return json.loads(subprocess.run([SONDE, "show", "--waits", "--json", name], capture_output=True, text=True, check=True).stdout)


def through(found, function):
    return sum(s.weight for s in found.samples if function in found.path(s.node)) / 1e6


def cpu_of(pid):
    """Its CPU time, without that of its children."""
    return time.clock_gettime((~pid << 3) | 2)


# ---- killed: another one goes on, and what the first one used counts once ----
job = begin("killed", MIX, "7", "sleep:0:200")
time.sleep(2.5)
first = helper_of("killed")
recorder = int(pathlib.Path(f"/proc/{first}/stat").read_text().rsplit(")", 1)[1].split()[1])
used = cpu_of(first)
os.kill(first, signal.SIGKILL)
time.sleep(2.5)
at, own = time.time(), cpu_of(recorder)
found = ended(job, "killed")
rows = csv.DictReader(subprocess.run([SONDE, "export", "killed", "-o", "-", "--raw", "--wide", "--metrics", "monitor.*cpu_seconds"],
                                     check=True, capture_output=True, text=True).stdout.splitlines())
row = [row for row in rows if datetime.datetime.fromisoformat(row["time"][:26] + "+00:00").timestamp() < at][-1]
assert float(row["monitor.cpu_seconds"]) < own + 0.5 * used, (row, own, used)
assert float(row["monitor.waits_cpu_seconds"]) > 0.3 * used, (row, used)
assert found.metadata["waits.helper_restarts"] == 1 and "waits.note" not in found.metadata, found.metadata
assert through(found, "wait_in_sleep") > 2, through(found, "wait_in_sleep")
assert any(s.t0 - found.samples[0].t0 > 3e9 for s in found.samples), "nothing after it was killed"

# ---- stopped: the job's end waits for it a moment only ----
job = begin("stopped", "sh", "-c", "sleep 3; date +%s.%N >over")
time.sleep(2)
stopped = helper_of("stopped")
os.kill(stopped, signal.SIGSTOP)
found = ended(job, "stopped")
assert time.time() - float(pathlib.Path("over").read_text()) < 20
assert "did not answer" in found.metadata["waits.note"], found.metadata
for _ in range(200): # a killed process goes when it gets a core
    if not os.path.exists(f"/proc/{stopped}"):
        break
    time.sleep(0.1)
assert not os.path.exists(f"/proc/{stopped}"), "it is left: " + pathlib.Path(f"/proc/{stopped}/status").read_text()

# ---- too short to be watched: nobody is told to ask for what was asked for ----
ended(begin("short", "true"), "short")
said = subprocess.run([SONDE, "show", "--waits", "short"], capture_output=True, text=True, check=True)
assert "no waits in short: its processes were too short to be watched" in said.stderr, said
assert "too short" in shown("short")["not_recorded"], shown("short")

# ---- what is waited for is recorded without secrets, and without directories if they are not wanted ----
for name in "token=Xk29fjQ81zzT7b", "plain":
    os.mkdir(name)
    os.mkfifo(name + "/fifo")
for name, options, path in ("masked", ("--waits",), "plain/fifo"), ("bare", ("--waits", "--no-paths"), "fifo"):
    found = ended(begin(name, "sh", "-c", "timeout 3 cat token=Xk29*/fifo & timeout 3 cat plain/fifo & wait", options=options), name)
    objects = {row["object"] for row in shown(name)["object"] if "FIFO" in row["name"]}
    assert objects == {"token=***", path}, objects
    assert any("/" in module for module in found.modules.values()) == (name == "masked"), found.modules

# ---- missing ----
os.mkdir("nowhere")
found = ended(begin("missing", "true", env={**os.environ, "SONDE_LIBEXEC": os.path.abspath("nowhere")}), "missing")
assert "the helper sonde-unwind is not installed" in found.metadata["source.waits"], found.metadata
said = subprocess.run([SONDE, "show", "--waits", "missing"], capture_output=True, text=True, check=True)
assert "no waits in missing: " in said.stderr and "is not installed" in said.stderr, said

# ---- not dumpable: how long is known, where is not ----
if USER:
    secretive = "import ctypes, time\nctypes.CDLL(None).prctl(4, 0)\nend = time.time() + 4\nwhile time.time() < end: time.sleep(0.02)\n"
    found = ended(begin("forbidden", sys.executable, "-c", secretive), "forbidden")
    seen = shown("forbidden")
    assert seen["forbidden_seconds"] > 0.5 * seen["waited_seconds"] > 0, seen
    assert 0 < seen["on_cpu_seconds"] < seen["wall_seconds"], seen

# ---- exec, and samples of CPU time beside it ----
found = ended(begin("exec", "sh", "-c", f"sleep 2; exec {MIX} 4 sleep:10:300", options=("--waits", "--stacks=499")), "exec")
paths = {tuple(found.path(s.node)) for s in found.samples if s.kind == WAITS and "wait_in_sleep" in found.path(s.node)}
assert paths and all(path[0].lstrip("_") in ("clone3", "clone") and path[-1] == "timer" for path in paths), paths
assert through(found, "wait_in_sleep") > 0.5, through(found, "wait_in_sleep")
assert {s.command for s in found.samples if s.kind == WAITS and "wait_in_sleep" in found.path(s.node)} == {"wait_mix"}
if any(s.kind == CPU for s in found.samples): # where perf events are permitted
    names = {name for s in found.samples if s.kind == CPU for name in found.path(s.node)}
    assert "work" in names and "timer" not in names, names
    code = json.loads(subprocess.run([SONDE, "show", "--code", "--json", "exec"], capture_output=True, text=True, check=True).stdout)
    assert code["sampled_seconds"] < 4 and {row["name"] for row in code["function"]} >= {"work"}, code["sampled_seconds"]
    assert not {row["name"] for row in code["function"]} & {"on_cpu", "timer"}, code["function"]
