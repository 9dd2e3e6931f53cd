# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""sonde bench history: a change is told with its place, its size and what changed with it, as text, JSON and drawing; what cannot be told is said;
docs/bench.md has the table of how often it is right."""
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
NAME = "<script>alert(1)</script>\x1b[31m"
random.seed(1)


def sonde(*words, code=0):
    p = subprocess.run([SONDE, *words, "--store", STORE], capture_output=True, text=True, timeout=patience(200))
    assert p.returncode == code, (words, p.returncode, p.stderr)
    return p


def inspection(folder, batch, values, package, framework="t"):
    """As Amun leaves one: many trials at no cost."""
    os.makedirs(f"{folder}/build")
    lock = {"default": {"numpy": {"version": f"=={package}"}}}
    with open(f"{folder}/build/specification", "w") as f:
        json.dump({"python": {"requirements_locked": lock}, "batch_size": len(values)}, f)
    for i, v in enumerate(values):
        os.makedirs(f"{folder}/results/{i}")
        at = f"2026-01-{batch:02}T00:{i // 60:02}:{i % 60:02}.000000"
        said = {"name": "PiPlay", "framework": framework, "@parameters": {"size": 8, "kind": NAME}, "@result": {"elapsed": v, "odd": 1, "flat": 3.5}}
        with open(f"{folder}/results/{i}/result", "w") as f:
            json.dump({"exit_code": 0 if v else 1, "stdout": said if v else {}, "stderr": "", "start_datetime": at, "end_datetime": at,
                       "script_sha256": "ab" * 32, "hwinfo": {"cpu_info": {"brand_raw": "CPU", "count": 4}}, "hostname": "h" + str(batch)}, f)
    sonde("import", "amun", folder, code=int(not all(values)))


inspection("one", 1, [random.gauss(100, 2) for _ in range(30)], "1.18.0")
inspection("two", 2, [random.gauss(110, 2) for _ in range(30)] + [0, 0], "1.19.0")
said = sonde("bench", "history", "PiPlay", "-c", "elapsed")
told = said.stdout
assert "2 trials failed before they said" in said.stderr, said
for wanted in ("60 trials", "bench:2/1", "package.numpy: 1.18.0 -> 1.19.0", "+9.9 %"):
    assert wanted in told, (wanted, told)
assert "\x1b" not in told, told
answer = json.loads(sonde("bench", "history", "PiPlay", "-c", "elapsed", "--json").stdout)
with open(os.environ["TOP"] + "/docs/schema/bench-history.json", encoding="utf-8") as f:
    jsonschema.Draft202012Validator(schemas.strict(json.load(f)), format_checker=jsonschema.FormatChecker()).validate(answer)
(series,) = answer["series"]
(change,) = series["changes"]
assert change["at"] == 30 and change["low"] <= 30 <= change["high"] and change["difference_low"] < 10 < change["difference_high"], change
assert [f["name"] for f in change["facts"]] == ["node.host", "package.numpy"], change
assert series["failed"] == 0 and series["parameters"]["kind"] == NAME and series["enough"], series
# What is measured with another component is another series.
inspection("three", 3, [random.gauss(150, 2) for _ in range(15)], "1.19.0", framework="other")
told = sonde("bench", "history", "PiPlay", "-c", "elapsed").stdout
assert "component=other: 15 trials" in told and "component=t: 60 trials" in told, told
# Neither what never differs nor too few are told a change.
assert "no change detected" in sonde("bench", "history", "PiPlay", "-c", "flat", "-w", "component=t").stdout
assert "too few trials" in sonde("bench", "history", "PiPlay", "-c", "elapsed", "-w", "elapsed<98", "-w", "component=t").stdout
assert sonde("bench", "history", "PiPlay", "-c", "elapsed", "-w", "package.numpy=1.18.*").stdout.count("no change detected") == 1
assert "30 trials" in sonde("bench", "history", "PiPlay", "-c", "elapsed", "-w", "batch=2").stdout
assert sonde("bench", "history", "PiPlay", "-c", "elapsed", "--by", "software", "-w", "component=t").stdout.count(" trials") == 2
sonde("bench", "history", "PiPlay", "-c", "elapsed", "--plot", "deep/p.svg")
with open("deep/p.svg", encoding="utf-8") as f:
    drawn = f.read()
assert "elapsed" in drawn and "<script" not in drawn and os.stat("deep/p.svg").st_mode & 0o777 == 0o600
for words, why, code in ((["Foo"], "no trial of", 1), (["PiPlay", "-c", "foo"], "no figure", 1), (["PiPlay", "-w", "foo=1"], "says anything of", 1),
                         (["PiPlay", "-w", "size"], "not a condition", 2), (["PiPlay", "-w", "size<x"], "not a number", 2), (["PiPlay", "--by", "x"], "--by takes", 2),
                         (["PiPlay", "--plot", "x.gif"], "--plot takes", 2), ([], "no indicator given", 2)):
    said = sonde("bench", "history", *words, code=code)
    assert why in said.stderr and said.stderr.count("\n") == 1 and not said.stdout, (words, said)

# Few values that are like their neighbours: a change among them is told with a doubt.
os.remove(STORE)
wave = [100 + 3 * [0, 1, 2, 2, 1, 0, -1, -2, -2, -1][i % 10] for i in range(20)]
inspection("alike", 3, wave + [v + 60 for v in wave], "1.0")
told = sonde("bench", "history", "PiPlay", "-c", "elapsed").stdout
series = json.loads(sonde("bench", "history", "PiPlay", "-c", "elapsed", "--json").stdout)["series"][0]
assert series["changes"] and series["doubtful"] and series["autocorrelation"] >= 0.1, series
assert "neighbours are alike" in told and "40 trials are few" in told, told
os.remove(STORE)
more, last = [], 0.0
for i in range(120):
    last = 0.5 * last + random.gauss(0, 2)
    more.append(100 + last + 60 * (i >= 60))
inspection("more", 4, more, "1.0")
series = json.loads(sonde("bench", "history", "PiPlay", "-c", "elapsed", "--json").stdout)["series"][0]
assert series["changes"] and series["autocorrelation"] >= 0.1 and not series["doubtful"], series

made = subprocess.run([os.environ["PROGRAMS"] + "/change_rates", "500" if os.environ["LONG"] else "40"], capture_output=True, text=True, check=True).stdout
rows = [line.split("\t") for line in made.splitlines()]
assert len(rows) == 2 * 4 * 4, len(rows)
chance = 0.5 if os.environ["LONG"] else 3  # percent, of few series
for tail, rho, n, flagged, found, held in rows:
    if n == "200" and float(rho) <= 0.6:
        assert float(flagged) <= 2 + chance and float(found) >= 93 - chance and float(held) >= 90 - chance, (tail, rho, n, flagged, found, held)
print(made)
