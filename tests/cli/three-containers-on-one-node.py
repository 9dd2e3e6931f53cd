# SPDX-License-Identifier: Apache-2.0
# limit: 180
"""Three containers on one node, of two users, and beside them copies outside, all of batch jobs with one number: within a container the copies share
a recorder, each container has its own, no exit status is another's, and no process is counted elsewhere."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile

from patience import patience

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
OTHER = 65534
SPUN_S = 0.3  # CPU time of each task
COPIES = """
cd "$1" || exit 99
export SLURM_JOB_ID="$2" SLURM_STEP_ID=0 SLURM_GTIDS=0,1
SLURM_PROCID=0 "$SONDE" run --quiet -i 50ms -o out -- sh -c '"$PROGRAMS/spin" %d; sleep 2; exit '"$3" & first=$!
SLURM_PROCID=1 "$SONDE" run --quiet -i 50ms -o out -- sh -c '"$PROGRAMS/spin" %d; sleep 2'; second=$?
wait $first; first=$?
[ $second = 0 ] && exit $first
exit 98
""" % (SPUN_S * 1e6, SPUN_S * 1e6)


def fail(what):
    print("FAIL:", what, file=sys.stderr)
    sys.exit(1)


if os.geteuid() != 0:
    print("only root can be two users")
    sys.exit(77)
CONTAINER = ["unshare", "--user", "--map-root-user", "--pid", "--mount", "--fork", "--mount-proc"]
USER = ["setpriv", "--reuid", str(OTHER), "--regid", str(OTHER), "--clear-groups"]
if subprocess.run(CONTAINER + ["true"], stderr=subprocess.DEVNULL).returncode or subprocess.run(USER + ["test", "-x", SONDE]).returncode:
    print("containers cannot be made here, or another user may not read the tree")
    sys.exit(77)

job = str(os.getpid())
# Those of one user record into one directory.
groups = {"root": {"a": CONTAINER, "b": CONTAINER, "outside": []}, "other": {"c": USER + CONTAINER, "outside": USER}}
started = []
top = tempfile.mkdtemp(prefix="sonde-containers-", dir="/tmp")  # the other user may not enter this test's folder
atexit.register(shutil.rmtree, top)
os.chdir(top)
os.chmod(".", 0o755)
for group, kinds in groups.items():
    os.mkdir(group)
    if group == "other":
        os.chown(group, OTHER, OTHER)
    environment = dict(os.environ, HOME=f"{top}/{group}", TMPDIR=f"{top}/{group}", XDG_DATA_HOME=f"{top}/{group}")
    for name, how in kinds.items():
        status = 3 + len(started)
        started.append((name, status, subprocess.Popen(how + ["sh", "-c", COPIES, "sh", f"{top}/{group}", job, str(status)], env=environment)))
for name, status, process in started:
    got = process.wait(timeout=patience(120))
    if got != status:
        fail(f"{name}: exit code {got}, wanted {status}")
for group, kinds in groups.items():
    recordings = [file for file in os.listdir(f"{group}/out") if file.endswith(".sonde")]
    if len(recordings) != len(kinds):
        fail(f"{group}: {len(recordings)} recordings of {len(kinds)} places with two copies each")
    shown = json.loads(subprocess.run([SONDE, "show", "--json", f"{group}/out"], check=True, stdout=subprocess.PIPE).stdout)
    if len(shown["tasks"]) != 2 * len(kinds) or shown["damages"]:
        fail(f"{group}: {len(shown['tasks'])} tasks, damages {shown['damages']}")
    cpu = shown["job"]["cpu_seconds"] / (2 * len(kinds) * SPUN_S)
    if not 0.95 < cpu < 1.6:  # nothing of another's, nothing twice
        fail(f"{group}: {cpu:.2f} times the CPU that its tasks spun")
