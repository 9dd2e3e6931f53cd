# SPDX-License-Identifier: Apache-2.0
# quiet
# limit: 240
"""sonde compare -n N -- CMD... runs commands in shuffled rounds and says which is faster, by how much and how certain that is; options that hyperfine has
mean the same; what fails is said, and what is hostile stays text; files have the form of hyperfine's."""
import csv
import json
import os
import shutil
import subprocess

import jsonschema
import schemas
from trials import check, end, sonde

with open(os.environ["TOP"] + "/docs/schema/compare-commands.json", encoding="utf-8") as f:
    SCHEMA = schemas.strict(json.load(f))


def timed(*words, code=0):
    p = sonde("compare", "--json", *words, code=code)
    answer = json.loads(p.stdout) if p.stdout else {}
    if answer:
        jsonschema.Draft202012Validator(SCHEMA).validate(answer)
    return answer


def lines(name):
    with open(name) as f:
        return f.read().split()


# Rounds: each command once, and not always in the same order.
a = timed("-n", "6", "--", "echo a >>log; sleep 0.02", "echo b >>log; sleep 0.3", "echo c >>log; sleep 0.02")
rounds = [lines("log")[3 * i:3 * i + 3] for i in range(6)]
check("rounds", len(lines("log")) == 18 and all(sorted(r) == ["a", "b", "c"] for r in rounds) and len({tuple(r) for r in rounds}) > 1, rounds)
slow = a["results"][1]
check("the slow one", a["fastest"] != 1 and 1.5 < slow["ratio_low"] <= slow["ratio"] <= slow["ratio_high"] and len(slow["times"]) == 6, slow)
check("the shell", 0 < a["shell_seconds"] and min(slow["times"]) > 0.2, a)
p = sonde("compare", "-n", "5", "--", "sleep 0.02", "sleep 0.3")
check("sentence", "A is " in p.stdout and " times faster than B (" in p.stdout and "Without the start of the shell" in p.stdout, p.stdout)
p = sonde("compare", "-n", "5", "-N", "--margin", "900%", "--", "sleep 0.1", "sleep 0.1")
check("the same", "A and B take the same time" in p.stdout or "B and A take the same time" in p.stdout or "No difference" in p.stdout, p.stdout)
# What the shell does itself takes no longer than its start, unless the machine is busy.
check("too short", any("use -N" in sonde("compare", "-n", "15", "--", ":").stdout for _ in range(4)))
check("one alone", len(timed("-n", "3", "--", "true")["results"]) == 1)
a = timed("-n", "3", "-N", "--", "sleep 0.01", "true")
check("no shell", a["shell_seconds"] == 0, a)

# What happens beside the runs.
timed("-n", "4", "-w", "2", "-s", "echo setup >>aside", "-p", "echo prepare >>aside", "-c", "echo cleanup >>aside", "--", "echo run >>aside", "echo run >>aside")
got = lines("aside")
check("aside", [got.count(w) for w in ("setup", "prepare", "run", "cleanup")] == [2, 12, 12, 2] and got[0] == "setup" and got[-1] == "cleanup", got)
check("prepare comes before each", all(got[i - 1] == "prepare" for i, w in enumerate(got) if w == "run"), got)

