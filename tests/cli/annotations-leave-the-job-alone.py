# SPDX-License-Identifier: Apache-2.0
# plain
"""Without run --annotations the environment is untouched, with it what is there stays; a static program and a word that is not known are said; a rank that is
killed loses nothing that it had finished, and little of the call that it was in; the child of a rank is no rank."""
import json
import os
import shutil
import subprocess
import time

from patience import patience

SONDE = os.environ["SONDE"]
os.environ["SONDE_HISTORY"] = "off"


def run(*command, code=0, **more):
    done = subprocess.run(command, timeout=patience(120), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    assert done.returncode == code, f"{command}: {done.returncode}, {done.stderr}"
    return done


def environment(*options, **variables):
    text = run(SONDE, "run", "--quiet", *options, "--", "env", env=os.environ | variables).stdout
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("SONDE"))


def check_environment():
    plain = dict(line.split("=", 1) for line in run("env").stdout.splitlines() if "=" in line and not line.startswith("SONDE"))
    assert environment("-o", "without") == plain, "the environment without the option"
    got = environment("-o", "with", "--annotations", "mpi")
    library = got.pop("LD_PRELOAD")
    assert got == plain and os.path.basename(library) == "libsonde_inject.so", f"{library}: {got}"
    for kind, variable in (("nvtx", "NVTX_INJECTION64_PATH"), ("itt", "INTEL_LIBITTNOTIFY64"), ("kokkos", "KOKKOS_TOOLS_LIBS"),
                           ("kokkos3", "KOKKOS_PROFILE_LIBRARY"), ("ompt", "OMP_TOOL_LIBRARIES")):
        got = environment("-o", f"with.{kind}", "--annotations", kind)
        assert got == plain | {variable: library}, f"{kind}: {got}"
    libc = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "/libm.so" in line or "/libc.so" in line)
    both = environment("-o", "both", "--annotations", "mpi", LD_PRELOAD=libc)["LD_PRELOAD"]
    assert both == f"{library}:{libc}", both
    key = json.loads(run(SONDE, "show", "--json", "with").stdout)["nodes"][0]["metadata"]["run.annotations"]
    assert key == "mpi", key


def check_words():
    assert "not known; use mpi, nvtx, itt, kokkos, kokkos3 and ompt" in run(SONDE, "run", "--annotations", "mpi,opencl", "--", "true", code=125).stderr
    with open("static.c", "w", encoding="utf-8") as f:
        f.write("int main(void) { return 0; }\n")
    run("cc", "-static", "-o", "static", "static.c")
    said = run(SONDE, "run", "--quiet", "-o", "static.out", "--annotations", "mpi", "--", "./static").stderr
    assert "./static is a static program" in said and said.count("\n") == 1, said
    said = run(SONDE, "show", "--mpi", "static.out").stdout
    assert "no program that uses MPI and loads libraries was seen" in said, said
    said = run(SONDE, "show", "--mpi", "without").stderr
    assert "record them with --annotations mpi" in said, said
    assert json.loads(run(SONDE, "show", "--mpi", "--json", "without").stdout)["missing"].startswith("not recorded")


# Rank 1 sends for ever, rank 0 takes 100 of it and then waits for what never comes; each says where it is.
KILLED = """
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
	int rank, data = 0;
	struct timespec t;
	FILE *f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0 && fork() == 0)
		_exit(0);
	for (int i = 0; i < 100; i++)
		if (rank)
			MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	f = fopen(rank ? "said.1.new" : "said.0.new", "w");
	clock_gettime(CLOCK_MONOTONIC, &t);
	fprintf(f, "%d %.9f", getpid(), (double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
	fclose(f);
	rename(rank ? "said.1.new" : "said.0.new", rank ? "said.1" : "said.0");
	if (rank)
		for (;;)
			pause();
	MPI_Recv(&data, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return 0;
}
"""


def check_killed(mpi):
    with open("killed.c", "w", encoding="utf-8") as f:
        f.write(KILLED)
    run(f"mpicc.{mpi}", "-O2", "-o", "killed", "killed.c")
    env = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    job = subprocess.Popen([SONDE, "run", "--quiet", "-o", f"killed.{mpi}", "--annotations", "mpi", "--", f"mpirun.{mpi}", "-n", "2", "./killed"],
                           env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + patience(60)
    while not (os.path.exists("said.0") and os.path.exists("said.1")):
        assert time.monotonic() < end, "the ranks did not begin"
        time.sleep(.01)
    time.sleep(3)
    pid, began = open("said.0", encoding="utf-8").read().split()
    at = time.monotonic()
    os.kill(int(pid), 9)
    job.wait(timeout=patience(60))
    shown = json.loads(run(SONDE, "show", "--mpi", "--json", f"killed.{mpi}").stdout)
    assert len(shown["ranks"]) == 2, shown["ranks"]
    calls = {(c["rank"], c["function"]): c["calls"] for c in shown["calls"]}
    assert calls[0, "MPI_Recv"] == 100 and calls[1, "MPI_Send"] == 100, calls
    waited = shown["ranks"][0]["inside_seconds"]
    # the recorder looks 20 times a second; a busy machine lets it wait
    assert at - float(began) - .5 < waited < at - float(began) + .5, f"{mpi}: {waited} s in MPI, of {at - float(began)} s"
    for name in ("said.0", "said.1"):
        os.unlink(name)


check_environment()
check_words()
for each in ("openmpi", "mpich"):
    if shutil.which(f"mpicc.{each}") and shutil.which(f"mpirun.{each}"):
        check_killed(each)
