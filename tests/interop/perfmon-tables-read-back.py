# SPDX-License-Identifier: Apache-2.0
"""pandas opens perfmon's tables as its users do, read_hdf(file, "cpu_metrics_JOB") of several jobs in one file, and finds in each format what the
documents hold (PyTables knows no / in a column's name); a plot's way to a power, diff over Timestamps, gives the job's own."""
import json
import math
import os
import subprocess
import warnings

import readers

readers.enter()
import pandas
import tables

SONDE = os.environ["SONDE"]
warnings.simplefilter("ignore", tables.NaturalNameWarning)
ROWS = 20


def done(*words):
    subprocess.run([SONDE, *words], check=True, capture_output=True)


def document(job):
    stamps = [1650000000.25 + 30 * i + job for i in range(ROWS)]
    host = {"host_name": "n", "time_stamps": stamps, "memory_bw": [3.0 * 2**20] * ROWS, "num_fds": [None] + [7 * job] * (ROWS - 1),
            "rapl_powercap": {"package-0": [10**6 * 30 * 250 * i for i in range(ROWS)]}}
    return {"host_names": ["n", "m"], "n": host, "m": host, "sampling_frequency": 30}


for job in (1, 2):
    os.makedirs(f"in{job}/metrics")
    with open(f"in{job}/metrics/cpu_metrics.json", "w", encoding="utf-8") as f:
        json.dump(document(job), f)
    with open(f"in{job}/metrics/meta_data.json", "w", encoding="utf-8") as f:
        json.dump({host: {"sonde.version": "0", "job.id": str(4710 + job)} for host in ("n", "m")}, f)
    done("import", "perfmon", f"in{job}", "-o", f"run{job}")
    done("export", f"run{job}", "--names", "perfmon", "--to", "hdf5,parquet,feather,orc,pickle,csv", "-o", "out")
    done("export", f"run{job}", "--names", "perfmon", "--to", "hdf5", "--append", "all.h5")


def check(frame, job, slash="/"):
    wanted = document(job)["n"]
    assert list(frame.columns)[:2] == ["Host", "Timestamps"], list(frame.columns)
    assert sorted(set(frame["Host"])) == ["m", "n"] and len(frame) == 2 * ROWS
    one = frame[frame["Host"] == "n"].sort_values("Timestamps").reset_index(drop=True)
    assert list(one["Timestamps"]) == wanted["time_stamps"], list(one["Timestamps"])
    assert set(one[f"Memory (read) bandwidth [MiB{slash}s]"]) == {3.0}
    files = list(one["Number of file descriptors"])
    assert math.isnan(files[0]) and files[1:] == [7.0 * job] * (ROWS - 1), files
    watts = one["RAPL package 0 [uJ]"].diff() / one["Timestamps"].diff() / 1e6
    assert all(math.isclose(w, 250) for w in watts[1:]), list(watts)


for job in (1, 2):
    check(pandas.read_hdf("out/cpu_metrics.h5", f"cpu_metrics_{4710 + job}"), job, "|")
    check(pandas.read_hdf("all.h5", f"cpu_metrics_{4710 + job}"), job, "|")
for kind, reader in (("parquet", pandas.read_parquet), ("feather", pandas.read_feather), ("orc", pandas.read_orc), ("pkl", pandas.read_pickle),
                     ("csv", pandas.read_csv)):
    check(reader(f"out/cpu_metrics.{kind}"), 2)
