# SPDX-License-Identifier: Apache-2.0
"""import lightgbm-perf takes the samples that perf.py saves: percentages as ratios, counters since the machine was started as rates of the run."""
import csv
import json
import os
import subprocess

SONDE = os.environ["SONDE"]


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)


def record(i, node):
    return {"cpu_pct_per_cpu_avg": 50.0 + i, "cpu_pct_per_cpu_min": 1.0, "cpu_pct_per_cpu_max": 100.0, "mem_percent": 25.0 + node,
            "disk_usage_percent": 70.0, "disk_io_read_mb": 1000.0 + 10 * i, "disk_io_write_mb": 5.0, "net_io_lo_sent_mb": 3.0 * i,
            "net_io_ext_sent_mb": 2.0 * i, "net_io_lo_recv_mb": 0.0, "net_io_ext_recv_mb": 0.5 * i, "timestamp": 1650000000.5 + 2 * i}


with open("perf.json", "w", encoding="utf-8") as f:
    json.dump({str(n): [record(i, n) for i in range(10)] for n in (3, 7)}, f, indent=4)
ended = sonde("import", "lightgbm-perf", "perf.json")
assert ended.returncode == 0 and ended.stderr.count("\n") == 2 and "how many CPUs" in ended.stderr, ended
rows = list(csv.DictReader(sonde("export", "sonde_lightgbm-perf_perf.json", "-o", "-").stdout.splitlines()))


def values(metric, instance="", node="node-3"):
    return [(float(r["seconds"]), float(r["value"])) for r in rows if (r["metric"], r["instance"], r["node"]) == (metric, instance, node)]


assert values("node.cpu_used_ratio") == [(2.0 * i, (50 + i) / 100) for i in range(10)], values("node.cpu_used_ratio")
assert values("node.memory_used_ratio", node="node-7") == [(2.0 * i, 0.32) for i in range(10)]
assert values("disk.read_bytes_per_second", "all") == [(2.0 * i, 5 * 1048576.0) for i in range(1, 10)], values("disk.read_bytes_per_second", "all")
assert values("network.transmitted_bytes_per_second", "lo") == [(2.0 * i, 1.5 * 1048576) for i in range(1, 10)]
assert values("network.received_bytes_per_second", "all but lo") == [(2.0 * i, 0.25 * 1048576) for i in range(1, 10)]
assert values("lightgbm.cpu_most_used_ratio")[0][1] == 1 and values("lightgbm.disk_used_ratio")[0][1] == 0.7
assert sonde("show", "sonde_lightgbm-perf_perf.json").returncode == 0
assert sonde("report", "sonde_lightgbm-perf_perf.json", "-o", "report").returncode == 0

# All of that sampler's figures that its file allows: 16 of 18, for hours of CPUs take their number.
said = json.loads(sonde("show", "--tracker", "sonde_lightgbm-perf_perf.json").stdout)["nodes"]
assert [n["step"] for n in said] == [3, 7], said
figures = said[1]["metrics"]
for name, wanted in {"max_t_cpu_pct_per_cpu_avg": 59, "cpu_avg_utilization_pct": 55, "cpu_avg_utilization_at100_pct": 0,
                     "cpu_avg_utilization_over80_pct": 0, "cpu_avg_utilization_over40_pct": 100, "cpu_avg_utilization_over20_pct": 100,
                     "max_t_cpu_pct_per_cpu_min": 1, "max_t_cpu_pct_per_cpu_max": 100, "max_t_mem_percent": 32, "max_t_disk_usage_percent": 70,
                     "total_disk_io_read_mb": 90, "total_disk_io_write_mb": 0, "total_net_io_lo_sent_mb": 27, "total_net_io_ext_sent_mb": 18,
                     "total_net_io_lo_recv_mb": 0, "total_net_io_ext_recv_mb": 4.5}.items():
    assert abs(figures.pop(name) - wanted) < 1e-6, (name, said)
assert not figures and set(said[1]["unknown"]) == {"node_cpu_hours", "node_unused_cpu_hours"}, said
assert "number of the node's CPUs" in said[1]["unknown"]["node_cpu_hours"], said
samples = json.loads(sonde("show", "--tracker=samples", "sonde_lightgbm-perf_perf.json").stdout)
assert set(samples) == {"3", "7"} and samples["3"][4]["cpu_pct_per_cpu_min"] == 1 and samples["3"][4]["disk_usage_percent"] == 70, samples

for text, says in (("", "its end comes too soon"), ("[1]", "not an object of nodes"), ("{}", "no node's samples"), ('{"0": 1}', "no node's samples")):
    with open("bad.json", "w", encoding="utf-8") as f:
        f.write(text)
    ended = sonde("import", "lightgbm-perf", "bad.json", "-o", "bad")
    assert ended.returncode == 1 and says in ended.stderr and not os.path.exists("bad"), ended
with open("cut.json", "w", encoding="utf-8") as f:
    f.write(json.dumps({"0": [record(i, 0) for i in range(5)]})[:-30])
ended = sonde("import", "lightgbm-perf", "cut.json", "-o", "cut")
assert ended.returncode == 1 and "what is behind it is left out" in ended.stderr, ended
rows = list(csv.DictReader(sonde("export", "cut", "-o", "-").stdout.splitlines()))
assert len(values("node.cpu_used_ratio", node="node-0")) == 4, values("node.cpu_used_ratio")
