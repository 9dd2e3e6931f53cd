# SPDX-License-Identifier: Apache-2.0
# limit: 600
"""A push to MLflow adds each value once, whatever answers are lost; says in a sentence what went wrong and how to go on; and keeps
passwords and tokens out of files, sentences and command lines."""
import glob
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import time

import mlflow_server
from patience import patience

SONDE = os.environ["SONDE"]
SECRET = "Gehe1m"
faults = []


def check(what, good, detail=""):
    if not good:
        faults.append(f"{what}: {detail}")


def push(directory, *options, code=0, **variables):
    p = subprocess.run([SONDE, "push", directory, "--to", "mlflow", *options], capture_output=True, text=True, timeout=patience(300),
                       env={**{k: v for k, v in os.environ.items() if not k.startswith("MLFLOW")}, **variables})
    check(f"status of push {directory} {options}", p.returncode == code, f"{p.returncode}, wanted {code}: {p.stderr}")
    check("secrets in a sentence", SECRET not in p.stderr + p.stdout, p.stderr)
    check("one sentence", p.stderr.count("\n") == 1, p.stderr)
    for name in glob.glob(f"{directory}/.push-*"):
        check("mode of the journal", stat.S_IMODE(os.stat(name).st_mode) == 0o600)
        check("secrets in the journal", SECRET not in open(name).read())
    return p.stderr


def copy(name):
    shutil.copytree("job", name, ignore=shutil.ignore_patterns(".push-*"))
    return name


if not os.path.exists(os.path.join(os.path.dirname(os.path.realpath(SONDE)), "libexec/sonde/sonde-http")):
    print("sonde-http was not built: libcurl4-openssl-dev is not installed")
    sys.exit(77)
subprocess.run([SONDE, "run", "--quiet", "-i", "20ms", "-o", "job", "--", "sh", "-c", "sleep 0.5; exit 3"], check=False)

# A whole push, and a second one: nothing is added.
fake = mlflow_server.Fake()
uri = fake.uri.replace("//", f"//us%40er:{SECRET}@")
push(copy("a"), MLFLOW_TRACKING_URI=uri + "/")
run = fake.runs["run0"]
points = sorted(run["metrics"])
check("points", len(points) > 20 and len(set(points)) == len(points), len(points))
check("system metrics", any(p[0] == "system/cpu_utilization_percentage" for p in points), points[:3])
figures = json.loads(subprocess.run([SONDE, "show", "--tracker", "a"], capture_output=True, text=True).stdout)["nodes"][0]["metrics"]
check("figures", {p[0]: p[3] for p in points if "/" not in p[0]} == figures, figures)
check("tags", run["tags"].get("sonde.host.0") == os.uname().nodename and "sonde.version" in run["tags"], run["tags"])
META = json.loads(subprocess.run([SONDE, "show", "--json", "a"], capture_output=True, text=True).stdout)["nodes"][0]["metadata"]
stated = {tag: str(META[key]) for tag, key in (("cpu_model", "host.cpu_model"), ("cpus_count", "host.cpus_count"), ("cores_count", "host.cores_count"),
                                               ("memory_bytes", "node.memory_bytes"), ("architecture", "host.architecture")) if key in META}
check("tags of the machine", {k.removeprefix("sonde.platform."): v for k, v in run["tags"].items() if k.startswith("sonde.platform.") and "gpu" not in k} == stated and len(stated) > 2,
      (stated, run["tags"]))
check("the machine in words", run["tags"].get("sonde.platform"), run["tags"])
check("status", run["status"] == "FAILED", run["status"])
check("who", all(h.get("Authorization", "").startswith("Basic ") for _, _, h in fake.seen))
names = {f.rpartition("/sonde/")[2] for f in fake.files}
check("files", {"report.html", "samples.json"} <= names and any(n.startswith("recording/node-") for n in names), names)
first = len(fake.seen)
check("second", "already" in push("a", MLFLOW_TRACKING_URI=uri))
check("requests of a second push", len(fake.seen) == first and sorted(run["metrics"]) == points, len(fake.seen) - first)



def recording_of(fake, name):
    """What the recording that it got tells."""
    os.mkdir(name)
    for path, content in fake.files.items():
        if "/recording/" in path:
            with open(os.path.join(name, os.path.basename(path)), "wb") as file:
                file.write(content)
    return json.loads(subprocess.run([SONDE, "show", "--json", name], capture_output=True, text=True, check=True).stdout)["nodes"][0]


