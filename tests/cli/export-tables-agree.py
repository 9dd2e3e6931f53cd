# SPDX-License-Identifier: Apache-2.0
"""CSV and JSON hold the same cells, wide the same as tidy, rates what the raw counters say, sums what their parts add up to."""
import collections
import csv
import json
import os
import stat
import subprocess
import sys

import jsonschema

SONDE = os.environ["SONDE"]
TABLES = ["series", "processes", "commands", "marks", "spans", "counters", "states"]
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what} {detail}")


def export(where, *options):
    subprocess.run([SONDE, "export", "out", "-o", where, *options], check=True)


def read_csv(path):
    with open(path, "rb") as f:
        text = f.read().decode("utf-8")
    check(path, text.endswith("\r\n") and "\n" not in text.replace("\r\n", ""), "has other line ends than CRLF")
    rows = list(csv.reader(text.splitlines(), strict=True))
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-12


job = "for i in 1 2 3; do dd if=/dev/zero of=file bs=64k count=100 2>/dev/null; sleep 0.1; done"
subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", "out", "--", "sh", "-c", job], check=True)
export("tables", "--to", "csv,json")
check("the folder", sorted(os.listdir("tables")) == sorted(f"{t}.{k}" for t in TABLES for k in ("csv", "json")),
      os.listdir("tables"))

with open(os.environ["TOP"] + "/docs/schema/table.json") as f:
    validator = jsonschema.Draft7Validator(json.load(f))
for table in TABLES:
    path = f"tables/{table}.json"
    check(path, stat.S_IMODE(os.stat(path).st_mode) == 0o600, "is not private")
    with open(path) as f:
        data = json.load(f, parse_constant=lambda name: check(path, False, f"has {name}"))
    for fault in validator.iter_errors(data):
        check(path, False, fault.message)
    names = [c["name"] for c in data["columns"]]
    rows = read_csv(f"tables/{table}.csv")
    check(table, data["table"] == table and len(rows) == len(data["rows"]), "has unlike tables")
    for row, cells in zip(rows, data["rows"]):
        check(table, list(row) == names and len(cells) == len(names), "has unlike columns")
        for name, cell in zip(names, cells):
            text = row[name]
            same = text == "" if cell is None else text in (cell, "'" + cell) if isinstance(cell, str) else float(text) == cell
            check(table, same, f"has unlike cells: {name} {text!r} {cell!r}")

tidy = read_csv("tables/series.csv")
check("series.csv", len({r["time"] for r in tidy}) >= 5, "has too few samples")
check("processes.csv", len(read_csv("tables/processes.csv")) >= 4, "has too few processes")
known = {r["instance"] for r in read_csv("tables/processes.csv")}
check("series.csv", {r["instance"] for r in tidy if r["metric"].startswith("process.")} <= known,
      "names processes that processes.csv does not")

# Wide holds what tidy holds, but for what comes and goes.
export("wide", "--wide", "--table", "series")
wide = {}
for row in read_csv("wide/series.csv"):
    for name, text in row.items():
        if text and name not in ("node", "time", "seconds"):
            wide[row["node"], row["time"], name] = text
want = {(r["node"], r["time"], r["metric"] + (f"[{r['instance']}]" if r["instance"] else "")): r["value"]
        for r in tidy if not r["metric"].startswith(("process.", "command."))}
check("wide", wide == want, f"{len(wide)} cells, tidy has {len(want)}; {list(set(wide.items()) ^ set(want.items()))[:3]}")

# Rates are what the raw counters say.
metrics = json.loads(subprocess.run([SONDE, "metrics", "--json"], check=True, capture_output=True).stdout)["metrics"]
rate_name = {m["name"]: m["rate_name"] for m in metrics if m["kind"] == "counter"}
export("raw", "--raw", "--table", "series")
rates, last = {}, {}
for r in read_csv("raw/series.csv"):
    if r["kind"] != "counter":
        continue
    key = r["node"], r["metric"], r["instance"]
    at, value = float(r["seconds"]), float(r["value"])
    if key in last and value >= last[key][1]:
        rates[r["node"], rate_name[r["metric"]], r["instance"], r["time"]] = (value - last[key][1]) / (at - last[key][0])
    last[key] = at, value
