# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""A batch is deleted with its trials, their rows and the facts that nothing else has; nothing goes without --yes, or when one of several is not there;
a sweep runs again what was deleted."""
import json
import os

from trials import check, database, end, script, sonde

script("x.sh", """#!/bin/sh
echo '{"name": "PiX", "component": "x", "@parameters": {"n": '${N:-0}'}, "@result": {"elapsed": 1}}'
""")
for n in ("1", "2"):
    sonde("bench", "run", "-q", "-n", "2", "--env", f"N={n}", "./x.sh")


def counts():
    return [database(f"SELECT COUNT(*) FROM {t}")[0][0] for t in ("batches", "trials", "trials_pi_x", "environments")]


def facts():
    return database("SELECT COUNT(*) FROM environment_facts WHERE name = 'env.N' AND text = '1'")[0][0]


check("before", counts() == [2, 4, 4, 2] and facts() == 1, counts())
p = sonde("bench", "delete", "bench:1")
check("only told", "bench:1 PiX (x): 2 trials" in p.stderr and "nothing is deleted without --yes" in p.stderr and counts() == [2, 4, 4, 2], p.stderr)
for words, code, said in ((("--yes", "bench:1", "bench:9"), 1, "there is no bench:9"), (("--yes", "PiX"), 2, "'PiX' is not a batch"), (("--yes",), 2, "no batch given")):
    p = sonde("bench", "delete", *words, code=code)
    check(f"{words}: nothing goes", said in p.stderr and counts() == [2, 4, 4, 2], p.stderr)
p = sonde("bench", "delete", "--yes", "bench:1")
recordings = [d for d in os.listdir(".") if d.startswith("bench_x.sh")]
check("gone", "deleted" in p.stderr and counts() == [1, 2, 2, 1] and facts() == 0 and len(recordings) == 2 and "its recordings stay" in p.stderr, (counts(), p.stderr))
check("the other is whole", json.loads(sonde("bench", "stats", "bench:2", "--json").stdout)["batches"][0]["trials"] == 2)
with open("spec.yaml", "w") as f:
    f.write("script: ./x.sh\nbatch_size: 2\nmatrix: {parameters: {N: [5, 6]}}\n")
if os.path.exists(os.path.join(os.path.dirname(os.path.realpath(os.environ["SONDE"])), "libexec/sonde/sonde-yaml")):
    first = [r["batch"] for r in json.loads(sonde("bench", "sweep", "-q", "--json", "spec.yaml").stdout)["responses"]]
    sonde("bench", "delete", "--yes", f"bench:{first[0]}")
    again = json.loads(sonde("bench", "sweep", "-q", "--json", "spec.yaml").stdout)["responses"]
    check("run again", [r["trials"] for r in again] == [2, 2] and again[1]["batch"] == first[1] and counts()[1] == 6, again)
end()
