# SPDX-License-Identifier: Apache-2.0
"""What readers of columns find in a file against what was put in (tests/programs/random_table.c), value by value.

columns.py READER FILE WANTED... says what differs; a reader is one of READERS that the Python running this has."""
import functools
import importlib
import os
import sys

import numpy as np


class Column:
    """there: bool of each row; values: int64 (integers, ns since 1970, bits of doubles) or str of each row."""

    def __init__(self, kind, there, values):
        self.kind, self.there, self.values = kind, np.asarray(there, dtype=bool), values


def wanted(folder):
    return written(folder, os.stat(f"{folder}/schema.tsv").st_mtime_ns)


@functools.lru_cache(maxsize=1)  # for each format in turn
def written(folder, _when):
    columns = {}
    with open(f"{folder}/schema.tsv", encoding="utf-8") as f:
        lines = f.read().splitlines()
    for i, line in enumerate(lines):
        kind, name = line.split("\t")
        there = np.fromfile(f"{folder}/{i}.there", dtype=np.uint8)
        if kind == "text":
            with open(f"{folder}/{i}.values", "rb") as f:
                values = f.read().decode().split("\0")[:-1]
        else:
            values = np.fromfile(f"{folder}/{i}.values", dtype=np.int64)
        columns[name] = Column(kind, there, values)
    return columns


def same_real(a, b):
    x, y = a.view(np.float64), b.view(np.float64)
    return (a == b) | (np.isnan(x) & np.isnan(y))


def differences(want, got):
    """At most one sentence a column."""
    if list(want) != list(got):
        yield f"columns {list(got)} instead of {list(want)}"
        return
    for name, w in want.items():
        g = got[name]
        if w.kind != g.kind:
            yield f"{name}: {g.kind} instead of {w.kind}"
        elif len(w.there) != len(g.there):
            yield f"{name}: {len(g.there)} rows instead of {len(w.there)}"
        elif not np.array_equal(w.there, g.there):
            row = int(np.argmin(w.there == g.there))
            yield f"{name}: row {row} is {'there' if g.there[row] else 'absent'}"
        elif w.kind == "text":
            there = np.flatnonzero(w.there)
            bad = there[np.array(w.values, dtype=object)[there] != np.array(g.values, dtype=object)[there]]
            if len(bad):
                yield f"{name}: row {bad[0]} is {g.values[bad[0]]!r} instead of {w.values[bad[0]]!r}"
        else:
            good = same_real(w.values, g.values) if w.kind == "real" else w.values == g.values
            if not np.all(good | ~w.there):
                row = int(np.argmin(good | ~w.there))
                yield f"{name}: row {row} is {g.values[row]} instead of {w.values[row]}"


def from_arrow(table):
    import pyarrow as pa

    columns = {}
    for name, column in zip(table.column_names, table.columns):
        there = np.asarray(column.is_valid())
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = pa.chunked_array([c.dictionary_decode() for c in column.chunks], kind.value_type)
            kind = kind.value_type
        if pa.types.is_timestamp(kind):
            if kind.tz not in ("UTC", "Etc/UTC"):
                raise ValueError(f"{name}: the time zone is {kind.tz}")
            column = column.cast(pa.timestamp("ns", "UTC")).cast(pa.int64())
            columns[name] = Column("time", there, column.fill_null(0).to_numpy())
        elif pa.types.is_float64(kind):
            columns[name] = Column("real", there, column.fill_null(0.0).to_numpy().view(np.int64))
        elif pa.types.is_int64(kind):
            columns[name] = Column("int", there, column.fill_null(0).to_numpy())
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view":
            columns[name] = Column("text", there, column.to_pylist())
        else:
            columns[name] = Column(str(kind), there, [])
    return columns


