# SPDX-License-Identifier: Apache-2.0
# plain
"""What run --annotations records of nvtx and of mpi4py, both from PyPI: each range once and within its own, each call and its bytes."""
import csv
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.environ["TOP"] + "/tests")
from readers import enter

enter("venv-timelines")

SONDE = os.environ["SONDE"]
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "SONDE_HISTORY": "off"}
RANGES = """
import nvtx, threading
with nvtx.annotate("outer"):
    for i in range(1000):
        with nvtx.annotate("inner", domain="lib"):
            pass
    nvtx.mark("here")
long = nvtx.start_range("long")
def work():
    for i in range(50):
        nvtx.push_range("in thread")
        nvtx.pop_range()
thread = threading.Thread(target=work)
thread.start()
thread.join()
nvtx.end_range(long)
"""
CALLS = """
import array, time
from mpi4py import MPI
world, rank = MPI.COMM_WORLD, MPI.COMM_WORLD.rank
ones, room = array.array("d", [1] * 100), array.array("d", [0] * 100)
for i in range(20):
    time.sleep(0.01 * (rank + 1))
    world.Allreduce([ones, MPI.DOUBLE], [room, MPI.DOUBLE])
    if rank == 0:
        world.Send([ones, 50, MPI.DOUBLE], 1)
    else:
        world.Recv([room, MPI.DOUBLE], source=MPI.ANY_SOURCE)
    world.Allgatherv([ones, 3 + rank, MPI.DOUBLE], [room, [3, 4], [0, 10], MPI.DOUBLE])
"""


def run(*command, **more):
    return subprocess.run(command, check=True, timeout=120, text=True, stdout=subprocess.PIPE, **more).stdout


def ranges():
    run(SONDE, "run", "-q", "-o", "ranges", "--annotations", "nvtx", "--", sys.executable, "-c", RANGES)
    run(SONDE, "export", "--to", "csv", "-o", "csv", "ranges", stderr=subprocess.DEVNULL)
    rows = list(csv.DictReader(open("csv/spans.csv", encoding="utf-8")))
    by_name = {}
    for row in rows:
        by_name.setdefault(row["name"], []).append(row)
    counts = {name: len(found) for name, found in by_name.items()}
    assert counts == {"outer": 1, "lib: inner": 1000, "long": 1, "in thread": 50}, counts
    outer, inner = by_name["outer"][0], by_name["lib: inner"]
    first, last = next(key for key in outer if "begin" in key or "start" in key), next(key for key in outer if "end" in key)
    assert all(outer[first] <= row[first] and row[last] <= outer[last] for row in inner), "inner is not within outer"
    marks = [row["name"] for row in csv.DictReader(open("csv/marks.csv", encoding="utf-8"))]
    assert marks.count("here") == 1, marks
    # what is set already is left alone
    left = subprocess.run([SONDE, "run", "-q", "-o", "left", "--annotations", "nvtx", "--", "printenv", "NVTX_INJECTION64_PATH"], check=True, text=True,
                          timeout=60, capture_output=True, env=os.environ | {"NVTX_INJECTION64_PATH": "/other.so"})
    assert left.stdout == "/other.so\n" and "is set already" in left.stderr, left


def calls(mpi):
    name = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[mpi]
    path = next((line.split()[-1] for line in run("/sbin/ldconfig", "-p").splitlines() if line.strip().startswith(name)), None)
    if not path or not shutil.which(f"mpirun.{mpi}"):
        return
    os.makedirs(f"lib.{mpi}", exist_ok=True)
    os.symlink(path, f"lib.{mpi}/{'libmpi.so.12' if mpi == 'mpich' else name}")
    env = os.environ | {"MPI4PY_MPIABI": mpi, "LD_LIBRARY_PATH": os.path.abspath(f"lib.{mpi}")}
    run(SONDE, "run", "-q", "-o", f"calls.{mpi}", "--annotations", "mpi", "--", f"mpirun.{mpi}", "-n", "2", sys.executable, "-c", CALLS, env=env)
    shown = json.loads(run(SONDE, "show", "--mpi", "--json", f"calls.{mpi}"))
    got = {(c["rank"], c["function"]): (c["calls"], c["bytes"]) for c in shown["calls"] if c["calls"]}
    wanted = {(0, "MPI_Send"): (20, 8000), (1, "MPI_Recv"): (20, 8000)}
    wanted |= {(rank, "MPI_Allreduce"): (20, 16000) for rank in (0, 1)}
    wanted |= {(rank, "MPI_Allgatherv"): (20, 160 * (3 + rank)) for rank in (0, 1)}
    assert {key: got.get(key) for key in wanted} == wanted, f"{mpi}: {got}"


ranges()
calls("openmpi")
calls("mpich")
