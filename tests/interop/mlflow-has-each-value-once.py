# SPDX-License-Identifier: Apache-2.0
# limit: 900
"""A push to a real MLflow that is killed at random moments, 20 with --long, and begun again: its own client reads each value once, and no more
requests were made than one for each kill above those there had to be; with 20 that is a tenth."""
import csv
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time

import mlflow_server as harness

harness.enter()
import mlflow

server = harness.Server()
try:
    SONDE = os.environ["SONDE"]
    KILLS, NODES = (20, 44) if os.environ.get("LONG") else (2, 2)
    os.mkdir("job")
    subprocess.run([os.path.join(os.environ["BUILD"], "bench/make_nodes"), "job", str(NODES), "1000", "100"], check=True)
    with open("series.csv", "w") as f:
        subprocess.run([SONDE, "export", "job", "-o", "-", "--metrics", "node.memory_used_ratio"], check=True, stdout=f)
    server.wait()
    proxy = harness.Proxy(server.port)
    push = [SONDE, "push", "job", "--to", "mlflow", "--artifacts", "report"]
    env = {**os.environ, "MLFLOW_TRACKING_URI": proxy.uri, "MLFLOW_EXPERIMENT_NAME": "killed"}
    seed = int.from_bytes(os.urandom(4), "little")
    print("seed", seed)
    chance, kills = random.Random(seed), 0
    while kills < KILLS:
        p = subprocess.Popen(push, env=env)
        # A random moment of the time that some batches take, counted from the first of them.
        before, wanted = len(proxy.seen), chance.randrange(1, 5)
        while p.poll() is None and len(proxy.seen) < before + wanted:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.2)
        if p.poll() is not None:
            break
        p.send_signal(signal.SIGKILL)
        p.wait()
        kills += 1
    said = json.loads(subprocess.run([*push, "--json"], env=env, check=True, capture_output=True, text=True).stdout)
    assert kills == KILLS, f"the push ended after {kills} kills: it was too short"
    seen = len(proxy.seen)
    again = subprocess.run(push, env=env, capture_output=True, text=True)
    assert again.returncode == 0 and "already" in again.stderr and len(proxy.seen) == seen, again.stderr

    # Whether each value is there once: what a push that nobody killed sends, is what is there.
    run = said["where"].split()[1]
    client = mlflow.MlflowClient(f"http://127.0.0.1:{server.port}")
    experiment = client.get_experiment_by_name("killed")
    assert [r.info.run_id for r in client.search_runs([experiment.experiment_id])] == [run], "not one run"
    fake = harness.Fake()
    shutil.copytree("job", "fresh", ignore=shutil.ignore_patterns(".push-*"))
    subprocess.run([SONDE, "push", "fresh", "--to", "mlflow", "--artifacts", "report"], env={**env, "MLFLOW_TRACKING_URI": fake.uri}, check=True)
    want = sorted(fake.runs["run0"]["metrics"])
    with sqlite3.connect("mlflow.db") as db:
        got = sorted(db.execute("SELECT key, timestamp, step, value FROM metrics WHERE run_uuid = ?", (run,)))
    assert got == want, f"{len(got)} values there, {len(want)} wanted"
    least = len(fake.seen)
    print(f"{len(want)} values, {least} requests had to be, {seen} were")
    # A kill costs the request that was under way; one more may have been asked again on a busy machine.
    assert seen <= least + kills + 1 and (KILLS < 20 or seen <= 1.1 * least), f"{seen} requests, {least} had to be"

    # MLflow's client gives the values that an export has.
    with open("series.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    for node in ("n00000", f"n{NODES - 1:05}"):
        wanted = [float(r["value"]) * 100 for r in rows if r["node"] == node]
        history = client.get_metric_history(run, f"system/{node}/system_memory_usage_percentage")
        history.sort(key=lambda m: m.step)
        assert len(wanted) == len(history) <= 1000, (len(wanted), len(history))
        assert all(abs(m.value - w) <= 1e-12 * abs(w) for m, w in zip(history, wanted)), node
    info = client.get_run(run)
    assert info.info.status == "FINISHED" and info.data.tags[f"sonde.host.{NODES - 1}"] == f"n{NODES - 1:05}", info
    # Of a real job, its runs are found by their machine.
    subprocess.run([SONDE, "run", "--quiet", "-o", "real", "--", "true"], check=True)
    subprocess.run([SONDE, "push", "real", "--to", "mlflow", "--artifacts", "none"], check=True, env={**env, "MLFLOW_EXPERIMENT_NAME": "real"})
    stated = json.loads(subprocess.run([SONDE, "show", "--json", "real"], check=True, capture_output=True, text=True).stdout)["nodes"][0]["metadata"]
    query = f"tags.`sonde.platform.cpus_count` = '{stated['host.cpus_count']}' and tags.`sonde.platform.memory_bytes` = '{stated['node.memory_bytes']}'"
    found = client.search_runs([client.get_experiment_by_name("real").experiment_id], query)
    assert len(found) == 1 and found[0].data.tags["sonde.platform"], found
    with open(client.download_artifacts(run, "sonde/report.html", ".")) as f:
        assert "</html>" in f.read()
finally:
    server.stop()
