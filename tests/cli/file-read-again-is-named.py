# SPDX-License-Identifier: Apache-2.0
"""A file that a process reads from begin to end again and again is told with its size and how often, by looks at its place in it; none is one that
grows, that is read anywhere in it, or that is open while the data comes from elsewhere."""
# limit: 200
import json
import os
import subprocess
import sys

from patience import patience

SONDE = os.environ["SONDE"]
PROGRAM = """import os, random, sys, time
how, end, passes = sys.argv[1], time.monotonic() + 5, 0
def again():
    with open("table.txt") as f:
        for line in f:
            pass
def rewind(f=open("table.txt")):
    f.seek(0)
    for line in f:
        pass
def anywhere(f=open("table.txt", "rb", buffering=0)):
    f.seek(random.randrange(5000000))
    f.read(65536)
def elsewhere(f=open("table.txt", "rb", buffering=0), other=open("/dev/zero", "rb", buffering=0)):
    f.seek(random.randrange(0, 6000000, 100000))
    other.read(1000000)
def grows(f=open("log", "w"), g=open("log")):
    f.write("one line and no more\\\\n" * 5000)
    f.flush()
    g.seek(0)
    for line in g:
        pass
while time.monotonic() < end:
    globals()[how]()
    passes += 1
print(passes)
""".replace("\\\\n", "\\n")
with open("program.py", "w", encoding="utf-8") as f:
    f.write(PROGRAM)
with open("table.txt", "w", encoding="utf-8") as f:
    for n in range(400000):
        f.write(f"{n} {n * 7919 % 10007}\n")
size = os.path.getsize("table.txt")


def recorded(how):
    ran = subprocess.run([SONDE, "run", "-q", "-o", how, "--", sys.executable, "program.py", how], check=True, timeout=patience(60), capture_output=True, text=True)
    shown = json.loads(subprocess.run([SONDE, "show", "--json", how], check=True, capture_output=True, text=True).stdout)
    said = {one["rule"]: one["sentence"] for one in shown["verdicts"]}
    return int(ran.stdout), shown["nodes"][0]["metadata"], said.get("file-reread", "")


for how in ("again", "rewind"):
    passes, metadata, said = recorded(how)
    if metadata.get("job.reread_looks", 0) < 8 and passes < 20:
        print("this machine is too busy")
        sys.exit(77)
    assert metadata["job.reread_size_bytes"] == size, metadata
    assert 5 * size <= metadata["job.reread_bytes"] <= (passes + 1) * size, (passes, size, metadata)
    assert metadata["job.reread_within_looks"] <= metadata["job.reread_looks"], metadata
    assert "/table.txt (" in said and "from begin to end at least " in said, said
for how in ("anywhere", "elsewhere", "grows"):
    passes, metadata, said = recorded(how)
    assert not said and "job.reread_file" not in metadata, (how, passes, metadata)
