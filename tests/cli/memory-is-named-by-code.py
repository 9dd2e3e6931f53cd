# SPDX-License-Identifier: Apache-2.0
"""Which code touched memory first (tests/programs/memory_parts.c, in C, C++ and Rust): shares at the peak, what was given back, a leak beside churn, in
text, JSON and exports. An ordinary user records it, whose recorder sees no faults of system calls."""
# limit: 400
import glob
import json
import os
import pathlib
import shutil
import subprocess

import jsonschema
import schemas

from ordinary_user import USER, enter_room, need_unwind
from patience import patience

SONDE, PROGRAMS, BUILD, TOP = (os.environ[name] for name in ("SONDE", "PROGRAMS", "BUILD", "TOP"))
MB = 1 << 20
POINTS = 0.03
need_unwind()
room = enter_room()


def sonde(*words, status=0):
    ended = subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == status, (words, ended)
    return ended.stdout, ended.stderr


def record(name, *command, options=("--memory",)):
    subprocess.run([*USER, SONDE, "run", "-q", "--stacks=off", *options, "-o", name, "--", *command], check=True, timeout=patience(200))
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)
    document = json.loads(sonde("show", "--memory", "--json", name)[0])
    with open(TOP + "/docs/schema/memory.json", encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator(schema).validate(document)
    jsonschema.Draft202012Validator(schemas.strict(schema)).validate(document)
    return document


def owners(document):
    return {row["name"].rsplit("::", 1)[-1]: row for row in document["owner"]}


# ---- shares at the peak ----
def check(name, command, parts, file):
    document = record(name, *command, *map(str, parts.values()), *(["3"] if file != "memory_parts.rs" else []))
    found = owners(document)
    whole = sum(parts.values()) * MB
    assert document["not_recorded"] is None and document["samples"] > 100, document
    for function, mb in parts.items():
        row = found[function]
        share = row["peak_bytes"] / document["peak_bytes"]
        assert abs(share - mb * MB / document["peak_bytes"]) <= POINTS, (name, function, share, mb * MB / document["peak_bytes"], document["missing"])
        # Of Rust it is the line of the standard library that is inlined there.
        assert file.endswith(".rs") or (row["file"].endswith(file) and row["line"] > 0), row
    assert whole <= document["peak_bytes"] <= 1.4 * whole, (whole, document["peak_bytes"])
    assert abs(sum(row["self_bytes"] for row in document["function"]) - document["peak_bytes"]) < MB, document
    return document, found


PARTS = {"load_index": 600, "load_table": 300, "write_log": 100}
c, rows = check("c", [PROGRAMS + "/memory_parts"], PARTS, "memory_parts.c")
assert rows["churn"]["touched_bytes"] > 150 * MB > rows["churn"]["peak_bytes"], rows["churn"]
assert c["touched_bytes"] > 1100 * MB and c["grows"] is None, c
# All within a quarter of a second: no sample may wait until its ring is full.
check("burst", [PROGRAMS + "/memory_parts"], {"load_index": 300, "load_table": 150, "write_log": 50}, "memory_parts.c")
# While it touches the same again and again events are there for a part of the time; what grows then is seen whole.
late = record("late", PROGRAMS + "/memory_parts", "late", "500", "6")
rows = {name: row for name, row in owners(late).items() if name in ("churn", "load_index")}
share = rows["load_index"]["peak_bytes"] / late["peak_bytes"]
assert abs(share - 500 * MB / late["peak_bytes"]) <= POINTS, (rows, late["peak_bytes"], late["missing"])
rows = owners(c)
source = TOP + "/tests/programs/memory_parts"
if shutil.which("g++"):
    shutil.copy(source + ".c", "parts.cc")
    subprocess.run(["g++", "-O2", "-g", "-o", "parts_cc", "parts.cc"], check=True)
    check("cc", [os.path.abspath("parts_cc")], PARTS, "parts.cc")
    # What the standard library does in the program is its caller's.
    pathlib.Path("vector.cc").write_text("#include <vector>\n#include <unistd.h>\nstd::vector<double> load_vector() { std::vector<double> v; "
                                         "v.reserve(25 << 20); for (int i = 0; i < 25 << 20; i++) v.push_back(i); return v; }\n"
                                         "int main() { auto v = load_vector(); sleep(1); return v[5] != 5; }\n", encoding="utf-8")
    subprocess.run(["g++", "-O0", "-g", "-o", "vector_cc", "vector.cc"], check=True)
    vector = owners(record("vector", os.path.abspath("vector_cc")))
    assert vector["load_vector"]["peak_bytes"] > 0.9 * 200 * MB, vector
if shutil.which("rustc") and subprocess.run(["rustc", "--version"], capture_output=True, check=False).returncode == 0:
    subprocess.run(["rustc", "-O", "-g", "-o", "parts_rs", source + ".rs"], check=True)
    check("rs", [os.path.abspath("parts_rs")], {"load_index": 600, "load_table": 300}, "memory_parts.rs")
    # What the standard library does for a type of the program, in symbols of v0, is its caller's, too.
    pathlib.Path("own.rs").write_text("#[derive(Clone)]\npub struct Part([u64; 8]);\n#[inline(never)]\nfn load_parts(n: usize) -> Vec<Part> { vec![Part([n as u64; 8]); n] }\n"
                                      "fn main() { let p = load_parts(2 << 20); std::thread::sleep(std::time::Duration::from_secs(1)); println!(\"{}\", p[7].0[3]); }\n", encoding="utf-8")
    for level in ("0", "1"):
        subprocess.run(["rustc", "-Csymbol-mangling-version=v0", "-Copt-level=" + level, "-g", "-o", "own" + level, "own.rs"], check=True)
        own = owners(record("own" + level + "-run", os.path.abspath("own" + level)))
        assert own["load_parts"]["peak_bytes"] > 0.9 * 128 * MB, own

# ---- in words, tables and exports ----
brief = " ".join(sonde("show", "c")[0].split())
assert "touched by " in brief and "was first touched in load_index (memory_parts.c:" in brief, brief
text = sonde("show", "--memory", "c")[0]
assert "Resident memory by the function that touched it first: 1" in text and "(without samples)" in text, text
lines = sonde("show", "--memory", "--by", "line", "c")[0]
assert "load_table" in lines and "memory_parts.c:" in lines, lines
for by in ("function", "module", "process", "rank", "phase", "node", "command"):
    assert f"by {by}" in sonde("show", "--memory", "--by", by, "c")[0], by
sonde("show", "--memory", "--code", "c", status=2)
sonde("export", "--to", "folded,pprof,speedscope", "--what", "memory", "-o", "out", "c")
folded = [line.rsplit(" ", 1) for line in pathlib.Path("out/memory.folded").read_text().splitlines()]
assert abs(sum(int(n) for _, n in folded) - c["peak_bytes"]) < MB, folded
assert abs(sum(int(n) for stack, n in folded if ";load_index" in stack) - rows["load_index"]["peak_bytes"]) < MB, folded
scope = json.loads(pathlib.Path("out/memory.speedscope.json").read_text())
assert scope["profiles"][0]["unit"] == "bytes" and len(glob.glob("out/memory.pb.gz")) == 1, scope["profiles"][0]["unit"]
sonde("report", "-o", "page", "c")
page = pathlib.Path("page/report.html").read_text()
assert "Which code touched memory first" in page and '<svg class="flame"' in page and "load_index" in page

# ---- a leak beside a hundred times as much churn ----
for attempt in range(3):  # a machine with much else to do loses samples, or takes them from the job: that is said, and no function is named
    shutil.rmtree("leak", ignore_errors=True)
    leak = record("leak", PROGRAMS + "/memory_parts", "leak", "20", options=("--memory=1000",))
    assert leak.get("grows") in ("write_log", None), leak["grows"]
    if leak.get("grows"):
        break
assert leak.get("grows") == "write_log", leak
assert "Grows all the time: write_log (memory_parts.c:" in sonde("show", "--memory", "leak")[0]

# What it touched and has kept until half of the time is no leak: what grows has to go on.
still = record("plateau", PROGRAMS + "/memory_parts", "plateau", "8", options=("--memory=1000",))
assert still["grows"] is None, (still["grows"], still["owner"])

# ---- pages that are hidden: of faults alone, which is said ----
HIDES = "import ctypes, time; ctypes.CDLL(None).prctl(4, 0); kept = [(time.sleep(0.02), b'x' * (1 << 20)) for _ in range(80)]; time.sleep(1.5)"
if USER:
    hidden = record("hidden", "/usr/bin/python3", "-c", HIDES)
    assert any("only page faults are known" in line for line in hidden["missing"]), hidden["missing"]
    assert sum(row["peak_bytes"] for row in hidden["owner"]) > 60 * MB, hidden
    # Nor can events be opened on it again, with another period: those that it has stay.
    hidden = record("hidden_more", "/usr/bin/python3", "-c", HIDES.split(";", maxsplit=1)[0] + "\nctypes.CDLL(None).prctl(4, 0)\n"
                    "for _ in range(40): b'x' * (64 << 20); time.sleep(0.01)\n")
    assert sum(row["touched_bytes"] for row in hidden["owner"]) > 2000 * MB, hidden

# ---- not recorded ----
subprocess.run([SONDE, "run", "-q", "-o", "none", "--", "true"], check=True)
assert json.loads(sonde("show", "--memory", "--json", "none")[0])["not_recorded"] == "page faults were not sampled"
assert "record them with --memory" in sonde("show", "--memory", "none")[1]
without = subprocess.run([PROGRAMS + "/without", "perf_event_open", SONDE, "run", "-q", "--memory", "-o", "refused", "--", "true"], check=False)
if without.returncode == 0:
    refused = json.loads(sonde("show", "--memory", "--json", "refused")[0])
    assert refused["not_recorded"].startswith("forbidden: perf_event_open is blocked"), refused
    assert "touched by not sampled: forbidden: " in " ".join(sonde("show", "refused")[0].split())
