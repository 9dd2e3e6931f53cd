# SPDX-License-Identifier: Apache-2.0
"""What bench/hdf5.sh times. sonde TABLE_OF FILE ROWS: prints seconds and the larger peak of memory in MB of what it starts. pandas FILE OTHER ROWS:
reads FILE into memory and prints the seconds that to_hdf takes to write it to OTHER, its texts as categories, as Sonde has them, and as strings; and
sees that what is in OTHER is the same."""
import os
import resource
import subprocess
import sys
import time


def sync(path):
    with open(path) as f:
        os.fsync(f)


def sonde(program, path, rows):
    begin = time.monotonic()
    subprocess.run([program, "hdf5", path, rows, "0"], check=True)
    sync(path)
    seconds = time.monotonic() - begin
    print(f"{seconds:.3f} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.1f}")


def pandas_arm(path, other, rows):
    import warnings

    import pandas
    warnings.simplefilter("ignore")  # about names that are no names in Python
    frame = pandas.read_hdf(path, "series").rename(columns={"value|of [it]": "value"})
    if len(frame) != int(rows):
        sys.exit(f"{path} has {len(frame)} rows, not {rows}")
    seconds = []
    for f in (frame, frame.astype({c: "str" for c in ("node", "metric", "instance")})):
        begin = time.monotonic()
        f.to_hdf(other, key="series", mode="w", format="table", complevel=1)
        sync(other)
        seconds.append(f"{time.monotonic() - begin:.3f}")
        if f is frame:
            pandas.testing.assert_frame_equal(frame[:100000], pandas.read_hdf(other, "series", stop=100000))
            size = os.path.getsize(other)
    print(*seconds, size)


{"sonde": sonde, "pandas": pandas_arm}[sys.argv[1]](*sys.argv[2:])
