# SPDX-License-Identifier: Apache-2.0
# limit: 180
"""bench advise --spec writes what to try next as a specification, which bench sweep runs as it is; --lock writes the packages of what leads. What no sweep
can run is left out with its reason, and nothing is written where nothing leads."""
import json
import os
import sqlite3

from trials import check, database, end, script, sonde

SAY = 'echo "{\\"name\\": \\"PiNext\\", \\"component\\": \\"x\\", \\"@parameters\\": {\\"block\\": $BLOCK, \\"kind\\": \\"$KIND\\"}, \\"@result\\": {\\"elapsed\\": $TIME}}"\n'
with open("first.yaml", "w") as f:
    json.dump({"script": "./work", "batch_size": 3, "matrix": {"parameters": {"BLOCK": [1, 2, 4]}, "environments": [
        {"name": "plain", "environment": {"ALSO": "7", "KIND": 'a "quoted" \\\\ one'}}]}}, f)
ASK = ("bench", "advise", "PiNext", "-c", "elapsed", "--better", "less")
script("work", "#!/bin/sh\nKIND=word\nTIME=$((1000 / BLOCK)).$(($$ % 9))\n" + SAY)

sonde("bench", "sweep", "first.yaml")
p = sonde(*ASK, "--spec", "next/next.yaml")
answer = json.loads(sonde(*ASK, "--json").stdout)
steps = [(s["parameter"], s["value"], s["repeats"]) for s in answer["next"]]
check("what is next", ("block", "8", 3) in steps, steps)
with open("next/next.yaml") as f:
    text = f.read()
check("variables", '"BLOCK": "8"' in text and '"KIND": "a \\"quoted\\" \\\\\\\\ one"' in text and f"batch_size: {max(s[2] for s in steps)}\n" in text and
      f'script: "{os.getcwd()}/work"' in text, text)
check("mode", os.stat("next/next.yaml").st_mode & 0o777 == 0o600)
before = database("SELECT COUNT(*) FROM trials")[0][0]
sonde("bench", "sweep", "next/next.yaml")
check("it runs", database("SELECT COUNT(*) FROM trials")[0][0] >= before + 3 and [r[0] for r in database("SELECT block FROM trials_pi_next WHERE block = 8")] == [8] * 3,
      database("SELECT block FROM trials_pi_next"))
after = json.loads(sonde(*ASK, "--json").stdout)
check("and counts", after["candidates"][0]["parameters"]["block"] == "8" and ("block", "16", 3) in [(s["parameter"], s["value"], s["repeats"]) for s in after["next"]],
      after)

# What is not set by a variable is left out, with its reason.
by_argument = script("argument", "#!/bin/sh\nBLOCK=$1\nKIND=x\nTIME=$((1000 / BLOCK)).$(($$ % 9))\n" + SAY.replace("PiNext", "PiArgument"))
for n in "1", "2":
    sonde("bench", "run", "-q", "-n", "3", "-o", f"argument{n}", by_argument, n)
p = sonde("bench", "advise", "PiArgument", "-c", "elapsed", "--better", "less", "--spec", "none.yaml", code=1)
check("left out", "not in none.yaml: step 1: no variable is known by which the parameter is set" in p.stderr and "there is no next step that a sweep can run" in p.stderr and
      not os.path.exists("none.yaml"), p.stderr)
both = script("both", "#!/bin/sh\nKIND=x\nTIME=$((1000 / BLOCK)).$(($$ % 9))\n" + SAY.replace("PiNext", "PiBoth"))
for n in "1", "2":
    sonde("bench", "run", "-q", "-n", "3", "-o", f"both{n}", "--env", f"BLOCK={n}", both, "-b", n)
p = sonde("bench", "advise", "PiBoth", "-c", "elapsed", "--better", "less", "--spec", "none.yaml", code=1)
check("an argument, too", "an argument has the parameter's value, too" in p.stderr, p.stderr)
quoted = script("quoted", "#!/bin/sh\nKIND=x\nTIME=$((1000 / BLOCK)).$(($$ % 9))\n" + SAY.replace("PiNext", "PiQuoted"))
for n in "1", "2":
    sonde("bench", "run", "-q", "-n", "3", "-o", f"quoted{n}", "--env", f"BLOCK={n}", quoted, 'a"]; b')
