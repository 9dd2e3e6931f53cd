# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""Trials, models and what is asked of them are the same in SQLite and in PostgreSQL; columns change in both; eight that write at once lose
nothing."""
import json
import os
import subprocess
import sys

import postgres
from patience import patience

SONDE = os.environ["SONDE"]
WRITERS, REPEAT = 8, 4
faults = []
server = postgres.Server()
clean = {k: v for k, v in server.environment.items() if not k.startswith("SONDE_")}


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:800]}")


def sonde(*words, code=0):
    p = subprocess.run([SONDE, *words], capture_output=True, text=True, timeout=patience(200), env=clean)
    check(f"status of {words}", p.returncode == code, f"{p.returncode}, wanted {code}: {p.stderr}")
    return p


def script(name, parameters, measured):
    with open(name, "w") as f:
        f.write("#!/bin/sh\ncat <<'END'\n" + json.dumps({"name": "PiBoth", "component": "x", "@parameters": parameters, "@result": measured}) + "\nEND\n")
    os.chmod(name, 0o755)
    return "./" + name


SCRIPTS = [script("one", {"knob": 1, "text": "it's $1"}, {"elapsed": 1.5, "fine": True}), script("two", {"knob": 1.5}, {"elapsed": 2, "more": [1]}),
           script("three", {"knob": "x"}, {"elapsed": 2})]
with open("both.model", "w") as f:  # only asked with: the store derives the columns
    f.write("indicator PiBoth\n parameter knob real\n parameter text text\n result elapsed real\n query some\n  show knob text elapsed\n  where knob<=3\n"
            "  where elapsed<9\n  order elapsed desc\n  order text\n  limit 7\n")
with open("sweep.yaml", "w") as f:
    f.write("identifier: both\nscript: |\n  #!/bin/sh\n  echo run >>\"$LOG\"\n  [ $X != 3 ] || exit 3\n"
            "  echo '{\"name\": \"PiSwept\", \"component\": \"x\", \"@parameters\": {}, \"@result\": {\"far\": '$X'}}'\n"
            f"batch_size: 2\nenvironment: {{LOG: {os.path.abspath('log')}, PASSWORD: {postgres.PASSWORD}}}\nmatrix:\n"
            "  parameters: {X: [1, 2, 3]}\n  stacks: [host, {name: none, packages: [no-such-package]}]\n")
told, asked, tables, queried, swept = [], [], [], [], []
for where in ("s.sqlite", server.url):
    name = "lite" if where == "s.sqlite" else "pg"
    for i, path in enumerate(SCRIPTS):
        sonde("bench", "run", "-q", "-n", "2", "-o", f"{name}{i}", "--store", where, path, code=int(i == 2))
    writers = [subprocess.Popen([SONDE, "bench", "run", "-q", "-n", str(REPEAT), "-o", f"{name}w{i}", "--store", where,
                                 script(f"w{name}{i}", {"knob": i, f"own{i}": i}, {"elapsed": i})], env=clean, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True) for i in range(WRITERS)]
    ends = [w.communicate()[1] for w in writers]
    check(f"writers into {name}", all(w.returncode == 0 for w in writers), ends)
    listed = json.loads(sonde("bench", "list", "--json", "--store", where).stdout)["batches"]
    exported = sonde("bench", "export", "-o", "-", "--to", "json", "--table", "trials_pi_both", "--store", where, "bench:1", "bench:2").stdout
    tables.append(json.loads(exported))
    check(f"none lost in {name}", [b["trials"] for b in listed] == [2] * 3 + [REPEAT] * WRITERS, listed)
    stats = json.loads(sonde("bench", "stats", "--json", "--store", where, "bench:1", "bench:2", "bench:3").stdout)["batches"]
    machine = {"duration_seconds", "peak_memory_bytes", "energy_joules", "energy_apportioned_joules", "load_1m", "others_ratio", "waited_ratio", "steal_ratio",
               "throttled_ratio", "heat_throttles", "frequency_hertz"}
    told.append([{**b, "origin": None, "disturbed": None, "worth_little": None, "figures": {k: v for k, v in b["figures"].items() if k not in machine and not k.startswith("ru_")}} for b in stats])
    shown = sonde("bench", "show", "--store", where, "bench:1/2").stdout
    check(f"a trial of {name}", "it's $1" in shown and "ru_nivcsw" in shown and "host.architecture" in shown, shown)
    advised = json.loads(sonde("bench", "advise", "PiBoth", "-c", "elapsed", "--better", "less", "--json", "--store", where).stdout)
    queried.append(json.loads(sonde("bench", "query", "--model", "both.model", "PiBoth", "some", "--json", "--store", where).stdout))
    history = json.loads(sonde("bench", "history", "PiBoth", "-c", "elapsed", "-w", "knob<2", "--json", "--store", where).stdout)
    report = sonde("bench", "report", "PiBoth", "-c", "elapsed", "-o", f"{name}.html", "--store", where)
    check(f"the page of {name}", report.stderr == f"sonde: bench report: {name}.html\n", report)
    # Swept, asked again, and as a page.
    words = ("bench", "sweep", "-q", "--json", "--store", where, "-o", f"{name}_sweep", "sweep.yaml")
    swept.append([json.loads(sonde(*words, code=1).stdout) for _ in range(2)])
    sonde("bench", "report", "sweep:both", "-o", f"{name}_sweep.html", "--store", where)
    with open(f"{name}_sweep.html") as f:
        page = f.read()
    check(f"the sweep's page of {name}", page.count('<tr id="g') == 2 and "no-such-package is not installed" in page and "exit code 3" in page)
    candidates = sorted((sorted(c["parameters"].items()), c["n"], c["failed"], c["value"]) for c in advised["candidates"])
    check(f"candidates of {name}", len(candidates) == 2 + WRITERS and sum(c[1] for c in candidates) == 4 + WRITERS * REPEAT, candidates)
    asked.append([candidates, sorted((sorted(x["parameters"].items()), x["values"]) for x in history["series"])])
answers = [[q["found"], q["columns"], [t["values"] for t in q["trials"]]] for q in queried]
check("the same query", answers[0] == answers[1] and answers[0][0] == 4 + 4 * REPEAT and answers[0][2] == [[3, None, 3]] * REPEAT + [[1.5, None, 2]] * 2 + [[2, None, 2]],
      answers)
with open("log") as f:
    check("swept once", f.read().count("run") == 2 * 6, swept)
of = [[[(r["parameters"], r["trials"], r["failed"], r["result"]) for r in s["responses"]] + [x["reason"] for x in s["skipped"]] for s in x] for x in swept]
check("the same sweep", of[0] == of[1] and of[0][0] == of[0][1] and [r[1:3] for r in of[0][0][:3]] == [(2, 0), (2, 0), (2, 2)], of)
rows = server.sql("SELECT COUNT(*), COUNT(DISTINCT t.batch_id * 10 + t.number), MIN(s.specification) FROM trials t JOIN sweep_points p ON p.batch_id = t.batch_id "
                  "JOIN sweeps s ON s.id = p.sweep_id")
check("in PostgreSQL", rows[0][:2] == ["6", "6"] and postgres.PASSWORD not in rows[0][2], rows)
# Tables of an older version are brought up with all that is in them.
older = server.sql("SELECT id, state, load_1m FROM trials ORDER BY id")
server.sql("DROP TABLE batch_tags; ALTER TABLE batches DROP COLUMN note; ALTER TABLE indicators DROP COLUMN checks; " +
           " ".join(f"ALTER TABLE trials DROP COLUMN {c};" for c in ("others_ratio", "waited_ratio", "steal_ratio", "throttled_ratio", "heat_throttles", "frequency_hertz", "peak_memory_kind")) +
           "UPDATE sonde_schema SET version = 6")
sonde("bench", "note", "--store", server.url, "bench:1", "--note", "it's old", "--tag", "old")
check("brought up", server.sql("SELECT id, state, load_1m FROM trials ORDER BY id") == older and
      server.sql("SELECT COUNT(*) FROM trials WHERE others_ratio IS NULL AND frequency_hertz IS NULL") == [[str(len(older))]] and
      server.sql("SELECT b.note, g.tag FROM batches b JOIN batch_tags g ON g.batch_id = b.id") == [["it's old", "old"]])
check("the same answers", asked[0] == asked[1], asked)
check("the same statistics", told[0] == told[1], told)
names = ("knob", "text", "elapsed", "fine", "more")
exported = [{c["name"]: (c["type"], [row[i] for row in t["rows"]]) for i, c in enumerate(t["columns"]) if c["name"] in names} for t in tables]
check("the same tables", exported[0] == exported[1] and exported[0]["knob"] == ("real", [1, 1, 1.5, 1.5]) and
      exported[0]["fine"] == ("integer", [1, 1, None, None]), exported)
check("what they are", [b["figures"].get("elapsed", {}).get("mean") for b in told[0]] == [1.5, 2.0, None] and len(told[0][2]["failed"]) == 2, told[0])
columns = server.sql("SELECT data_type FROM information_schema.columns WHERE table_name = 'trials_pi_both' AND column_name IN ('knob', 'elapsed')")
check("types in PostgreSQL", columns == [["double precision"]] * 2, columns)
# A name that only PostgreSQL does not have is a failed trial there.
sonde("bench", "run", "-q", "-o", "taken_lite", "--store", "s.sqlite", script("taken", {"xmin": 0}, {"elapsed": 1}))
said = sonde("bench", "run", "-q", "-o", "taken_pg", "--store", server.url, "./taken", code=1).stdout
check("a name that is taken", "failed (1): PostgreSQL has no column xmin but its own; give it another name" in said, said)
# What is deleted is gone from both, with what refers to it; an indicator stands for its batches.
for where in ("s.sqlite", server.url):
    check("only told", "without --yes" in sonde("bench", "delete", "--store", where, "bench:1").stderr)
    sonde("bench", "delete", "--yes", "--store", where, "bench:1")
    left = json.loads(sonde("bench", "stats", "--json", "--store", where, "PiBoth").stdout)["batches"]
    check(f"gone from {where}", "there is no bench:1" in sonde("bench", "show", "--store", where, "bench:1", code=1).stderr and {1, 2} & {b["batch"] for b in left} == {2}, left)
check("rows follow", server.sql("SELECT COUNT(*) FROM trials_pi_both m LEFT JOIN trials t ON t.id = m.trial_id WHERE t.id IS NULL OR t.batch_id = 1") == [["0"]])
print("\n".join(faults))
sys.exit(bool(faults))
