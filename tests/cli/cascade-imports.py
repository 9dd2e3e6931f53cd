# SPDX-License-Identifier: Apache-2.0
# limit: 3600
"""import cascade takes every start-up event of a table's dump with its time and message; what is bad is named with its place and costs nothing else."""
import calendar
import csv
import datetime
import json
import os
import pathlib
import random
import shutil
import subprocess

import cascade_pools as made
from patience import patience

SONDE = os.environ["SONDE"]
MUTATED = 10_000 if os.environ.get("LONG") else 40
rng = random.Random(84)


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False, timeout=patience(300))


def imported(path, *words, code=0):
    shutil.rmtree("rec", ignore_errors=True)
    ended = sonde("import", "cascade", path, *words, "-o", "rec")
    assert ended.returncode == code, (ended, path)
    return ended.stderr


def microseconds(time):
    """Of "2017-07-18T04:45:23.715110000Z"."""
    whole, _, fraction = time.rstrip("Z").partition(".")
    seconds = calendar.timegm(datetime.datetime.fromisoformat(whole).timetuple())
    return seconds * 10**6 + int(fraction.ljust(9, "0")) // 1000


def events():
    """What the recording holds: {(node, microseconds, event, message)}."""
    shutil.rmtree("csv", ignore_errors=True)
    ended = sonde("export", "rec", "--to", "csv", "-o", "csv")
    assert ended.returncode == 0, ended
    with open("csv/marks.csv", encoding="utf-8", newline="") as f:
        return sorted((r["node"], microseconds(r["time"]), r["name"], r["message"]) for r in csv.DictReader(f))


def wanted(nodes):
    return sorted((n.name, us, event, message or "") for n in nodes for us, event, message in n.events)


# Every form of dump, whole, gives every event.
partition, nodes = made.make_pool(rng, 12)
last = max(nodes, key=lambda n: n.events[-1][0])
last.events.append((last.events[-1][0], "other", "at the same time"))
rows = made.entities(partition, nodes)
for name, write in made.DUMPS.items():
    pathlib.Path(name).write_text(write(rows), encoding="utf-8")
    assert imported(name).count("\n") == 1
    assert events() == wanted(nodes), name

# Keys with more digits than microseconds are rounded as graph.py's datetime.fromtimestamp does.
keys = [repr(1.5e9 + rng.random() * 3e8) for _ in range(400)]
pathlib.Path("keys").write_text(json.dumps([dict(rows[0], RowKey=key, NodeId=f"n{i}") for i, key in enumerate(keys)]), encoding="utf-8")
imported("keys")
exact = [datetime.datetime.fromtimestamp(float(key), datetime.timezone.utc) for key in keys]
assert {node: us for node, us, _, _ in events()} == {f"n{i}": calendar.timegm(t.timetuple()) * 10**6 + t.microsecond for i, t in enumerate(exact)}

# Pages in a directory, in any order and overlapping; another pool beside it, which can be chosen.
other, theirs = made.make_pool(rng, 3, pool="other")
os.mkdir("pages")
half = len(rows) // 2
for name, part in (("1.json", rows[half:]), ("2.json", rows), ("3.csv", made.entities(other, theirs))):
    pathlib.Path("pages", name).write_text(made.as_csv(part) if name == "3.csv" else json.dumps(part), encoding="utf-8")
assert f"were there twice and count once: {len(rows) - half}\n" in imported("pages")
assert events() == wanted(nodes + theirs)
for pool in ("other", other):
    imported("pages", pool)
    assert events() == wanted(theirs)
assert "no start-up event of the pool none" in imported("pages", "none", code=1) and not os.path.exists("rec")
assert sonde("import", "cascade", "pages", "--subsample", "2", "-o", "rec").returncode == 2

# Records that are none, each named with its offset; the rest comes.
BAD = [{"RowKey": "soon"}, {"RowKey": "nan"}, {"RowKey": "-5"}, {"RowKey": None}, {"Event": ""}, {"NodeId": None}, {"PartitionKey": ""},
       {"Event": "e" * 256}, {"Message": "m" * 16001}, {"Message": "\x1b[31m{\"RowKey\": 1}"}]
with open("bad.json", "w", encoding="utf-8") as f:
    offsets = []
    for row in rows:
        if rng.random() < 0.1 and len(offsets) < len(BAD):
            offsets.append(f.tell())
            f.write(json.dumps(dict(row, NodeId="bad") | BAD[len(offsets) - 1]) + "\n")
        f.write(json.dumps(row) + "\n")
assert len(offsets) == len(BAD)
said = imported("bad.json", code=1)
for offset in offsets[:-1]:
    assert f"bad.json at byte {offset}: " in said, (offset, said)
assert "\x1b" not in said and f"at byte {offsets[-1]}" not in said
assert [e for e in events() if e[0] != "bad"] == wanted(nodes)
far = dict(rows[0], RowKey="1000.5")
pathlib.Path("far.json").write_text(json.dumps([*rows, far]), encoding="utf-8")
assert "lies years away" in imported("far.json", code=1)
assert events() == wanted(nodes)
for text in ("", "[]", "no table", "{", '{"value": []}', "a,RowKey\n1,\"2\n"):
    pathlib.Path("none").write_text(text, encoding="utf-8")
    said = imported("none", code=1)
    assert "none " in said and not os.path.exists("rec"), said
assert "cannot open" in imported("not-there", code=1)


def mutate(text):
    data = bytearray(text.encode())
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data))
        what = rng.randrange(4)
        if what == 0:
            data[at] = rng.randrange(256)
        elif what == 1:
            data[at:at] = rng.choice((b"{", b"}", b'"', b"[", b",", b"\n", b"\0", b"\\", b"{\"RowKey\":"))
        elif what == 2:
            del data[at]
        else:
            del data[at:at + rng.randrange(1, len(data) - at + 1)]
        if not data:
            break
    return bytes(data)


# Whatever happens to the records of one node, those of the others come whole.
partition, nodes = made.make_pool(rng, 3)
for _ in range(MUTATED):
    as_lines = rng.random() < 0.5
    victim = rng.choice(nodes)
    between, parts = b"\n", []
    if as_lines:
        parts.append(b"PartitionKey,RowKey,Event,NodeId,Message")
    for row in made.entities(partition, nodes):
        text = ",".join(f'"{row.get(k, "")}"' for k in made.FIELDS) if as_lines else json.dumps(row)
        hit = row["NodeId"] == victim.name and rng.random() < 0.3
        parts.append(mutate(text) if hit else text.encode())
    if not as_lines:
        between = b",\n"
        parts[0], parts[-1] = b"[" + parts[0], parts[-1] + b"]"
    pathlib.Path("mutated").write_bytes(between.join(parts))
    shutil.rmtree("rec", ignore_errors=True)
    ended = sonde("import", "cascade", "mutated", "-o", "rec")
    assert ended.returncode in (0, 1) and ended.stderr, ended
    healthy = [n for n in nodes if n is not victim]
    names = {n.name for n in healthy}
    assert [e for e in events() if e[0] in names] == wanted(healthy), ended
