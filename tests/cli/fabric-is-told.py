# SPDX-License-Identifier: Apache-2.0
"""A job on a machine with two InfiniBand ports, one of which does nothing, and a Slingshot adapter, whose link loses what
it sends: charts on the page and on paper, a line and the verdicts in `show`; a machine without a fabric has none of it."""
import os
import subprocess
import sys
import time

SONDE = os.environ["SONDE"]
PORTS = {"mlx5_0": 1, "mlx5_1": 0}  # by what each one's traffic is multiplied


def put(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def write(step):
    """Terabytes a step: whatever the time that a step takes, more than links of 100 Mb/s."""
    for adapter, times in PORTS.items():
        counters = f"sys/class/infiniband/{adapter}/ports/1/counters"
        put(f"{counters}/port_xmit_data", f"{10**9 + times * step * 10**12:020}\n")
        put(f"{counters}/port_rcv_data", f"{10**9 + times * step * 10**11:020}\n")
        put(f"{counters}/port_xmit_packets", f"{times * step * 10**9:020}\n")
        put(f"{counters}/link_downed", f"{times * (step > 10)}\n")
    cxi = "sys/class/cxi/cxi0/device/telemetry"
    put(f"{cxi}/hni_sts_tx_ok_octets", f"{step * 10**9:020}@173211234.5\n")
    put(f"{cxi}/hni_sts_rx_ok_octets", f"{step * 10**9:020}@173211234.5\n")
    for i in range(8):
        put(f"{cxi}/hni_pkts_sent_by_tc_{i}", f"{step * 1000:020}@173211234.5\n")
    put(f"{cxi}/pct_retry_srb_requests", f"{step * 100:020}@173211234.5\n")


def sonde(*words):
    return subprocess.run([SONDE, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


if sys.argv[1:] == ["job"]:
    time.sleep(0.3)
    for n in range(1, 26):
        write(n)
        time.sleep(0.1)
    time.sleep(0.5)
    sys.exit()

for name in PORTS:
    port = f"sys/class/infiniband/{name}/ports/1"
    for key, value in {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": "0.1 Gb/sec (1X SDR)",
                       "link_layer": "InfiniBand"}.items():
        put(f"{port}/{key}", f"{value}\n")
put("sys/class/cxi/cxi0/device/properties/speed", "200000\n")
put("sys/class/cxi/cxi0/device/properties/link", "1\n")
write(0)
subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "--sysfs", "sys", "-o", "out", "--", sys.executable, __file__, "job"],
               check=True)
os.mkdir("nothing")
subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "--sysfs", "nothing", "-o", "none", "--", "sleep", "0.3"], check=True)

faults = []


def want(holds, words):
    if not holds:
        faults.append(words)


shown = " ".join(sonde("show", "--all", "out").split())
want("sent by 3 ports of the node, the fullest at" in shown, f"show has no line of the fabric: {shown}")
want("1 of 3 ports of the fabric were idle: mlx5_1/1 on " in shown, "the idle port is not told")
want("The fabric was nearly full: a port sent" in shown, "nobody says that the link was full")
want("A link of the fabric went down while the job ran (times: 1)" in shown, "nobody says that the link went down")
want("requests again: they were lost" in shown, "nobody says what Slingshot sent again")
want("A link is slower" not in shown, "links that are alike are not slower")
page = open(sonde("report", "--only", "html", "out").split()[-1]).read()
none = open(sonde("report", "--only", "html", "none").split()[-1]).read()
for chart in ("fabric", "fabric-use", "fabric-slingshot", "fabric-slingshot-use"):
    want(f'"{chart}"' in page, f"the page has no chart {chart}")
    want(f'"{chart}"' not in none, f"the page of a machine without a fabric has {chart}")
want("fabric" not in sonde("show", "--all", "none"), "show tells of a fabric that is not there")
if os.access(os.path.join(os.path.dirname(SONDE), "libexec/sonde/sonde-draw"), os.X_OK):
    paper = subprocess.run(["pdftotext", sonde("report", "--only", "pdf", "out").split()[-1], "-"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    for title in ("Fabric", "Fabric: links in use", "Slingshot", "Slingshot: links in use"):
        want(title in paper, f"no chart '{title}' on paper")
print("\n".join(faults))
sys.exit(bool(faults))