given = {(r["node"], r["metric"], r["instance"], r["time"]): float(r["value"]) for r in tidy
         if r["metric"] in rate_name.values()}
check("rates", len(rates) > 100 and set(rates) == set(given), f"{len(rates)} raw, {len(given)} given")
for key, value in rates.items():
    check("rate", key in given and abs(given[key] - value) <= 1e-6 * abs(value) + 1e-6, f"{key}: {given.get(key)}, not {value}")

# Combined, a node's processes are their sum.
export("combined", "--combine", "--table", "series", "--metrics", "process.resident_bytes")
sums = collections.Counter()
for r in tidy:
    if r["metric"] == "process.resident_bytes":
        sums[r["time"]] += float(r["value"])
combined = {r["time"]: float(r["value"]) for r in read_csv("combined/series.csv")}
check("combined", combined == dict(sums) and len(sums) > 0, f"{combined} is not {dict(sums)}")

# Windows are what the raw readings give: a reading weighs as long as it stands for, a rate the time since the counter was read before, what
# is no rate the time since the node's sample before. What was absent is in no mean, and of a window without readings there is no row.
raw = read_csv("raw/series.csv")
samples = sorted({(r["node"], float(r["seconds"])) for r in raw})
lasted = {b: b[1] - a[1] for a, b in zip(samples, samples[1:]) if a[0] == b[0]}
parts, last = collections.defaultdict(list), {}
for r in raw:
    key, at, value = (r["node"], r["metric"], r["instance"]), float(r["seconds"]), float(r["value"])
    window = int(at / 0.2 + 1e-9)
    if r["kind"] == "counter":
        before = last.get(key)
        last[key] = at, value
        if before and value >= before[1]:
            rate = (value - before[1]) / (at - before[0])
            parts[key[0], rate_name[key[1]], key[2], window].append((rate, at - before[0]))
    else:
        parts[(*key, window)].append((value, lasted.get((key[0], at), 0)))
export("windows", "--every", "200ms", "--table", "series")
windows = {}
for r in read_csv("windows/series.csv"):
    at = float(r["seconds"])
    check("window", close(at / 0.2, round(at / 0.2)), f"begins at {at}")
    windows[r["node"], r["metric"], r["instance"], round(at / 0.2)] = r
check("windows", len(parts) > 100 and set(parts) <= set(windows), f"{len(parts)} made of raw readings, {len(windows)} given")
for key, readings in parts.items():
    weight = sum(w for _, w in readings)
    mean = sum(v * w for v, w in readings) / weight if weight else sum(v for v, _ in readings) / len(readings)
    want = {"value": mean, "min": min(v for v, _ in readings), "max": max(v for v, _ in readings)}
    for name, value in want.items():
        given = float(windows[key][name]) if key in windows else None
        check("window", given is not None and abs(given - value) <= 1e-6 * abs(value) + 1e-6, f"{key}: {name} {given}, not {value}")
export("every_wide", "--every", "200ms", "--table", "series", "--wide")
for row in read_csv("every_wide/series.csv"):
    for name, text in row.items():
        if text and name not in ("node", "time", "seconds"):
            metric, _, instance = name.rstrip("]").partition("[")
            r = windows.get((row["node"], metric, instance, round(float(row["seconds"]) / 0.2)))
            check("wide window", r and r["value"] == text, f"{name} at {row['seconds']}: {text}, not {r and r['value']}")

# A time range is a part of the whole.
export("part", "--from", "100ms", "--until", "200ms", "--table", "series")
want = [r for r in tidy if 0.1 <= float(r["seconds"]) < 0.2]
check("part", want and read_csv("part/series.csv") == want, "is not what lies between")

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
