# SPDX-License-Identifier: Apache-2.0
"""Statistics of row groups are those of their values, a query that skips by them finds all, and each file says its units and kinds."""
import json
import os
import subprocess
import sys

import readers

readers.enter()
import duckdb
import numpy as np
import pandas
import pyarrow.ipc
import pyarrow.orc
import pyarrow.parquet

import columns

faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what} {detail}")


def plain(value):
    return value.encode() if isinstance(value, str) else value


def extremes(c, rows):
    """(nulls, min, max) of some rows; None where NaN or nothing is all there is."""
    there = c.there[rows]
    if c.kind == "text":
        values = [v.encode() for v, t in zip(c.values[rows], there) if t]
    else:
        values = c.values[rows].view(np.float64 if c.kind == "real" else np.int64)[there]
        values = values[~np.isnan(values)] if c.kind == "real" else values
    return int((~there).sum()), (min(values) if len(values) else None), (max(values) if len(values) else None)


def check_statistics(seed, rows):
    subprocess.run([f"{os.environ['PROGRAMS']}/random_table", str(seed), str(rows), ".", "parquet=t.parquet"], check=True)
    want = columns.wanted(".")
    meta = pyarrow.parquet.read_metadata("t.parquet")
    first = 0
    for g in range(meta.num_row_groups):
        group = meta.row_group(g)
        for i, (name, c) in enumerate(want.items()):
            s = group.column(i).statistics
            nulls, least, most = extremes(c, slice(first, first + group.num_rows))
            got = (s.null_count, plain(s.min_raw) if s.has_min_max else None, plain(s.max_raw) if s.has_min_max else None)
            check(f"{seed}: {name}, row group {g}:", got == (nulls, least, most), f"{got} instead of {(nulls, least, most)}")
        first += group.num_rows
    check(f"{seed}:", first == rows, f"{first} rows in all")
    for i, (name, c) in enumerate(want.items()):
        if c.kind == "int" and c.there.any():
            v = int(c.values[c.there][-1])
            quoted = name.replace('"', '""')
            found = duckdb.sql(f"SELECT count(*) FROM 't.parquet' WHERE \"{quoted}\" = {v}").fetchall()[0][0]
            check(f"{seed}: {name} = {v}:", found == int((c.values[c.there] == v).sum()), f"{found} rows")
    return meta.num_row_groups


groups = [check_statistics(seed, 3000) for seed in range(40)] + [check_statistics(seed, 1100000) for seed in (445, 498)]
check("row groups:", max(groups) > 1, groups)



def schema_of(path):
    if path.endswith(".parquet"):
        return pyarrow.parquet.read_schema(path).metadata, None
    if path.endswith(".pickle"):
        return {b"sonde": pandas.read_pickle(path.replace(".pickle", ".pkl")).attrs["sonde"]}, None
    if path.endswith(".orc"):
        return pyarrow.orc.ORCFile(path).schema.metadata, None
    schema = pyarrow.ipc.open_file(path).schema
    return schema.metadata, schema


def check_description(where, form, table):
    """What the file says of its columns is what JSON says, by the key sonde, and in Arrow field by field, too."""
    metadata, schema = schema_of(f"{where}.{form}")
    said = json.loads(metadata[b"sonde"])
    pick = [{k: c[k] for k in ("name", "unit", "kind", "help") if k in c} for c in table["columns"]]
    check(f"{where}.{form}", said["columns"] == pick, f"says {said['columns'][:3]}")
    if where == "tidy/series":
        check(where, len(said["metrics"]) > 20 and all(m["help"] and m["kind"] for m in said["metrics"]), "has no metrics")
    else:
        check(where, sum(c["unit"] == "bytes" and "kind" in c for c in said["columns"]) > 3, "has no units")
    for c in pick if schema else []:
        given = {k.decode(): v.decode() for k, v in (schema.field(c["name"]).metadata or {}).items()}
        check(f"{where}.{form}, {c['name']}", given == {k: v for k, v in c.items() if v and k != "name"}, given)


subprocess.run([os.environ["SONDE"], "run", "--quiet", "-i", "50ms", "-o", "out", "--", "sleep", "0.3"], check=True)
FORMATS = ("parquet", "feather", "orc", "pickle")
for options in (["-o", "tidy"], ["-o", "wide", "--wide", "--table", "series"]):
    subprocess.run([os.environ["SONDE"], "export", "out", "--to", ",".join(FORMATS + ("json",)), *options], check=True)
for place in ("tidy/series", "tidy/processes", "wide/series"):
    with open(place + ".json", encoding="utf-8") as f:
        wanted_table = json.load(f)
    for name in FORMATS:
        check_description(place, name, wanted_table)
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
