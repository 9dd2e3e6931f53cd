# SPDX-License-Identifier: Apache-2.0
# plain
"""What run --annotations records of nvtx, ittapi and mpi4py, from PyPI, and of Kokkos and clang's OpenMP: each range once and within its own, each call
and its bytes."""
import csv
import json
import os
import shutil
import subprocess
import sys

from patience import patience

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
TASKS = """
import ittapi, threading
lib = ittapi.domain("lib")
event = ittapi.event("event")
for i in range(1000):
    with ittapi.task("outer", domain=lib):
        with ittapi.task("inner", domain=lib):
            pass
one, two = ittapi.overlapped_task("one", domain=lib), ittapi.overlapped_task("two", domain=lib)
one.begin()
two.begin()
one.end()
two.end()
many = [ittapi.overlapped_task(f"many {i}", domain=lib) for i in range(500)]
for each in many:
    each.begin()
for i in range(500):
    many[i * 263 % 500].end()
for i in range(20000):
    ittapi.task_begin(lib, ittapi.string_handle(f"name {i % 300}"))
    ittapi.task_end(lib)
def work():
    ittapi.thread_set_name("worker of ITT")
    for i in range(7):
        event.begin()
        event.end()
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
KERNELS = """
#include <Kokkos_Core.hpp>
int main(int argc, char **argv)
{
	Kokkos::initialize(argc, argv);
	{
		Kokkos::View<double *> a("a", 1000), b("b", 1000);
		uint32_t section[2];
		double sum = 0;

		Kokkos::Profiling::pushRegion("solver");
		for (int i = 0; i < 20; i++) {
			Kokkos::parallel_for("fill", 1000, KOKKOS_LAMBDA(const int j) { a(j) = i + j; });
			Kokkos::parallel_reduce("sum", 1000, KOKKOS_LAMBDA(const int j, double &s) { s += a(j); }, sum);
			Kokkos::Profiling::pushRegion("inner");
			Kokkos::deep_copy(b, a);
			Kokkos::Profiling::popRegion();
		}
		Kokkos::parallel_scan("scan", 1000, KOKKOS_LAMBDA(const int j, double &s, const bool last) { s += b(j); if (last) a(j) = s; });
		Kokkos::Profiling::popRegion();
		Kokkos::Profiling::markEvent("here");
		for (uint32_t &each : section)
			Kokkos::Profiling::createProfileSection("section", &each);
		for (uint32_t each : section)
			Kokkos::Profiling::startSection(each);
		for (uint32_t each : section)
			Kokkos::Profiling::stopSection(each);
	}
	Kokkos::finalize();
	return 0;
}
"""
# Three threads; between regions two of them wait for the next one, and are in none.
REGIONS = """
#include <omp.h>
#include <unistd.h>
int main(void)
{
	double sum = 0;

	for (int r = 0; r < 10; r++) {
#pragma omp parallel num_threads(3)
		{
			usleep(1000 * (1 + omp_get_thread_num()));
#pragma omp for reduction(+ : sum)
			for (int i = 0; i < 100; i++)
				sum += i;
#pragma omp barrier
#pragma omp single
			for (int t = 0; t < 4; t++)
#pragma omp task
				usleep(500);
		}
		usleep(100000);
	}
	return sum != 49500;
}
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
    return subprocess.run(command, check=True, timeout=patience(120), text=True, stdout=subprocess.PIPE, **more).stdout


def spans_of(kind, *command):
    """{name: [row of spans.csv]}, and the names of marks."""
    run(SONDE, "run", "-q", "-o", kind, "--annotations", kind, "--", *command)
    run(SONDE, "export", "--to", "csv", "-o", f"csv.{kind}", kind, stderr=subprocess.DEVNULL)
    by_name = {}
    for row in csv.DictReader(open(f"csv.{kind}/spans.csv", encoding="utf-8")):
        by_name.setdefault(row["name"], []).append(row)
    return by_name, [row["name"] for row in csv.DictReader(open(f"csv.{kind}/marks.csv", encoding="utf-8"))]


def counts(by_name):
    return {name: len(found) for name, found in by_name.items()}


def within(inner, outer):
    """Whether each is within one of the outer ones, in its row."""
    return all(any(o["track"] == i["track"] and o["begin_time"] <= i["begin_time"] and i["end_time"] <= o["end_time"] for o in outer) for i in inner)


def is_left_alone(kind, variable):
    left = subprocess.run([SONDE, "run", "-q", "-o", f"left.{kind}.{variable}", "--annotations", kind, "--", "env"], check=True, text=True, timeout=patience(60),
                          capture_output=True, env=os.environ | {variable: "/other.so"})
    assert f"{variable}=/other.so\n" in left.stdout and "libsonde_inject" not in left.stdout and f"{variable} is set already" in left.stderr, left


