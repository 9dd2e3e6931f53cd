# SPDX-License-Identifier: Apache-2.0
# limit: 60
"""Batches have a note and tags: bench run and bench note write them, list and show print them, stats, compare, export and note find batches by them, and
they go with their batch. One batch is exported alone: only its rows, and only the tables of its indicator."""
import json
import os
import subprocess

import jsonschema
import schemas
from trials import check, database, end, script, sonde

HOSTILE = "<b>\x1b[31m'; DROP TABLE batches --"


def valid(name, *words):
    with open(f"{os.environ['TOP']}/docs/schema/{name}.json", encoding="utf-8") as f:
        schema = schemas.strict(json.load(f))
    answer = json.loads(sonde(*words, "--json").stdout)
    jsonschema.Draft202012Validator(schema).validate(answer)
    return answer


def listed(*words):
    return {b["batch"]: (b["note"], b["tags"]) for b in valid("bench-list", "bench", "list", *words)["batches"]}


for name in "PiOne", "PiTwo":
    script(name, f'#!/bin/sh\necho \'{{"name": "{name}", "component": "x", "@parameters": {{"n": 1}}, "@result": {{"y": 1}}}}\'\n')
sonde("bench", "run", "-q", "-o", "a", "--note", "before the fix", "--tag", "base", "--tag", "nightly", "./PiOne")
sonde("bench", "run", "-q", "-o", "b", "./PiTwo")
sonde("bench", "run", "-q", "-o", "c", "--tag", "nightly", "./PiOne")
check("none yet", listed() == {1: ("before the fix", ["base", "nightly"]), 2: (None, []), 3: (None, ["nightly"])}, listed())
check("as text", "./PiOne" in sonde("bench", "list").stdout.replace(os.getcwd(), ".") and "  # base, nightly: before the fix\n" in sonde("bench", "list").stdout, sonde("bench", "list").stdout)
sonde("bench", "note", "bench:2", "bench:3", "--note", HOSTILE, "--tag", "base")
check("two at once", listed() == {1: ("before the fix", ["base", "nightly"]), 2: (HOSTILE, ["base"]), 3: (HOSTILE, ["base", "nightly"])}, listed())
check("escaped", "\x1b" not in sonde("bench", "list").stdout + sonde("bench", "show", "bench:2").stdout)
sonde("bench", "note", "tag:nightly", "--untag", "nightly", "--untag", "never", "--tag", "base")
check("by a tag", listed("--tag", "base") == {1: ("before the fix", ["base"]), 2: (HOSTILE, ["base"]), 3: (HOSTILE, ["base"])} and listed("--tag", "nightly") == {}, listed())
sonde("bench", "note", "bench:2", "--note", "")
check("no note", listed()[2] == (None, ["base"]))
shown = valid("bench-show", "bench", "show", "bench:1")
check("shown", (shown["note"], shown["tags"]) == ("before the fix", "base"), shown)
check("statistics", [b["batch"] for b in valid("bench-stats", "bench", "stats", "tag:base")["batches"]] == [1, 2, 3])
p = subprocess.run([os.environ["SONDE"], "compare", "--store", "s.sqlite", "tag:base", "bench:1"], capture_output=True, text=True, check=False)
check("compared", p.stdout.startswith("A  3 runs") and "\nB  1 run" in p.stdout, p.stdout + p.stderr)
for words, text in ((("bench:9", "--tag", "x"), "there is no bench:9"), (("bench:1", "bench:9", "--tag", "x"), "there is no bench:9")):
    p = sonde("bench", "note", *words, code=1)
    check(f"sentence for {words}", text in p.stderr and p.stderr.count("\n") == 1, p.stderr)
for words, text in (((), "no batch given"), (("bench:1",), "nothing to write"), (("bench:1", "--tag", "a b"), "is not a tag"), (("bench:1", "--tag", "1a"), "is not a tag"),
                    (("bench:1", "--untag", ""), "is not a tag"), (("bench:1", "--tag", "a" * 49), "is not a tag"), (("bench:1", "--note", "x" * 4001), "at most 4000 bytes"),
                    (("tag:none", "--tag", "x"), "nor an indicator or a tag")):
    p = sonde("bench", "note", *words, code=2)
    check(f"sentence for {words}", text in p.stderr and p.stderr.count("\n") == 1, p.stderr)
check("nothing was changed", all("x" not in tags for _, tags in listed().values()), listed())
check("run refuses it first", "is not a tag" in sonde("bench", "run", "-o", "d", "--tag", "a b", "./PiOne", code=2).stderr and not os.path.exists("d"))

# One alone.
sonde("bench", "export", "bench:2", "--to", "csv", "-o", "alone")
check("its tables", sorted(os.listdir("alone")) == sorted(f"{t}.csv" for t in ("batches", "batch_tags", "trials", "environments", "environment_facts", "indicators",
      "indicator_columns", "trials_pi_two")), os.listdir("alone"))
with open("alone/indicators.csv") as f:
    text = f.read()
check("its indicator", "PiTwo" in text and "PiOne" not in text, text)
with open("alone/batch_tags.csv") as f:
    check("its tags", f.read().splitlines()[1:] == ["2,base"])
sonde("bench", "export", "--to", "csv", "-o", "all")
check("all", {"trials_pi_one.csv", "trials_pi_two.csv"} <= set(os.listdir("all")))
sonde("bench", "delete", "--yes", "bench:2")
check("gone with it", database("SELECT DISTINCT batch_id FROM batch_tags ORDER BY 1") == [(1,), (3,)], database("SELECT * FROM batch_tags"))
end()
