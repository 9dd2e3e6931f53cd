# SPDX-License-Identifier: Apache-2.0
# quiet
"""A benchmark of two known parts, one slower in its second build, run six times each with --stacks: bench history names that part where the level
changed, as text and JSON. Recordings that are gone by then make no blame, and no error."""
# limit: 300
import json
import os
import shutil
import subprocess
import sys

import jsonschema
import schemas
from ordinary_user import need_unwind
from patience import patience

SONDE, STORE = os.environ["SONDE"], "s.sqlite"
if not os.path.exists(os.path.dirname(os.path.realpath(SONDE)) + "/libexec/sonde/sonde-database"):
    print("sonde-database was not built: libsqlite3-dev is not installed")
    sys.exit(77)
need_unwind()
SOURCE = r"""
#include <stdio.h>
#include "cpu_work.h"
__attribute__((noinline)) static void parse_input(long ms) { work(2 * ms); sink += 1; }
__attribute__((noinline)) static void solve_system(long ms) { work(3 * ms * SLOWER / 100); sink += 2; }
int main(void)
{
	for (int i = 0; i < 5; i++) {
		parse_input(20);
		solve_system(20);
	}
	puts("{\"name\": \"PiParts\", \"framework\": \"c\", \"@parameters\": {}, \"@result\": {\"elapsed\": 1}}");
}
"""


def bench(verb, *words):
    ended = subprocess.run([SONDE, "bench", verb, "--store", STORE, *words], capture_output=True, text=True, timeout=patience(200), check=False)
    assert ended.returncode == 0, ended
    return ended.stdout


for slower in (100, 180):
    subprocess.run(["cc", "-O2", "-g", f"-DSLOWER={slower}", "-I", os.environ["TOP"] + "/tests/programs", "-o", "parts", "-x", "c", "-"], input=SOURCE, text=True, check=True)
    bench("run", "-q", "-n", "6", "--stacks=499", "-o", f"batch{slower}", "./parts")
(change,) = json.loads(bench("history", "PiParts", "-c", "ru_utime", "--json"))["series"][0]["changes"]
if change["blame"] is None:
    print("no stacks are recorded here")
    sys.exit(77)
print(change["blame"]["sentence"])
# The kernel's part grows with the run: its clock ticks longer.
assert [part["name"] for part in change["blame"]["function"] if part["blamed"] and part["kind"] != "kernel"] == ["solve_system"], change["blame"]
assert "another build of parts" in change["blame"]["sentence"] and change["blame_time"] is None, change
assert "solve_system +" in bench("history", "PiParts", "-c", "ru_utime")
with open(os.environ["TOP"] + "/docs/schema/bench-history.json", encoding="utf-8") as f:
    schema = jsonschema.Draft202012Validator(schemas.strict(json.load(f)), format_checker=jsonschema.FormatChecker())
schema.validate(json.loads(bench("history", "PiParts", "-c", "ru_utime", "--json")))

shutil.rmtree("batch100")
(change,) = json.loads(bench("history", "PiParts", "-c", "ru_utime", "--json"))["series"][0]["changes"]
assert "the runs of A have no stacks" in change["blame"]["refused"], change
shutil.rmtree("batch180")
assert "CPU:" not in bench("history", "PiParts", "-c", "ru_utime")
