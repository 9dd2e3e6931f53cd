# SPDX-License-Identifier: Apache-2.0
"""Of an MPI job with one rank elsewhere, sonde stacks says which one and in which function and line, by Open MPI and by MPICH: it reads, computes, sleeps,
or has ended. The others are in the function of MPI that the program called, whatever they do within it. A rank is where its program is, not its wrapper."""
# limit: 300
import json
import os
import re
import subprocess
import time

import astray
from astray import LINE
from ordinary_user import need_unwind
from patience import patience

SONDE = os.environ["SONDE"]
need_unwind()
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
    return subprocess.run([SONDE, "stacks", *words, str(pid)], capture_output=True, text=True, check=False, timeout=patience(60)).stdout


def check_wrapped():
    """timeout waits for a signal while its child, of the same rank, is the program."""
    ranks = " & ".join(f"OMPI_COMM_WORLD_RANK={i} OMPI_COMM_WORLD_SIZE=2 timeout 60 {os.environ['PROGRAMS']}/stuck idle" for i in range(2))
    with subprocess.Popen(["sh", "-c", f"{ranks} & wait"], start_new_session=True) as job:
        end, text = time.monotonic() + patience(30), ""
        while "2 of 2 ranks in pause < main (stuck.c:" not in text:
            assert time.monotonic() < end, text
            time.sleep(0.3)
            text = stacks(job.pid)
        os.killpg(job.pid, 9)


def check(launcher, kind):
    with astray.running(launcher, kind) as job:
        end, roll = time.monotonic() + patience(60), None
        while not is_right(kind, roll):
            assert time.monotonic() < end, (launcher, kind, roll, stacks(job.pid))
            time.sleep(0.3)
            roll = json.loads(stacks(job.pid, "--json") or "{}").get("roll_call")


check_wrapped()
for name in astray.build():
    for mistake in astray.MISTAKES:
        check(name, mistake)
