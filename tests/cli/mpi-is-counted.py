# SPDX-License-Identifier: Apache-2.0
# plain
"""What run --annotations mpi records of MPI programs: calls and bytes exactly, seconds as the program's own clock has them, and
efficiencies as the formulas make them of that clock; with each MPI that is here, in C and in Fortran."""
import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict

import explained
import jsonschema

SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
               "SONDE_HISTORY": "off"}
MPIS = [mpi for mpi in ("openmpi", "mpich") if shutil.which(f"mpicc.{mpi}") and shutil.which(f"mpirun.{mpi}")]
SCHEMA = json.load(open(f"{TOP}/docs/schema/mpi.json", encoding="utf-8"))
RANKS = 3
PAUSE = .05


class Interrupted(Exception):
    """A busy machine may stop a rank between its look at the clock and Sonde's: then once more. Counts are right each time."""


def by_clock(good, *what):
    if not good:
        raise Interrupted(*what)


def run(*command, **more):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **more).stdout


def record(out, mpi, *command, environment=None):
    shutil.rmtree(out, ignore_errors=True)
    run(SONDE, "run", "--quiet", "-i", "50ms", "--annotations", "mpi", "-o", out, "--", f"mpirun.{mpi}", "-n", str(RANKS), *command,
        env=os.environ | (environment or {}))
    shown = json.loads(run(SONDE, "show", "--mpi", "--json", out))
    jsonschema.validate(shown, SCHEMA)
    return shown


def said(out, rank):
    """What a rank wrote: FUNCTION -> (calls, bytes, seconds), and its seconds in all and in MPI; of phases: what computes()."""
    functions, whole = {}, None
    for line in open(f"{out}.{rank}", encoding="utf-8"):
        words = line.split()
        if words[0] == "all":
            whole = float(words[1]), float(words[2])
        elif words[0] != "phase":
            functions[words[0]] = int(words[1]), int(words[2]), float(words[3])
    return functions, whole


def check_calls(what, shown, out):
    got = defaultdict(lambda: [0, 0, 0.0])
    for call in shown["calls"]:
        of = got[call["rank"], call["function"]]
        of[0] += call["calls"]
        of[1] += call["bytes"]
        of[2] += call["seconds"]
    for rank in range(RANKS):
        functions, whole = said(out, rank)
        for name, (calls, size, seconds) in functions.items():
            have = got[rank, name]
            assert have[:2] == [calls, size], f"{what}: rank {rank}, {name}: {have[:2]}, wanted {[calls, size]}"
            by_clock(abs(have[2] - seconds) < .02 * seconds + PAUSE, what, rank, name, have[2], seconds)
        more = {name for of, name in got if of == rank and got[of, name][0]} - set(functions) - {"MPI_Init"}
        assert not more, f"{what}: rank {rank}: {more} as well"
        have = shown["ranks"][rank]
        assert have["rank"] == rank, f"{what}: {have}"
        by_clock(abs(have["inside_seconds"] - whole[1]) < .02 * whole[1] + PAUSE, what, have, whole)
        by_clock(abs(have["elapsed_seconds"] - whole[0]) < .02 * whole[0] + PAUSE, what, have, whole)


def balance_of(out, phase):
    """By the formula, of what ranks say of a phase."""
    lines = [line.split() for rank in range(RANKS) for line in open(f"{out}.{rank}", encoding="utf-8") if line.startswith(f"phase {phase} ")]
    computes = [float(words[2]) - float(words[3]) for words in lines]
    return sum(computes) / RANKS / max(computes)


def check_formulas(what, shown, out):
    whole = [said(out, rank)[1] for rank in range(RANKS)]
    computes = [all_s - inside for all_s, inside in whole]
    elapsed = max(all_s for all_s, _ in whole)
    wanted = {"parallel_ratio": sum(computes) / RANKS / elapsed, "load_balance_ratio": sum(computes) / RANKS / max(computes),
              "communication_ratio": max(computes) / elapsed}
    have = shown["efficiency"]
    for name, value in wanted.items():
        by_clock(abs(have[name] - value) < .01, what, name, have[name], value)
    assert abs(have["serialisation_ratio"] * have["transfer_ratio"] - have["communication_ratio"]) < 1e-9, f"{what}: {have}"


def compile_c(mpi, name, *more):
    run(f"mpicc.{mpi}", "-O2", "-o", f"{name}.{mpi}", f"{TOP}/tests/programs/mpi/{name}.c", *more)


def check_phases(shown, out):
    """A phase begins for all when it does for one; where others have the cores, ranks come to it at different times."""
    phases = {p["phase"]: p["efficiency"]["load_balance_ratio"] for p in shown["phases"]}
    assert set(phases) == {"even", "skewed"}, phases
    for name, have in phases.items():
        by_clock(have is not None and abs(have - balance_of(out, name)) < .03, name, have, balance_of(out, name))


