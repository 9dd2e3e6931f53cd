# SPDX-License-Identifier: Apache-2.0
"""columns_arm.py FORMAT FILE OUT: pyarrow writes the table that is in FILE (Parquet) from memory to OUT, with zstd, or pandas a pickle; prints
the seconds and the size. Texts are dictionaries in memory where pyarrow can write these, which is quickest, and categories in pandas, which is
smallest."""
import os
import sys
import time

import pandas
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet


def main():
    form, source, out = sys.argv[1:]
    texts = [f.name for f in pyarrow.parquet.read_schema(source) if str(f.type) == "string"]
    table = pyarrow.parquet.read_table(source, read_dictionary=[] if form == "orc" else texts)
    frame = table.to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get) if form == "pickle" else None
    write = {
        "parquet": lambda: pyarrow.parquet.write_table(table, out, compression="zstd"),
        "feather": lambda: pyarrow.feather.write_feather(table, out, compression="zstd"),
        "pickle": lambda: frame.to_pickle(out),
        "orc": lambda: pyarrow.orc.write_table(table, out, compression="zstd", dictionary_key_size_threshold=1.0),
    }[form]
    begin = time.monotonic()
    write()
    print(f"{time.monotonic() - begin:.4f}\t{os.stat(out).st_size}")


main()
