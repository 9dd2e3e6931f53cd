# SPDX-License-Identifier: Apache-2.0
# limit: 600
"""A sweep tries what its specification says, in an order that its seed decides; what is wrong with a specification is said with line and
column; killed at random moments (20 with --long), alone or with its process group, and started again, it has every trial exactly once."""
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys

import built
from patience import patience

SONDE, TOP, LONG = os.environ["SONDE"], os.environ["TOP"], os.environ.get("LONG")
faults = []
built.need(("database", "libsqlite3-dev"), ("yaml", "libyaml-dev"))
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
STORE = ["--store", os.path.abspath("s.sqlite")]


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:800]}")


def sonde(*words, code=0):
    p = subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", timeout=patience(300))
    check(f"status of {words}", p.returncode == code, f"{p.returncode}, wanted {code}: {p.stderr}{p.stdout}")
    return p


def sweep(*words, code=0):
    p = sonde("bench", "sweep", "-q", "--json", *STORE, *words, code=code)
    return json.loads(p.stdout) if p.stdout else {}


def write(name, text):
    with open(name, "w") as f:
        f.write(text)
    return name


def database(sql, *values):
    with sqlite3.connect("s.sqlite") as db:
        db.row_factory = sqlite3.Row
        return db.execute(sql, values).fetchall()


# The script says where it stood, and how far that is from X 3, Y b; with X 4 it fails.
SCRIPT = r"""#!/bin/sh
echo "$X $Y ${E:-none} $*" >>"$LOG"
[ "$X" != 4 ] || exit 3
case $Y in a) far=1 ;; b) far=0 ;; c) far=1 ;; esac
[ "$X" -gt 3 ] && far=$((far + 2 * (X - 3))) || far=$((far + 2 * (3 - X)))
printf '{"name": "PiFar", "component": "sh", "@parameters": {"x": %s, "y": "%s"}, "@result": {"far": %s}, "overall_score": -0.%s}' \
    "$X" "$Y" "$far" "$far"
"""
with open("far.sh", "w") as f:
    f.write(SCRIPT)
os.chmod("far.sh", 0o755)
LOG = os.path.abspath("log")


def spec(name, more="", xs="[0, 1, 2, 3, 4, 5]", size=1):
    return write(name, f"""script: far.sh
batch_size: {size}   # trials of each
environment: {{LOG: {LOG}}}
matrix:
  parameters:
    X: {xs}
    Y: [a, b, c]
{more}""")


# What is wrong is said, where it is.
for text, where, sentence in (
        ("script: [1\n", "2:1", "did not find expected"),
        ("script: far.sh\nscrip: 3\n", "2:8", "there is no key 'scrip' here; did you mean script?"),
        ("script: far.sh\nbatch_size: many\n", "2:13", "batch_size: expected a whole number from 1"),
        ("script: far.sh\nrun:\n  requests:\n    memory: 1Gib\n", "4:13", "'1Gib' is not a quantity"),
        ("script: far.sh\nmatrix:\n  parameters:\n    X: []\n", "4:8", "X: which values?"),
        ("script: far.sh\nmatrix: {parameters: {A=B: [1]}}\n", "2:28", "cannot be the name of a variable"),
        ("script: far.sh\nmatrix:\n  stacks: [{name: a}, {name: a}]\n", "3:23", "there are two stacks 'a'"),
        ("script: far.sh\ndecision: {type: random}\n", "2:11", "count: how many"),
        ("script: far.sh\ndecision: simulated-annealing\n", "2:11", "count: how many of all combinations?"),
        ("script: far.sh\ndecision: guess\n", "2:11", "all, random, hill-climbing, simulated-annealing or successive-halving"),
        ("script: far.sh\ndecision: {type: all, budget: 9}\n", "2:11", "budget, eta and minimum are for successive-halving"),
        ("script: far.sh\ndecision: {type: successive-halving, eta: 1}\n", "2:43", "eta: expected a whole number from 2 to 100"),
        ("script: far.sh\nbatch_size: 4\ndecision: successive-halving\n", "1:1", "give its minimum instead"),
        ("script: far.sh\nscript: far.sh\n", "2:9", "is given twice"),
        ("script: nowhere.sh\n", "1:9", "nowhere.sh: there is no such script, here or in PATH"),
        ("script: ./nowhere.sh\n", "1:9", "there is no such file"),
        ("script: https://example.org/x\n", "1:9", "nothing is fetched"),
        ("script: far.sh\nfiles: [{path: ../x, content: y}]\n", "2:9", "does not lie below"),
        ("script: far.sh\nfiles: [{path: x/, content: y}]\n", "2:9", "does not lie below"),
        ("script: far.sh\nfiles: [{path: x, content: y}, {path: x, content: z}]\n", "2:32", "there are two files 'x'"),
        ("script: far.sh\nmatrix:\n  parameters: {A: [1, 2]}\n  exclude: [{B: 1}]\n", "4:17", "there is no parameter 'B'"),
        ("run: {requests: {memory: 1e308E}}\nscript: far.sh\n", "1:26", "'1e308E' is not a quantity"),
        (f"script: far.sh\narguments: {list(range(65))}\n", "2:12", "arguments: more than 64 words"),
        ("script: far.sh\ntimeout: 9223372036\n", "2:10", "at most a week"),
        ("batch_size: 2\n", "1:1", "script: which one?"),
        ("- 1\n", "1:1", "a list, expected an object"),
        ("a: &a [*a]\n", "1:4", "it is too deep"),
        ("script: far.sh\n---\nscript: far.sh\n", "3:1", "a second document"),
        ("", None, "it is empty")):
    p = sonde("bench", "sweep", *STORE, write("wrong.yaml", text), code=2)
    check(f"sentence for {text!r}", p.stderr.startswith("sonde: bench sweep: wrong.yaml:" + (where + ": " if where else "")) and
          sentence in p.stderr and p.stderr.count("\n") == 1, p.stderr)
bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(f"a{i}: &a{i} [{','.join(f'*a{i - 1}' for _ in range(10))}]\n" for i in range(1, 9))
check("an alias of aliases", "too many values" in sonde("bench", "sweep", *STORE, write("wrong.yaml", bomb), code=2).stderr)
check("nothing was kept", not os.path.exists("s.sqlite"))

# All of a matrix, in its order; failed ones with their reason; JSON is YAML.
name = spec("all.yaml", more="  environments: [{name: plain}, {name: loud, environment: [{name: E, value: 1.20}]}]\n"
            "  exclude: [{X: 5, environment: loud}, {X: 0}]\n", size=2)
p = sonde("bench", "sweep", "--dry-run", name)
lines = p.stdout.splitlines()
check("dry run", lines[0].endswith(": 27 of 36 combinations, 9 excluded; 2 trials of each, in rounds") and lines[1].split(None, 1)[1] == "host, plain: X=1 Y=a" and
      lines[-1].split(None, 1)[1] == "host, loud: X=4 Y=c" and len(lines) == 28, p.stdout)
planned = json.loads(sonde("bench", "sweep", "--dry-run", "--json", name).stdout)
report = sweep("-o", "all", name, code=1)
check("as planned", [r["combination"] for r in report["responses"]] == [r["combination"] for r in planned["would_run"]], report)
check("how many", len(report["responses"]) == 27 and report["excluded"] == 9 and report["skipped"] == [], report)
for r in report["responses"]:
    bad = r["parameters"]["X"] == "4"
    check(f"response {r}", r["trials"] == 2 and r["failed"] == 2 * bad and r["missing"] == 0 and
          (r["reason"] == "it ended with exit code 3" if bad else r["reason"] is None and r["score"] is not None))
with open("all/report.json") as f:
    check("report.json", json.load(f) == report)
with open(LOG) as f:
    check("what the script found", f.read().count("1 a 1.20 \n") == 2)
from schemas import strict
import jsonschema
with open(os.path.join(TOP, "docs/schema/bench-sweep.json")) as f:
    schema = strict(json.load(f))
for document in (report, planned):
    jsonschema.validate(document, schema)
rows = database("SELECT b.id FROM batches b WHERE b.source = 'sweep'")
check("batches", len(rows) == 27)
check("a batch", "PiFar" in sonde("bench", "stats", *STORE, f"bench:{report['responses'][0]['batch']}").stdout)
modes = {os.stat(os.path.join(d, f)).st_mode & 0o77 for d, _, fs in os.walk("all") for f in fs}
check("private files", modes == {0}, modes)
size = os.path.getsize(LOG)
again = sweep(name, code=1)  # comments and spaces are no part of it
write("all.yaml", open("all.yaml").read().replace("   # trials of each", ""))
check("again", sweep(name, code=1) == again == report and os.path.getsize(LOG) == size, again)

