# SPDX-License-Identifier: Apache-2.0
"""import perfmon takes what perfmon wrote: right values come back from export --to perfmon as they were, those known to be wrong are marked. What
Sonde exported comes back whole. Hostile and damaged documents are read as far as they go, with a note for each kind of fault."""
import csv
import json
import math
import os
import shutil
import subprocess

SONDE = os.environ["SONDE"]
N = 40
T0 = 1650000000
STAMPS = [T0 + 30 * i for i in range(N)]


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, errors="replace", check=False)


def done(*words):
    ended = sonde(*words)
    assert ended.returncode == 0, (words, ended)
    return ended


def write(where, **documents):
    os.makedirs(f"{where}/metrics")
    for name, document in documents.items():
        with open(f"{where}/metrics/{name}.json", "w", encoding="utf-8") as f:
            if isinstance(document, str):
                f.write(document)
            else:
                json.dump(document, f)


def read_rows(where):
    return [(float(r["seconds"]), float(r["value"])) for r in csv.DictReader(done("export", where, "-o", "-").stdout.splitlines())]


def read(where, name):
    with open(f"{where}/metrics/{name}.json", encoding="utf-8") as f:
        return json.load(f)


def running_sums(**columns):
    made, sums = {}, [0] * N
    for key, values in columns.items():
        sums = [a + b for a, b in zip(sums, values)]
        made[key] = sums
    return made


def cpu_host(k):
    return {
        "host_name": f"n{k}", "cpu_time": [1.5 * i for i in range(N)], "cpu_percent": [150.5 + i for i in range(N)],
        "cpu_percent_sys": [0.0] + [60.25] * (N - 1),
        "memory_info": running_sums(rss=[10**8 + 1000 * i + k for i in range(N)], vms=[3 * 10**8] * N, shared=[10**7] * N),
        "memory_full_info": {"uss": [5 * 10**7] * N, "swap": [str(5 * 10**7)] * N}, "memory_percent": [1.25] * N,
        "io_counters": running_sums(read_count=[100 * i for i in range(N)], write_count=[10 * i for i in range(N)],
                                    read_bytes=[4096 * i for i in range(N)], write_bytes=[8192 * i for i in range(N)]),
        "num_threads": [8] * N, "num_fds": [33] * N,
        "net_io_counters": {key: [factor * i + 7 for i in range(N)] for factor, key in
                            enumerate(("bytes_sent", "bytes_recv", "packets_sent", "packets_recv"), 1)},
        "ib_io_counters": {"port_xmit_data": [4096 * i for i in range(N)], "port_xmit_packets": [4 * i for i in range(N)]},
        "memory_bw": [1.5e9] * N,
        "rapl_powercap": {"package-0": [3 * 10**9 * i + 123457 for i in range(N)], "dram-0": [10**8 * i + 1 for i in range(N)], "core-0": [0] * N},
        "parent_proc_md": {}, "child_proc_md": ["1 a"], "time_stamps": STAMPS, "a key of its own": [1, 2, 3]}


def perf_host():
    return {"hardware_events": {"cycles": [10**11 + i for i in range(N)], "instructions": [2 * 10**11] * N},
            "software_events": {"context-switches": [5] * N}, "L2": {"L1D_REPLACEMENT": [100] * N, "derv_of_its_own": [1.5] * N}, "L2cache": {"derv_l2_miss_ratio": [0.01] * N},
            "time_stamps": [t - 30 for t in STAMPS]}


def gpu_host():
    return {"clock_info": {"graphics": [1410] * N, "sm": [1410] * N, "memory": [1215] * N}, "utilization_rates": {"gpu": [55] * N, "memory": [7] * N},
            "power_usage": [250123] * N, "violation": list(range(N)), "temperature": [60] * N, "fan_speed": [], "time_stamps": STAMPS}


def merged(hosts):
    return {"host_names": list(hosts), **hosts, "sampling_frequency": 30}


write("perfmon", cpu_metrics=merged({f"n{k}": cpu_host(k) for k in range(2)}), perf_metrics=merged({f"n{k}": perf_host() for k in range(2)}),
      nv_gpu_metrics=merged({f"gpu-{i}.n0": gpu_host() for i in range(2)}), meta_data={"host_names": ["n0"], "n0": {"CPU(s)": "64", "numa": {"nodes": 2}}})
ended = done("import", "perfmon", "perfmon", "-o", "run")
for key in ("cpu_time", "memory_info.vms", "memory_info.shared", "memory_full_info.swap", "io_counters.write_bytes", "L2cache.derv_l2_miss_ratio"):
    assert ended.stderr.count(f"{key} is wrong: perfmon") == 1, (key, ended.stderr)
