# SPDX-License-Identifier: Apache-2.0
"""import benchmon takes what SKA's benchmon saves of each node: CSV of /proc, InfiniBand's counters, perf's energy, and the events of a pipeline."""
import csv
import os
import subprocess

SONDE = os.environ["SONDE"]
T0 = 1717000000.25
CPU = "user,nice,system,idle,iowait,irq,softirq,steal,guest,guestnice"
NET = ("rx-bytes,rx-packets,rx-errs,rx-drop,rx-fifo,rx-frame,rx-compressed,rx-multicast,"
       "tx-bytes,tx-packets,tx-errs,tx-drop,tx-fifo,tx-colls,tx-carrier,tx-compressed")
DISK = "#rd-cd,#rd-md,sect-rd,time-rd,#wr-cd,#wr-md,sect-wr,time-wr,#io-ip,time-io,time-wei-io,#disc-cd,#disc-md,sect-disc,time-disc,#flush-req,time-flush"


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, check=False)


def write(path, *lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)


def at(i):
    return f"{T0 + i:.9f}"


def node(directory, scale):
    """Ten samples a second apart, in the layouts of benchmon's *_mon.sh."""
    def rows(*of_one):
        return [f"{at(i)},{line(i)}" for i in range(10) for line in of_one]

    write(f"{directory}/cpu_report.csv", "timestamp,cpu_core," + CPU,
          *rows(lambda i: f"cpu,{100 * i * scale},0,{20 * i},{80 * i},0,0,0,0,0,0", lambda i: f"cpu0,{60 * i * scale},0,0,0,0,0,0,0,0,0",
                lambda i: f"cpu1,{40 * i * scale},0,20,0,0,0,0,0,0,0"))
    write(f"{directory}/cpufreq_report.csv", "timestamp,cpu_core,frequency[800000-3500000]",
          *rows(lambda i: f"cpu0,{2000000 + i}", lambda i: "cpu1,3000000"))
    write(f"{directory}/mem_report.csv", "timestamp,MemTotal,MemFree,Buffers,Active(anon),Odd,HugePages_Total,",
          *rows(lambda i: f"1000000,{900000 - i},10,77,5,3"))
    write(f"{directory}/net_report.csv", "timestamp,interface," + NET,
          *rows(lambda i: "lo:," + ",".join(["7"] * 16), lambda i: f"eth0:,{1000 * i},1,2,3,4,5,6,7,{500 * i},9,10,11,12,13,14,15"))
    write(f"{directory}/disk_report.csv", "1", "2", "sda,4096", "timestamp,major,minor,device," + DISK,
          *rows(lambda i: f"8,0,sda,{i},0,{8 * i},0,0,0,{16 * i},250,1,{500 * i},0,0,0,0,0,0,0",
                lambda i: f"8,1,sda1,{i},0,{8 * i},0,0,0,{16 * i},250,1,{500 * i},0,0,0,0,0,0,0"))
    write(f"{directory}/ib_report.csv", "timestamp,ib-interf:port,metric-key,metric-value",
          *rows(lambda i: f"mlx5_0:1,port_rcv_data,{250 * i + 10**12}", lambda i: f"mlx5_0:1,port_xmit_data,{25 * i}",
                lambda i: f"mlx5_1:1,port_rcv_data,{500 * i}", lambda i: f"mlx5_1:1,port_xmit_data,{50 * i}"))
    write(f"{directory}/pow_report.csv", f"# {T0}", "# started on Wed May 29 18:26:40 2024", "",
          *[f"{1.0 * i:.9f},CPU0,{v},Joules,power/energy-{part}/,1000000000,100.00,," for i in range(1, 10)
            for part, v in (("pkg", 50), ("cores", 30), ("ram", "<not counted>" if i == 3 else 5))])


node("job/benchmon_traces_n1", 1)
node("job/benchmon_traces_n2", 2)
write("job/annotations.csv", "timestamp,pipeline,stage,event,node,more", f"{at(1)},ical,predict,START,n1,x", f"{at(4)},ical,predict,FINISHED,n1,x",
      f"{at(5)},ical,image,START,n1,x", f"{at(2)},ical,flag,checked,n2,x")
ended = sonde("import", "benchmon", "job", "-o", "out")
assert ended.returncode == 0, ended
table = list(csv.DictReader(sonde("export", "out", "-o", "-").stdout.splitlines()))


