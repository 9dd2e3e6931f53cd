# SPDX-License-Identifier: Apache-2.0
"""import benchmon takes the binary files of benchmon-run --binary, too, in each layout that its versions wrote, and says what it gets as from CSV.
What is of no known layout is named, and nothing is made up of it."""
import csv
import os
import struct
import subprocess

SONDE = os.environ["SONDE"]
T0 = 1717000000 * 10**9 + 250 * 10**6
ALL = 0xFFFFFFFF


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)


def at(i):
    return T0 + i * 10**9


def name(text):
    return text.encode().ljust(32, b"\0")


# Of each file the records of one sample, and what stands before them.
def cpu(i, scale, size="Q"):
    """The sum of all CPUs anywhere among them: benchmon keeps them in a hash table."""
    times = {1: [40 * i * scale, 0, 20], ALL: [100 * i * scale, 0, 20 * i, 80 * i], 0: [60 * i * scale]}
    return b"".join(struct.pack("<QI10" + size, at(i), n, *t, *[0] * (10 - len(t))) for n, t in times.items())


def cpufreq(i):
    return struct.pack("<QII", at(i), 0, 2000000 + i) + struct.pack("<QII", at(i), 1, 3000000)


def memory(i, order="total free buffers cached swap_cached swap swap_free other"):
    values = {"total": 1000000, "free": 900000 - i, "buffers": 10, "cached": 20, "swap_cached": 3, "swap": 500, "swap_free": 400, "other": 77}
    return struct.pack("<9Q", at(i), *[values[v] for v in order.split()])


def memory_hashed(i):
    return memory(i, "swap_free swap_cached swap cached buffers other free total")


def memory_hashed_before(i):
    return memory(i, "other swap_free swap_cached swap cached buffers free total")


def net(i):
    return b"".join(struct.pack("<Q32s16Q", at(i), name(n), *v) for n, v in (
        ("lo", [7] * 16), ("eth0", [1000 * i, 1, 2, 3, 4, 5, 6, 7, 500 * i, 9, 10, 11, 12, 13, 14, 15])))


def disk_counts(i):
    return [i, 0, 8 * i, 0, 0, 0, 16 * i, 250, 1, 500 * i, 0, 0, 0, 0, 0, 0, 0]


def disk(i):
    """The device is its place in the head."""
    return b"".join(struct.pack("<Q3I17Q", at(i), 8, n, n, *disk_counts(i)) for n in (0, 1))


def disk_named(i):
    return b"".join(struct.pack("<Q2I32s17Q", at(i), 8, 0, name(n), *disk_counts(i)) for n in ("sda1", "sda"))


def disk_head(*names):
    return struct.pack("<I", len(names)) + b"".join(struct.pack("<I", len(n)) + n.encode() + struct.pack("<I", 512) for n in names)


def whole(records, head=b"", samples=10):
    return head + b"".join(records(i) for i in range(samples))


NEW = {"cpu": whole(lambda i: cpu(i, 1)), "cpufreq": whole(cpufreq), "mem": whole(memory), "net": whole(net), "disk": whole(disk, disk_head("sda1", "sda"))}
OLD = {"cpu": whole(lambda i: cpu(i, 2, "I")), "cpufreq": whole(cpufreq, struct.pack("<2Q", 800000, 3500000)), "mem": whole(memory_hashed), "net": whole(net),
       "disk": whole(disk_named, struct.pack("<2Q", 1, 2) + b"sda,4096\n")}


def write(directory, files):
    os.makedirs(directory, exist_ok=True)
    for what, data in files.items():
        with open(f"{directory}/{what}_report.bin", "wb") as f:
            f.write(data)


write("job/benchmon_traces_n1", NEW)
write("job/benchmon_traces_n2", OLD)
ended = sonde("import", "benchmon", "job", "-o", "out")
assert ended.returncode == 0, ended
table = list(csv.DictReader(sonde("export", "out", "-o", "-").stdout.splitlines()))


def values(metric, instance="", of="n1"):
    return [(round(float(r["seconds"]), 6), round(float(r["value"]), 9)) for r in table if (r["metric"], r["instance"], r["node"]) == (metric, instance, of)]


each = [float(i) for i in range(1, 10)]
for node, scale in (("n1", 1), ("n2", 2)):
    assert values("node.cpu_user_cores", of=node) == [(t, scale) for t in each], values("node.cpu_user_cores", of=node)
    assert values("node.cpu_system_cores", of=node) == [(t, 0.2) for t in each]
    assert values("cpu.user_cores", "0", node) == [(t, 0.6 * scale) for t in each] and values("cpu.user_cores", "1", node) == [(t, 0.4 * scale) for t in each]
    assert values("cpu.frequency_hertz", "0", node)[9] == (9, 2000009000) and len(values("cpu.frequency_hertz", "1", node)) == 10
    assert values("node.memory_free_bytes", of=node)[3] == (3, 899997 * 1024) and values("node.swap_free_bytes", of=node)[0] == (0, 400 * 1024)
    assert not values("node.memory_slab_bytes", of=node), "the eighth number is another one with older kernels"
    assert values("network.received_bytes_per_second", "eth0", node) == [(t, 1000) for t in each]
    assert values("network.transmitted_bytes_per_second", "eth0", node) == [(t, 500) for t in each]
    assert values("disk.read_bytes_per_second", "sda", node) == [(t, 4096) for t in each], values("disk.read_bytes_per_second", "sda", node)
    assert values("disk.busy_ratio", "sda1", node) == [(t, 0.5) for t in each]

