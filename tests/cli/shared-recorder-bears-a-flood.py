# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""Another user who connects to a job's shared recorder without end is refused and counted, and the recorder goes on sampling."""
import json
import os
import subprocess
import sys
import time

from patience import patience

SONDE = os.environ["SONDE"]
PER_SECOND = 256 / 0.05  # connections that it takes at most, as sampler/tree/roster.c has it
OTHER = 65534
FLOOD = """
import os, socket, sys
os.setgid(%d); os.setuid(%d)
while True:
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.setblocking(False)
    try:
        s.connect(chr(0) + sys.argv[1])
    except OSError:
        pass
    s.close()
""" % (OTHER, OTHER)

if os.geteuid() != 0:
    print("only root can be two users")
    sys.exit(77)


def fail(what):
    print("FAIL:", what, file=sys.stderr)
    sys.exit(1)


def names():
    with open("/proc/net/unix") as file:
        return {line.split()[7][1:] for line in file if " @sonde/" in line}


before = names()
job = str(os.getpid())
environment = dict(os.environ, SLURM_JOB_ID=job, SLURM_STEP_ID="0", SLURM_GTIDS="0", SLURM_PROCID="0")
begin = time.monotonic()
run = subprocess.Popen([SONDE, "run", "--quiet", "-i", "100ms", "-o", "out", "--", "sh", "-c", "read _"], env=environment,
                       stdin=subprocess.PIPE)
while not os.path.isdir("out") or not any(name.endswith(".sonde") for name in os.listdir("out")):
    if time.monotonic() > begin + 20:
        fail("it does not begin")
    time.sleep(0.02)
floods = [subprocess.Popen([sys.executable, "-c", FLOOD, name]) for name in names() - before]
time.sleep(4)
# A second copy of the job still gets in.
copy = subprocess.run([SONDE, "run", "--quiet", "-i", "100ms", "-o", "out", "--", "true"], timeout=patience(60),
                      env=dict(environment, SLURM_PROCID="1", SLURM_GTIDS="1"))
for flood in floods:
    flood.kill()
    flood.wait()
run.communicate(b"\n", timeout=patience(60))
wall = time.monotonic() - begin
if run.returncode or copy.returncode:
    fail(f"exit codes {run.returncode} {copy.returncode}")
shown = subprocess.run([SONDE, "show", "--json", "out"], stdout=subprocess.PIPE, check=True).stdout
node = json.loads(shown)["nodes"][0]
count = node["metadata"].get("monitor.foreign_connections", 0)
if not 0 < count <= 1.5 * PER_SECOND * wall:  # a pause may be cut short by a message of the job's own
    fail(f"{count} connections in {wall:.1f} s, where {PER_SECOND:.0f} a second are taken at most")
if node["samples"] < 10 * wall / 3:
    fail(f"{node['samples']} samples in {wall:.1f} s")
print(f"{count} refused, {node['samples']} samples in {wall:.1f} s")
