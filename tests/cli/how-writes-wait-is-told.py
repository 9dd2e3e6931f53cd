# SPDX-License-Identifier: Apache-2.0
"""What makes a job wait until storage has its data is told as it is: fsync, writes past the page cache (O_DIRECT), or a file opened with O_SYNC; and which file that is."""
# limit: 120
import json
import os
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
PROGRAM = """import mmap, os, sys, time
how, size, end = sys.argv[1], int(sys.argv[2]), time.monotonic() + 5
data = mmap.mmap(-1, size)
flags = {"direct": os.O_DIRECT, "sync": os.O_DSYNC, "fsync": 0}[how]
fd = os.open("data", os.O_WRONLY | os.O_CREAT | flags, 0o600)
while time.monotonic() < end:
    if os.lseek(fd, 0, os.SEEK_CUR) >= 256 << 20:
        os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, data)
    if how == "fsync":
        os.fsync(fd)
"""
with open("program.py", "w", encoding="utf-8") as f:
    f.write(PROGRAM)


def verdicts(how, size):
    subprocess.run([SONDE, "run", "-q", "-o", how, "--", sys.executable, "program.py", how, str(size)], check=True, timeout=patience(60))
    shown = json.loads(subprocess.run([SONDE, "show", "--json", how], check=True, capture_output=True, text=True).stdout)
    os.remove("data")
    return {one["rule"]: one["sentence"] for one in shown["verdicts"]}


try:
    os.close(os.open("data", os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600))
except OSError:
    print("this file system has no O_DIRECT")
    sys.exit(77)
direct, sync, fsync = verdicts("direct", 1 << 20), verdicts("sync", 4096), verdicts("fsync", 4096)
told = " ".join(direct.values())
if "O_DIRECT" not in told and "fsync-storm" not in fsync:
    print("this disk does not make anybody wait")
    sys.exit(77)
assert "(fsync)" not in told and "O_SYNC" not in told, direct
assert "writes past the page cache (O_DIRECT): python3" in direct["direct-writes"] and "/data (O_DIRECT)" in direct["direct-writes"], direct
assert "times a second (O_SYNC, seen on data)" in sync["fsync-storm"], sync
assert "times a second (fsync" in fsync["fsync-storm"] and ("seen on" not in fsync["fsync-storm"] or "(fsync, seen on data)" in fsync["fsync-storm"]), fsync
