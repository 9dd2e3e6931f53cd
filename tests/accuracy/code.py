# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""Programs of known parts, built with optimization and without frame pointers, measure each part with their own CPU clock: in C (qsort, deflate, a loop,
memcpy, rand), C++, Rust, Go and Fortran. A part's share of the samples (--stacks) is compared with its share of that time, in points, and
stacks must reach their outermost frame. Two ranks of Open MPI and of MPICH compute for different times and wait for each other: the share of the class MPI
is compared with that of the CPU clock around the calls and, where the ranks had their CPUs to themselves, with that of MPI_Wtime. The parts into which the
CPU time of many processes is split must add up to the kernel's total."""
import json
import os
import pwd
import shutil
import subprocess
import sys

import accuracy
from patience import patience
from stacks import Stacks

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARTS, SHARES = TOP + "/tests/programs/parts/parts", TOP + "/tests/programs/mpi/shares.c"
SECONDS = "20" if os.environ.get("LONG") else "4"
POINTS, POINTS_OF_MPI, WHOLE = 2, 3, 98
UNDISTURBED = 0.97  # of a rank's wall time that is CPU time, since ranks spin
OPTIONS = ("--stacks=199",)
HOME = pwd.getpwuid(os.getuid()).pw_dir  # where compilers have their own files
PLACES = os.pathsep.join([os.environ["PATH"], HOME + "/.cargo/bin", "/usr/local/go/bin"])
LANGUAGES = {
    "C++": ["c++", "-O2", "-fomit-frame-pointer", "-o", "parts-cc", PARTS + ".cc"],
    "Rust": ["rustc", "-O", "-C", "force-frame-pointers=no", "-o", "parts-rs", PARTS + ".rs"],
    "Go": ["go", "build", "-o", "parts-go", PARTS + ".go"],
    "Fortran": ["gfortran", "-O2", "-fno-inline", "-fomit-frame-pointer", "-o", "parts-f90", PARTS + ".f90"],
}
MPI = {"Open MPI": ("openmpi", ["--oversubscribe", "--mca", "mpi_yield_when_idle", "0"]), "MPICH": ("mpich", [])}
table = accuracy.Comparison("Code")


def refused(recording):
    why = str(Stacks(recording).metadata.get("source.stacks"))
    if "forbidden" in why or "not installed" in why:
        table.left_out("job.stack_samples", why)
        table.end()


def parts(language, program):
    """Each part's share, and the part of the stacks that are whole."""
    said, _ = accuracy.record(language, program, SECONDS, options=OPTIONS)
    refused(language)
    seen = Stacks(language)
    clock = {name: float(seconds) for name, seconds in map(str.split, said.splitlines())}
    for name, seconds in clock.items():
        table.row(f"{language} {name}", "its share of the CPU time by the program's clock, in points", 100 * seen.share(name),
                  100 * seconds / sum(clock.values()), apart=POINTS)
    whole = sum(s.weight for s in seen.samples if not seen.path(s.node)[0].startswith("("))
    table.row(f"{language}: stacks that are whole", "at least 98 %", 100 * whole / max(1, seen.total()), WHOLE, above=100 - WHOLE)


def compiled(language, compiler, *words):
    path = shutil.which(compiler, path=PLACES)
    if not path:
        table.left_out(language, f"{compiler} is not installed")
        return False
    subprocess.run([path, *words], check=True, env={**os.environ, "HOME": HOME})
    return True


def shown(recording):
    said = subprocess.run([accuracy.SONDE, "show", "--code", "--json", recording], check=True, capture_output=True, text=True).stdout
    return json.loads(said)


def ranks_of(name, mpi, options):
    if not shutil.which("mpicc." + mpi) or not shutil.which("mpirun." + mpi):
        table.left_out(f"class MPI with {name}", f"mpicc.{mpi} or mpirun.{mpi} is not installed")
        return
    subprocess.run(["mpicc." + mpi, "-O2", "-o", "shares." + mpi, SHARES], check=True)
    ended = subprocess.run(["mpirun." + mpi, *options, "-n", "2", accuracy.SONDE, "run", *OPTIONS, "-q", "-o", mpi, "--", "./shares." + mpi, SECONDS],
                           check=True, stdout=subprocess.PIPE, text=True, timeout=patience(100))
    ranks, wall, walls, cpu, cpus = (list(column) for column in zip(*(map(float, line.split()) for line in ended.stdout.splitlines())))
    if sorted(ranks) != [0, 1]:
        sys.exit(f"FAIL: {name}: {ended.stdout}")
    classes = {row["class"]: row["self_seconds"] for row in shown(mpi)["class"]}
    share = 100 * classes["mpi"] / (classes["mpi"] + classes["own"])
    table.row(f"class MPI with {name}", "share of the CPU clock around the calls, in points", share, 100 * sum(cpu) / sum(cpus), apart=POINTS_OF_MPI)
    if sum(cpus) >= UNDISTURBED * sum(walls):
        table.row(f"class MPI with {name}", "share of MPI_Wtime, in points", share, 100 * sum(wall) / sum(walls), apart=POINTS_OF_MPI)
    else:
        table.left_out(f"class MPI with {name}", f"MPI_Wtime: the ranks had a CPU for {100 * sum(cpus) / sum(walls):.0f} % of the time only")


parts("C", accuracy.program("known_parts"))
for which, command in LANGUAGES.items():
    if compiled(which, *command):
        parts(which, "./" + command[command.index("-o") + 1])
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
for which, how in MPI.items():
    ranks_of(which, *how)

_, short = accuracy.record("short", accuracy.program("stack_kinds"), "short", "0.007", "150", options=("--stacks=99",))
code = shown("short")
table.row("150 processes of 7 ms: sampled + too short + kernel", "the kernel's own total", code["sampled_seconds"] + code["too_short_seconds"] + code["system_seconds"],
          short.job["cpu_seconds"], share=0.03)
table.row("150 processes of 7 ms: named as too short", "their user time", code["too_short_seconds"], code["user_seconds"], share=0.05)
table.end()
