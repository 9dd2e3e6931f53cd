# SPDX-License-Identifier: Apache-2.0
# quiet
"""A program writes the files of InfiniBand ports (/sys/class/infiniband) as drivers do: data in words of four bytes, packets one by one.
One port has 64-bit counters, which pass 2^32; one has them beside the old ones, which are saturated (counters_ext of Mellanox's older
drivers); one has only the old ones of 32 bits. They advance by given numbers while they are sampled. A saturated 32-bit counter no
longer counts: it must give no value and be called failed."""
import os
import sys
import time

import accuracy

FULL = (1 << 32) - 1
PORTS = {  # name: (what its counters are, their files, how many of COUNTERS' steps are one of it)
    "mlx5_0/1": ("64 bits, across 2^32", "counters/{}", 1),
    "mlx4_0/1": ("64 bits beside saturated ones of 32, across 2^32", "counters_ext/{}_64", 1),
    "mthca0/1": ("32 bits", "counters/{}", 10),
}
OLD = "mthca0/1"
COUNTERS = {  # file: (what Sonde calls it, bytes in one of it, a step of it)
    "port_rcv_data": ("infiniband.received_bytes", 4, 30_000_000),
    "port_xmit_data": ("infiniband.transmitted_bytes", 4, 50_000_000),
    "port_rcv_packets": ("infiniband.received_packets", 1, 35_000),
    "port_xmit_packets": ("infiniband.transmitted_packets", 1, 55_000),
}
STEPS = 60


def put(port, name, value):
    """In place, and always as long: whoever reads meanwhile finds a whole number."""
    path = f"sys/class/infiniband/{port.replace('/', '/ports/')}/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "r+" if os.path.exists(path) else "w", encoding="ascii") as f:
        f.write(f"{value:020}\n" if isinstance(value, int) else value + "\n")


def advance(step):
    for port, (_, file, part) in PORTS.items():
        for name, (_, _, by) in COUNTERS.items():
            start = 1000 if port == OLD else FULL + 1 - STEPS // 2 * by
            put(port, file.format(name), start + step * by // part)


def make():
    for port in PORTS:
        for name, text in (("state", "4: ACTIVE"), ("phys_state", "5: LinkUp"), ("rate", "100 Gb/sec (4X EDR)"), ("link_layer", "InfiniBand")):
            put(port, name, text)
    put("mlx5_0/1", "counters/unicast_rcv_packets", 0)  # where this is, counters/ has 64 bits
    for name in COUNTERS:
        put("mlx4_0/1", "counters/" + name, FULL)
    advance(0)


def work():
    time.sleep(0.5)
    for step in range(1, STEPS + 1):
        advance(step)
        time.sleep(0.05)
    time.sleep(0.5)
    put(OLD, "counters/port_rcv_data", FULL)
    time.sleep(0.5)


def compare():
    table = accuracy.Comparison("InfiniBand")
    _, recording = accuracy.record("out", sys.executable, __file__, "work", options=("--sysfs", "sys"))
    for port, (words, _, part) in PORTS.items():
        for name, (metric, each, by) in COUNTERS.items():
            table.row(metric, f"increase of {name}, {words}, times {each}", recording.between(metric, port),
                      each * STEPS * by // part, apart=0)
    for name, (metric, each, by) in COUNTERS.items():
        times = [at for at, _ in recording.raw(metric, "mlx5_0/1")]
        before = dict(zip(times[1:], times))
        rates = recording.series(metric + "_per_second", "mlx5_0/1")
        table.row(metric, f"its rate times the time, {name} of 64 bits", sum(v * (at - before[at]) for at, v in rates), each * STEPS * by,
                  share=1e-6)
    full = [v for _, v in recording.raw("infiniband.received_bytes", OLD) if v == 4 * FULL]
    table.row("infiniband.received_bytes", "values of a saturated counter", len(full), 0, apart=0)
    refused = [f for f in recording.summary["findings"] if f["name"] == "infiniband.received_bytes" and f["state"] == "failed"]
    table.row("infiniband.received_bytes", "reported as failed, once", len(refused), 1, apart=0)
    table.end()


if sys.argv[1:] == ["work"]:
    work()
else:
    make()
    compare()
