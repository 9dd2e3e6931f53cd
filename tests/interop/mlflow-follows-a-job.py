# SPDX-License-Identifier: Apache-2.0
# limit: 600
"""Values of a running job are in a real MLflow before it ends, each once, though the push is killed and the server is away for a while, which is
said; the job does not notice; when the recording ends, so does the push, and the run has everything else."""
import os
import signal
import sqlite3
import subprocess
import sys
import time

import mlflow_server as harness
from patience import patience

harness.enter()
import mlflow

server = harness.Server()
SONDE = os.environ["SONDE"]
faults = []


def check(what, good, detail=""):
    if not good:
        faults.append(f"{what}: {str(detail)[:800]}")


def wait_for(what, found, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = found()
        if got:
            return got
        time.sleep(0.1)
    check("waited for " + what, False)
    return None


def follow():
    return subprocess.Popen([SONDE, "push", "live", "--to", "mlflow", "--follow=1s", "--patience", "500ms"], stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "MLFLOW_TRACKING_URI": proxy.uri, "MLFLOW_EXPERIMENT_NAME": "live"})


def run_of():
    experiment = client.get_experiment_by_name("live")
    runs = client.search_runs([experiment.experiment_id]) if experiment else []
    check("one run", len(runs) < 2, runs)
    return runs[0] if runs else None


def rows():
    with sqlite3.connect("mlflow.db", timeout=patience(30)) as db:
        return db.execute("SELECT key, timestamp, step, value FROM metrics ORDER BY key, step").fetchall()


JOB = """
i=0
while [ ! -e stop ]; do
    "$0" mark epoch loss=$i
    i=$((i + 1))
    sleep 0.2
done
exit 3
"""
try:
    server.wait()
    proxy = harness.Proxy(server.port)
    client = mlflow.MlflowClient(f"http://127.0.0.1:{server.port}")
    job = subprocess.Popen([SONDE, "run", "--quiet", "-i", "100ms", "-o", "live", "--", "sh", "-c", JOB, SONDE])
    wait_for("the recording", lambda: os.path.isdir("live") and [n for n in os.listdir("live") if n.endswith(".sonde")])
    time.sleep(1)
    first = follow()
    # Values come while the job runs.
    wait_for("values", lambda: run_of() and len([r for r in rows() if r[0] == "system/job_memory_megabytes"]) >= 3)
    wait_for("the job's own numbers", lambda: len([r for r in rows() if r[0] == "epoch/loss"]) >= 3)
    check("it runs", run_of().info.status == "RUNNING" and first.poll() is None and job.poll() is None, run_of())
    check("its machine", run_of().data.tags.get("sonde.platform.cpus_count"), run_of().data.tags)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    # Another one goes on; the server is away for a while.
    second = follow()
    time.sleep(2)
    before = len(rows())
    proxy.fail = lambda method, path: "refuse"
    seen = len(proxy.seen)
    wait_for("attempts", lambda: len(proxy.seen) >= seen + 3)
    check("nothing came", len(rows()) == before, (before, len(rows())))
    proxy.fail = lambda method, path: None
    wait_for("values after that", lambda: len(rows()) > before + 10)
    open("stop", "w").close()
    check("the job's end", job.wait(patience(60)) == 3)
    text = second.communicate(timeout=patience(120))[1]
    check("the push ends", second.returncode == 0, text)
    check("it says so", text.count("retrying") == 1 and text.count("answers again") == 1 and "pushed live to run" in text, text)
    # Everything is there, once.
    got = rows()
    check("each value once", len({r[:3] for r in got}) == len(got), [r for r in got if [q[:3] for q in got].count(r[:3]) > 1][:6])
    loss = [r for r in got if r[0] == "epoch/loss"]
    check("each number of the job", [(r[2], r[3]) for r in loss] == [(i, i) for i in range(len(loss))] and len(loss) > 15, loss)
    exported = subprocess.run([SONDE, "export", "live", "--metrics", "job.resident_bytes", "--every", "1s", "-o", "-"], check=True,
                              capture_output=True, text=True)
    windows = exported.stdout.count("job.resident_bytes")
    memory = [r for r in got if r[0] == "system/job_memory_megabytes"]
    steps = [r[2] for r in memory]
    check("each window", len(steps) == windows and steps == list(range(steps[0], steps[0] + windows)), (steps, windows))
    run = run_of()
    check("the end", run.info.status == "FAILED" and run.data.tags["sonde.command"] and run.data.metrics["job_peak_memory_mb"] > 0, run)
    files = {a.path for a in client.list_artifacts(run.info.run_id, "sonde")}
    check("files", files >= {"sonde/report.html", "sonde/samples.json", "sonde/recording"}, files)
    again = subprocess.run([SONDE, "push", "live", "--to", "mlflow"], capture_output=True, text=True,
                           env={**os.environ, "MLFLOW_TRACKING_URI": proxy.uri, "MLFLOW_EXPERIMENT_NAME": "live"})
    check("again", again.returncode == 0 and "already" in again.stderr and rows() == got, again.stderr)
finally:
    server.stop()
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