def check_c(mpi):
    compile_c(mpi, "known")
    shown = record(f"c.{mpi}", mpi, f"./known.{mpi}", "40", f"c.{mpi}.said")
    check_calls(f"C, {mpi}", shown, f"c.{mpi}.said")
    check_formulas(f"C, {mpi}", shown, f"c.{mpi}.said")
    # 0 sends to the last rank, which the turned communicator calls 0; all send to the next one
    peers = {(p["from"], p["to"]): (p["messages"], p["bytes"]) for p in shown["peers"]}
    wanted = {(rank, (rank + 1) % RANKS): (80, 80 * 4000) for rank in range(RANKS)}
    wanted[0, RANKS - 1] = 80, 80 * 80
    assert peers == wanted, f"{mpi}: {peers}"
    by_clock(shown["late_rank"] == RANKS - 1 and shown["late_seconds"] > .005, mpi, shown["late_rank"], shown["late_seconds"])
    check_phases(shown, f"c.{mpi}.said")
    text = run(SONDE, "show", "--mpi", f"c.{mpi}")
    assert "MPI_Allreduce (last: rank 2)" in text and "rank 2 comes last to what all do" in text, text
    assert re.search(r"^MPI +3 ranks: parallel efficiency", run(SONDE, "show", "--all", f"c.{mpi}"), re.M)


def check_fortran(mpi):
    if not shutil.which(f"mpif90.{mpi}"):
        return
    for name in ("mpi", "mpi_f08"):
        source = open(f"{TOP}/tests/programs/mpi/known.f90", encoding="utf-8").read().replace("use mpi", f"use {name}")
        if name == "mpi_f08":
            source = source.replace("integer :: status(MPI_STATUS_SIZE)", "type(MPI_Status) :: status")
        with open(f"{name}.f90", "w", encoding="utf-8") as f:
            f.write(source)
        run(f"mpif90.{mpi}", "-O1", "-o", f"{name}.{mpi}", f"{name}.f90", stderr=subprocess.DEVNULL)
        shown = record(f"{name}.{mpi}.out", mpi, f"./{name}.{mpi}", f"{name}.{mpi}.said")
        check_calls(f"Fortran ({name}), {mpi}", shown, f"{name}.{mpi}.said")


