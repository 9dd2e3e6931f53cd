# SPDX-License-Identifier: Apache-2.0
"""Which code the CPU time went to: show --code in text, tables and JSON, and stacks as folded, pprof and speedscope, of a recording whose stacks are known
(tests/programs/stacked_run.c). Parts add up to the exact CPU time, hostile names are harmless, and a recording without stacks gets one line."""
import glob
import gzip
import json
import os
import shutil
import subprocess

import jsonschema
import schemas

SONDE, PROGRAMS, TOP = os.environ["SONDE"], os.environ["PROGRAMS"], os.environ["TOP"]


def sonde(*words, status=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, check=False)
    assert ended.returncode == status, (words, ended)
    return ended.stdout.decode(), ended.stderr.decode()


def checked(name, document):
    with open(f"{TOP}/docs/schema/{name}.json", encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator(schema).validate(document)
    jsonschema.Draft202012Validator(schemas.strict(schema)).validate(document)
    return document


subprocess.run([f"{PROGRAMS}/stacked_run", "rec"], check=True)

# ---- show ----
text, _ = sonde("show", "rec")
assert "code        own code 39 %, memory copies 22 %, MPI 11 %, kernel 11 %" in text, text
assert "hot spots   dot (dot.h:7) 33 %, memcpy (libc.so.6) 33 %" in text, text
assert "Python      <listcomp> (train.py:7) 75 %, load (data.py:3) 25 % of Python's time" in text, text
# What has less than 1 % is no hot spot.
subprocess.run([f"{PROGRAMS}/stacked_run", "system", "890"], check=True)
text, _ = sonde("show", "system")
assert "code        kernel 99 %" in text and "hot spots" not in text, text
code = checked("code", json.loads(sonde("show", "--code", "--json", "rec")[0]))
parts = {row["class"]: row["self_seconds"] for row in code["class"]}
assert {k: round(v, 6) for k, v in parts.items()} == {"own": 3.5, "copies": 2, "mpi": 1, "unknown": 0.5}, parts
assert abs(sum(parts.values()) + code["too_short_seconds"] + code["unsampled_seconds"] - code["user_seconds"]) < 1e-9, code
assert code["too_short"][0]["command"] == "short" and abs(code["too_short_seconds"] - 8 / 9) < 1e-9, code["too_short"]
python = code["python"]
assert (python["sampled_seconds"], python["samples"]) == (2, 40), python
assert {(row["name"], row["self_ratio"], row["total_ratio"]) for row in python["function"]} == {("<listcomp>", 0.75, 1), ("load", 0.25, 0.25)}, python
assert [(row["file"], row["line"]) for row in python["line"]] == [("train.py", 7), ("data.py", 3)], python
rows = {row["name"]: row for row in code["function"]}
assert abs(rows["lib::solve"]["total_seconds"] - 3) < 1e-9 and rows["lib::solve"]["self_seconds"] == 0, rows["lib::solve"]
assert rows["lib::solve"]["function"] == "void lib::solve<double>(double*, int)", rows["lib::solve"]
assert abs(rows["main"]["total_seconds"] - 6.5) < 1e-9 and rows["main"]["line"] == 12, rows["main"]
assert {row["rank"] for row in code["rank"]} == {0, 1} and all(abs(row["self_seconds"] - 3.5) < 1e-9 for row in code["rank"]), code["rank"]
assert {row["pid"] for row in code["process"]} == {"100", "101"}, code["process"]
listed = sonde("show", "--code", "rec")[0]
assert "\nPython's CPU by function\n" in listed and "\nPython's CPU by line\n" in listed, listed
whole = checked("show", json.loads(sonde("show", "--json", "rec")[0]))
assert [row["class"] for row in whole["code"]["class"]] == [row["class"] for row in code["class"]], whole["code"]

full, _ = sonde("show", "--code", "rec")
for line in ("39 %  +-2.9    3.50 s  own code", "889 ms  processes too short to be sampled", "100 x short", "1.00 s  kernel", "700 samples"):
    assert line in full, (line, full)
for by in ("function", "line", "module", "class", "command", "process", "thread", "rank", "node", "phase"):
    table, _ = sonde("show", "--by", by, "rec")
    assert table.startswith(f"CPU by {by}\n") and "\033" not in table and table.count("\n") >= 3, table
markdown, _ = sonde("show", "--markdown", "rec")
assert "| own code | 39 % | 3.50 s |" in markdown and "<script>" not in markdown, markdown

assert {row["name"]: round(row["self_seconds"], 6) for row in code["phase"]} == {"solving": 7}, code["phase"]

if shutil.which("pdftotext") and os.path.exists(f"{os.environ['BUILD']}/libexec/sonde/sonde-draw"):
    sonde("report", "--only", "pdf", "rec")
    (paper,) = glob.glob("rec/*.pdf")
    first = " ".join(subprocess.run(["pdftotext", "-l", "1", paper, "-"], check=True, capture_output=True, text=True).stdout.split())
    assert "Which code used the CPU own code 39 %, memory copies 22 %, MPI 11 %, kernel 11 %" in first, first
    assert "dot (dot.h:7) 33 %, memcpy (libc.so.6) 33 %" in first, first

# A site's classes come first.
with open("site.classes", "w", encoding="utf-8") as f:
    f.write("class: solver\nlabel: our solver\nsymbols: dot lib::solve\n")
sited = json.loads(sonde("show", "--code", "--json", "--classes", "site.classes", "rec")[0])
assert {row["name"]: round(row["self_seconds"], 6) for row in sited["class"]}["our solver"] == 3, sited["class"]
with open("bad.classes", "w", encoding="utf-8") as f:
    f.write("class: solver\nsymbols: dot\n")
_, said = sonde("show", "--classes", "bad.classes", "rec", status=1)
assert "bad.classes:1:1: class solver has no 'label:'" in said, said

# ---- export ----
sonde("export", "--to", "folded,pprof,speedscope", "-o", "out", "rec")
stacks = {}
with open("out/stacks.folded", encoding="utf-8") as f:
    for line in f:
        path, _, us = line.rstrip("\n").rpartition(" ")
        stacks[tuple(path.split(";"))] = int(us)
assert sum(stacks.values()) == 7_000_000 and len(stacks) == 5, stacks
assert stacks[("solver", "main", "MPI_Allreduce", "memcpy")] == 1_000_000, stacks
assert stacks[("solver", "main", "void lib::solve<double>(double*, int)", "dot")] == 3_000_000, stacks
with open("out/stacks.speedscope.json", encoding="utf-8") as f:
    scope = json.load(f)
assert "void lib::solve<double>(double*, int)" in [frame["name"] for frame in scope["shared"]["frames"]], scope["shared"]
for profile in scope["profiles"]:
    assert len(profile["samples"]) == len(profile["weights"]) and abs(sum(profile["weights"]) - profile["endValue"]) < 1e-6, profile
    assert all(0 <= frame < len(scope["shared"]["frames"]) for sample in profile["samples"] for frame in sample), profile
assert abs(sum(p["endValue"] for p in scope["profiles"]) - 7) < 1e-6, scope
with gzip.open("out/stacks.pb.gz") as f:
    assert b"void lib::solve<double>(double*, int)" in f.read()
assert sonde("export", "--to", "folded", "-o", "-", "rec")[0].count("\n") == 5
assert not sonde("export", "--to", "folded", "-o", "-", "--from", "100s", "rec")[0]
assert "formats of stacks take" in sonde("export", "--to", "folded", "--wide", "rec", status=2)[1]
assert "standard output takes one format" in sonde("export", "--to", "folded,pprof", "-o", "-", "rec", status=2)[1]

# ---- without stacks ----
subprocess.run([SONDE, "run", "-q", "-o", "none", "--", "true"], check=True)
text, said = sonde("show", "--code", "none")
assert not text and said.count("\n") == 1 and "no stacks in none" in said, (text, said)
assert checked("code", json.loads(sonde("show", "--code", "--json", "none")[0]))["not_recorded"], "why"
assert "\ncode  " not in sonde("show", "none")[0]
assert "none has no stacks" in sonde("export", "--to", "pprof", "-o", "out2", "none", status=1)[1]
assert checked("show", json.loads(sonde("show", "--json", "none")[0]))["code"] is None
