# SPDX-License-Identifier: Apache-2.0
"""Stacks of what runs already: attach to a process, to a batch job of which processes come later, and perfmon sample its functions as run does.
With --no-paths no directory of a program, library or source file is in the recording."""
# limit: 120
import os
import pathlib
import signal
import subprocess
import sys
import time

from ordinary_user import need_unwind
from patience import patience
from stacks import Stacks

SONDE, PROGRAMS, BUILD = (os.environ[name] for name in ("SONDE", "PROGRAMS", "BUILD"))
KINDS = PROGRAMS + "/stack_kinds"
need_unwind()
for name in ("SLURM_JOB_ID", "LSB_JOBID", "OAR_JOB_ID", "FLUX_JOB_ID", "JOB_ID", "PBS_NUM_PPN"):
    os.environ.pop(name, None)


def until(what, condition):
    end = time.monotonic() + patience(30)
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def begun(directory):
    return lambda: any(os.path.getsize(path) for path in pathlib.Path(directory).glob("node-*.sonde"))


def through(found, *functions):
    part = 0
    for s in found.samples:
        names = iter(found.path(s.node))
        part += s.weight * all(any(function in name for name in names) for function in functions)
    return part


def checked(directory, *functions):
    found = Stacks(directory)
    if "forbidden" in str(found.metadata.get("source.stacks")):
        print(found.metadata["source.stacks"])
        sys.exit(77)
    print(directory, found.total(), through(found, *functions), found.metadata.get("stacks.note"))
    assert through(found, *functions) >= 50 and through(found, *functions) >= 0.9 * found.total(), found.ends()
    assert all(s.instance in found.instances for s in found.samples), directory
    return found


# A process that runs already: the threads it has, those to come, and its children.
GO = "until [ -e go ]; do sleep 0.02; done; "
job = subprocess.Popen(["sh", "-c", f"{GO} {KINDS} threads 0.4; {KINDS} plain 0.4"])
recorder = subprocess.Popen([SONDE, "attach", "--stacks=499", "-q", "-i", "100ms", "-p", str(job.pid), "-o", "attached"])
until("attach", begun("attached"))
pathlib.Path("go").touch()
assert (job.wait(patience(60)), recorder.wait(patience(60))) == (0, 0)
seen = checked("attached", "burn")
assert through(seen, "in_thread", "burn") >= 50 and through(seen, "_start", "main", "burn") >= 50, seen.ends()
busy = subprocess.Popen([KINDS, "plain", "30"])
subprocess.run([SONDE, "attach", "--stacks=499", "-q", "-i", "100ms", "-p", str(busy.pid), "--duration", "1s", "-o", "busy"], check=True)
busy.kill()
busy.wait()
checked("busy", "_start", "main", "burn")

# A batch job: its processes come once the recorder runs, and none is a child of another.
BATCH = {**os.environ, "PBS_JOBID": f"79.fake-{os.getpid()}"}
first = subprocess.Popen(["sleep", "60"], env=BATCH)
recorder = subprocess.Popen([SONDE, "attach", "--job", "--stacks=499", "-q", "-i", "100ms", "--grace", "100ms", "-o", "batch"], env=BATCH)
until("attach --job", begun("batch"))
second = subprocess.Popen([KINDS, "plain", "1.5"], env=BATCH)
assert second.wait(patience(60)) == 0
first.kill()
first.wait()
assert recorder.wait(patience(60)) == 0
checked("batch", "_start", "main", "burn")

# perfmon, whose sidecar ends with its signal.
job = subprocess.Popen([KINDS, "plain", "30"], env=BATCH)
recorder = subprocess.Popen([SONDE, "perfmon", "-i", "50ms", "--stacks=499"], env=BATCH, stderr=subprocess.DEVNULL)
until("perfmon", begun(f"sonde_{BATCH['PBS_JOBID']}"))
time.sleep(1)
recorder.send_signal(signal.SIGINT)
recorder.wait(patience(60))
job.kill()
job.wait()
checked(f"sonde_{BATCH['PBS_JOBID']}", "_start", "main", "burn")

# Names without directories: of files, and of what compilers that work at run time call a function.
subprocess.run([SONDE, "run", "--stacks=499", "--no-paths", "-q", "-o", "bare", "--", KINDS, "plain", "0.5"], check=True)
subprocess.run([SONDE, "run", "--stacks=499", "-q", "-o", "full", "--", KINDS, "plain", "0.5"], check=True)
bare, full = checked("bare", "burn"), checked("full", "burn")
assert any("/" in name for name in full.modules.values()) and any("/" in f.file for f in full.frames.values()), full.modules
assert not any("/" in name for name in bare.modules.values()), bare.modules
assert not any("/" in f.file for f in bare.frames.values()), bare.frames
assert {"stack_kinds", "libc.so.6"} <= set(bare.modules.values()), bare.modules
assert any(f.file == "stack_kinds.c" and f.line for f in bare.frames.values()), bare.frames