def from_pandas(frame, want):
    """pandas has no integer for absent, but its own nullable ones; whole columns of None have no type."""
    columns = {}
    for name in frame.columns:
        s, kind = frame[name], want[name].kind if name in want else "unknown"
        there = s.notna().to_numpy()
        dtype = str(s.dtype)
        if dtype.startswith("datetime64[ns, UTC]"):
            values = np.where(there, s.to_numpy(dtype="datetime64[ns]").view(np.int64), 0)
            columns[name] = Column("time", there, values)
        elif dtype in ("int64", "Int64"):
            columns[name] = Column("int", there, s.fillna(0).to_numpy(dtype=np.int64))
        elif dtype == "float64" and kind == "int" and not there.all():
            # it has been through a double
            values = want[name].values
            back = np.where(there, s.fillna(0).to_numpy() == values.astype(np.float64), True)
            columns[name] = Column("int", there, np.where(back, values, values + 1))
        elif dtype == "float64":
            # NaN and absent are one
            bits = s.to_numpy().copy().view(np.int64)
            if kind == "real":
                nan = np.isnan(want[name].values.view(np.float64)) & want[name].there
                there, bits = there | nan, np.where(nan, want[name].values, bits)
            columns[name] = Column("real", there, bits)
        elif dtype in ("object", "str", "string", "category"):
            columns[name] = Column("text", there, list(s))
        else:
            columns[name] = Column(dtype, there, [])
        if kind == "text" and not len(there):
            columns[name].kind = "text"
    return columns


def with_pyarrow(path, want):
    import pyarrow.feather
    import pyarrow.orc
    import pyarrow.parquet

    read = {"parquet": pyarrow.parquet.read_table, "orc": pyarrow.orc.read_table, "feather": pyarrow.feather.read_table}
    return from_arrow(read[path.rsplit(".")[-1]](path))


def with_duckdb(path, want):
    import duckdb

    with duckdb.connect() as base:
        base.execute("SET TimeZone='UTC'")
        return from_arrow(base.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_table())


def with_polars(path, want):
    import polars

    read = {"parquet": polars.read_parquet, "feather": polars.read_ipc}
    return from_arrow(read[path.rsplit(".")[-1]](path).to_arrow())


def with_chdb(path, want):
    import chdb
    import pyarrow

    names = {"parquet": "Parquet", "feather": "Arrow", "orc": "ORC"}
    found = chdb.query(f"SELECT * FROM file('{path}', {names[path.rsplit('.')[-1]]}) SETTINGS max_threads=1, "
                       "input_format_parquet_preserve_order=1, session_timezone='UTC', "
                       "output_format_arrow_string_as_string=1, output_format_arrow_low_cardinality_as_dictionary=0", "Arrow")
    return from_arrow(pyarrow.ipc.open_file(found.bytes()).read_all())


def with_pandas(path, want):
    import pandas

    read = {"parquet": pandas.read_parquet, "orc": pandas.read_orc, "feather": pandas.read_feather, "pkl": pandas.read_pickle}
    return from_pandas(read[path.rsplit(".")[-1]](path), want)


READERS = {"pyarrow": with_pyarrow, "duckdb": with_duckdb, "polars": with_polars, "chdb": with_chdb, "pandas": with_pandas}


def faults_of(reader, path, folder):
    want = wanted(folder)
    try:
        got = READERS[reader](path, want)
    except Exception as e:  # whatever a reader does not take is a fault
        yield f"{reader} does not read {path}: {type(e).__name__}: {str(e)[:300]}"
        return
    for difference in differences(want, got):
        yield f"{reader}, {path}: {difference}"


def main():
    name = sys.argv[1]
    print(name, importlib.import_module(name).__version__, "on", len(sys.argv[2:]) // 2, "files")
    faults = [f for path, folder in zip(sys.argv[2::2], sys.argv[3::2]) for f in faults_of(name, path, folder)]
    print("\n".join(faults[:20]))
    sys.stdout.flush()
    os._exit(1 if faults else 0)


if __name__ == "__main__":
    main()
