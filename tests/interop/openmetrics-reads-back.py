# SPDX-License-Identifier: Apache-2.0
"""A strict parser and Prometheus read the same values from the OpenMetrics text as CSV has, under names as they should be; and nothing that
is new with each job is a label (trap 17)."""
import csv
import os
import re
import subprocess
import sys

import readers

readers.enter()
from prometheus_client.openmetrics.parser import text_fd_to_metric_families

SONDE = os.environ["SONDE"]
PROMTOOL = os.path.join(os.environ["BUILD"], "servers/promtool")
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what} {detail}")


def rows(where, *options):
    subprocess.run([SONDE, "export", "out", "-o", where, "--table", "series", "--to", "csv,openmetrics", *options], check=True)
    with open(f"{where}/series.csv", newline="") as f:
        return [r for r in csv.DictReader(f) if not re.match("(process|command)[.]", r["metric"])]


def labels_of(row):
    scope = row["metric"].partition(".")[0]
    device = {"device" if scope in ("node", "job", "instance") else scope: row["instance"]} if row["instance"] else {}
    return frozenset({"node": row["node"], **device}.items())


def compare(where, table):
    """Every row is a sample and every sample a row; times to the nanosecond, values exactly. Returns the number of them."""
    want, kinds = {}, {}
    for r in table:
        name = "sonde_" + r["metric"].replace(".", "_")
        counter = r["kind"] in ("counter", "total")
        kinds[name] = "counter" if counter else "gauge"
        at = re.sub(r"^.*T(\d\d):(\d\d):([0-9.]+)Z$", lambda m: m[3], r["time"])
        want[name + "_total" * counter, labels_of(r), float(at)] = float(r["value"])
    given, families = {}, {}
    with open(f"{where}/series.openmetrics") as f:
        for family in text_fd_to_metric_families(f):
            if family.name == "sonde_recording_losses":  # of a busy machine: no row of the table
                continue
            families[family.name] = family
            for s in family.samples:
                at = float(f"{s.timestamp.sec % 60}.{s.timestamp.nsec:09d}")
                given[s.name, frozenset(s.labels.items()), at] = s.value
    check(where, len(want) == len(table) and given == want,
          f"{len(given)} samples, {len(want)} of {len(table)} rows; {list(set(given.items()) ^ set(want.items()))[:2]}")
    check(where, {n: f.type for n, f in families.items()} == kinds, "has other types")
    for family in families.values():
        check(family.name, family.documentation.endswith("."), "has no help")
        check(family.name, not family.unit or family.name.endswith("_" + family.unit), f"has the unit {family.unit}")
        for s in family.samples:
            check(s.name, s.name.endswith("_total") == (family.type == "counter"), f"of a {family.type}")
            check(s.name, len(s.labels) <= 2 and not set(s.labels) & {"job", "job_id", "pid", "process"}
                  and "4711" not in s.labels.values(), f"has labels {s.labels}")
    check(where, sum(1 for f in families.values() if f.unit) > len(families) / 2, "has hardly a unit")
    return len(want)


job = "for i in 1 2 3; do dd if=/dev/zero of=file bs=64k count=100 2>/dev/null; sleep 0.1; done"
subprocess.run([SONDE, "run", "--quiet", "-i", "50ms", "-o", "out", "--", "sh", "-c", job], check=True,
               env={**os.environ, "SLURM_JOB_ID": "4711"})
compare("rates", rows("rates"))
compare("windows", rows("windows", "--every", "200ms"))
samples = compare("raw", rows("raw", "--raw"))
check("raw", samples > 500, f"only {samples} samples")

status = subprocess.run([SONDE, "export", "out", "-o", "all", "--to", "openmetrics"]).returncode
check("all tables", status == 0 and os.listdir("all") == ["series.openmetrics"], os.listdir("all"))
for options in (["--wide"], ["--table", "marks"]):
    p = subprocess.run([SONDE, "export", "out", "-o", "no", "--to", "openmetrics", *options], capture_output=True, text=True)
    check("refusal", p.returncode == 2 and "openmetrics" in p.stderr and not os.path.exists("no"), p.stderr)

for fault in faults:
    print(fault, file=sys.stderr)
if faults:
    sys.exit(1)
if not os.access(PROMTOOL, os.X_OK):
    print(f"the strict parser reads it; Prometheus was not asked: {PROMTOOL} is not there (tests/readers/servers.sh)")
    sys.exit(77)
subprocess.run([PROMTOOL, "tsdb", "create-blocks-from", "openmetrics", "raw/series.openmetrics", "tsdb"], check=True, stdout=subprocess.DEVNULL)
os.mkdir("tsdb/wal")  # or it takes the folder for no database
dump = subprocess.run([PROMTOOL, "tsdb", "dump", "tsdb"], check=True, capture_output=True, text=True).stdout.splitlines()
dump = [line for line in dump if "sonde_recording_losses" not in line]
check("Prometheus", len(dump) == samples, f"holds {len(dump)} samples of {samples}")
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
