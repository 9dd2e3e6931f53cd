# SPDX-License-Identifier: Apache-2.0
# quiet
"""A program of four known parts, built twice, one part slower in the second build: recorded three times each, that part is named, and no other
one; recorded three times more, the first build differs from itself in nothing."""
# limit: 300
import json
import os
import subprocess
import sys

from ordinary_user import need_unwind
from patience import patience

SONDE, BUILD = os.environ["SONDE"], os.environ["BUILD"]
os.environ["SONDE_HISTORY"] = "off"
HZ, RUNS = 499, 3
SOURCE = """
#include "cpu_work.h"
__attribute__((noinline)) static void parse_input(long ms) { work(2 * ms); sink += 1; }
__attribute__((noinline)) static void solve_system(long ms) { work(4 * ms * SLOWER / 100); sink += 2; }
__attribute__((noinline)) static void smooth_edges(long ms) { work(3 * ms); sink += 3; }
__attribute__((noinline)) static void write_result(long ms) { work(1 * ms); sink += 4; }
int main(void) { for (int i = 0; i < 3; i++) { parse_input(20); solve_system(20); smooth_edges(20); write_result(20); } }
"""
need_unwind()


def build(folder, slower):
    os.mkdir(folder)
    options = ["-O2", "-g", f"-DSLOWER={slower}", "-I", os.environ["TOP"] + "/tests/programs", "-o", folder + "/parts"]
    subprocess.run(["cc", *options, "-x", "c", "-"], input=SOURCE, text=True, check=True)


def compare(a, b):
    ended = subprocess.run([SONDE, "compare", "--json", ",".join(a), ",".join(b)], capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1, 3), ended
    return json.loads(ended.stdout)["blame"]


build("old", 100)
build("new", 250)
runs = {"old": [], "new": [], "again": []}
for number in range(RUNS):
    for name, taken in runs.items():
        taken.append(f"{name}{number}")
        program = "new" if name == "new" else "old"
        subprocess.run([SONDE, "run", f"--stacks={HZ}", "-q", "-o", taken[-1], "--", f"./{program}/parts"], check=True, timeout=patience(100))
found = compare(runs["old"], runs["new"])
if found is None:
    print("no stacks are recorded here")
    sys.exit(77)
print(found["sentence"])
# The kernel's part grows with the run: its clock ticks longer.
named = [part["name"] for part in found["function"] if part["blamed"] and part["kind"] != "kernel"]
assert named == ["solve_system"], (found["sentence"], found["function"])
assert "solve_system +" in found["sentence"] and "another build of parts" in found["sentence"], found["sentence"]
rows = {part["name"]: part for part in found["function"]}
assert {"parse_input", "smooth_edges", "write_result"} < set(rows), rows
assert 45 < 100 * rows["solve_system"]["difference_ratio"] < 75, rows["solve_system"]  # 60 of 100
assert abs(sum(part["difference_seconds"] for part in rows.values()) - found["whole"]["difference_seconds"]) < 1e-9, found
same = compare(runs["old"], runs["again"])
print(same["sentence"])
assert not any(part["blamed"] for level in ("class", "function", "command") for part in same[level]), same
