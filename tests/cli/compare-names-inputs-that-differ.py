# SPDX-License-Identifier: Apache-2.0
"""sonde compare says which files that runs with --files only read were others: of another size, or read by one side alone. What both read alike, what a
job wrote, and runs without --files give no difference. An ordinary user records it."""
# limit: 120
import json
import os
import subprocess

import jsonschema

from ordinary_user import USER, enter_room
from patience import patience

SONDE, TOP = os.environ["SONDE"], os.environ["TOP"]
holder = enter_room()
os.environ["XDG_CACHE_HOME"] = holder.name
with open(TOP + "/docs/schema/compare.json", encoding="utf-8") as f:
    SCHEMA = json.load(f)
# A shell that reads by itself and keeps the files open: their names are known, however busy the machine is.
JOB = "exec 3<same.txt 4<data.csv; read x <&3; read x <&4; [ ! -e extra ] || { exec 5<extra; read x <&5; }; exec 6>>out.txt; echo $x >&6; sleep 1"


def record(name, *options):
    subprocess.run([*USER, SONDE, "run", "-q", "--stacks=off", *options, "-o", name, "--", "bash", "-c", JOB], check=True, timeout=patience(100))
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)


def write(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(name, 0o644)


def compare(a, b, *options):
    return subprocess.run([SONDE, "compare", *options, a, b], capture_output=True, text=True, check=False).stdout


def inputs(a, b):
    document = json.loads(compare(a, b, "--json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return {os.path.basename(x["key"]): (x["a"], x["b"]) for x in document["differences"] if x["of"] == "input"}


write("same.txt", "1\n")
write("data.csv", "four\n")
record("tried", "--files")
tried = json.loads(subprocess.run([SONDE, "show", "--files", "--json", "tried"], capture_output=True, text=True, check=True).stdout)
if tried["by"] != "calls":
    print("tracepoints may not be opened here:", tried["note"], tried["not_recorded"])
    raise SystemExit(77)
record("a", "--files")
record("again", "--files")
write("data.csv", "a longer line\n")
write("extra", "2\n")
record("b", "--files")
record("plain")

found = inputs("a", "b")
assert set(found) == {"data.csv", "extra"}, found
assert "(5 bytes)" in found["data.csv"][0] and "(14 bytes)" in found["data.csv"][1], found
assert found["extra"][0] == "(not read)" and "(2 bytes)" in found["extra"][1], found
assert inputs("a", "again") == {}, inputs("a", "again")
assert inputs("a", "plain") == inputs("plain", "b") == {}
text = compare("a", "b")
assert "  input       " in text and "/data.csv\n" in text and "    A  (not read)\n" in text, text
assert "| input | " in compare("a", "b", "--markdown")
