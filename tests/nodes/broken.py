# SPDX-License-Identifier: Apache-2.0
"""What a kernel never means to say: files of the two-socket node that are short, empty, garbage, of another kind; and counters at the end of their range."""
import cpus
import devices
import plain
import procfs
import two_socket
from tree import Tree

GARBAGE = (b"", b"\n", b"\0\0\0\0", b"garbage", b"-1\n", b"99999999999999999999999\n", b"0x\n", b"12", b"1e9\n",
           b"\xff\xfe\x80\n", b" \n", b"7 8 9\n", b"N/A (no PMA)\n", b"nan\n", b"18446744073709551615\n",
           b"9223372036854775808\n", b"9223372036854775807\n", b"-9223372036854775808\n", b"<unsupported>\n", b"5" * 5000)


def broken_sysfs(t):
    """Every file of the places below is one of GARBAGE or is cut in its middle; which, is drawn. Some links lead nowhere or in a circle."""
    whole = Tree(t.name)
    two_socket.make(whole)
    t.files, t.links = whole.files, whole.links
    keep = {"sys/devices/system/cpu/online", "sys/devices/system/cpu/possible", "sys/devices/system/cpu/present"}
    for path in sorted(t.files):
        spared = path.startswith("proc/") and not path.startswith(
            ("proc/4242/", "proc/4300/", "proc/interrupts", "proc/vmstat", "proc/schedstat", "proc/softirqs", "proc/cpuinfo"))
        if spared or path in keep:
            continue
        # One in four stays whole, so that what is found beside it is still read.
        drawn = t.pick(f"garbage {path}", 0, len(GARBAGE) * 2)
        if drawn < len(GARBAGE):
            t.files[path] = GARBAGE[drawn]
        elif drawn < len(GARBAGE) * 3 // 2:
            t.files[path] = t.files[path][:len(t.files[path]) // 2]
    for path in ("sys/class/powercap/intel-rapl:2", "sys/class/hwmon/hwmon2", "sys/class/infiniband/mlx5_1",
                 "sys/devices/system/cpu/cpu9/cpufreq"):
        t.links[path] = "../nowhere/at/all"
    t.link("sys/class/hwmon/hwmon77", "hwmon77")
    t.link("sys/class/infiniband/loop", "../infiniband")
    t.link("sys/class/powercap/intel-rapl:9", ".")
    # A folder where a file should be, a file where a folder should be, names that are no numbers, and one of 255 bytes.
    for path in ("sys/devices/system/node/node1/numastat/x", "sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count/x",
                 "sys/class/hwmon/hwmon78/name/x", "sys/class/infiniband/mlx5_9/ports/1/counters/port_rcv_data/x"):
        t.files.pop(path.rsplit("/", 1)[0], None)
        t.file(path, "1")
    for path in ("sys/class/infiniband/mlx5_8", "sys/devices/system/node/nodeX", "sys/devices/system/node/node99999999999",
                 "sys/devices/system/cpu/cpu-1", "sys/devices/system/cpu/cpu64", "sys/class/powercap/intel-rapl:3",
                 "sys/bus/event_source/devices/power2", "sys/class/net/" + "n" * 255, "sys/class/infiniband/mlx5_7/ports/0/rate",
                 "sys/class/infiniband/mlx5_7/ports/999999999999/rate"):
        t.file(path, "4: ACTIVE\n")


LARGEST = (2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**32 - 1, 2**32)


def largest_counters(t):
    """Counters just below, at and beyond what 63 and 64 bits hold; in each file the neighbours are ordinary."""
    cores = cpus.packages(1, 3, threads=1)
    plain.machine(t, cores)
    lines = [line if not line.startswith("ctxt") else f"ctxt {2**64 - 1}" for line in t.files["proc/stat"].decode().split("\n")]
    for i, column in ((1, 1), (2, 3), (3, 4)):
        words = lines[i].split(" ")
        words[column] = str(LARGEST[i - 1])
        lines[i] = " ".join(words)
    t.file("proc/stat", "\n".join(lines))
    rows = []
    for i, v in enumerate(LARGEST):
        numbers = procfs.disk_numbers(t, f"disk {i}")
        numbers[2] = v
        rows.append(f"{8:4d} {16 * i:7d} sd{'abcdef'[i]} " + " ".join(map(str, numbers)))
        devices.block(t, f"sd{'abcdef'[i]}", None, 1000, None, major=8, minor=16 * i)
    t.file("proc/diskstats", "\n".join(rows))
    names = {"lo": procfs.net_numbers(t, "lo")}
    for i, v in enumerate(LARGEST):
        names[f"eth{i}"] = procfs.net_numbers(t, f"eth{i}") | {"rx_bytes": v}
        devices.net(t, f"eth{i}", names[f"eth{i}"], f"sys/devices/platform/nic.{i}",
                    2147483647 if i == 3 else 4294967295 if i == 4 else 10000)
    procfs.net_dev(t, names)
    t.file(
        "proc/pressure/io",
        "some avg10=100.00 avg60=99.99 avg300=0.00 total=9223372036854775807\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=18446744073709551615"
    )
    t.file("proc/loadavg", "4096.00 92233720368547758.07 0.00 4097/4194304 4194303")


def vast(t):
    """4,096 CPUs, 3,000 disks of 2 partitions, 2,000 interfaces: files that are much larger than any buffer one would think of."""
    cores = cpus.packages(8, 256)
    plain.machine(t, cores)
    t.links.pop("sys/block/sda")
    rows, names = [], {"lo": procfs.net_numbers(t, "lo")}
    for i in range(3000):
        t.file(f"sys/block/{disk_name(i)}/size", 1000 + i)
        for part, minor in (("", 0), ("1", 1), ("2", 2)):
            rows.append(f"{8 + i // 16:4d} {16 * (i % 16) + minor:7d} {disk_name(i)}{part} "
                        + " ".join(map(str, procfs.disk_numbers(t, f"{i} {part}"))))
    t.file("proc/diskstats", "\n".join(rows))
    for i in range(2000):
        names[f"veth{i:08x}"] = procfs.net_numbers(t, f"veth{i}")
    names["eth0"] = procfs.net_numbers(t, "eth0")
    procfs.net_dev(t, names)


def disk_name(i):
    """sda ... sdz, sdaa ..., sdaaa: drivers/scsi/sd.c."""
    name, i = "", i + 1
    while i:
        i, letter = divmod(i - 1, 26)
        name = chr(ord("a") + letter) + name
    return f"sd{name}"
