# SPDX-License-Identifier: Apache-2.0
"""RAPL counters that advance and go round while a job runs: no joule is lost or counted twice, power adds up each of them
once, and the job's share is said to be apportioned."""
import collections
import csv
import glob
import os
import subprocess
import sys
import time

SONDE = os.environ["SONDE"]
RANGE = 262143328850
ZONES = {  # name, directory, joules a step, whether totals have it
    "package-0": ("intel-rapl:0", 150, True),
    "package-0/dram": ("intel-rapl:0:0", 11, True),
    "package-1": ("intel-rapl:1", 131, True),
    "psys": ("intel-rapl:2", 390, False),
}
STEPS, START = 20, RANGE - 150_000_000  # less in all than what is believed of a moment: between two samples of a busy machine there may be many steps


def put(zone, name, value):
    with open(f"sys/class/powercap/{zone}/{name}", "r+" if name == "energy_uj" else "w") as f:
        f.write(f"{value:012}\n" if name == "energy_uj" else f"{value}\n")


def write(step):
    for zone, joules, _ in ZONES.values():
        put(zone, "energy_uj", (START + step * joules * 1000000) % RANGE)


def make():
    for name, (zone, _, _) in ZONES.items():
        os.makedirs(f"sys/class/powercap/{zone}")
        open(f"sys/class/powercap/{zone}/energy_uj", "w").close()
        put(zone, "name", name.rsplit("/")[-1])
        put(zone, "max_energy_range_uj", RANGE)
        put(zone, "constraint_0_max_power_uw", 4000000000)  # believed up to 8 kW
    write(0)


def table(*options):
    text = subprocess.run([SONDE, "export", "out", "-o", "-", *options], check=True, stdout=subprocess.PIPE, text=True).stdout
    return list(csv.DictReader(text.splitlines()))


if sys.argv[1:] == ["job"]:
    while not any(os.path.getsize(f) for f in glob.glob("out/*.tail")):
        time.sleep(0.02)
    for i in range(1, STEPS + 1):
        write(i)
        time.sleep(0.05)
    end = time.monotonic() + 0.4
    while time.monotonic() < end:
        pass
    sys.exit()

make()
subprocess.run([SONDE, "run", "--quiet", "-i", "100ms", "--sysfs", "sys", "-o", "out", "--", sys.executable, __file__, "job"],
               check=True)
faults = []
read = collections.defaultdict(list)
for row in table("--raw", "--metrics", "energy.*"):
    read[row["instance"]].append(float(row["value"]))
for name, (_, joules, _) in ZONES.items():
    v = read[name]
    if v != sorted(v) or abs(v[-1] - v[0] - STEPS * joules) > 1e-3:
        faults.append(f"{name}: {v[-1] - v[0]} J were read, {STEPS * joules} J were used: {v}")
power = collections.defaultdict(dict)
for row in table("--metrics", "energy.consumed_watts,node.power_watts,job.power_apportioned_watts"):
    power[row["seconds"]][row["metric"], row["instance"]] = float(row["value"])
shares = whole = 0
for at, row in power.items():
    total = row.get(("node.power_watts", ""))
    parts = [row["energy.consumed_watts", name] for name, zone in ZONES.items()
             if zone[2] and ("energy.consumed_watts", name) in row]
    whole += len(parts) == 3
    # Of a part that was written after it was read, and stood still so, nothing is known; nor of the total.
    if (total is None) != (len(parts) < 3) or total is not None and abs(total - sum(parts)) > 1e-6 * total:
        faults.append(f"{at} s: power is {total}, its parts {parts}")
    share = row.get(("job.power_apportioned_watts", ""))
    if share is not None:
        shares += share > 0
        if share > total * (1 + 1e-9):
            faults.append(f"{at} s: the job has {share} W of {total} W")
if not whole:
    faults.append(f"at no time was the power of all zones known: {dict(power)}")
if not shares:
    faults.append(f"no power was apportioned to the job: {dict(power)}")
if faults:
    sys.exit("\n".join(faults))
