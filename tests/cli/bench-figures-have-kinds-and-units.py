# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""A batch has peak memory of one kind, and what is of another is left out and said; compare says the units of batches' figures; bench list names the
indicator of a batch of which all trials failed, by the same script's other batches, and none where it is not known; the report compares combinations
as compare does."""
import json
import os
import re
import sqlite3
import subprocess

from trials import SONDE, check, database, end, script, sonde


def compare(*words):
    """Whatever its exit code: how long trials took is not in question."""
    return subprocess.run([SONDE, "compare", *words], capture_output=True, text=True, check=False, env={**os.environ, "SONDE_STORE": "s.sqlite"})


script("work.sh", """#!/bin/sh
[ -n "$BAD" ] && exit 3
"$PROGRAMS/mem" private 16 1
echo '{"name": "PiWork", "component": "x", "@parameters": {}, "@result": {"rate": '${RATE:-10}', "step": 3, "plain": 4}}'
""")
script("other.sh", "#!/bin/sh\nexit 4\n")
with open("units.model", "w") as f:
    f.write("indicator PiWork\n  result rate real unit=GFLOP/s\n  result step real unit=ms\n  result plain real\n")
for rate in (10, 20):
    sonde("bench", "run", "-q", "-n", "4", "--model", "units.model", "--env", f"RATE={rate}", "./work.sh")
sonde("bench", "run", "-q", "-n", "2", "--env", "BAD=1", "./work.sh", code=1)
sonde("bench", "run", "-q", "-n", "2", "./other.sh", code=1)

# ---- kinds ----
kinds = {row[0] for row in database("SELECT peak_memory_kind FROM trials WHERE batch_id = 1")}
check("a kind is kept", len(kinds) == 1 and None not in kinds, kinds)
shown = json.loads(sonde("bench", "show", "--json", "bench:1/1").stdout)
check("show", json.dumps(shown).count('"peak_memory_kind"') == 1, shown)


def set_kinds(*words):
    with sqlite3.connect("s.sqlite") as db:
        for number, (kind, value) in enumerate(words, 1):
            db.execute("UPDATE trials SET peak_memory_kind = ?, peak_memory_bytes = ? WHERE batch_id = 1 AND number = ?", (kind, value, number))


def stats():
    return json.loads(sonde("bench", "stats", "--json", "bench:1").stdout)["batches"][0]


set_kinds(("process", 7e6), ("pss", 13e6), ("pss", 14e6), ("rss", 20e6))
found = stats()
check("of the kind that most have", (found["peak_memory_kind"], found["peak_memory_left_out"]) == ("pss", 2), found)
peak = found["figures"]["peak_memory_bytes"]
check("its figures", (peak["n"], peak["min"]) == (2, 13e6), peak)
SAID = "peak_memory_bytes of 2 of 4 trials is not of the kind pss but process or rss, and is left out"
check("stats says it", SAID in sonde("bench", "stats", "bench:1").stdout)
check("compare says it", SAID in compare("bench:1", "bench:2").stderr)
set_kinds((None, 7e6), ("pss", 13e6), ("pss", 14e6), ("pss", 15e6))
found = stats()
check("of an older trial", (found["peak_memory_kind"], found["peak_memory_left_out"]) == ("pss", 0) and
      found["figures"]["peak_memory_bytes"]["n"] == 4, found)
set_kinds(*[(None, 7e6)] * 4)
check("none is known", (stats()["peak_memory_kind"], stats()["peak_memory_left_out"]) == (None, 0))
check("nothing to say", "kind" not in sonde("bench", "stats", "bench:1").stdout)

# ---- units ----
compared = json.loads(compare("--json", "bench:1", "bench:2").stdout)
units = {f["name"]: f["unit"] for f in compared["figures"]}
check("units", (units["rate"], units["step"], units["wall_seconds"], units["plain"]) == ("GFLOP/s", "ms", "seconds", ""), units)
text = compare("bench:1", "bench:2").stdout
check("in the text", "rate [GFLOP/s]" in text and "plain [" not in text, text)
check("in Markdown", "GFLOP/s" in compare("--markdown", "bench:1", "bench:2").stdout)

# ---- the list ----
listed = {b["batch"]: b["indicator"] for b in json.loads(sonde("bench", "list", "--json").stdout)["batches"]}
check("indicators", listed == {1: "PiWork", 2: "PiWork", 3: "PiWork", 4: None}, listed)
rows = sonde("bench", "list", "--name", "PiWork").stdout.splitlines()
check("chosen by it", [r.split()[0] for r in rows[1:]] == ["bench:1", "bench:2", "bench:3"], rows)

# ---- the report ----
sonde("bench", "run", "-q", "-n", "4", "--env", "RATE=21", "./work.sh")
sonde("bench", "run", "-q", "-n", "1", "--env", "RATE=99", "./work.sh")  # one value alone is not the best
with sqlite3.connect("s.sqlite") as db:
    for batch, middle in ((1, 10.0), (2, 20.0), (5, 20.1)):
        for number, more in enumerate((0, 0.2, -0.2, 0.1), 1):
            db.execute("UPDATE trials_pi_work SET rate = ? WHERE trial_id = (SELECT id FROM trials WHERE batch_id = ? AND number = ?)",
                       (middle + more, batch, number))
sonde("bench", "report", "PiWork", "-c", "rate", "-o", "rate.html")
with open("rate.html") as f:
    page = f.read()
heads = re.findall(r"<th[^>]*>(?:<button[^>]*>)?([^<]+)", page.split('id="h-tried"')[1])
check("columns", heads[heads.index("rate [GFLOP/s]") + 1:][:3] == ["Difference", "95 % interval", "Verdict"], heads)
rows = {}
for row in re.findall(r'<tr id="g\d+">.*?</tr>', page, re.S):
    label = re.search(r'title="([^"]*)"', row).group(1)
    rows[label.split("RATE=")[1].split()[0]] = re.findall(r'<td class="text">([^<]*)</td>', row)


def of_compare(batch):
    """As the same question is answered by compare: the difference and its interval, in percent."""
    figure = next(f for f in json.loads(compare("--json", "bench:5", f"bench:{batch}").stdout)["figures"] if f["name"] == "rate")
    words = [f"{100 * figure[k]:+.{1 if abs(figure[k]) < 0.1 else 0}f} %" for k in ("difference_ratio", "low_ratio", "high_ratio")]
    return [words[0], f"{words[1]} to {words[2]}", figure["finding"]]


check("the best", rows["21"][-1] == "best", rows)
check("worse", rows["10"][-3:] == of_compare(1) and rows["10"][-1] == "worse", (rows, of_compare(1)))
check("the same", rows["20"][-3:] == of_compare(2) and rows["20"][-1] == "same", (rows, of_compare(2)))
check("of a single one", rows["99"][-1] in ("inconclusive", "unknown", "better"), rows)
check("with what", "Compared with the best, <b>" in page and "RATE=21</b>" in page and "corrected for 3 comparisons" in page)
sonde("bench", "report", "PiWork", "-c", "rate", "-w", "batch=1", "-o", "one.html")
with open("one.html") as f:
    check("a single combination", "Verdict" not in f.read())
end()