# Delays that are made: rank k sleeps 10 k ms before each barrier, and the other way round before each broadcast. Each rank says when it came, on average.
LATE = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { STEPS = 30, MS = 1000000 };
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(int argc, char **argv)
{
	double barrier = 0, broadcast = 0;
	int rank, ranks, number = 1;
	char name[256];
	FILE *f;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < STEPS; i++) {
		const struct timespec up = { 0, rank * 10 * MS }, down = { 0, (ranks - 1 - rank) * 10 * MS };
		nanosleep(&up, NULL);
		barrier += now() / STEPS;
		MPI_Barrier(MPI_COMM_WORLD);
		nanosleep(&down, NULL);
		broadcast += now() / STEPS;
		MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	snprintf(name, sizeof name, "%s.%d", argv[1], rank);
	f = fopen(name, "w");
	fprintf(f, "%.9f %.9f\\n", barrier, broadcast);
	fclose(f);
	MPI_Finalize();
	return 0;
}
"""


def check_late(mpi):
    with open("late.c", "w", encoding="utf-8") as f:
        f.write(LATE)
    run(f"mpicc.{mpi}", "-O2", "-o", f"late.{mpi}", "late.c")
    shown = record(f"late.{mpi}.out", mpi, f"./late.{mpi}", f"late.{mpi}.said")
    came = [[float(word) for word in open(f"late.{mpi}.said.{rank}", encoding="utf-8").read().split()] for rank in range(RANKS)]
    functions = {f["function"]: f for f in shown["functions"]}
    for i, (name, last) in enumerate((("MPI_Barrier", RANKS - 1), ("MPI_Bcast", 0))):
        times = [each[i] for each in came]
        spread, have = max(times) - min(times), functions[name]
        by_clock(times.index(max(times)) == last and spread > .005, mpi, name, times)
        by_clock(have["last_rank"] == last and abs(have["arrival_spread_seconds"] - spread) < .005, mpi, name, have, spread)


# First the others wait for rank 0, then for rank 2, as long: their sums are equal. Each says how long it was outside of MPI in each step.
HELD = """
#include <mpi.h>
#include <stdio.h>
#include <time.h>
enum { STEPS = 30, HALF = 15, MS = 1000000 };
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(int argc, char **argv)
{
	double worked[STEPS];
	int rank;
	char name[256];
	FILE *f;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double from = now();
	for (int i = 0; i < STEPS; i++) {
		int slow = i < HALF ? 0 : 2;
		const struct timespec work = { 0, rank == slow ? 200 * MS : 20 * MS };
		nanosleep(&work, NULL);
		worked[i] = now() - from;
		MPI_Barrier(MPI_COMM_WORLD);
		from = now();
	}
	snprintf(name, sizeof name, "%s.%d", argv[1], rank);
	f = fopen(name, "w");
	for (int i = 0; i < STEPS; i++)
		fprintf(f, "%.9f\\n", worked[i]);
	fclose(f);
	MPI_Finalize();
	return 0;
}
"""


def check_held(mpi):
    with open("held.c", "w", encoding="utf-8") as f:
        f.write(HELD)
    run(f"mpicc.{mpi}", "-O2", "-o", f"held.{mpi}", "held.c")
    shown = record(f"held.{mpi}.out", mpi, f"./held.{mpi}", f"held.{mpi}.said")
    worked = [[float(line) for line in open(f"held.{mpi}.said.{rank}", encoding="utf-8")] for rank in range(RANKS)]
    centre = []
    for rank, of in ((0, range(15)), (2, range(15, 30))):
        longer = [worked[rank][i] - sum(worked[other][i] for other in range(RANKS) if other != rank) / (RANKS - 1) for i in range(30)]
        least, most = .6 * sum(longer[i] for i in of), 1.02 * sum(max(0, s) for s in longer) + PAUSE
        held = shown["ranks"][rank]["held_seconds"]
        by_clock(least < held < most, mpi, rank, held, longer)
        spans = [s for s in shown["waited_for"] if s["rank"] == rank]
        assert spans, f"{mpi}: rank {rank}: {shown['waited_for']}"
        centre.append(sum(s["held_seconds"] * (s["from_seconds"] + s["to_seconds"]) / 2 for s in spans) / sum(s["held_seconds"] for s in spans))
    # Half of what it is where nobody else had a rank stopped for a moment, which divides spans and makes others.
    by_clock(centre[0] + 1.5 < centre[1], mpi, centre, shown["waited_for"])
    assert abs(sum(r["held_seconds"] for r in shown["ranks"]) - shown["held_seconds"]) < 1e-6, shown["ranks"]
    text = run(SONDE, "show", "--mpi", f"held.{mpi}.out")
    assert re.search(r"^while rank [02] computed, the others were in MPI for at least ", text, re.M), text
    told = explained.finding(explained.explain(f"held.{mpi}.out"), "mpi")
    most = max(shown["ranks"], key=lambda r: r["held_seconds"])
    assert told["claim"].startswith(f"While rank {most['rank']} computed, the others were in MPI for at least ") and told["topic"] == "wait", told
    assert told["numbers"][0]["value"] == most["held_seconds"] and told["evidence"]["from_seconds"] in [s["from_seconds"] for s in shown["waited_for"]], told
    assert explained.finding(explained.explain(f"c.{mpi}"), "mpi")["numbers"][0]["value"] < told["numbers"][0]["value"], "of a job that is nearly even"


# A tool of its own that counts MPI_Allreduce, and calls the library's PMPI_.
TOOL = """
#include <mpi.h>
#include <stdio.h>
static int n;
int MPI_Allreduce(const void *a, void *b, int c, MPI_Datatype d, MPI_Op e, MPI_Comm f)
{
	n++;
	return PMPI_Allreduce(a, b, c, d, e, f);
}
int MPI_Finalize(void)
{
	FILE *f = fopen("tool", "a");

	fprintf(f, "%d\\n", n);
	fclose(f);
	return PMPI_Finalize();
}
"""


def check_tools(mpi):
    with open("tool.c", "w", encoding="utf-8") as f:
        f.write(TOOL)
    run(f"mpicc.{mpi}", "-O2", "-shared", "-fPIC", "-o", "libtool.so", "tool.c")
    run(f"mpicc.{mpi}", "-O2", "-o", f"linked.{mpi}", f"{TOP}/tests/programs/mpi/known.c", "-L.", "-ltool", "-Wl,-rpath,$ORIGIN")
    for name, environment in (("known", {"LD_PRELOAD": os.path.abspath("libtool.so")}), ("linked", {})):
        if os.path.exists("tool"):
            os.unlink("tool")
        out = f"tool.{name}.{mpi}"
        shown = record(out, mpi, f"./{name}.{mpi}", "5", f"{out}.said", environment=environment)
        check_calls(f"{name} with a tool, {mpi}", shown, f"{out}.said")
        assert open("tool", encoding="utf-8").read() == "10\n" * RANKS, f"{mpi}, {name}: the tool saw {open('tool').read()}"


if not MPIS:
    print("no MPI is installed")
    sys.exit(77)
for each in MPIS:
    for check in (check_c, check_fortran, check_late, check_held, check_tools):
        for turns_left in reversed(range(5)):
            try:
                check(each)
                break
            except Interrupted as fault:
                print(check.__name__, fault, flush=True)
                if not turns_left:
                    raise