def ranges():
    got, marks = spans_of("nvtx", sys.executable, "-c", RANGES)
    assert counts(got) == {"outer": 1, "lib: inner": 1000, "long": 1, "in thread": 50}, counts(got)
    assert within(got["lib: inner"], got["outer"]), "inner is not within outer"
    assert marks.count("here") == 1, marks


def tasks():
    got, _ = spans_of("itt", sys.executable, "-c", TASKS)
    names = [name for name in got if name.startswith("lib: name ")]
    assert len(names) == 300 and sum(len(got.pop(name)) for name in names) == 20000, counts(got)
    many = sorted((got.pop(f"lib: many {i}")[0]["end_time"], i) for i in range(500))
    assert [i for _, i in many] == [i * 263 % 500 for i in range(500)], "each ends by its own end"
    assert counts(got) == {"lib: outer": 1000, "lib: inner": 1000, "lib: one": 1, "lib: two": 1, "event": 7}, counts(got)
    assert within(got["lib: inner"], got["lib: outer"]), "inner is not within outer"
    assert got["lib: one"][0]["end_time"] < got["lib: two"][0]["end_time"], "tasks that overlap"
    assert all("worker of ITT" in row["track"] for row in got["event"]), got["event"]


def kernels():
    """Of Debian's Kokkos, which is one from before version 3.7."""
    with open("kernels.cpp", "w", encoding="utf-8") as f:
        f.write(KERNELS)
    if not os.path.exists("/usr/include/trilinos/Kokkos_Core.hpp"):
        print("no Kokkos: libtrilinos-kokkos-dev is not installed")
        return
    run("g++", "-O1", "-std=c++17", "-I/usr/include/trilinos", "-o", "kernels", "kernels.cpp", "-ltrilinos_kokkoscore", "-ldl")
    got, marks = spans_of("kokkos3", "./kernels")
    assert {name: n for name, n in counts(got).items() if "Kokkos::" not in name} == {
        "solver": 1, "inner": 20, "parallel_for: fill": 20, "parallel_reduce: sum": 20, "deep_copy: b <- a": 20, "parallel_scan: scan": 1, "section": 2}, counts(got)
    assert within(got["deep_copy: b <- a"], got["inner"]) and within(got["inner"], got["solver"]), "a copy is not within its region"
    assert marks.count("here") == 1, marks


def regions():
    with open("regions.c", "w", encoding="utf-8") as f:
        f.write(REGIONS)
    if subprocess.run(["clang", "-fopenmp", "-O1", "-o", "regions", "regions.c"], check=False, capture_output=True).returncode:
        print("no OpenMP of clang: libomp-dev is not installed")
        return
    got, _ = spans_of("ompt", "./regions")
    kinds = {}
    for name, found in got.items():
        kind = name.split(": ")[0]
        kinds.setdefault("OpenMP loop" if kind.startswith("OpenMP loop") else kind, []).extend(found)  # newer ones say how it is shared
    wanted = {"OpenMP parallel": 30, "OpenMP loop": 30, "OpenMP single": 10, "OpenMP task": 40, "OpenMP barrier": 30}
    assert {kind: len(kinds[kind]) for kind in wanted} == wanted, counts(got)
    for kind in wanted:
        assert within(kinds[kind], kinds["OpenMP parallel"]), f"{kind} is in no region"
    # that no thread is in a region between two, however late it learns of the end of one
    assert len({row["track"] for row in kinds["OpenMP parallel"]}) == 3, kinds["OpenMP parallel"]
    ends = sorted(row["end_time"] for row in kinds["OpenMP parallel"])
    begins = sorted(row["begin_time"] for row in kinds["OpenMP parallel"])
    assert all(ends[3 * i + 2] < begins[3 * i + 3] for i in range(9)), (ends, begins)
    # A library that is loaded for something else is no tool of OpenMP.
    run(SONDE, "run", "-q", "-o", "other", "--annotations", "mpi", "--", "./regions")
    run(SONDE, "export", "--to", "csv", "-o", "csv.other", "other", stderr=subprocess.DEVNULL)
    with open("csv.other/spans.csv", encoding="utf-8") as f:
        assert "OpenMP" not in f.read(), "not asked for"
    run("gcc", "-fopenmp", "-o", "gomp", "regions.c")
    said = subprocess.run([SONDE, "run", "-q", "-o", "gomp.out", "--annotations", "ompt", "--", "./gomp"], check=True, text=True, timeout=patience(60), capture_output=True)
    assert "./gomp uses libgomp" in said.stderr, said


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
tasks()
kernels()
regions()
for kind_, variable_ in (("nvtx", "NVTX_INJECTION64_PATH"), ("itt", "INTEL_LIBITTNOTIFY64"), ("kokkos", "KOKKOS_TOOLS_LIBS"),
                         ("kokkos", "KOKKOS_PROFILE_LIBRARY"), ("kokkos3", "KOKKOS_TOOLS_LIBS"), ("ompt", "OMP_TOOL_LIBRARIES")):
    is_left_alone(kind_, variable_)
calls("openmpi")
calls("mpich")
