# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""sonde bench advise names a winner only when trials show it; ties are ties, what is open takes so many more trials, failures are apart, constraints hold,
and the next things to try were not tried."""
import json
import os
import random
import subprocess
import sys

import jsonschema
import schemas
from patience import patience

if not os.path.exists(os.path.dirname(os.path.realpath(os.environ["SONDE"])) + "/libexec/sonde/sonde-database"):
    print("sonde-database was not built: libsqlite3-dev is not installed")
    sys.exit(77)
SONDE, STORE = os.environ["SONDE"], "s.sqlite"
HOSTILE = "<b>\x1b[31m"
random.seed(1)
with open(os.environ["TOP"] + "/docs/schema/bench-advise.json", encoding="utf-8") as f:
    SCHEMA = schemas.strict(json.load(f))
batches = 0


def sonde(*words, code=0):
    p = subprocess.run([SONDE, *words, "--store", STORE], capture_output=True, text=True, timeout=patience(200))
    assert p.returncode == code, (words, p.returncode, p.stderr)
    return p


def inspection(name, trials, cpu="CPU A", package="1.0"):
    """As Amun leaves one: trials are (parameters, results, exit code)."""
    global batches
    batches += 1
    folder = f"i{batches}"
    os.makedirs(f"{folder}/build")
    with open(f"{folder}/build/specification", "w") as f:
        json.dump({"python": {"requirements_locked": {"default": {"numpy": {"version": "==" + package}}}}, "batch_size": len(trials)}, f)
    for i, (parameters, results, exit_code) in enumerate(trials):
        os.makedirs(f"{folder}/results/{i}")
        at = f"2026-01-{batches:02}T00:{i // 60:02}:{i % 60:02}.000000"
        with open(f"{folder}/results/{i}/result", "w") as f:
            json.dump({"exit_code": exit_code, "stdout": {"name": name, "framework": "t", "@parameters": parameters, "@result": results}, "stderr": "",
                       "start_datetime": at, "end_datetime": at, "script_sha256": "ab" * 32, "hwinfo": {"cpu_info": {"brand_raw": cpu}}, "hostname": "h"}, f)
    sonde("import", "amun", folder, code=int(any(exit_code for _, _, exit_code in trials)))


def repeats(n, middle, sd=1, failed=0, peak=1e9, **parameters):
    return [(parameters, {"elapsed": random.gauss(middle, sd), "peak": peak}, int(i < failed)) for i in range(n + failed)]


def advise(name, *words):
    p = sonde("bench", "advise", name, "-c", "elapsed", "--better", "less", *words)
    answer = json.loads(sonde("bench", "advise", name, "-c", "elapsed", "--better", "less", "--json", *words).stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(answer)
    return answer, p.stdout, {c["label"]: c for c in answer["candidates"]}


# A winner, at the edge of what was tried; what failed each time is apart; another machine is left out.
inspection("PiWin", repeats(9, 10, block=1), cpu="CPU B")
inspection("PiWin", repeats(9, 100, block=64, kind=HOSTILE) + repeats(9, 60, block=128, kind=HOSTILE) + repeats(9, 40, block=256, kind=HOSTILE, failed=2) +
           repeats(0, 1, failed=3, block=99, kind=HOSTILE) + repeats(9, 80, block=128, kind="plain"))
answer, told, of = advise("PiWin")
assert answer["verdict"] == "winner" and answer["hardware"] == "CPU A" and answer["trials_on_others"] == 9, answer
assert answer["candidates"][0]["parameters"] == {"block": "256", "kind": HOSTILE} and answer["candidates"][0]["failed"] == 2, answer
assert [c["standing"] for c in answer["candidates"]] == ["leads", "worse", "worse", "worse", "failed"], answer
tried = [(s["parameter"], s["value"]) for s in answer["next"]]
assert ("block", "512") in tried and ("kind", "plain") in tried and ("block", "128") not in tried, answer["next"]
assert "\x1b" not in told and "Best: " in told, told
assert advise("PiWin", "--hardware", "*B")[0]["verdict"] == "single"
answer, told, of = advise("PiWin", "--constraint", "peak<2G", "--constraint", "block<200")
assert answer["candidates"][0]["parameters"]["block"] == "128" and "breaks block<200" in told, told
assert advise("PiWin", "--constraint", "nothing<1")[0]["verdict"] == "nothing"
# Equals are a tie, and stacks are candidates, too.
inspection("PiTie", repeats(20, 100, block=1), package="1.18")
inspection("PiTie", repeats(20, 100, block=1), package="1.19")
answer, told, of = advise("PiTie")
assert answer["verdict"] == "tie" and "package.numpy=1.1" in told and "A tie: 2 are" in told, told
# A text is not a number that looks like it; a parameter is one, however it is written.
assert [advise("PiTie", "-w", c)[0]["verdict"] for c in ("package.numpy=1.18", "package.numpy=1.180", "block=1.0", "package.numpy!=1.180")] == \
    ["single", "nothing", "tie", "tie"]
# Huge values are what they are.
inspection("PiHuge", [({"block": i % 2}, {"elapsed": (1 + i % 2 / 4) * 1e308 + i * 1e303}, 0) for i in range(20)])
answer, told, of = advise("PiHuge")
assert answer["verdict"] == "winner" and 1e308 <= answer["candidates"][0]["value"] < 1.01e308 and "inf" not in told and "+25.0 %" in told, told
# Few or scattered trials show nothing, and it is said how many would.
inspection("PiOpen", repeats(4, 100, 10, block=1) + repeats(4, 98, 10, block=2))
answer, told, of = advise("PiOpen")
assert answer["verdict"] == "undecided" and answer["candidates"][1]["more"] > 10 and "No winner yet" in told, told
assert answer["next"][0]["repeats"] == answer["candidates"][1]["more"], answer
inspection("PiFew", repeats(1, 50, block=1) + repeats(9, 100, block=2))
answer, told, of = advise("PiFew")
assert answer["verdict"] == "undecided" and any(s["candidate"] == 1 and s["repeats"] >= 2 for s in answer["next"]), answer
assert [(c["standing"], c["n"]) for c in answer["candidates"]] == [("leads", 9), ("open", 1)], "a single trial leads nothing"
few = told
inspection("PiNobody", repeats(1, 50, block=1) + repeats(2, 100, block=2))
answer, told, of = advise("PiNobody")
assert answer["verdict"] == "undecided" and {c["standing"] for c in answer["candidates"]} == {"open"} and "no combination has 3 trials" in told, told
assert sorted(s["repeats"] for s in answer["next"] if not s["parameter"]) == [1, 2], answer["next"]
# A change is a ratio, whatever the order was; no interval ends below -100 %; what more trials will not decide is not proposed.
random.seed(5)
inspection("PiRatio", [({"block": 1}, {"elapsed": 134.5 * random.uniform(0.4, 1.9)}, 0) for _ in range(4)])
inspection("PiRatio", [({"block": 2}, {"elapsed": 29.9 * random.uniform(0.4, 1.9)}, 0) for _ in range(4)])
answer, told, of = advise("PiRatio")
(other,) = answer["candidates"][1:]
assert 2 < other["ratio"] < 12 and other["difference_low"] > -answer["candidates"][0]["value"], other
assert abs(other["difference"] - (other["ratio"] - 1) * answer["candidates"][0]["value"]) < 1e-6, other
assert other["difference_low"] <= other["difference"] <= other["difference_high"] and (other["more"] or 0) <= 200, other
inspection("PiWild", [({"block": 1 + i % 2}, {"elapsed": 100 * random.lognormvariate(0, 1)}, 0) for i in range(12)])
answer, told, of = advise("PiWild")
assert answer["verdict"] == "undecided" and answer["candidates"][1]["hopeless"] and "more than 200 trials" in told, told
assert all(s["repeats"] <= 200 for s in answer["next"]), answer["next"]
# What is open is asked for however far down it is; large sizes stay whole; what failed is in the order of the trials.
inspection("PiLarge", repeats(5, 40, block=2**20) + [t for k in range(12, 20) for t in repeats(5, 100 - k, block=2**k)] + repeats(1, 500, block=2048) +
           repeats(0, 1, failed=1, block=2) + repeats(0, 1, failed=1, block=1))
answer, told, of = advise("PiLarge")
assert any(s["candidate"] == 9 and s["repeats"] >= 2 for s in answer["next"]), answer
assert ("block", "2097152") in [(s["parameter"], s["value"]) for s in answer["next"]], answer["next"]
assert [c["parameters"]["block"] for c in answer["candidates"] if c["standing"] == "failed"] == ["2", "1"], told
# However many equal candidates: hardly ever is one called the best.
wins = 0
for i in range(12):
    inspection(f"PiMany{i}", [t for block in range(10) for t in repeats(5, 100, 2, block=block)])
    wins += advise(f"PiMany{i}")[0]["verdict"] == "winner"
assert wins <= 1, wins
assert few == advise("PiFew")[1], "the same question has the same answer"
# What is to be done is no choice: each workload has its own best, by its name or as a model says.
inspection("PiLoad", [t for n in (64, 512) for kind, factor in (("a", 1), ("b", 2)) for t in repeats(5, n * factor, 0.1, matrix_size=n, kind=kind)])
answer, told, of = advise("PiLoad")
assert [(w["label"], w["verdict"], w["best"], w["candidates"]) for w in answer["workloads"]] == \
    [("matrix_size=64", "winner", "kind=a", 2), ("matrix_size=512", "winner", "kind=a", 2)], answer["workloads"]
assert answer["workload"] == "matrix_size=512" and answer["verdict"] == "winner" and len(answer["candidates"]) == 2 and "Best per workload" in told, told
assert not [s for s in answer["next"] if s["parameter"] == "matrix_size"], answer["next"]
answer, told, of = advise("PiLoad", "-w", "matrix_size=64")
assert len(answer["workloads"]) == 1 and answer["workload"] == "" and answer["candidates"][0]["value"] < 70 and "per workload" not in told, told
with open("roles.model", "w") as f:
    f.write("indicator PiRole\n  parameter matrix_size int role=choice\n  parameter kind text role=workload\n  result elapsed real\n")
with open("role.sh", "w") as f:
    f.write("#!/bin/sh\nprintf '{\"name\": \"PiRole\", \"component\": \"sh\", \"@parameters\": {\"matrix_size\": %s, \"kind\": \"%s\"}, \"@result\": {\"elapsed\": 1.5}}' $1 $2\n")
os.chmod("role.sh", 0o755)
for i, (size, kind) in enumerate(((1, "x"), (2, "x"), (1, "y"))):
    subprocess.run([SONDE, "bench", "run", "--store", STORE, "-q", "-i", "1h", "-n", "3", "-o", f"role{i}", "--model", "roles.model", "./role.sh",
                    str(size), kind], capture_output=True, check=True, timeout=patience(200))
answer, told, of = advise("PiRole")
assert [w["label"] for w in answer["workloads"]] == ["kind=x", "kind=y"] and answer["workloads"][0]["candidates"] == 2, answer["workloads"]
with open("wrong.model", "w") as f:
    f.write("indicator PiWrong\n  result elapsed real role=choice\n")
said = subprocess.run([SONDE, "bench", "run", "--store", STORE, "--model", "wrong.model", "./role.sh"], capture_output=True, text=True, timeout=patience(200))
assert said.returncode == 2 and "role=workload or role=choice" in said.stderr, said
for words, why, code in ((["PiTie"], "use --better", 2), (["PiTie", "--better", "x"], "--better takes", 2), (["PiTie", "--constraint", "x"], "not a condition", 2),
                         (["PiTie", "--margin", "x"], "--margin takes", 2), (["PiNone"], "no trial of", 1)):
    said = sonde("bench", "advise", *words, *(["-c", "elapsed"] if "-c" not in words else []), code=code)
    assert why in said.stderr and said.stderr.count("\n") == 1 and not said.stdout, (words, said)