# The recording goes without the environment, unless that is asked for; what else it tells is the same.
here = json.loads(subprocess.run([SONDE, "show", "--json", "a"], capture_output=True, text=True, check=True).stdout)["nodes"][0]
there = recording_of(fake, "without")
environment = {k: v for k, v in here["metadata"].items() if k.startswith(("job.environment.", "job.error_text"))}
check("it has an environment", len(environment) > 3 and any(k.startswith("job.error_text") for k in environment), here["metadata"])
check("the environment stays here", there["metadata"] == {k: v for k, v in here["metadata"].items() if k not in environment}, sorted(there["metadata"])[:9])
check("its samples", there["samples"] == here["samples"], there["samples"])
check("nothing lies beside it", not [n for n in os.listdir("a") if "recording-" in n], os.listdir("a"))
push("a", "--with-environment", MLFLOW_TRACKING_URI=uri)
check("asked for", recording_of(fake, "with")["metadata"] == here["metadata"], "")
check("and then it is there", "already" in push("a", "--with-environment", MLFLOW_TRACKING_URI=uri))

# Lost answers and passing failures: one run, each value once. A repeated batch is the same batch.
fake = mlflow_server.Fake()
lost = {"mlflow/runs/create": ["drop", "drop"], "mlflow/runs/log-batch": ["refuse", 503], "mlflow/runs/update": [500]}
fake.fail = lambda method, path: (lost.get(path) or [None]).pop(0) if lost.get(path) else None
push(copy("b"), MLFLOW_TRACKING_URI=fake.uri, MLFLOW_TRACKING_TOKEN=SECRET, MLFLOW_EXPERIMENT_NAME="my exp/1 ä")
check("one run", len(fake.runs) == 1, fake.runs.keys())
check("values once", sorted(fake.runs["run0"]["metrics"]) == points, "")
check("experiment", fake.runs["run0"]["experiment_id"] == "1" and fake.experiments["1"] == "my exp/1 ä", fake.experiments)
check("token", all(h.get("Authorization") == f"Bearer {SECRET}" for _, _, h in fake.seen))

# Another push makes the experiment at the same moment, or the answer that it was made is lost.
fake = mlflow_server.Fake()


def made_elsewhere(method, path):
    if path.endswith("experiments/create"):
        fake.experiments["77"] = "shared"


fake.fail = made_elsewhere
push(copy("shared"), MLFLOW_TRACKING_URI=fake.uri, MLFLOW_EXPERIMENT_NAME="shared")
check("one experiment", list(fake.runs.values())[-1]["experiment_id"] == "77" and list(fake.experiments.values()).count("shared") == 1, fake.experiments)
fake.fail = lambda method, path: 400 if path.endswith("experiments/create") else None
check("a refusal is said", "refuses with status 400: as told" in push(copy("refused"), code=1, MLFLOW_TRACKING_URI=fake.uri, MLFLOW_EXPERIMENT_NAME="no"))

# A server that stops on the way: what was kept is said, and the next push goes on.
fake = mlflow_server.Fake()
fake.fail = lambda method, path: 503 if method == "PUT" else None
said = push(copy("c"), "--patience", "0", code=1, MLFLOW_TRACKING_URI=fake.uri)
check("how to go on", "run the same command again to continue" in said and "503" in said, said)
fake.fail, batches = lambda method, path: None, sum("log-batch" in p for _, p, _ in fake.seen)
push("c", MLFLOW_TRACKING_URI=fake.uri)
check("no batch again", sum("log-batch" in p for _, p, _ in fake.seen) == batches and sorted(fake.runs["run0"]["metrics"]) == points)

# Killed at random moments, 20 with --long: each value once, and no more requests than one for each kill above those there had to be; with 20
# that is a tenth.
KILLS, NODES = (20, 44) if os.environ.get("LONG") else (5, 8)
os.mkdir("many")
subprocess.run([os.path.join(os.environ["BUILD"], "bench/make_nodes"), "many", str(NODES), "1000", "100"], check=True)
shutil.copytree("many", "whole")
killed, whole = mlflow_server.Fake(), mlflow_server.Fake()
killed.fail = lambda method, path: time.sleep(0.01)
for kill in range(KILLS):
    p = subprocess.Popen([SONDE, "push", "many", "--to", "mlflow", "--artifacts", "none"], env={**os.environ, "MLFLOW_TRACKING_URI": killed.uri}, stderr=subprocess.DEVNULL)
    at = len(killed.seen) + random.randrange(1, 8)
    while p.poll() is None and len(killed.seen) < at:
        time.sleep(0.001)
    time.sleep(random.random() * 0.02)
    check("killed", p.poll() is None, f"kill {kill} came too late")
    p.kill()
    p.wait()
