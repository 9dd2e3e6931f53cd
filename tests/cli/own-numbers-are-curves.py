# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Counters of a program and numbers in its marks are curves of `show`, the first charts of the page, and metrics with steps in MLflow; marks of one
name give the time between them."""
import base64
import json
import os
import re
import shutil
import struct
import subprocess
import sys

import mlflow_server

SONDE = os.environ["SONDE"]
faults = []


def check(what, good, detail=""):
    if not good:
        faults.append(f"{what}: {detail}")


PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import sonde
for step, wait in enumerate([0.1, 0.1, 0.1, 0.1, 0.4, 0.4, 0.4, 0.4]):
    sonde.counter("reward <b>", -4.0 + step)
    sonde.mark("epoch", epoch=step, loss=2.0 / (step + 1), note="half done", bad="1e", nan=float("nan"))
    time.sleep(wait)
sonde.mark("epoch", epoch=8, loss=0.1)
"""
with open("program.py", "w", encoding="utf-8") as f:
    f.write(PROGRAM)
environment = os.environ | {"SONDE_LIBRARY": os.path.join(os.environ["BUILD"], "libsonde.so.0")}
subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", "job", "--", sys.executable, "program.py", os.path.join(os.environ["TOP"], "python")],
               check=True, env=environment)

own = json.loads(subprocess.run([SONDE, "show", "--json", "job"], check=True, capture_output=True, text=True).stdout)["own"]
series = {s["name"]: s for s in own["series"]}
check("which", set(series) == {"epoch", "epoch loss", "reward <b>"}, sorted(series))
loss = series["epoch loss"]
check("loss", [loss[k] for k in ("mark", "n", "first", "last", "least", "most")] == ["epoch", 9, 2.0, 0.1, 0.1, 2.0], loss)
check("loss falls", -0.9 < loss["change"] < -0.4, loss)
reward = series["reward <b>"]
check("reward", reward["mark"] is None and (reward["least"], reward["most"], reward["last"]) == (-4, 3, 3) and reward["change"] > 1, reward)
epochs = own["intervals"]
check("epochs", [(e["mark"], e["n"]) for e in epochs] == [("epoch", 8)], epochs)
check("their times", all(0.09 < e["least_seconds"] < e["median_seconds"] < e["most_seconds"] and e["most_seconds"] > 0.39 and e["change_ratio"] > 0.3
                         for e in epochs), epochs)

LINES = 'for i in 0.5 0.25 1e-3; do "$0" mark loss=$i step=3; done; "$0" mark lr=; "$0" mark a=b=1; echo M gain=7 >>"$SONDE_MARKS"; echo B gain=8 >>"$SONDE_MARKS"'
subprocess.run([SONDE, "run", "--quiet", "-o", "short", "--", "sh", "-c", LINES, SONDE], check=True)
short = json.loads(subprocess.run([SONDE, "show", "--json", "short"], check=True, capture_output=True, text=True).stdout)["own"]
check("numbers without a name", {s["name"]: (s["n"], s["first"], s["last"]) for s in short["series"]} ==
      {"loss": (3, 0.5, 0.001), "loss step": (3, 3, 3), "gain": (1, 7, 7)}, short["series"])

text = subprocess.run([SONDE, "show", "--all", "job"], check=True, capture_output=True, text=True).stdout
check("in words", re.search(r"\n  epoch loss +█.*0\.1 to 2, last 0\.1, falling\n", text), text)
check("how often", re.search(r"\n  epoch +every .* \(median of 8; .*\), later ones \d+ % longer\n", text), text)

brief = subprocess.run([SONDE, "show", "job"], check=True, capture_output=True, text=True).stdout
check("briefly", re.search(r"\nnumbers epoch loss █[▁-█]*▁ 2 to 0\.1, reward <b> ▁[▁-█]*█ -4 to 3 and 1 more; epoch every ", re.sub(" +", " ", brief.replace("\n  ", " "))), brief)

subprocess.run([SONDE, "report", "--only", "plots", "job"], check=True, stdout=subprocess.DEVNULL)
for name, title in (("own-epoch_loss", "epoch loss"), ("own-reward__b_", "reward &lt;b&gt;")):
    drawn = open(f"job/plots/{name}.svg", encoding="utf-8").read() if os.path.exists(f"job/plots/{name}.svg") else ""
    check(f"the plot {name}", title in drawn and "<polyline" in drawn, drawn[:500])
helper = os.path.join(os.path.dirname(SONDE), "libexec/sonde/sonde-draw")
if os.path.exists(helper) and shutil.which("pdftotext"):
    subprocess.run([SONDE, "report", "--only", "pdf", "job"], check=True, stdout=subprocess.DEVNULL)
    paper = subprocess.run(["pdftotext", "job/report.pdf", "-"], check=True, capture_output=True, text=True).stdout
    at = [paper.find(t) for t in ("epoch loss", "reward <b>", "a counter of the program", "Memory of the job")]
    check("on paper, before the machine's", at == sorted(at) and at[0] > 0, paper)

subprocess.run([SONDE, "report", "--only", "html", "job"], check=True, stdout=subprocess.DEVNULL)
with open("job/report.html", encoding="utf-8") as f:
    page = f.read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
check("first charts", [c["title"] for c in data["charts"][:3]] == ["epoch loss", "reward <b>", "epoch"], data["charts"][:4])
node = data["nodes"][0]
times = struct.unpack(f"<{len(base64.b64decode(node['x'])) // 8}d", base64.b64decode(node["x"]))
values = node["series"]["own:reward <b>"]["mean"]
drawn = struct.unpack(f"<{len(times)}f", base64.b64decode(values)) if isinstance(values, str) else ()
check("drawn", drawn and min(v for v in drawn if v == v) == -4 and max(v for v in drawn if v == v) == 3, values)
check("intervals on the page", '<b>epoch</b> every <b>' in page)

if os.path.exists(os.path.join(os.path.dirname(os.path.realpath(SONDE)), "libexec/sonde/sonde-http")):
    fake = mlflow_server.Fake()
    subprocess.run([SONDE, "push", "job", "--to", "mlflow"], check=True, env=os.environ | {"MLFLOW_TRACKING_URI": fake.uri}, capture_output=True)
    points = [p for p in fake.runs["run0"]["metrics"] if p[0] == "epoch/loss"]
    check("steps in MLflow", sorted(p[2] for p in points) == list(range(9)), points)
    check("values in MLflow", [round(p[3], 6) for p in sorted(points, key=lambda p: p[2])] == [round(2 / (i + 1), 6) for i in range(8)] + [0.1], points)
    check("a counter in MLflow", any(p[0].startswith("reward") and p[3] == 3 for p in fake.runs["run0"]["metrics"]))

print("\n".join(faults))
sys.exit(1 if faults else 0)