# Trials run in rounds, each in an order of its own; the same order again; as the specification says, combination by combination.
ORDER = "SELECT p.combination, t.number FROM trials t JOIN sweep_points p ON p.batch_id = t.batch_id JOIN sweeps s ON s.id = p.sweep_id WHERE s.uid = ? ORDER BY t.start_ns"


def order_of(name, *words, code=0):
    uid = sweep("-o", name, *words, code=code)["sweep"]
    return [tuple(r) for r in database(ORDER, uid)], uid


text = "  environments: [{name: a, environment: {E: 1}}, {name: b, environment: {E: 2}}]\n"
turns, uid = order_of("rounds", spec("rounds.yaml", more=text, xs="[1, 2]", size=4))
rounds = [[c for c, n in turns[12 * i:12 * (i + 1)]] for i in range(4)]
check("rounds", [n for c, n in turns] == sorted(n for c, n in turns) and all(sorted(r) == list(range(12)) for r in rounds), turns)
check("each round has its order", len({tuple(r) for r in rounds}) == 4 and sorted(rounds[0]) not in rounds, rounds)
check("it is kept", [r[0] for r in database("SELECT trial_order FROM sweeps WHERE uid = ?", uid)] == ["rounds"])
again, other = order_of("rounds2", spec("rounds.yaml", more=text + "identifier: again\n", xs="[1, 2]", size=4))
check("the same order again", other != uid and again == turns, again)
turns, uid = order_of("plain", spec("plain.yaml", more=text + "order: combinations\n", xs="[1, 2]", size=4))
check("combination by combination", turns == sorted(turns), turns)
# A sweep that an older Sonde began goes on as it began.
with sqlite3.connect("s.sqlite") as db:
    (old,) = db.execute("SELECT id FROM sweeps WHERE uid = ?", (other,)).fetchone()
    db.execute("UPDATE sweeps SET trial_order = NULL WHERE id = ?", (old,))
    db.execute("DELETE FROM trials WHERE batch_id IN (SELECT batch_id FROM sweep_points WHERE sweep_id = ? AND combination > 5)", (old,))
turns, _ = order_of("rounds2", spec("rounds.yaml", more=text + "identifier: again\n", xs="[1, 2]", size=4))
check("as it began", len(turns) == 48 and turns[24:] == sorted(turns[24:]) and turns[24][0] == 6, turns)
p = sonde("bench", "sweep", *STORE, write("wrong.yaml", "script: far.sh\norder: any\n"), code=2)
check("a wrong order", "wrong.yaml:2:8: order: expected rounds or combinations" in p.stderr, p.stderr)

# Chance, and steps, as the seed says.
plans = {seed: [r["combination"] for r in json.loads(sonde("bench", "sweep", "--dry-run", "--json", spec(
    "random.yaml", f"decision: {{type: random, seed: {seed}, count: 5}}\n")).stdout)["would_run"]] for seed in (1, 2, 1)}
check("chance", plans[1] != plans[2] and len(set(plans[1])) == 5, plans)
report = sweep(spec("climb.yaml", "decision: {type: hill-climbing, seed: 4}\n", xs="[0, 1, 2, 3]"))
best = max(report["responses"], key=lambda r: r["score"])
check("the top", best["parameters"] == {"X": "3", "Y": "b"} and len(report["responses"]) < 12, report)
report = sweep(spec("anneal.yaml", "decision: {type: simulated-annealing, seed: 4, count: 3}\n", xs="[0, 1, 2, 3]"))
annealed = [r["parameters"] for r in report["responses"]]
check("annealing takes as many as it may", len(annealed) == 3 and len({str(p) for p in annealed}) == 3, report)
again = sweep("anneal.yaml")
check("and the same again", [r["parameters"] for r in again["responses"]] == annealed, again)
report = sweep(spec("less.yaml", "decision: {type: hill-climbing, seed: 5, result: far, better: less, count: 9}\n", xs="[1, 2, 3]"))
check("less", min(r["result"] for r in report["responses"]) == 0, report)

# Where the machine has not what is asked for, nothing runs; a broken script is a stored failure, and the sweep goes on.
report = sweep(spec("large.yaml", "run: {requests: {cpu: 4000}}\n"))
check("too large", len(report["skipped"]) == 18 and "4000 CPUs were requested" in report["skipped"][0]["reason"] and report["responses"] == [], report)
report = sweep(write("broken.yaml", "script: |\n  #!/bin/sh\n  eval \"$DO\"\nmatrix:\n  parameters:\n    DO: ['echo no', 'exit 2', 'kill -9 $$', 'sleep 100']\n"
                     "timeout: 300ms\n"), code=1)
