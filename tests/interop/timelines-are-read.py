# SPDX-License-Identifier: Apache-2.0
# limit: 200
"""What the real viztracer writes of a job with threads, tasks and counters goes into the recording of that job: each span once, to the nanosecond, in rows that say whose it is."""
import collections
import csv
import json
import os
import subprocess
import sys

from patience import patience

sys.path.insert(0, os.environ["TOP"] + "/tests")
from readers import enter

enter("venv-timelines")

SONDE = os.environ["SONDE"]
PROGRAM = """
import asyncio, threading, time
from viztracer import VizTracer
from viztracer.vizcounter import VizCounter

def leaf(n):
    return n if n < 2 else leaf(n - 1) + leaf(n - 2)

def work(n):
    for i in range(3):
        leaf(n)

async def task(s):
    await asyncio.sleep(s)

async def both():
    await asyncio.gather(task(0.02), task(0.01))

with VizTracer(output_file="viz.json", verbose=0, log_async=True) as tracer:
    counter = VizCounter(tracer, "loss")
    threads = [threading.Thread(target=work, args=(5 + i,), name=f"worker {i}") for i in range(2)]
    for t in threads:
        t.start()
    counter.value = 2.5
    for t in threads:
        t.join()
    counter.value = 1.5
    tracer.log_instant("half way")
    asyncio.run(both())
"""


def run(*words, code=0):
    p = subprocess.run(words, capture_output=True, text=True, timeout=patience(150), check=False)
    assert p.returncode == code, (words, p)
    return p


def table(name):
    with open(f"csv/{name}.csv", encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


with open("program.py", "w", encoding="utf-8") as program:
    program.write(PROGRAM)
run(SONDE, "run", "-q", "-o", "job", "--", sys.executable, "program.py")
before = run(SONDE, "show", "job").stdout
said = run(SONDE, "import", "chrome-trace", "viz.json", "--into", "job", "--rank", "0").stderr
assert "count from the machine's boot" in said and "left out" not in said, said
assert run(SONDE, "show", "job").stdout.split("numbers")[0] == before.split("recording")[0], before

with open("viz.json", encoding="utf-8") as f:
    events = json.load(f)["traceEvents"]
made = [e for e in events if e["ph"] == "X"]
assert len(made) > 100, len(made)
threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
run(SONDE, "export", "job", "--to", "csv", "-o", "csv")
found = table("spans")
wanted = collections.Counter((f"rank 0 {threads[e['tid']]} {e['tid']}", e["name"], round(e["dur"] * 1000)) for e in made)
assert wanted == collections.Counter((s["track"], s["name"], round(float(s["duration_seconds"]) * 1e9)) for s in found), (wanted, found[:5])
assert {name for name in threads.values()} >= {"worker 0", "worker 1"}

# Their distances, and when: within the job.
begins = sorted(round(float(s["begin_seconds"]) * 1e9) for s in found)
theirs = sorted(round(e["ts"] * 1000) for e in made)
assert max(abs((b - begins[0]) - (t - theirs[0])) for b, t in zip(begins, theirs)) <= 1
ran = run(SONDE, "show", "--json", "job").stdout
length = json.loads(ran)["wall_seconds"] if "wall_seconds" in json.loads(ran) else 1e9
assert 0 <= begins[0] and all(float(s["end_seconds"]) <= length + 1 for s in found)

loss = [float(c["value"]) for c in table("counters") if c["name"] == "rank 0 loss"]
assert loss == [2.5, 1.5], loss
assert [m["name"] for m in table("marks")] == ["half way"], table("marks")

# In the trace, beside the job's processes.
run(SONDE, "trace", "job", "-o", "job.json")
with open("job.json", encoding="utf-8") as f:
    out = json.load(f)["traceEvents"]
KINDS = {"span"} | {e["cat"] for e in made if e.get("cat")}
assert collections.Counter((e["name"], round(e["dur"] * 1000)) for e in out if e["ph"] == "X" and e["cat"] in KINDS) == collections.Counter((e["name"], round(e["dur"] * 1000)) for e in made)
assert any(e["ph"] == "X" and e["cat"] == "process" for e in out), {e.get("cat") for e in out}
