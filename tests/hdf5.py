# SPDX-License-Identifier: Apache-2.0
"""What pandas, PyTables and h5py find in a table of HDF5, each as (names of columns, rows of plain values): None is absent, a time is ns since 1970.

hdf5.py FILE KEY... prints what the pandas of the Python running this finds, a line of JSON for each."""
import json
import math
import sys


def plain(values, dtype):
    import pandas

    if isinstance(dtype, pandas.CategoricalDtype):
        return [None if isinstance(v, float) else v for v in values]
    if str(dtype).startswith("datetime"):
        return [None if v == -2**63 else int(v) for v in values.dt.tz_convert(None).astype("datetime64[ns]").to_numpy().view("i8")]
    return [None if math.isnan(v) else v for v in values]


def with_pandas(path, key):
    import pandas

    frame = pandas.read_hdf(path, key)
    if list(frame.index) != list(range(len(frame))):
        raise ValueError(f"{path} has another index")
    for name, dtype in frame.dtypes.items():
        if str(dtype).startswith("datetime") and str(dtype.tz) != "UTC":
            raise ValueError(f"{path}: {name} is {dtype}")
    return list(frame.columns), list(zip(*(plain(frame[c], frame[c].dtype) for c in frame.columns))) if len(frame) else []


def of_fields(rows, texts_of):
    """Without what pandas makes of it: codes are looked up in the categories beside them."""
    columns = []
    for name in rows.dtype.names[1:]:
        values = rows[name]
        if values.dtype.kind == "f":
            columns.append([None if math.isnan(v) else float(v) for v in values])
        elif values.dtype.itemsize == 8:
            columns.append([None if v == -2**63 else int(v) for v in values])
        else:
            texts = texts_of(name)
            columns.append([None if v < 0 else texts[v].decode() for v in values])
    return list(rows.dtype.names[1:]), list(zip(*columns)) if len(rows) else []


def with_h5py(path, key):
    import h5py

    with h5py.File(path) as f:
        return of_fields(f[key]["table"][:], lambda name: f[key]["meta"][name]["meta/table"]["values"])


def with_pytables(path, key):
    import tables

    with tables.open_file(path) as f:
        return of_fields(f.get_node(f"/{key}/table").read(),
                         lambda name: f.get_node(f.get_node(f.get_node(f"/{key}/meta"), name), "meta/table").read()["values"])


def main():
    import warnings

    warnings.simplefilter("ignore")  # about names that are no names in Python
    for path, key in zip(sys.argv[1::2], sys.argv[2::2]):
        print(json.dumps(with_pandas(path, key)))


if __name__ == "__main__":
    main()