check("broken", [r["failed"] for r in report["responses"]] == [1] * 4 and "took longer" in report["responses"][3]["reason"], report)

# Cores of a machine whose /proc/cpuinfo is long: a name space shows another one, where that is permitted.
with open("cpuinfo", "w") as f:
    for cpu in range(128):
        f.write(f"processor\t: {cpu}\nmodel name\t: A\nflags\t\t: {'flag ' * 300}\nphysical id\t: {cpu // 64}\ncore id\t\t: {cpu % 64 // 2}\n\n")
name = write("cores.yaml", "script: far.sh\nrun: {requests: {hardware: {physical_cpus: 65}}}\n")
inside = ["unshare", "-Urm", "sh", "-c", 'mount --bind cpuinfo /proc/cpuinfo || exit 77; exec "$@"', "sh"]
p = subprocess.run([*inside, SONDE, "bench", "sweep", "--dry-run", name], capture_output=True, text=True)
check("cores", p.returncode == 77 or "unshare" in p.stderr or "65 cores were requested, but there are 64" in p.stdout, (p.returncode, p.stdout, p.stderr))

# What runs is the script that the sweep is named after.
OWN = """#!/bin/sh
[ "$0" != "$OWN" ] || echo '#' >>"$0"
echo '{"name": "PiOwn", "component": "sh", "@parameters": {}, "@result": {"n": 1}}'
"""
os.chmod(write("own.sh", OWN), 0o755)
p = sonde("bench", "sweep", "-q", *STORE, write("own.yaml", f"script: own.sh\nbatch_size: 2\nenvironment: {{OWN: {os.path.abspath('own.sh')}}}\n"), code=1)
check("a script that is written to", "own.sh has changed since this sweep began" in p.stderr, p.stderr)
sonde("bench", "sweep", *STORE, "-o", "nowhere/there", write("own.yaml", json.dumps({"script": OWN})), code=1)
os.mkdir("left")
os.chmod(write("left/script", "#!/bin/sh\nexit 9\n"), 0o700)
report = sweep("-o", "left", "own.yaml")
check("the text of the script, where another place could not be", report.get("responses") and report["responses"][0]["failed"] == 0, report)

# The example of the documents.
os.mkdir("example")
shutil.copy(os.path.join(TOP, "examples/sweep.yaml"), "example")
report = sweep("-o", "example/out", "example/sweep.yaml")
check("example", len(report["responses"]) == 6 and all(r["trials"] == 2 and not r["failed"] for r in report["responses"]), report)

# Killed, and started again.
kills = 20 if LONG else 3
chance = random.Random(len(os.getcwd()))
name = spec("killed.yaml", "identifier: killed\n", xs="[1, 2, 3]", size=3)
os.remove(LOG)
sweeps, was_killed, longest = 1, 0, 4.0
while was_killed < kills and sweeps < 40:
    p = subprocess.Popen([SONDE, "bench", "sweep", "-q", *STORE, name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    try:
        p.wait(chance.uniform(0.05, longest / (was_killed + 1)))
        check("it ended well before it was killed", p.returncode == 0, p.stderr.read())
        name = spec("killed.yaml", f"identifier: killed-{sweeps}\n", xs="[1, 2, 3]", size=3)  # too early: another one
        sweeps, longest = sweeps + 1, 0.7 * longest
        continue
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL) if was_killed % 2 else p.kill()
        p.wait()
    was_killed += 1
check("killed often enough", was_killed == kills, (was_killed, sweeps))
report = sweep(name)
done = 27 * sweeps
check("every response", len(report["responses"]) == 9 and all(r["trials"] == 3 and not r["missing"] and not r["failed"] for r in report["responses"]), report)
rows = database("SELECT t.batch_id, t.number, COUNT(*) AS n FROM trials t JOIN batches b ON b.id = t.batch_id JOIN sweep_points p ON p.batch_id = b.id "
                "JOIN sweeps s ON s.id = p.sweep_id WHERE s.identifier LIKE 'killed%' GROUP BY t.batch_id, t.number")
check("every trial once", len(rows) == done and all(r["n"] == 1 for r in rows), (len(rows), done))
with open(LOG) as f:
    runs = f.read().count("\n")
check("only what was cut off ran again", done <= runs <= done + kills, (runs, done))
print("\n".join(faults))
sys.exit(bool(faults))