# Partitions and lo are a part of something else, and not in sums.
together = list(csv.DictReader(sonde("export", "out", "--combine", "-o", "-").stdout.splitlines()))
for node in "n1", "n2":
    assert {float(r["value"]) for r in together if (r["metric"], r["node"]) == ("disk.written_bytes_per_second", node)} == {8192}
    assert {float(r["value"]) for r in together if (r["metric"], r["node"]) == ("network.received_bytes_per_second", node)} == {1000}

# The third order of the memory's numbers; without swap, too.
write("third/benchmon_traces_h", {"mem": whole(memory_hashed_before)})
assert sonde("import", "benchmon", "third", "-o", "of_third").returncode == 0
table = list(csv.DictReader(sonde("export", "of_third", "-o", "-").stdout.splitlines()))
assert values("node.memory_cached_bytes", of="h")[0] == (0, 20480) and values("node.memory_buffers_bytes", of="h")[0] == (0, 10240)
for order in ("0 0 0 20 10 77 900000 1000000", "77 0 0 0 20 10 900000 1000000", "1000000 900000 10 20 0 0 0 77"):
    numbers = [int(v) for v in order.split()]
    write("none/benchmon_traces_h", {"mem": whole(lambda i: struct.pack("<9Q", at(i), *numbers))})
    assert sonde("import", "benchmon", "none", "-o", f"of_none_{order[0]}").returncode == 0
    table = list(csv.DictReader(sonde("export", f"of_none_{order[0]}", "-o", "-").stdout.splitlines()))
    assert [values(f"node.memory_{what}_bytes", of="h")[0][1] for what in ("total", "free", "cached", "buffers")] == [v * 1024 for v in (1000000, 900000, 20, 10)]

# CSV of the same is taken rather than the binary form.
os.makedirs("both/benchmon_traces_h")
write("both/benchmon_traces_h", {"mem": NEW["mem"]})
with open("both/benchmon_traces_h/mem_report.csv", "w", encoding="utf-8") as f:
    f.write(f"timestamp,MemFree\n{at(0) / 1e9:.3f},7\n{at(1) / 1e9:.3f},8\n")
assert sonde("import", "benchmon", "both", "-o", "of_both").returncode == 0
table = list(csv.DictReader(sonde("export", "of_both", "-o", "-").stdout.splitlines()))
assert values("node.memory_free_bytes", of="h") == [(0, 7168), (1, 8192)] and not values("node.memory_total_bytes", of="h")

# What is cut, hostile, or of a layout whose names have no end (a later net_report.bin), or in an order that cannot be.
LONG = whole(lambda i: cpu(i, 1), samples=40)
no_end = whole(lambda i: struct.pack("<Q", at(i)) + b"".join(n + struct.pack("<2Q", 1000 * i, 500 * i) for n in (b"lo", b"eth0")))
shuffled = whole(lambda i: memory(i, "buffers total free cached swap_free swap other swap_cached"))
for number, (file, data, says) in enumerate((
        ("cpu", NEW["cpu"][:-9], "cpu_report.bin: rows or values that are malformed or too many: 1"),
        ("cpu", LONG[:92 * 90] + bytes(92) + LONG[92 * 90:], "malformed or too many: 1"),
        ("cpu", b"", "cpu_report.bin is of no layout"), ("cpu", bytes(920), "is of no layout"), ("cpu", os.urandom(5000), "is of no layout"),
        ("cpu", struct.pack("<QI10Q", at(0), 70000, *[0] * 10) * 5, "is of no layout"), ("net", no_end, "net_report.bin is of no layout"),
        ("mem", shuffled, "mem_report.bin is of no layout"), ("net", NEW["net"].replace(name("eth0"), b"\x1b[2J" + bytes(28)), "net_report.bin is of no layout"),
        ("disk", disk_head("sda", "sdb")[:9], "is of no layout"), ("disk", struct.pack("<I", ALL) + bytes(999), "is of no layout"),
        ("disk", whole(disk, disk_head("sda")), "is of no layout"), ("ib", b"x", "ib_report.bin is not read"))):
    write(f"bad{number}/benchmon_traces_h", {"cpufreq": NEW["cpufreq"], file: data})
    ended = sonde("import", "benchmon", f"bad{number}", "-o", f"of_bad{number}")
    assert ended.returncode == 1 and says in ended.stderr, (number, says, ended)
    assert "nan" not in sonde("export", f"of_bad{number}", "-o", "-").stdout.lower()
