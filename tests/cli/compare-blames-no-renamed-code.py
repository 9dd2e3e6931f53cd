# SPDX-License-Identifier: Apache-2.0
# quiet
"""A program is built again with a function under another name, or inlined into its five callers, and runs as long as before or longer: no function is
blamed for what moved to it, only the program is, and functions that have nothing to do with it keep their rows. What debug information says was
inlined is named as before."""
# limit: 300
import json
import os
import subprocess
import sys

from ordinary_user import need_unwind
from patience import patience

SONDE = os.environ["SONDE"]
os.environ["SONDE_HISTORY"] = "off"
HZ, RUNS = 499, 3
SOURCE = """
#include "cpu_work.h"
KIND static void STEP(long ms) { work(ms * SLOWER / 100); sink += 2; }
#define part(name, n) __attribute__((noinline)) static void name(void) { work((n) * 10); STEP(10); sink += n; }
part(read_mesh, 2) part(sort_cells, 3) part(move_cells, 4) part(smooth_edges, 5) part(write_mesh, 1)
__attribute__((noinline)) static void check_all(void) { work(100); sink += 9; }
int main(void) { for (int i = 0; i < 2; i++) { read_mesh(); sort_cells(); move_cells(); smooth_edges(); write_mesh(); check_all(); } }
"""
BUILDS = {"old": ("noinline", "relax", 100, "-g"), "renamed": ("noinline", "relax_cells", 100, "-g"), "slower": ("noinline", "relax_cells", 250, "-g"),
          "inlined": ("always_inline", "inline relax", 100, "-g"), "no_lines": ("always_inline", "inline relax", 100, "-g0")}
need_unwind()

for name, (kind, step, slower, lines) in BUILDS.items():
    os.mkdir(name)
    source = SOURCE.replace("KIND", f"__attribute__(({kind}))").replace("STEP(long", step + "(long").replace("STEP", step.split()[-1]).replace("SLOWER", str(slower))
    subprocess.run(["cc", "-O2", lines, "-I", os.environ["TOP"] + "/tests/programs", "-o", name + "/parts", "-x", "c", "-"], input=source, text=True, check=True)
runs = {name: [] for name in BUILDS}
for number in range(RUNS):
    for name, taken in runs.items():
        taken.append(f"{name}{number}")
        subprocess.run([SONDE, "run", f"--stacks={HZ}", "-q", "-o", taken[-1], "--", f"./{name}/parts"], check=True, timeout=patience(100))


def compare(b):
    ended = subprocess.run([SONDE, "compare", "--json", ",".join(runs["old"]), ",".join(runs[b])], capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1, 3), ended
    found = json.loads(ended.stdout)["blame"]
    if found is None:
        print("no stacks are recorded here")
        sys.exit(77)
    print(b, found["sentence"])
    assert abs(sum(part["difference_seconds"] for part in found["function"]) - found["whole"]["difference_seconds"]) < 1e-9, found
    return found, {part["name"] for part in found["function"]}, {part["kind"] for part in found["function"] if part["blamed"]} - {"kernel"}


PARTS = {"read_mesh", "sort_cells", "move_cells", "smooth_edges", "write_mesh"}
for b in ("renamed", "slower"):
    found, names, kinds = compare(b)
    assert PARTS | {"check_all"} <= names and not names & {"relax", "relax_cells"}, (b, names)
    assert kinds == ({"renamed or inlined"} if b == "slower" else set()), (b, kinds, found["sentence"])
found, names, kinds = compare("inlined")  # debug information says what was inlined
assert PARTS | {"relax", "check_all"} <= names and not kinds and not found["note"], (names, kinds, found["sentence"])
found, names, kinds = compare("no_lines")
assert "check_all" in names and not names & {"relax", "write_mesh", "read_mesh"} and not kinds, (names, kinds, found["sentence"])
assert "renamed or inlined" in names and "only A or only B has" in found["note"], (names, found["note"])
