# SPDX-License-Identifier: Apache-2.0
"""export --to perfmon writes what perfmon's documents look like, with the values that Sonde's own tables have: of a job on CPUs and one on GPUs.
--names perfmon gives the same as tables, of several jobs in one file."""
import csv
import json
import math
import os
import sqlite3
import stat
import subprocess

import jsonschema

SONDE, TOP, BUILD = os.environ["SONDE"], os.environ["TOP"], os.environ["BUILD"]
MAP = os.path.join(TOP, "maps/perfmon.map")


def sonde(*words, **more):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, check=False, **more)


def done(*words, **more):
    ended = sonde(*words, **more)
    assert ended.returncode == 0, (words, ended)
    return ended


def documents(where):
    found = {}
    for name in sorted(os.listdir(f"{where}/metrics")):
        path = f"{where}/metrics/{name}"
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path
        with open(path, encoding="utf-8") as f:
            found[name.removesuffix(".json")] = json.load(f)
        with open(f"{TOP}/tests/schemas/perfmon-{name}", encoding="utf-8") as f:
            jsonschema.Draft7Validator(json.load(f)).validate(found[name.removesuffix(".json")])
    return found


def lengths(host):
    for key, value in host.items():
        values = value.values() if isinstance(value, dict) else [value]
        for column in values:
            if isinstance(column, list) and key != "child_proc_md":
                yield len(column)


def series(where, metric, *options):
    """{time since 1970: value} of a metric, from the tidy table."""
    text = done("export", where, "-o", "-", "--metrics", metric, *options).stdout
    return [(float(r["seconds"]), float(r["value"])) for r in csv.DictReader(text.splitlines()) if r["metric"] == metric]


def same(got, wanted, scale=1.0):
    got = [v for v in got if v is not None]
    assert len(got) == len(wanted), (len(got), len(wanted))
    for a, (_, b) in zip(got, wanted):
        assert math.isclose(a, b * scale, rel_tol=1e-9, abs_tol=1e-9), (a, b * scale)


job = "for i in 1 2 3 4 5; do dd if=/dev/zero of=file bs=64k count=50 2>/dev/null; sleep 0.1; done"
done("run", "--quiet", "-i", "50ms", "-o", "job", "--", "sh", "-c", job, env={**os.environ, "SLURM_JOB_ID": "4711"})
written = json.loads(done("export", "job", "--to", "perfmon", "-o", "out", "--json").stdout)
assert sorted(written["files"]) == [f"out/metrics/{n}.json" for n in ("cpu_metrics", "meta_data", "perf_metrics")], written
found = documents("out")
cpu = found["cpu_metrics"]
[name] = cpu["host_names"]
host = cpu[name]
assert found["meta_data"]["host_names"] == [name] and cpu["sampling_frequency"] == 0.05
assert not any(key.startswith("job.environment") for key in found["meta_data"][name]), "the environment is told"
rows = len(host["time_stamps"])
assert rows >= 5 and set(lengths(host)) == {rows}, sorted(lengths(host))
assert host["time_stamps"] == sorted(host["time_stamps"]) and host["time_stamps"][0] % 1 != host["time_stamps"][1] % 1
same(host["cpu_time"], series("job", "job.cpu_seconds", "--raw"))
same(host["cpu_percent"], series("job", "job.cpu_cores"), 100)
same(host["cpu_percent_sys"], series("job", "node.cpu_used_ratio"), 100)
same(host["memory_info"]["rss"], series("job", "job.resident_bytes"))
same(host["memory_info"]["vms"], series("job", "job.virtual_bytes"))
same(host["memory_info"]["shared"], series("job", "job.shared_bytes"))
same(host["io_counters"]["write_count"], series("job", "job.write_calls", "--raw"))
same(host["net_io_counters"]["bytes_recv"], series("job", "network.received_bytes", "--raw", "--combine"))
# Not a sum that runs on: the parts of an address space are less than it.
assert all(r <= v for r, v in zip(host["memory_info"]["rss"], host["memory_info"]["vms"]) if r is not None)
assert host["cpu_percent"][0] is None, "a rate without a time before it"
assert host["parent_proc_md"]["name"] == "sh", host["parent_proc_md"]
assert any(text.endswith((" dd", " sleep")) for text in host["child_proc_md"]), host["child_proc_md"]

# The same as tables: Host, Timestamps, then the columns of the map.
done("export", "job", "--names", "perfmon", "--to", "csv,json", "-o", "tables")
assert sorted(os.listdir("tables")) == sorted(f"{t}_metrics.{k}" for t in ("cpu", "perf") for k in ("csv", "json"))
with open("tables/cpu_metrics.csv", newline="", encoding="utf-8") as f:
    table = list(csv.DictReader(f))
assert list(table[0])[:3] == ["Host", "Timestamps", "CPU time [s]"] and len(table) == rows
assert [float(r["Timestamps"]) for r in table] == host["time_stamps"]
assert [float(r["RSS memory [bytes]"]) for r in table] == host["memory_info"]["rss"]
assert {r["Host"] for r in table} == {name}
first = done("export", "job", "--names", "perfmon", "-o", "-").stdout.splitlines()
assert first[0].startswith("Host,Timestamps,CPU time [s]"), first[0]