# Parameters.
a = timed("-n", "2", "-P", "t", "1", "3", "-D", "0.5", "--", "echo {t} {u}")
check("scan", [r["command"] for r in a["results"]] == [f"echo {t} {{u}}" for t in ("1", "1.5", "2", "2.5", "3")] and a["results"][1]["parameters"] == {"t": "1.5"}, a)
a = timed("-n", "2", "-L", "x", "a,b", "-L", "y", "1,2", "--", "echo {x}{y}", "true {x}")
check("lists", [r["command"] for r in a["results"]] == ["echo a1", "echo a2", "echo b1", "echo b2", "true a", "true a", "true b", "true b"], a)
for words, why in ((["-P", "t", "3", "1", "--", "x"], "the smaller one first"), (["-P", "t", "1", "x", "--", "x"], "takes two numbers"), (["-P", "t", "1", "9999", "--", "x"], "more than 64"),
                   (["-P", "t", "1"], "takes a name and two numbers"), (["-P", "t", "0", "1", "-D", "0", "--", "x"], "more than 64"), (["-L", "t", "a"], "-L a name and values"),
                   (["--until", "x", "--", "true"], "--until takes"), (["--until", "200%", "--", "true"], "--until takes"), ([], "no command given"),
                   (["-P", "a", "1", "2", "-L", "b", "x", "--", "x"], "either -P or -L"), (["--margin", "x", "--", "true"], "--margin takes")):
    p = sonde("compare", "-n", "2", *words, code=2)
    check(f"refused {words}", why in p.stderr and not p.stdout, p.stderr)

# Failures.
p = sonde("compare", "-n", "3", "--", "true", "echo why >&2; exit 3", code=1)
check("a failure", "exit code 3" in p.stderr and "why" in p.stderr and not p.stdout, p.stderr)
a = timed("-n", "3", "-i", "--", "exit 3", "kill -9 $$")
check("ignored", a["results"][0]["exit_codes"] == [3, 3, 3] and a["results"][1]["exit_codes"] == [137] * 3, a)
check("no such shell", "could not be started" in sonde("compare", "-n", "2", "-S", "/nowhere/sh", "--", "true", code=1).stderr)
check("no such program", "could not be started" in sonde("compare", "-n", "2", "-N", "--", "/nowhere/x", code=1).stderr)
check("preparing", "--prepare 'exit 4'" in sonde("compare", "-n", "2", "-p", "exit 4", "--", "true", code=1).stderr)

# It stops by itself.
a = timed("--until", "99%", "-M", "30", "--", "sleep 0.01", "sleep 0.05")
check("until", 10 <= a["rounds"] <= 30, a["rounds"])
check("at most", timed("--until", "0.0001%", "-n", "3", "-M", "5", "--", "true", "sleep 0.01")["rounds"] == 5)

# Files, with what is hostile.
bad = "true '|x`<b>\x1b[31m,\"q\"'"
sonde("compare", "-n", "3", "--export-json", "d/h.json", "--export-csv", "h.csv", "--export-markdown", "h.md", "-L", "v", "1,2", "--", bad + " {v}")
with open("d/h.json") as f:
    results = json.load(f)["results"]
check("JSON", [r["command"] for r in results] == [bad + " 1", bad + " 2"], results)
with open("h.csv", newline="") as f:
    rows = list(csv.DictReader(f))
check("CSV", rows[1]["command"] == bad.replace("\x1b", "\ufffd") + " 2" and rows[1]["parameter_v"] == "2" and float(rows[0]["mean"]) > 0, rows)
with open("h.md") as f:
    text = f.read()
check("Markdown", "\x1b" not in text and "\\|x\\`\\<b>" in text and text.count("\n") == 4, text)
check("terminal", "\x1b" not in sonde("compare", "-n", "2", "--", bad).stdout)
check("a full disk", "cannot write" in (p := sonde("compare", "-n", "2", "--export-csv", "/dev/full/x", "--", "true", code=2)).stderr or "/dev/full" in p.stderr, p.stderr)
if shutil.which("hyperfine"):
    subprocess.run(["hyperfine", "-r", "2", "--export-json", "peer.json", "-L", "v", "1,2", "sleep 0.0{v}"], check=True, capture_output=True)
    with open("peer.json") as f:
        peer = json.load(f)["results"][0]
    kinds = [{int: float}.get(type(v), type(v)) for v in peer.values()]
    check("hyperfine's names", set(results[0]) - set(peer) <= {"memory_usage_byte"} and
          [{int: float}.get(type(results[0][k]), type(results[0][k])) for k in peer] == kinds, (results[0], peer))
end()
