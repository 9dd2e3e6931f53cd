# SPDX-License-Identifier: Apache-2.0
"""A sweep that grows by a value, a stack, an environment or trials runs only what is new; another identifier, script, argument or time limit
is another thing; a sweep of an older Sonde, which named its batches otherwise, goes on with them; bench list has each batch once."""
import json
import os
import sqlite3
import subprocess
import sys

import built
import interpreters
from patience import patience

SONDE = os.environ["SONDE"]
faults = []
built.need(("database", "libsqlite3-dev"), ("yaml", "libyaml-dev"))
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
STORE = ["--store", os.path.abspath("s.sqlite")]
SCRIPT = """#!/bin/sh
echo "$X $E" >>"$LOG"
printf '{"name": "PiGrow", "component": "sh", "@parameters": {"x": %s}, "@result": {"far": %s}, "overall_score": %s}' "$X" "$X" "$X"
"""


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:800]}")


def ran():
    """What the script was run with since this was last asked."""
    lines = open("log").read().split("\n")[:-1] if os.path.exists("log") else []
    if lines:
        os.remove("log")
    return sorted(lines)


def write_script(text):
    with open("grow.sh", "w") as f:
        f.write(text)
    os.chmod("grow.sh", 0o755)


def sweep(known, xs, size=1, environments="a", more="", first="", words=(), stacks="{name: host}"):
    """The report, and what ran; known: how many trials it says that the store has."""
    with open("grow.yaml", "w") as f:
        f.write(f"""{first}script: grow.sh
batch_size: {size}
environment: {{LOG: {os.path.abspath('log')}}}
{more}
matrix:
  environments: [{', '.join(f'{{name: {n}, environment: {{E: {n}}}}}' for n in environments)}]
  parameters: {{X: {json.dumps(xs)}}}
  stacks: [{stacks}]
""")
    p = subprocess.run([SONDE, "bench", "sweep", *words, "--json", *STORE, "grow.yaml"], capture_output=True, text=True, timeout=patience(300))
    check(f"status of {xs, size, environments, more}", p.returncode == 0, p.stderr + p.stdout)
    report = json.loads(p.stdout)
    said = [line for line in p.stderr.split("\n") if "in the store already" in line]
    if "responses" not in report:
        sys.exit(f"no report: {p.stderr}{p.stdout}")
    total = len(report["responses"]) * size
    wanted = [f"sonde: bench sweep: {known} of {total} trials are in the store already; {total - known} will run"] if known else []
    check(f"what it says of {xs, size, environments, more}", said == wanted, (said, wanted))
    check("each response is whole", all(r["missing"] == 0 and r["failed"] == 0 for r in report["responses"]), report)
    return report, ran()


write_script(SCRIPT)
first, got = sweep(0, [1, 2, 3], size=2)
check("at first", got == ["1 a", "1 a", "2 a", "2 a", "3 a", "3 a"], got)
grown, got = sweep(6, [1, 4, 2, 3], size=2)
check("another value", got == ["4 a", "4 a"] and grown["sweep"] != first["sweep"], got)
batches = {r["parameters"]["X"]: r["batch"] for r in grown["responses"]}
check("the same batches", all(batches[r["parameters"]["X"]] == r["batch"] for r in first["responses"]), (first, grown))
grown, got = sweep(8, [1, 2, 3, 4], size=3)
check("another trial", got == ["1 a", "2 a", "3 a", "4 a"] and all(r["trials"] == 3 for r in grown["responses"]), (got, grown))
grown, got = sweep(12, [1, 2, 3, 4], size=3, environments="ab")
check("another environment", got == sorted(3 * [f"{x} b" for x in (1, 2, 3, 4)]), got)
grown, got = sweep(12, [1, 2, 3, 4], size=3, more="decision: {type: random, count: 4}")
check("chance, of what is known", got == [] and len(grown["responses"]) == 4, got)
# A smaller one of it has all it asks for, and more.
grown, got = sweep(2, [1, 2], size=1)
check("a part", got == [] and [r["trials"] for r in grown["responses"]] == [3, 3], (got, grown))
with sqlite3.connect("s.sqlite") as db:
    twice = db.execute("SELECT batch_id, number FROM trials GROUP BY batch_id, number HAVING COUNT(*) > 1").fetchall()
    check("every trial once", twice == [], twice)
p = subprocess.run([SONDE, "bench", "list", "--json", *STORE], capture_output=True, text=True)
listed = json.loads(p.stdout)["batches"]
check("each batch is listed once", len(listed) == 8 and [b["trials"] for b in listed] == 8 * [3], listed)

# What is another thing runs.
for what, change in (("identifier", {"more": "identifier: again"}), ("argument", {"more": "arguments: [x]"}), ("time limit", {"more": "timeout: 50s"})):
    grown, got = sweep(0, [1, 2], **change)
    check(f"another {what}", got == ["1 a", "2 a"], got)
write_script(SCRIPT + "# another\n")
grown, got = sweep(0, [1, 2])
check("another script", got == ["1 a", "2 a"], got)

# A stack for another Python, too, whatever else it has in common.
if not subprocess.run(["python3", "-c", "import venv, ensurepip"], capture_output=True).returncode:
    os.mkdir("bin")
    with open("bin/python3.98", "w") as f:
        f.write("#!/bin/sh\n[ \"$1\" = -c ] && echo 'cpython 3.98.0 (made up) linux' && exit\nexec python3 \"$@\"\n")
    os.chmod("bin/python3.98", 0o755)
    python = interpreters.copying("/usr/bin/python3", "copies")
    os.environ["PATH"] = f"{os.path.abspath('bin')}:{os.path.dirname(python)}:{os.environ['PATH']}"
    for known, version in ((0, "3"), (0, "3.98"), (1, "3")):
        grown, got = sweep(known, [1], stacks=f"{{name: py, python: {{requirements: '# none', python_version: '{version}'}}}}")
        check(f"Python {version}", got == ([] if known else ["1 a"]), got)

# More trials of what is known are warmed up, too.
sweep(0, [7], more="warmup: 2")
grown, got = sweep(1, [7], size=3, more="warmup: 2")
check("warm", got == 4 * ["7 a"], got)

# An older Sonde named batches after their sweep.
report, got = sweep(0, [8, 9], size=2, more="identifier: old")
with sqlite3.connect("s.sqlite") as db:
    db.execute("PRAGMA foreign_keys = ON")  # what a trial printed goes with it
    for r in report["responses"]:
        db.execute("UPDATE batches SET uid = ? WHERE id = ?", (f"sweep:{report['sweep']}:{r['combination']}", r["batch"]))
    db.execute("DELETE FROM trials WHERE batch_id = ? AND number = 2", (report["responses"][1]["batch"],))
again, got = sweep(3, [8, 9], size=2, more="identifier: old")
check("an older one goes on", got == ["9 a"] and again["responses"][1]["batch"] == report["responses"][1]["batch"], (got, again))
print("\n".join(faults))
sys.exit(bool(faults))
