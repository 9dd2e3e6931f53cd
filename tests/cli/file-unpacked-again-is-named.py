# SPDX-License-Identifier: Apache-2.0
"""A compressed file in which a program goes back again and again, and so unpacks it from its beginning each time, is named; none is one that is read in order."""
# limit: 120
import gzip
import json
import os
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
PROGRAM = """import gzip, random, sys, time
end, reads = time.monotonic() + 6, 0
with gzip.open("table.gz") as f:
    size = f.seek(0, 2)
    while time.monotonic() < end:
        f.seek(random.randrange(size - 100) if sys.argv[1] == "seeks" else 0 if f.tell() > size - 70000 else f.tell())
        f.read(100 if sys.argv[1] == "seeks" else 65536)
        reads += 1
"""
with open("program.py", "w", encoding="utf-8") as f:
    f.write(PROGRAM)
with gzip.open("table.gz", "wb", compresslevel=1) as f:
    for n in range(600000):
        f.write(b"%d %d %d\n" % (n, n * 7919 % 10007, n * n % 65537))


def recorded(how):
    subprocess.run([SONDE, "run", "-q", "-o", how, "--", sys.executable, "program.py", how], check=True, timeout=patience(60))
    shown = json.loads(subprocess.run([SONDE, "show", "--json", how], check=True, capture_output=True, text=True).stdout)
    return shown["nodes"][0]["metadata"], {one["rule"]: one["sentence"] for one in shown["verdicts"]}, shown


metadata, said, shown = recorded("seeks")
if "job.gone_back_file" not in metadata and int(os.environ.get("CROWDED", "1")) > 1:
    print("this machine is too busy")
    sys.exit(77)
assert metadata["job.gone_back_file"].endswith("/table.gz"), metadata
assert metadata["job.gone_back_bytes"] >= 4 * metadata["job.gone_back_size_bytes"] == 4 * os.path.getsize("table.gz"), metadata
if shown["job"].get("code_samples", 99) >= 99 and "unpacked-again" not in said and not any("compress" in one for one in said.values()):
    print("no code was sampled")
    sys.exit(77)
assert " went back in " in said["unpacked-again"] and "/table.gz" in said["unpacked-again"], said
metadata, said, _ = recorded("order")
assert "unpacked-again" not in said and "job.gone_back_file" not in metadata, (metadata, said)
