# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""Elements of a job array, run by hand: of several that are given the same trial one runs it, whatever they find at their start; what the machine
has not is kept with the machine's name, and asked anew by whoever leads the sweep."""
import json
import os
import subprocess

from patience import patience
from trials import SONDE, check, database, end, script, sonde

RUNS = os.path.abspath("runs")
script("slow.sh", f"""#!/bin/sh
echo "$X" >>{RUNS}
sleep 1
printf '{{"name": "PiSlow", "component": "sh", "@parameters": {{"x": %s}}, "@result": {{"n": 1}}}}' "$X"
""")


def write(name, more=""):
    with open(name, "w") as f:
        f.write(f"script: slow.sh\nbatch_size: 2\nmatrix: {{parameters: {{X: [1, 2]}}}}\n{more}")
    return name


def elements(spec, lines, task, n=1):
    """Ends and sentences of n processes that are all that element."""
    uid = json.loads(sonde("bench", "sweep", "--dry-run", "--json", spec).stdout)["sweep"]
    with open("list", "w") as f:
        f.write(f"{uid}\n{lines}")
    several = [subprocess.Popen([SONDE, "bench", "sweep", "-q", "-o", spec + ".d", "--element", "list", spec], stderr=subprocess.PIPE, text=True,
                                stdout=subprocess.DEVNULL, env={**os.environ, "SONDE_STORE": "s.sqlite", "SLURM_ARRAY_TASK_ID": str(task)}) for _ in range(n)]
    return [(p.communicate(timeout=patience(200))[1], p.returncode) for p in several]


spec = write("once.yaml")
ends = elements(spec, "0 1\n1 2\n", 1, n=4)
check("all end well", [code for _, code in ends] == [0] * 4, ends)
with open(RUNS) as f:
    check("run once", f.read() == "2\n")
rows = database("SELECT p.combination, t.number, t.state FROM trials t JOIN sweep_points p ON p.batch_id = t.batch_id")
check("kept once", [tuple(r) for r in rows] == [(1, 2, "ok")], rows)
report = json.loads(sonde("bench", "sweep", "-q", "--json", spec).stdout)
check("the others", [r["trials"] for r in report["responses"]] == [2, 2] and report["directory"].endswith("once.yaml.d"), report)
with open(RUNS) as f:
    check("each once", sorted(f.read().split()) == ["1", "1", "2", "2"])
text, code = elements(spec, "0 1\n", 1)[0]
check("no such element", code == 2 and "has no such element" in text, text)

# The others of a combination may run on other machines.
spec = write("large.yaml", "run: {requests: {cpu: 4000}}\n")
text, code = elements(spec, "1 1\n", 0)[0]
check("it says so", code == 1 and "on this machine it cannot be run: 4000 CPUs were requested" in text, text)
question = "SELECT p.skipped FROM sweep_points p JOIN sweeps s ON s.id = p.sweep_id WHERE s.directory LIKE '%large.yaml.d' ORDER BY p.combination"
reasons = database(question)
check("kept", len(reasons) == 1 and reasons[0][0].startswith(os.uname().nodename[:80] + ": 4000 CPUs were requested"), reasons)
report = json.loads(sonde("bench", "sweep", "-q", "--json", spec).stdout)
check("asked anew", [r[0] for r in database(question)] == [s["reason"] for s in report["skipped"]] and
      [s["reason"][:4] for s in report["skipped"]] == ["4000"] * 2, report)
end()
