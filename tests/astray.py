# SPDX-License-Identifier: Apache-2.0
"""An MPI job of four ranks of which rank 2 is elsewhere (tests/programs/mpi/astray.c), by each MPI that is here."""
import contextlib
import os
import shutil
import signal
import subprocess

from patience import patience

PROGRAM = os.environ["TOP"] + "/tests/programs/mpi/astray.c"
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--enable-recovery"], "mpich": ["mpiexec.mpich", "-disable-auto-cleanup"]}
MISTAKES = ("read", "compute", "sleep", "end")
with open(PROGRAM, encoding="ascii") as source:
    TEXT = source.read().splitlines()
# Of each function the line in which its rank is.
LINE = {f: 1 + next(i for i, text in enumerate(TEXT) if words in text) for f, words in
        (("norm", "MPI_Allreduce("), ("load", "sink += read("), ("compute", "1664525"), ("rest", "sink += sleep("))}


def build():
    """The launchers that are here, for which the program is built; without any the test is skipped."""
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    os.mkfifo("fifo")
    found = [name for name, command in LAUNCHERS.items() if shutil.which(command[0]) and shutil.which("mpicc." + name)]
    if not found:
        print("no MPI with mpicc is installed")
        raise SystemExit(77)
    for name in found:
        subprocess.run(["mpicc." + name, "-O2", "-g", "-o", "astray." + name, PROGRAM], check=True)
    return found


@contextlib.contextmanager
def running(launcher, mistake, *before):
    """The job, behind these words; it is ended afterwards."""
    command = [*before, *LAUNCHERS[launcher], "-n", "4", "./astray." + launcher, mistake]
    # pylint: disable-next=consider-using-with
    job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield job
    finally:
        os.killpg(job.pid, signal.SIGTERM)
        try:
            job.wait(patience(20))
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
