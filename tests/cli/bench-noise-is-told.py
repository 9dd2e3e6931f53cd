# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Beside each trial the store has what disturbed it: other processes, a hypervisor, CPU limits, heat, the clock. Stats and compare say which trials to run
again, and when a batch is worth little; of trials that nobody knows anything about they say nothing."""
import json
import os
import sqlite3
import subprocess

import jsonschema
import schemas
from trials import check, database, end, script, sonde

with open(os.environ["TOP"] + "/docs/schema/bench-stats.json", encoding="utf-8") as f:
    STATS = schemas.strict(json.load(f))
FIGURES = ("others_ratio", "waited_ratio", "steal_ratio", "throttled_ratio", "heat_throttles", "frequency_hertz")


def stats(batch):
    answer = json.loads(sonde("bench", "stats", batch, "--json").stdout)
    jsonschema.Draft202012Validator(STATS).validate(answer)
    return answer["batches"][0]


def made(*trials):
    """A new batch of four trials with these rows of FIGURES; the others are quiet."""
    sonde("bench", "run", "-q", "-n", "4", "-o", f"made{made.n}", short)
    made.n += 1
    batch = database("SELECT MAX(id) FROM batches")[0][0]
    rows = list(trials) + [(0, 0, 0, 0, 0, 3e9)] * (4 - len(trials))
    with sqlite3.connect("s.sqlite") as db:
        for number, row in enumerate(rows, 1):
            db.execute(f"UPDATE trials SET {', '.join(f + ' = ?' for f in FIGURES)} WHERE batch_id = ? AND number = ?", (*row, batch, number))
    return f"bench:{batch}"


made.n = 0
short = script("short", '#!/bin/sh\necho \'{"name": "PiNoise", "component": "x", "@parameters": {"n": 1}, "@result": {"y": 1}}\'\n')
# A trial of at least a second of CPU time, with something else on each core.
work = script("work", "#!/bin/sh\ni=0\nwhile [ $i -lt 1500000 ]; do i=$((i + 1)); done\n")
others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
try:
    sonde("bench", "run", "-q", "-o", "busy", "--", work)
finally:
    for p in others:
        p.kill()
        p.wait()
row = database("SELECT others_ratio, waited_ratio, steal_ratio, load_1m FROM trials")[0]
check("others are measured", 0.2 < row["others_ratio"] <= 1.05, tuple(row))
check("and told", stats("bench:1")["disturbed"][0]["trial"] == 1 and "others used " in stats("bench:1")["disturbed"][0]["why"] and stats("bench:1")["worth_little"],
      stats("bench:1"))
check("in the figures", stats("bench:1")["figures"]["others_ratio"]["n"] == 1 and stats("bench:1")["figures"]["load_1m"]["n"] == 1)
check("of the trial", "others_ratio" in sonde("bench", "show", "bench:1/1").stdout)

quiet = made()
said = stats(quiet)
check("a quiet batch", said["disturbed"] == [] and not said["worth_little"] and "noise" not in sonde("bench", "stats", quiet).stdout, said)
every = stats(made((0.456, 0.333, 0.111, 0.123, 2, 2e9)))["disturbed"][0]["why"]
check("all reasons", every == "it waited 33.3 % of its time for cores that others used, others used 45.6 % of the machine's CPU time, the hypervisor took 11.1 % of the CPU time, "
      "a CPU limit stopped it for 12.3 % of its time, cores were slowed down by heat, its cores ran 33.3 % slower than usual", every)
few = made((0, 0.5, 0, 0, 0, 3e9))
text = sonde("bench", "stats", few).stdout
check("one trial", "  noise: 1 of 4 trials was disturbed: 1 (it waited 50 % of its time for cores that others used); run these again\n" in text, text)
many = made((0.3, 0, 0, 0, 0, 3e9), (0, 0, 0.05, 0, 0, 3e9), (0, 0, 0, 0.5, 2, 3e9))
text = sonde("bench", "stats", many).stdout
check("most of them", "  noise: 3 of 4 trials were disturbed: 1 (others used 30 % of the machine's CPU time), 2 (the hypervisor took 5 % of the CPU time), 3; "
      "the batch is worth little: run it again on a quieter machine\n" in text, text)
check("all reasons", [d["why"] for d in stats(many)["disturbed"]][2] == "a CPU limit stopped it for 50 % of its time, cores were slowed down by heat", stats(many))
slow = made((0, 0, 0, 0, 0, 2.4e9), (0, 0, 0, 0, 0, 2.95e9))
check("a slow clock", [(d["trial"], d["why"]) for d in stats(slow)["disturbed"]] == [(1, "its cores ran 19.3 % slower than usual")], stats(slow))
limits = made((0.1, 0.02, 0.02, 0.02, 0, 3e9))
check("at the limits", stats(limits)["disturbed"] == [], stats(limits))
unknown = made(*[(None,) * 6] * 4)
check("nothing is known", stats(unknown)["disturbed"] == [] and "others_ratio" not in stats(unknown)["figures"], stats(unknown))
p = subprocess.run([os.environ["SONDE"], "compare", quiet, many], capture_output=True, text=True, env={**os.environ, "SONDE_STORE": "s.sqlite"}, check=False)
check("compared", f"compare: {many}: 3 of 4 trials were disturbed: 1 (others used 30 %" in p.stderr and f"compare: {quiet}: " not in p.stderr, p.stderr)
check("a condition", "PiNoise" in sonde("bench", "history", "PiNoise", "-c", "y", "-w", "others_ratio<0.2").stdout)
end()