push("many", "--artifacts", "none", MLFLOW_TRACKING_URI=killed.uri)
push("whole", "--artifacts", "none", MLFLOW_TRACKING_URI=whole.uri)
# As MLflow does, equal ones are one.
check("one run after kills", len(killed.runs) == 1)
check("values after kills", sorted(set(killed.runs["run0"]["metrics"])) == sorted(whole.runs["run0"]["metrics"]))
check("requests after kills", len(killed.seen) <= len(whole.seen) + KILLS and (KILLS < 20 or len(killed.seen) <= 1.1 * len(whole.seen)), f"{len(killed.seen)} of {len(whole.seen)}")

# Into a run that is somebody's: its status is left alone.
fake.runs["theirs"] = {"metrics": [], "tags": {}, "status": "RUNNING"}
push("c", "--artifacts", "none", MLFLOW_TRACKING_URI=fake.uri, MLFLOW_RUN_ID="theirs")
check("their run", fake.runs["theirs"]["status"] == "RUNNING" and sorted(fake.runs["theirs"]["metrics"]) == points)
check("no such run", "404" in push("c", code=1, MLFLOW_TRACKING_URI=fake.uri, MLFLOW_RUN_ID="gone"))
fake.artifacts = "s3://bucket/{}"
fake.runs["far"] = {"metrics": [], "tags": {}, "status": "RUNNING"}
check("files left out", "s3://bucket/far" in push("c", code=1, MLFLOW_TRACKING_URI=fake.uri, MLFLOW_RUN_ID="far"))
check("values came", sorted(fake.runs["far"]["metrics"]) == points)

# What cannot go on says so.
strange = mlflow_server.Fake()
strange.id = "{}\nall yes"
check("a run id of several lines", "no MLflow" in push(copy("d"), code=1, MLFLOW_TRACKING_URI=strange.uri))
down = f"http://us:{SECRET}@127.0.0.1:{mlflow_server.free_port()}/x"
said = push("a", "--patience", "0", code=1, MLFLOW_TRACKING_URI=down)
check("unreachable", "cannot reach http://127.0.0.1:" in said and "same command" in said, said)
for status, words in ((401, "MLFLOW_TRACKING_TOKEN"), (302, "does not follow"), (400, "as told")):
    fake.fail = lambda method, path, status=status: status
    said = push(copy(f"s{status}"), "--patience", "0", code=1, MLFLOW_TRACKING_URI=fake.uri, MLFLOW_TRACKING_TOKEN=SECRET)
    check(f"sentence of {status}", words in said, said)
check("no address", "MLFLOW_TRACKING_URI" in push("a", code=2))
for bad in ("databricks", "ftp://h/", f"http://u:{SECRET}@/", f"http://u:{SECRET}%zz@h/", f"http://u:1/{SECRET}@h/", "http://h h/"):
    check(bad, "MLFLOW_TRACKING_URI" in push("a", code=2, MLFLOW_TRACKING_URI=bad))
check("follow", "remove --follow" in subprocess.run([SONDE, "push", "a", "--to", "postgres", "--follow"], capture_output=True, text=True).stderr)
check("password seen by all", "everybody on this machine can see" in push("a", "--url", down, code=2))
check("no service", "mlflow" in subprocess.run([SONDE, "push", "a", "--to", "x"], capture_output=True, text=True).stderr)
os.chmod("s400", 0o500)
if os.geteuid():
    check("journal", "--state" in push("s400", code=1, MLFLOW_TRACKING_URI=fake.uri))
for name in glob.glob("a/.push-*"):
    open(name, "w").write("something else\n")
check("a strange journal", "remove it" in push("a", code=1, MLFLOW_TRACKING_URI=uri))
job = subprocess.Popen([SONDE, "run", "--quiet", "-i", "50ms", "-o", "live", "--", "sleep", "60"])
try:
    while not glob.glob("live/*.sonde") or not os.path.getsize(glob.glob("live/*.sonde")[0]):
        pass
    check("running", "still being recorded" in push("live", code=1, MLFLOW_TRACKING_URI=fake.uri))
finally:
    job.terminate()
    job.wait()

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