p = sonde("bench", "advise", "PiQuoted", "-c", "elapsed", "--better", "less", "--spec", "none.yaml", code=1)
check("quotes", "its arguments need quotes" in p.stderr and not os.path.exists("none.yaml"), p.stderr)
# Secrets are not known; a script that is gone cannot run.
hidden = script("hidden", "#!/bin/sh\nKIND=x\nTIME=$((1000 / BLOCK)).$(($$ % 9))\n" + SAY.replace("PiNext", "PiHidden"))
for n in "1", "2":
    sonde("bench", "run", "-q", "-n", "3", "-o", f"hidden{n}", "--env", f"BLOCK={n}", "--env", "API_TOKEN=abcdef", hidden)
p = sonde("bench", "advise", "PiHidden", "-c", "elapsed", "--better", "less", "--spec", "none.yaml", code=1)
check("secret", "a variable of it is secret" in p.stderr and "abcdef" not in p.stderr, p.stderr)
with sqlite3.connect("s.sqlite") as db:
    db.execute("INSERT INTO environment_facts SELECT id, 'stack.image', 'x.sif' FROM environments")
p = sonde(*ASK, "--spec", "none.yaml", code=1)
check("image", "it ran in an image or with modules" in p.stderr and not os.path.exists("none.yaml"), p.stderr)
with sqlite3.connect("s.sqlite") as db:
    db.execute("DELETE FROM environment_facts WHERE name = 'stack.image'")
os.rename("work", "elsewhere")
p = sonde(*ASK, "--spec", "none.yaml", code=1)
check("gone", "is not a program on this machine" in p.stderr and not os.path.exists("none.yaml"), p.stderr)

# A specification has one stack: steps of another than the first step's are left out, with their reason.
stacked = script("stacked", '#!/bin/sh\nBLOCK=1\nKIND=x\necho >>"count$KNOB"\nTIME=$((80 + KNOB + 20 * $(wc -l <"count$KNOB")))\n' + SAY.replace("PiNext", "PiStacked"))
STACKED = ("bench", "advise", "PiStacked", "-c", "elapsed", "--better", "less")
for n in range(4):
    sonde("bench", "run", "-q", "-n", "3", "-o", f"stacked{n}", "--env", f"KNOB={n}", stacked)
check("steps of each", sorted(s["candidate"] for s in json.loads(sonde(*STACKED, "--json").stdout)["next"]) == [0, 1, 2, 3])
sonde(*STACKED, "--spec", "alike.yaml")
with open("alike.yaml") as f:
    check("one stack", f.read().count("- name: step-") == 4)
with sqlite3.connect("s.sqlite") as db:
    for n in range(4):
        for name, text in (("stack.fingerprint", f"{n % 2}" * 64), ("package.scipy", f"1.{n % 2}")):
            db.execute("INSERT INTO environment_facts SELECT environment_id, ?, ? FROM environment_facts WHERE name = 'env.KNOB' AND text = ?", (name, text, str(n)))
p = sonde(*STACKED, "--spec", "stacks.yaml")
with open("stacks.yaml") as f:
    text = f.read()
kept = [n for n in range(4) if f'"KNOB": "{n}"' in text]
check("two stacks", p.stderr.count("its software differs from that of the step before") == 2 and kept in ([0, 2], [1, 3]) and text.count("- name: step-") == 2, (p.stderr, text))
check("its packages", f"scipy==1.{kept[0] % 2 if kept else ''}\n" in text and text.count("scipy==") == 1, text)

# Packages, as the store has them; hostile ones are none.
p = sonde(*ASK, "--lock", "requirements.txt", code=1)
check("no packages", "the packages of what leads are not known" in p.stderr and not os.path.exists("requirements.txt"), p.stderr)
with sqlite3.connect("s.sqlite") as db:
    for name, version in (("numpy", "1.26.4"), ("typing-extensions", "4.1+local"), ("evil", "1\n--index-url=http://x"), ("x y", "1"), ("-r", "evil.txt")):
        db.execute("INSERT INTO environment_facts SELECT id, ?, ? FROM environments", ("package." + name, version))
sonde(*ASK, "--lock", "requirements.txt")
with open("requirements.txt") as f:
    text = f.read()
check("packages", [line for line in text.splitlines() if not line.startswith("#")] == ["numpy==1.26.4", "typing-extensions==4.1+local"], text)
sonde("bench", "run", "-q", "-n", "1", "-o", "one", "--env", "BLOCK=1", script("single", "#!/bin/sh\nKIND=x\nTIME=3\n" + SAY.replace("PiNext", "PiSingle")))
p = sonde("bench", "advise", "PiSingle", "-c", "elapsed", "--better", "less", "--lock", "single.txt", code=1)
check("nothing leads", "no combination leads" in p.stderr and not os.path.exists("single.txt"), p.stderr)
end()
