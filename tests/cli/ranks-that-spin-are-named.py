# SPDX-License-Identifier: Apache-2.0
"""Of an MPI job whose ranks spin in MPI while one is elsewhere, the verdict says which ones, in which function and line, while it runs and when it was
ended, by Open MPI and by MPICH: it reads, computes, sleeps, or has ended; two of these with each, all with LONG. Nothing is asked for but `sonde run`.
Of a job without ranks nothing is kept. Its ranks spin, which would disturb others."""
# limit: 600
# alone
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
ELSEWHERE = {
    "read": rf"rank 2 in read < load \(astray.c:{LINE['load']}\) .*: waits for data from a pipe: ",
    "compute": rf"rank 2 in compute \(astray.c:({LINE['compute']}|{LINE['compute'] - 1})\)",  # the loop's own line
    "sleep": rf"rank 2 in [a-z_]*sleep < rest \(astray.c:{LINE['rest']}\) .*: sleeps \(timer\): 1000 s",
    "end": r"no process was seen of rank 2\.",
}


def verdict(recording):
    shown = subprocess.run([SONDE, "show", "--json", recording], capture_output=True, text=True, check=False, timeout=60).stdout
    found = json.loads(shown or "{}").get("verdicts", [])
    return next((v["sentence"] for v in found if v["rule"] == "ranks-stay"), "")


def is_right(kind, sentence):
    return bool(re.search(ELSEWHERE[kind], sentence)) and f"3 of 4 ranks (0, 1, 3) in MPI_Allreduce < norm (astray.c:{LINE['norm']})" in sentence


def check(launcher, kind):
    name = f"{launcher}-{kind}"
    command = [SONDE, "run", "-q", "-o", name, "--", *LAUNCHERS[launcher], "-n", "4", "./astray." + launcher, kind]
    # pylint: disable-next=consider-using-with
    job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        end, said = time.monotonic() + 120, ""
        while not is_right(kind, said):
            assert time.monotonic() < end and job.poll() is None, (name, said)
            time.sleep(1)
            said = verdict(name)
    finally:
        os.killpg(job.pid, signal.SIGTERM)
        try:
            job.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
    assert is_right(kind, verdict(name)), (name, verdict(name))


os.mkfifo("fifo")
found = [name for name, command in LAUNCHERS.items() if shutil.which(command[0]) and shutil.which("mpicc." + name)]
if not found:
    print("no MPI with mpicc is installed")
    raise SystemExit(77)
for name in found:
    subprocess.run(["mpicc." + name, "-O2", "-g", "-o", "astray." + name, TOP + "/tests/programs/mpi/astray.c"], check=True)
    for number, mistake in enumerate(ELSEWHERE):
        if os.environ["LONG"] or len(found) == 1 or number % 2 == found.index(name):
            check(name, mistake)

subprocess.run([SONDE, "run", "-q", "-o", "alone", "--", "sleep", "7"], check=True, timeout=60)
kept = subprocess.run([SONDE, "show", "--json", "alone"], check=True, capture_output=True, text=True).stdout
assert "job.ranks_stay" not in kept, kept