def values(metric, instance="", of="n1"):
    return [(round(float(r["seconds"]), 6), round(float(r["value"]), 9)) for r in table if (r["metric"], r["instance"], r["node"]) == (metric, instance, of)]


each = [float(i) for i in range(1, 10)]
assert values("node.cpu_user_cores") == [(t, 1) for t in each], values("node.cpu_user_cores")
assert values("node.cpu_user_cores", of="n2") == [(t, 2) for t in each]
assert values("node.cpu_system_cores") == [(t, 0.2) for t in each] and values("cpu.user_cores", "0") == [(t, 0.6) for t in each]
assert values("cpu.frequency_hertz", "0")[9] == (9, 2000009000) and len(values("cpu.frequency_hertz", "1")) == 10
assert values("node.memory_free_bytes")[3] == (3, 899997 * 1024) and values("node.memory_active_anon_bytes")[0] == (0, 77 * 1024)
assert values("node.hugepages_total_count")[0] == (0, 3)
assert values("network.received_bytes_per_second", "eth0") == [(t, 1000) for t in each]
assert values("disk.read_bytes_per_second", "sda") == [(t, 4096) for t in each], values("disk.read_bytes_per_second", "sda")
assert values("disk.busy_ratio", "sda") == [(t, 0.5) for t in each]
assert values("infiniband.received_bytes_per_second", "mlx5_0/1") == [(t, 1000) for t in each]
assert values("energy.consumed_watts", "CPU0/pkg") == [(t, 50) for t in each], values("energy.consumed_watts", "CPU0/pkg")
dram = values("energy.consumed_watts", "CPU0/dram")
assert 3 not in [t for t, _ in dram] and all(v == 5 for t, v in dram if t not in (1, 4)), dram

# Sums are of what is not a part of something else.
together = list(csv.DictReader(sonde("export", "out", "--combine", "-o", "-").stdout.splitlines()))


def total(metric):
    return {float(r["value"]) for r in together if (r["metric"], r["node"]) == (metric, "n1")}


assert total("infiniband.received_bytes_per_second") == {3000}, total("infiniband.received_bytes_per_second")
assert total("network.received_bytes_per_second") == {1000} and total("disk.written_bytes_per_second") == {8192}
assert sonde("export", "out", "-o", "csv").returncode == 0
with open("csv/spans.csv", encoding="utf-8") as f:
    spans = [(s["name"], float(s["begin_seconds"]), s["end_seconds"]) for s in csv.DictReader(f)]
assert spans == [("ical/predict", 1, "4"), ("ical/image", 5, "")], spans
with open("csv/marks.csv", encoding="utf-8") as f:
    assert [(m["node"], m["name"], m["message"]) for m in csv.DictReader(f)] == [("n2", "ical/flag", "checked")]
assert sonde("show", "out").returncode == 0 and sonde("report", "out", "--only", "html").returncode == 0
assert sonde("import", "benchmon", "job/benchmon_traces_n2", "-o", "one").returncode == 0 and os.listdir("one")

# Cut, foreign and hostile files: what can be read is, the rest is named, and the exit code says so.
with open("job/benchmon_traces_n1/cpu_report.csv", "rb+") as f:
    f.truncate(os.path.getsize("job/benchmon_traces_n1/cpu_report.csv") - 9)
ended = sonde("import", "benchmon", "job", "-o", "cut")
assert ended.returncode == 1 and "cpu_report.csv: rows or values that are malformed or too many: 1" in ended.stderr, ended
for text, says in (("", "does not begin as benchmon's"), ("a,b\n1,2\n", "does not begin as benchmon's"), ("timestamp,interface\n1,eth0\n", "does not begin"),
                   ("timestamp,interface,rx-bytes\nx,eth0,1\n1e999,eth0,1\n5,,3\n5,a,0x10\n" + "1," + "y" * 100000 + "\n", "malformed or too many: 5")):
    write("bad/benchmon_traces_h/net_report.csv", *text.splitlines())
    write("bad/benchmon_traces_h/mem_report.csv", "timestamp,MemFree", f"{at(0)},7", f"{at(1)},8")
    ended = sonde("import", "benchmon", "bad", "-o", f"bad_{len(text)}")
    assert ended.returncode == 1 and says in ended.stderr, (text, ended)
os.makedirs("empty")
ended = sonde("import", "benchmon", "empty", "-o", "none")
assert ended.returncode == 1 and "has no benchmon_traces_HOST" in ended.stderr and not os.path.exists("none"), ended
