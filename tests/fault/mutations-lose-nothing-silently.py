# SPDX-License-Identifier: Apache-2.0
# limit: 900
"""A recording whose job and recorder were killed, cut, emptied, with files gone, zeroed or with bits flipped: what is no longer read is reported as
damage."""
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

SONDE = os.environ["SONDE"]
ROUNDS = 1000 if os.environ.get("LONG") else 60
LEAST = 700  # samples: more than two blocks of 300, so that both files matter
SEED = 22
faults = 0


def samples(folder):
    """How many there are, or None when nothing can be read; and whether damage is reported."""
    p = subprocess.run([SONDE, "show", "--json", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
    if p.returncode not in (0, 1):
        print(f"exit status {p.returncode}: {p.stderr}")
        sys.exit(1)
    if not p.stdout:
        return None, bool(p.stderr)
    shown = json.loads(p.stdout)
    if "error" in shown:
        return None, True
    return sum(node["samples"] for node in shown["nodes"]), bool(shown["damages"]) and p.returncode == 1


def record(folder):
    p = subprocess.Popen([SONDE, "run", "--quiet", "-i", "2ms", "--max-overhead", "off", "-o", folder, "--", "sleep", "600"],
                         start_new_session=True)
    end = time.monotonic() + 200
    while time.monotonic() < end:
        time.sleep(0.3)
        if glob.glob(folder + "/*.sonde") and (samples(folder)[0] or 0) >= LEAST:
            break
    recorder = [pid for pid in os.listdir("/proc") if pid.isdigit() and holds(pid, os.path.realpath(folder))]
    for pid in recorder:
        os.kill(int(pid), signal.SIGKILL)
    os.killpg(p.pid, signal.SIGKILL)
    p.wait()


def holds(pid, folder):
    try:
        return any(os.readlink(f"/proc/{pid}/fd/{fd}").startswith(folder + "/node-") for fd in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


def mutate(draw, path):
    """What was done."""
    size = os.path.getsize(path)
    used = len(open(path, "rb").read().rstrip(b"\0"))
    how = draw.choice(["cut", "cut", "cut to nothing", "remove", "zero", "flip", "flip"])
    at = draw.randrange(used)
    if how == "cut":
        at = draw.choice([at, draw.randrange(size)])
        os.truncate(path, at)
    elif how == "cut to nothing":
        os.truncate(path, 0)
    elif how == "remove":
        os.unlink(path)
    else:
        with open(path, "r+b") as f:
            f.seek(at)
            if how == "zero":
                f.write(bytes(min(512, size - at)))
            else:
                byte = f.read(1)[0]
                f.seek(at)
                f.write(bytes([byte ^ 1 << draw.randrange(8)]))
    return f"{how} at {at} of {used} used in {os.path.basename(path)}"


record("whole")
whole, damaged = samples("whole")
if damaged or whole < LEAST:
    print(f"before: {whole} samples, damaged: {damaged}")
    sys.exit(1)
draw = random.Random(SEED)
for n in range(ROUNDS):
    shutil.copytree("whole", "broken")
    what = mutate(draw, draw.choice(sorted(glob.glob("broken/node-*.*"))))
    read, said = samples("broken")
    lost = whole - (read or 0)
    if not said and lost > 0:
        print(f"{what}: {lost} of {whole} samples are lost silently")
        faults += 1
    shutil.rmtree("broken")
print(f"{ROUNDS} mutations of {whole} samples")
sys.exit(1 if faults else 0)