assert "memory_info.rss is wrong" not in ended.stderr and "read_count is wrong" not in ended.stderr

# What was right comes back as it was; what was wrong is null, or mended where that can be done.
done("export", "run", "--to", "perfmon", "-o", "back")
back, given = read("back", "cpu_metrics"), read("perfmon", "cpu_metrics")
assert back["host_names"] == ["n0", "n1"] and back["sampling_frequency"] == 30
for name in back["host_names"]:
    got, was = back[name], given[name]
    for path in ("cpu_percent", "memory_info.rss", "memory_full_info.uss", "memory_percent", "io_counters.read_count", "num_threads", "num_fds",
                 "net_io_counters.bytes_sent", "net_io_counters.packets_recv", "ib_io_counters.port_xmit_data", "memory_bw", "rapl_powercap.package-0",
                 "rapl_powercap.dram-0", "time_stamps"):
        a, b = got, was
        for word in path.split(".", 1):
            a, b = a[word], b[word]
        assert len(a) == len(b) and all(math.isclose(x, y, rel_tol=1e-14) for x, y in zip(a, b)), (path, a, b)
    for path in ("memory_info.vms", "memory_info.shared", "memory_full_info.swap", "io_counters.write_count", "io_counters.write_bytes"):
        group, key = path.split(".")
        assert got[group][key] == [None] * N, path
    assert got["cpu_time"] == [None] * N
    assert got["cpu_percent_sys"] == [None] + [60.25] * (N - 1), "the first reading of psutil says nothing"
    assert got["ib_io_counters"]["port_xmit_packets"] == list(range(N)), "packets were multiplied by 4"
    assert "core-0" not in got["rapl_powercap"], "0 stood for what may not be read"
perf = read("back", "perf_metrics")["n1"]
assert perf["hardware_events"]["cycles"] == [None] + [10**11 + i for i in range(N)]
assert perf["L2"] == {"L1D_REPLACEMENT": [None] + [100] * N}, "the counts that perfmon worked figures out of"
assert perf["time_stamps"] == [T0 - 30] + STAMPS, "an interval's count belongs to its end"
gpu = read("back", "nv_gpu_metrics")
assert gpu["host_names"] == ["gpu-0.n0", "gpu-1.n0"] and gpu["gpu-1.n0"]["power_usage"] == [250123] * N and gpu["gpu-1.n0"]["violation"] == list(range(N))

# The wrong ones are there under names of their own, and the metric they were meant for says why it failed.
rows = list(csv.DictReader(done("export", "run", "-o", "-", "--metrics", "perfmon.*", "--raw").stdout.splitlines()))
own = {r["metric"] for r in rows}
assert {"perfmon.memory_info_vms", "perfmon.cpu_time", "perfmon.l2_derv_of_its_own", "perfmon.a_key_of_its_own"} <= own, own
assert [float(r["value"]) for r in rows if r["metric"] == "perfmon.memory_info_vms" and r["node"] == "n0"] == given["n0"]["memory_info"]["vms"]
states = {(r["node"], r["metric"]): r for r in csv.DictReader(done("export", "run", "-o", "-", "--table", "states").stdout.splitlines())}
assert states[("n1", "job.virtual_bytes")]["state"] == "failed" and "ran on" in states[("n1", "job.virtual_bytes")]["reason"]
shown = json.loads(done("show", "--json", "run").stdout)
assert "perfmon perfmon" in json.dumps(shown) and "perfmon.cpu_s" in json.dumps(shown), "import.from, and what the machine is"
done("report", "run", "-o", "report")

# What Sonde exported comes back whole, and again.
done("run", "--quiet", "-i", "50ms", "-o", "job", "--", "sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; sleep 0.3")
done("export", "job", "--to", "perfmon", "-o", "one")
ended = done("import", "perfmon", "one/metrics", "-o", "two")
assert "wrong" not in ended.stderr, ended.stderr
done("export", "two", "--to", "perfmon", "-o", "three")
a, b = read("one", "cpu_metrics"), read("three", "cpu_metrics")
[name] = a["host_names"]
for key, value in a[name].items():
    if key in ("parent_proc_md", "child_proc_md"):
        continue
    for k, column in (value.items() if isinstance(value, dict) else [("", value)]):
        other = b[name][key][k] if k else b[name][key]
        column, other = (column, other) if isinstance(column, list) else ([column], [other])
        assert len(column) == len(other), (key, k)
        for x, y in zip(column, other):
            assert x == y or (isinstance(x, (int, float)) and y is not None and math.isclose(x, y, rel_tol=1e-14)), (key, k, x, y)

