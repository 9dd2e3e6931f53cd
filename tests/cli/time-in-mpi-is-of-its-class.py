# SPDX-License-Identifier: Apache-2.0
"""Two ranks of Open MPI and of MPICH, which compute for different times and wait for each other: the share of the class MPI is that of the program's own
clocks around its calls, within 3 points. MPI_Wtime is compared where the ranks had their CPUs to themselves."""
# limit: 120
import json
import os
import shutil
import subprocess
import sys

SONDE, TOP, BUILD = (os.environ[name] for name in ("SONDE", "TOP", "BUILD"))
SECONDS = "20" if os.environ.get("LONG") else "4"
UNDISTURBED = 0.97  # of a rank's wall time that is CPU time, since ranks spin
if not os.access(BUILD + "/libexec/sonde/sonde-unwind", os.X_OK):
    print("the helper sonde-unwind was not built")
    sys.exit(77)
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
missing = []
for mpi, options in (("openmpi", ["--oversubscribe", "--mca", "mpi_yield_when_idle", "0"]), ("mpich", [])):
    if not shutil.which("mpicc." + mpi) or not shutil.which("mpirun." + mpi):
        missing.append(mpi)
        continue
    subprocess.run(["mpicc." + mpi, "-O2", "-o", "shares." + mpi, TOP + "/tests/programs/mpi/shares.c"], check=True)
    ended = subprocess.run(["mpirun." + mpi, *options, "-n", "2", SONDE, "run", "--stacks=199", "-q", "-o", mpi, "--", "./shares." + mpi, SECONDS],
                           check=True, stdout=subprocess.PIPE, text=True, timeout=100)
    ranks = [list(map(float, line.split())) for line in ended.stdout.splitlines()]
    assert sorted(rank[0] for rank in ranks) == [0, 1], ended.stdout
    _, wall, walls, cpu, cpus = map(sum, zip(*ranks))
    code = json.loads(subprocess.run([SONDE, "show", "--code", "--json", mpi], check=True, capture_output=True, text=True).stdout)
    if "forbidden" in str(code["not_recorded"]):
        print(code["not_recorded"])
        sys.exit(77)
    parts = {row["class"]: row["self_seconds"] for row in code["class"]}
    share = parts["mpi"] / (parts["mpi"] + parts["own"])
    print(f"{mpi}: sampled {100 * share:.2f} %, CPU clock {100 * cpu / cpus:.2f} %, MPI_Wtime {100 * wall / walls:.2f} %, CPU in wall time {cpus / walls:.2f}")
    assert abs(share - cpu / cpus) <= 0.03, (mpi, share, cpu / cpus)
    if cpus / walls >= UNDISTURBED:
        assert abs(share - wall / walls) <= 0.03, (mpi, share, wall / walls)
    assert parts["mpi"] + parts["own"] >= 0.9 * code["sampled_seconds"], parts
if missing:
    print("not installed:", ", ".join(missing))
    sys.exit(77)
