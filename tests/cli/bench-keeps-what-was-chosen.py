# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""What was chosen for a trial (variables, arguments, the commit of its script) is a fact of it, without secrets, and tells trials apart: in
list, show, compare, history, advise and exports, also of sweeps; trials without such facts, of an older Sonde, stay what they were."""
import json
import os
import sqlite3
import subprocess

from trials import check, database, end, script, sonde

KNOB = """#!/bin/sh
[ "$KNOB" = fast ] && t=1 || t=2
printf '{"name": "PiKnob", "component": "sh", "@parameters": {"size": 8}, "@result": {"elapsed": %s.%s}}' $t ${1:-5}
"""
WORDS = ("--interval", "100ms")


def run(name, *words, n=3, code=0):
    sonde("bench", "run", "-q", "-n", str(n), *WORDS, "-o", name, *words, code=code)


def facts(batch):
    return dict(database("SELECT DISTINCT f.name, f.text FROM environment_facts f JOIN trials t ON t.environment_id = f.environment_id "
                         "WHERE t.batch_id = ?", batch))


def advised(*words):
    return json.loads(sonde("bench", "advise", "PiKnob", "-c", "elapsed", "--better", "less", "--json", *words).stdout)


work = script("knob", KNOB)
run("a", "--env", "KNOB=slow", "--env", "KNOB=fast", "--env", "API_TOKEN=hush-hush", work)
run("b", "--env", "KNOB=slow", "--env", "API_TOKEN=hush-hush", work)
run("c", "--env", "KNOB=fast", "--env", "API_TOKEN=hush-hush", work, "7", "--password", "hush-hush")
run("d", "--env", "LONG=" + 9000 * "x" + "1", work)
run("e", "--env", "LONG=" + 9000 * "x" + "2", work)
with open("s.sqlite", "rb") as f:
    check("no secret", b"hush-hush" not in f.read())
check("the last value", facts(1)["env.KNOB"] == "fast" and facts(2)["env.KNOB"] == "slow" and facts(1)["env.API_TOKEN"] == "***", facts(1))
check("arguments", facts(3).get("script.arguments") == "7 --password ***" and "script.arguments" not in facts(1), facts(3))
long = [facts(4)["env.LONG"], facts(5)["env.LONG"]]
check("long values differ", long[0] != long[1] and len(long[0]) < 5000, [x[-100:] for x in long])

# Everything that tells trials apart knows it.
p = sonde("compare", "bench:1", "bench:2", "--fail-if", "elapsed>+5%", code=1).stdout
check("compare", "env.KNOB" in p and "A  fast" in p and "B  slow" in p, p)
check("compare arguments", "script.arguments" in sonde("compare", "bench:1", "bench:3", "--fail-if", "elapsed>+5%", code=1).stdout)
p = sonde("bench", "show", "bench:3").stdout
check("show", "env.KNOB" in p and "7 --password ***" in p, p)
p = sonde("bench", "list").stdout.splitlines()
check("list", "KNOB=fast" in p[1] and "KNOB=slow" in p[2] and "7 --password ***" in p[3], p)
p = json.loads(sonde("bench", "list", "--json").stdout)["batches"]
check("list as JSON", p[0]["environment"] == {"KNOB": "fast", "API_TOKEN": "***"} and p[0]["arguments"] is None and
      p[2]["arguments"] == "7 --password ***" and p[0]["git_commit"] is None, p)
p = sonde("bench", "history", "PiKnob", "-c", "elapsed").stdout
check("history", "env.KNOB=fast" in p and "env.KNOB=slow" in p and "script.arguments" in p, p)
p = json.loads(sonde("bench", "history", "PiKnob", "-c", "elapsed", "-w", "env.KNOB=fast", "--json").stdout)["series"]
check("series", sorted(len(s["trials"]) for s in p) == [3, 3], p)
a = advised("-w", "batch<=2")
check("advise", [(c["value"], c["n"]) for c in a["candidates"]] == [(1.5, 3), (2.5, 3)] and "env.KNOB=fast" in a["candidates"][0]["label"], a)
sonde("bench", "export", "--to", "csv", "-o", "out", "--table", "environment_facts", "bench:1")
with open("out/environment_facts.csv") as f:
    check("export", "env.KNOB,fast" in f.read())

# The script's working tree: commit, branch, and whether it is as committed.
os.mkdir("tree")
git = ["git", "-C", "tree", "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "core.fsmonitor=false"]
if subprocess.run(["git", "--version"], capture_output=True).returncode == 0:
    subprocess.run([*git, "init", "-q", "-b", "mine"], check=True)
    script("tree/knob", KNOB)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    # What a repository's own configuration would run, is not run.
    subprocess.run([*git, "config", "core.fsmonitor", "touch ../ran; false"], check=True)
    open("tree/untracked", "w").close()
    run("f", "./tree/knob", n=1)
    f = facts(6)
    check("clean", (f.get("script.git_commit"), f.get("script.git_branch"), f.get("script.git_dirty"), f.get("script.git_diff")) ==
          (commit, "mine", "false", None), f)
    digests = set()
    for i, text in enumerate(("# one\n", "# two\n")):
        with open("tree/other", "w") as o:
            o.write(text)
        subprocess.run([*git, "add", "other"], check=True)
        run(f"g{i}", "./tree/knob", n=1)
        f = facts(7 + i)
        check("dirty", f.get("script.git_dirty") == "true", f)
        digests.add(f.get("script.git_diff"))
    check("two changes differ", len(digests) == 2 and None not in digests, digests)
    check("nothing of the repository ran", not os.path.exists("ran"))
    check("list knows the commit", json.loads(sonde("bench", "list", "--json").stdout)["batches"][5]["git_commit"] == commit)
    check("each is another candidate", len(advised("-w", "batch>=6")["candidates"]) == 3, advised("-w", "batch>=6"))
    # But one series: it is what changes over time.
    check("one series", len(json.loads(sonde("bench", "history", "PiKnob", "-c", "elapsed", "-w", "batch>=6", "--json").stdout)["series"]) == 1)
    subprocess.run([*git, "checkout", "-q", "--detach"], check=True)
    run("h", "./tree/knob", n=1)
    check("no branch", "script.git_branch" not in facts(9), facts(9))

# A sweep's environments and parameters are of that kind.
helper = os.path.join(os.path.dirname(os.path.realpath(os.environ["SONDE"])), "libexec/sonde/sonde-yaml")
if os.path.exists(helper):
    with open("sweep.yaml", "w") as f:
        f.write("script: ./knob\narguments: ['${A}']\nmatrix:\n  parameters: {A: [3, 4]}\n  environments:\n"
                "    - {name: quick, environment: {KNOB: fast}}\n    - {name: lazy, environment: {KNOB: slow}}\n")
    p = json.loads(sonde("bench", "sweep", "-q", "--json", "-o", "sw", "sweep.yaml").stdout)
    seen = {(f["env.KNOB"], f["env.A"], f["script.arguments"]) for f in (facts(r["batch"]) for r in p["responses"])}
    check("of a sweep", seen == {("fast", "3", "3"), ("fast", "4", "4"), ("slow", "3", "3"), ("slow", "4", "4")}, seen)
    batches = [r["batch"] for r in p["responses"]]
    a = advised("-w", f"batch>={min(batches)}")
    check("candidates of a sweep", len(a["candidates"]) == 4, a)
    # What one name tells already is not said again by another.
    check("short labels", all(c["label"].count("=") == 2 for c in a["candidates"]), a)
    p = json.loads(sonde("bench", "list", "--json").stdout)["batches"][-1]
    check("list knows the sweep", p["sweep"] and p["stack"] == "host" and set(p["parameters"]) == {"A"}, p)

# Trials of an older Sonde have no such facts, and are a candidate as before.
with sqlite3.connect("s.sqlite") as db:
    db.execute("DELETE FROM environment_facts WHERE name LIKE 'env.%' OR name LIKE 'script.%'")
check("older trials", [c["n"] for c in advised("-w", "batch<=2")["candidates"]] == [6], advised("-w", "batch<=2"))
end()