# Nothing is overwritten; nothing is left behind where there is nothing to import.
ended = sonde("import", "perfmon", "perfmon", "-o", "run")
assert ended.returncode == 1 and "existing files are not overwritten" in ended.stderr
os.makedirs("nothing")
ended = sonde("import", "perfmon", "nothing", "-o", "none")
assert ended.returncode == 1 and "has no cpu_metrics.json" in ended.stderr and not os.path.exists("none"), ended
for words in ((), ("perfmon",), ("xls", "nothing")):
    ended = sonde("import", *words)
    assert ended.returncode == 2 and "perfmon DIR or lightgbm-perf FILE" in ended.stderr, ended


def refused(document, *says, keeps=0):
    shutil.rmtree("bad", ignore_errors=True)
    shutil.rmtree("got", ignore_errors=True)
    write("bad", cpu_metrics=document)
    ended = sonde("import", "perfmon", "bad", "-o", "got")
    assert ended.returncode == 1, (document[:80] if isinstance(document, str) else "", ended)
    for text in says:
        assert text in ended.stderr, (text, ended.stderr)
    assert len(ended.stderr) < 30000 and "\x1b" not in ended.stderr
    there = len([f for f in os.listdir("got") if f.endswith(".sonde")]) if os.path.isdir("got") else 0
    assert there == keeps, (there, keeps, ended.stderr)


GOOD = '"good": {"time_stamps": [1650000000, 1650000030], "num_fds": [1, 2]}'
refused("", "its end comes too soon")
refused("[]", "not an object of hosts")
refused("{" + GOOD + ', "late": {"num_fds": [', "its end comes too soon", keeps=1)
refused("{" + GOOD + ', "x": ' + "[" * 100000, "more than 64 levels", keeps=1)
refused("{" + GOOD + ', "x": "' + "y" * 100000 + '"}', "more than 64 KiB", keeps=1)
refused("{" + GOOD + "," + GOOD + "}", "there twice", keeps=1)
refused("{" + GOOD + ', "b": {"num_fds": [1]}}', "has no time_stamps", keeps=1)
refused('{"host_names": ["good"], ' + GOOD + ', "b": [1, 2]}', "b in cpu_metrics is not an object of keys", keeps=1)
refused('{"h": {"time_stamps": [1650000000], "num_fds": [1], "num_fds": [2]}}', "num_fds is there twice", keeps=1)
refused('{"h": {"time_stamps": [1650000000, 5, 1e300, -1, 1650000100], "num_fds": [1, 2, 3, 4, 5]}}', "lie before others", keeps=1)
refused('{"../../h\\u001b[31m\\ud800": {"num_fds": [1]}}', "has no time_stamps")
refused("{" + ",".join(f'"h{i}": {{"num_fds": [1]}}' for i in range(5000)) + "}", "has no time_stamps")
refused('{"h": {"time_stamps": [1650000000],' + ",".join(f'"k{i}": [1]' for i in range(3000)) + "}}", "too many keys", keeps=1)

# A host's name is no path.
write("path", cpu_metrics='{"../../x": {"time_stamps": [1650000000, 1650000030], "num_fds": [1, 2]}}')
done("import", "perfmon", "path", "-o", "names")
assert sorted(os.listdir("names")) == ["node-_._.._x.sonde", "node-_._.._x.tail"], os.listdir("names")
# NaN of Python is nothing; whole seconds twice the same are moved apart.
write("same", cpu_metrics='{"h": {"time_stamps": [1650000000, 1650000000, 1650000001], "num_fds": [NaN, 2, -Infinity]}}')
ended = done("import", "perfmon", "same", "-o", "apart")
assert "moved by 1 ms: 1" in ended.stderr and "without a time" not in ended.stderr, ended.stderr
assert read_rows("apart") == [(0.001, 2.0)]
# What is dropped is told: values for which there is no time, and keys of the machine that are too many.
write("more", cpu_metrics='{"h": {"time_stamps": [1650000000], "num_fds": [1, 2, 3]}}', meta_data={"h": {f"k{i}": i for i in range(600)}})
ended = sonde("import", "perfmon", "more", "-o", "less")
assert ended.returncode == 1 and "values without a time were dropped: 2" in ended.stderr and "too many keys describe the machine" in ended.stderr, ended
# As perfmon's documentation calls the times.
write("called", cpu_metrics='{"h": {"timestamps": [1650000000, 1650000030], "num_fds": [1, 2]}}')
done("import", "perfmon", "called", "-o", "times")
assert read_rows("times") == [(0.0, 1.0), (30.0, 2.0)]
# The directory that one is in has a name, too.
ended = subprocess.run([SONDE, "import", "perfmon", "."], cwd="same", capture_output=True, text=True, check=False)
assert ended.returncode == 0 and os.path.isdir("same/sonde_perfmon_same"), (ended, os.listdir("same"))
