# SPDX-License-Identifier: Apache-2.0
# limit: 3000
"""Recordings whose job, launcher or recorder were killed at any moment keep all that could be read of them before; and one that is then cut,
emptied, with files gone, zeroed or with bits flipped: what is no longer read is reported as damage."""
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from patience import patience

SONDE = os.environ["SONDE"]
ROUNDS = 700 if os.environ.get("LONG") else 60
KILLS = 300 if os.environ.get("LONG") else 10
LEAST = 700  # samples: more than two blocks of 300, so that both files matter
SEED = 22
faults = 0


def samples(folder):
    """How many there are, or None when nothing can be read; and whether damage is reported."""
    p = subprocess.run([SONDE, "show", "--json", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=patience(60))
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
    end = time.monotonic() + patience(200)
    while time.monotonic() < end:
        time.sleep(0.3)
        if glob.glob(folder + "/*.sonde") and (samples(folder)[0] or 0) >= LEAST:
            break
    kill(p, folder, "both")


def kill(p, folder, whom):
    if whom in ("both", "recorder"):
        for pid in [pid for pid in os.listdir("/proc") if pid.isdigit() and holds(pid, os.path.realpath(folder))]:
            os.kill(int(pid), signal.SIGKILL)
    if whom in ("both", "launcher"):
        os.killpg(p.pid, signal.SIGKILL)
    else:
        os.killpg(p.pid, signal.SIGTERM)
    p.wait()
    end = time.monotonic() + patience(30)  # of the recorder, which ends after its launcher
    while time.monotonic() < end and any(holds(pid, os.path.realpath(folder)) for pid in os.listdir("/proc") if pid.isdigit()):
        time.sleep(0.02)


def killed(draw, folder):
    """How many samples could be read just before, and what was done."""
    p = subprocess.Popen([SONDE, "run", "--quiet", "-i", "2ms", "--max-overhead", "off", "-o", folder, "--", "sleep", "600"],
                         start_new_session=True, stderr=subprocess.DEVNULL)
    end = time.monotonic() + patience(60)
    while not glob.glob(folder + "/*.sonde") and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(draw.uniform(0, 0.8))
    before = samples(folder)[0] or 0
    whom = draw.choice(["both", "recorder", "launcher"])
    kill(p, folder, whom)
    return before, f"{whom} killed with {before} samples"


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
    if not used:
        how = "remove"
    at = draw.randrange(max(used, 1))
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
for n in range(KILLS):
    before, what = killed(draw, "killed")
    read, said = samples("killed")
    if said or (read or 0) < before:
        print(f"{what}: {read} are left, damage told: {said}")
        faults += 1
    what += ", then " + mutate(draw, draw.choice(sorted(glob.glob("killed/node-*.*"))))
    left, said = samples("killed")
    if not said and (left or 0) < (read or 0):
        print(f"{what}: {read} became {left} silently")
        faults += 1
    shutil.rmtree("killed")
print(f"{ROUNDS} mutations of {whole} samples, {KILLS} recordings killed and mutated")
sys.exit(1 if faults else 0)
