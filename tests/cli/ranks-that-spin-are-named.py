# SPDX-License-Identifier: Apache-2.0
"""Of an MPI job whose ranks spin in MPI while one is elsewhere, the verdict says which ones, in which function and line, while it runs and when it was
ended, by Open MPI and by MPICH: it reads, computes, sleeps, or has ended; one of these with each, all with LONG. Nothing is asked for but `sonde run`.
Of a job without ranks nothing is kept. Its ranks spin, on one core, which leaves the others to other tests."""
# limit: 600
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
CORE = str(max(os.sched_getaffinity(0)))
BRIEFLY = {"openmpi": "read", "mpich": "end"}
ELSEWHERE = {
    "read": rf"rank 2 in read < load \(astray.c:{LINE['load']}\) .*: waits for data from a pipe: ",
    "compute": rf"rank 2 in compute \(astray.c:({LINE['compute']}|{LINE['compute'] - 1})\)",  # the loop's own line
    "sleep": rf"rank 2 in [a-z_]*sleep < rest \(astray.c:{LINE['rest']}\) .*: sleeps \(timer\): 1000 s",
    "end": r"no process was seen of rank 2\.",
}


def verdict(recording):
    shown = subprocess.run([SONDE, "show", "--json", recording], capture_output=True, text=True, check=False, timeout=patience(60)).stdout
    found = json.loads(shown or "{}").get("verdicts", [])
    # MPICH's launcher ends with 0 now and then when it is ended.
    return next((v["sentence"] for v in found if v["rule"] in ("ranks-stay", "ranks-stayed")), "")


def is_right(kind, sentence):
    return bool(re.search(ELSEWHERE[kind], sentence)) and f"3 of 4 ranks (0, 1, 3) in MPI_Allreduce < norm (astray.c:{LINE['norm']})" in sentence


def check(mpi, kind):
    name = f"{mpi}-{kind}"
    with astray.running(mpi, kind, SONDE, "run", "-q", "-o", name, "--", "taskset", "-c", CORE) as job:
        end, said = time.monotonic() + patience(120), ""
        while not is_right(kind, said):
            assert time.monotonic() < end and job.poll() is None, (name, said)
            time.sleep(1)
            said = verdict(name)
    assert is_right(kind, verdict(name)), (name, verdict(name))


found = astray.build()
for launcher in found:
    for mistake in astray.MISTAKES:
        if os.environ["LONG"] or mistake == BRIEFLY[launcher]:
            check(launcher, mistake)

subprocess.run([SONDE, "run", "-q", "-o", "alone", "--", "sleep", "7"], check=True, timeout=patience(60))
kept = subprocess.run([SONDE, "show", "--json", "alone"], check=True, capture_output=True, text=True).stdout
assert "job.ranks_stay" not in kept, kept