# Several jobs in one file; those of the same job are replaced.
for number, where in ((4711, "job"), (4712, "again"), (4712, "again")):
    if where == "again":
        done("run", "--quiet", "-i", "50ms", "-o", f"again{len(os.listdir('.'))}", "--", "sleep", "0.2",
             env={**os.environ, "SLURM_JOB_ID": str(number)})
        where = [d for d in os.listdir(".") if d.startswith("again")][-1]
    done("export", where, "--names", "perfmon", "--to", "sqlite", "-o", "many")
    done("export", where, "--names", "perfmon", "--to", "sqlite", "--append", "all.sqlite")
with sqlite3.connect("many/cpu_metrics.sqlite") as db:
    tables = {n for n, in db.execute("SELECT name FROM sqlite_master WHERE name LIKE 'cpu_%'")}
    assert tables == {"cpu_metrics_4711", "cpu_metrics_4712"}, tables
    assert db.execute("SELECT count(*) FROM cpu_metrics_4711").fetchone() == (rows,)
with sqlite3.connect("all.sqlite") as db:
    tables = {n for n, in db.execute("SELECT name FROM sqlite_master WHERE name LIKE '%metrics_%'")}
    assert {"cpu_metrics_4711", "perf_metrics_4711", "cpu_metrics_4712", "perf_metrics_4712"} <= tables, tables

# GPUs: a host each, and the tables of GPUs only where there are some.
done("run", "--quiet", "-i", "100ms", "-o", "gpus", "--", "sleep", "1.5", env={**os.environ, "SONDE_NVML": f"{BUILD}/stubs/fake_nvml.so"})
done("export", "gpus", "--to", "perfmon", "-o", "gpu")
gpu = documents("gpu")["nv_gpu_metrics"]
assert gpu["host_names"][:8] == [f"gpu-{i}.{name}" for i in range(8)], gpu["host_names"]
for i in range(8):
    values = gpu[f"gpu-{i}.{name}"]["utilization_rates"]["gpu"]
    assert {v for v in values if v is not None} == {10 * (i + 1)}, values
    assert set(lengths(gpu[f"gpu-{i}.{name}"])) == {len(values)}

# What the groups of events counted stands beside what follows from it, by the names that the events have.
with open("l2.events", "w", encoding="utf-8") as f:
    f.write("group l2\nevent switched L2_TRANS.SWITCHED software config=3\nevent faults L1D.REPLACEMENT software config=2\n"
            "metric load_bytes_per_second = 64*faults\n")
done("run", "--quiet", "-i", "50ms", "--perf", "l2", "--events", "l2.events", "-o", "counted", "--", "python3", "-c",
     "import time\nfor i in range(5): bytearray(4 << 20); time.sleep(0.1)")
if series("counted", "perf.l2.faults", "--raw"):
    done("export", "counted", "--to", "perfmon", "-o", "events")
    perf = documents("events")["perf_metrics"][name]
    assert set(lengths(perf)) == {len(perf["time_stamps"])}
    counts = [v for v in perf["L2"]["L1D_REPLACEMENT"] if v is not None]
    assert sum(counts) == series("counted", "perf.l2.faults", "--raw")[-1][1] - series("counted", "perf.l2.faults", "--raw")[0][1] > 1000, counts
    loads = [v for v in perf["L2"]["derv_l2_load_bandwidth"] if v is not None]
    assert len(loads) == len(counts) and max(loads) > 0
    done("import", "perfmon", "events", "-o", "counted_again")
    done("export", "counted_again", "--to", "perfmon", "-o", "events_again")
    again = documents("events_again")["perf_metrics"][name]["L2"]
    assert again["L1D_REPLACEMENT"] == perf["L2"]["L1D_REPLACEMENT"] and list(again) == list(perf["L2"]), again
    done("export", "counted", "--names", "perfmon", "-o", "tables_of_events")
    with open("tables_of_events/perf_metrics.csv", newline="", encoding="utf-8") as f:
        columns = [float(r["L2 L1D_REPLACEMENT"]) for r in csv.DictReader(f) if r["L2 L1D_REPLACEMENT"]]
    assert columns == counts, columns

# What does not fit together is said, in a sentence.
for words, says in (
    (("--to", "perfmon", "--wide"), "leave out all options"),
    (("--to", "perfmon", "-o", "-"), "leave out all options"),
    (("--names", "other"), "there are no names 'other'"),
    (("--names", "perfmon", "--metrics", "x"), "remove --metrics"),
    (("--names", "perfmon", "--table", "series"), "unknown table 'series'"),
    (("--names", "perfmon", "--to", "openmetrics"), "remove --names"),
):
    ended = sonde("export", "job", *words)
    assert ended.returncode == 2 and says in ended.stderr and ended.stderr.count("\n") == 1, (words, ended)
