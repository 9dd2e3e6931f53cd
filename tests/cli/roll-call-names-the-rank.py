# SPDX-License-Identifier: Apache-2.0
"""Of an MPI job with one rank elsewhere, sonde stacks says which one and in which function and line, by Open MPI and by MPICH: it reads, computes, sleeps,
or has ended. The others are in the function of MPI that the program called, whatever they do within it."""
# limit: 300
import json
import os
import re
import shutil
import signal
import subprocess
import time

from ordinary_user import need_unwind

SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
need_unwind()
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--enable-recovery"], "mpich": ["mpiexec.mpich", "-disable-auto-cleanup"]}
SOURCE = open(TOP + "/tests/programs/mpi/astray.c", encoding="ascii").read().splitlines()
LINE = {f: 1 + next(i for i, text in enumerate(SOURCE) if words in text) for f, words in
        (("norm", "MPI_Allreduce("), ("load", "sink += read("), ("compute", "1664525"), ("rest", "sink += sleep("))}
ELSEWHERE = {"read": ("load", "waits for data from a pipe: "), "compute": ("compute", "runs"), "sleep": ("rest", "sleeps (timer): 1000 s"), "end": None}


def is_right(kind, roll):
    """Is it what is true of such a job? A rank that has no core for a while may have no stack."""
    groups = {g["ranks"]: g for g in (roll or {"groups": []})["groups"]}
    others = groups.get("0, 1, 3")
    if not others or roll["ranks"] != 4 or not others["in"].startswith(f"MPI_Allreduce < norm (astray.c:{LINE['norm']})") or others["waits"]:
        return False
    if not ELSEWHERE[kind]:
        return len(groups) == 1
    function, waits = ELSEWHERE[kind]
    lines = {LINE[function], LINE[function] - 1} if kind == "compute" else {LINE[function]}  # the loop's own line
    found = re.search(rf"\b{function} \(astray.c:(\d+)\)", groups.get("2", {"in": ""})["in"])
    return len(groups) == 2 and bool(found) and int(found[1]) in lines and groups["2"]["waits"].startswith(waits)


def stacks(pid, *words):
    return subprocess.run([SONDE, "stacks", *words, str(pid)], capture_output=True, text=True, check=False, timeout=60).stdout


def check(launcher, kind):
    # pylint: disable-next=consider-using-with
    job = subprocess.Popen([*LAUNCHERS[launcher], "-n", "4", "./astray." + launcher, kind], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        end, roll = time.monotonic() + 60, None
        while not is_right(kind, roll):
            assert time.monotonic() < end, (launcher, kind, roll, stacks(job.pid))
            time.sleep(0.3)
            roll = json.loads(stacks(job.pid, "--json") or "{}").get("roll_call")
    finally:
        os.killpg(job.pid, signal.SIGTERM)
        try:
            job.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


os.mkfifo("fifo")
found = [name for name, command in LAUNCHERS.items() if shutil.which(command[0]) and shutil.which("mpicc." + name)]
if not found:
    print("no MPI with mpicc is installed")
    raise SystemExit(77)
for name in found:
    subprocess.run(["mpicc." + name, "-O2", "-g", "-o", "astray." + name, TOP + "/tests/programs/mpi/astray.c"], check=True)
    for mistake in ELSEWHERE:
        check(name, mistake)
