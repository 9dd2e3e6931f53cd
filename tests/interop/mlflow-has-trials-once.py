# SPDX-License-Identifier: Apache-2.0
# limit: 900
"""A batch and a sweep in a real MLflow: a run and below it one of each trial, with what was varied, the machine, the figures, the end and the locks;
killed and pushed again, from elsewhere too, each is there once; of a sweep that grew, only what is new is sent."""
import json
import os
import random
import signal
import sqlite3
import subprocess
import time

import mlflow_server as harness

harness.enter()
import mlflow

from trials import check, database, end, script, sonde

server = harness.Server()
script("work.sh", """#!/bin/sh
[ "$SIZE" = 4 ] && { echo "size 4 does not fit" >&2; exit 3; }
echo '{"name": "PiWork", "component": "sh", "@parameters": {"size": '${SIZE:-1}', "mode": "a:b"}, "@result": {"ops": 8, "kind": "quick"}}'
""")
SPEC = "identifier: sizes\nscript: work.sh\ncount: 2\nmatrix:\n  parameters:\n    SIZE: [%s]\n"


def sweep(values):
    with open("spec.yaml", "w") as f:
        f.write(SPEC % values)
    return sonde("bench", "sweep", "-q", "spec.yaml", code=1)  # one combination fails


def push(word, *options, code=0, **variables):
    return sonde("push", "--to", "mlflow", word, *options, code=code, MLFLOW_TRACKING_URI=proxy.uri, MLFLOW_EXPERIMENT_NAME="trials", **variables)


def below(run):
    experiment = client.get_experiment_by_name("trials").experiment_id
    return client.search_runs([experiment], f"tags.`mlflow.parentRunId` = '{run}'", order_by=["attributes.start_time ASC"], max_results=500)


def values_of(table, *runs):
    with sqlite3.connect("mlflow.db") as db:
        return sorted(row for r in runs for row in db.execute(f"SELECT * FROM {table} WHERE run_uuid = ?", (r,)))


try:
    sonde("bench", "run", "-q", "-n", "3", "--env", "KNOB=fast", "--note", "before the fix", "./work.sh", "x y")
    # What a stack of a sweep would have said, and the lock that it left.
    os.makedirs("stack/bin")
    with open("stack/sonde.fingerprint", "w") as f:
        f.write("f" * 64)
    with open("stack/requirements.lock", "w") as f:
        f.write("--index-url https://anna:Gehe1m@example.org/simple\nthing==1.0 \\\n    --hash=sha256:00\n"
                "other @ https://anna:Gehe1m@example.org/other.whl\nmine @ git+ssh://git@example.org/mine\n")
    with sqlite3.connect("s.sqlite") as db:
        (environment,) = db.execute("SELECT DISTINCT environment_id FROM trials").fetchone()
        db.execute("DELETE FROM environment_facts WHERE name = 'runtime.interpreter'")
        db.executemany("INSERT INTO environment_facts VALUES (?, ?, ?)", [(environment, "stack.fingerprint", "f" * 64),
                                                                         (environment, "runtime.interpreter", os.path.abspath("stack/bin/python"))])
    server.wait()
    proxy = harness.Proxy(server.port)
    client = mlflow.MlflowClient(f"http://127.0.0.1:{server.port}")

    # A batch.
    said = json.loads(push("bench:1", "--json").stdout)
    check("said", said["trials"] == "bench:1" and said["complete"] and "recording" not in said, said)
    parent = said["where"].split()[1]
    info = client.get_run(parent)
    check("parent", (info.info.run_name, info.info.status) == ("bench:1 PiWork", "FINISHED") and
          info.data.metrics == {"trials": 3, "trials_failed": 0}, info)
    check("parent's tags", info.data.tags["sonde.indicator"] == "PiWork" and info.data.tags["mlflow.note.content"] == "before the fix" and
          info.data.tags["sonde.script"].endswith("work.sh"), info.data.tags)
    children = below(parent)
    check("children", sorted(c.info.run_name for c in children) == ["bench:1/1", "bench:1/2", "bench:1/3"], children)
    facts = dict(database("SELECT name, text FROM environment_facts"))
    for c in children:
        stored = database("SELECT * FROM trials WHERE batch_id = 1 AND number = ?", int(c.data.tags["sonde.trial"]))[0]
        check("parameters", c.data.params == {"size": "1", "mode": "a:b", "env.KNOB": "fast", "script.arguments": "'x y'"}, c.data.params)
        check("figures", c.data.metrics["ops"] == 8 and c.data.metrics["duration_seconds"] == stored["duration_seconds"] and
              c.data.metrics["ru_maxrss"] == stored["ru_maxrss"] and
              ("energy_joules" in c.data.metrics) == (stored["energy_joules"] is not None), c.data.metrics)
        check("machine", c.data.tags["sonde.platform.cpus_count"] == facts["host.cpus_count"] and c.data.tags["sonde.host"] == stored["host"] and
              c.data.tags["sonde.result.kind"] == "quick", c.data.tags)
        check("times", (c.info.status, c.info.start_time) == ("FINISHED", stored["start_ns"] // 1000000) and
              c.info.end_time >= c.info.start_time, c.info)
        lock = c.data.tags["sonde.lock"]
        check("lock is named", lock.startswith("sonde/locks/") and lock.endswith("/requirements.lock"), c.data.tags)
    with open(client.download_artifacts(parent, children[0].data.tags["sonde.lock"], ".")) as f:
        lock = f.read()
    check("lock", lock == "thing==1.0 \\\n    --hash=sha256:00\nother @ https://example.org/other.whl\n"
          "mine @ git+ssh://git@example.org/mine\n", lock)
    before, seen = values_of("metrics", parent, *(c.info.run_id for c in children)), len(proxy.seen)
    check("again", "already" in push("bench:1").stderr and len(proxy.seen) == seen, len(proxy.seen) - seen)
    os.mkdir("elsewhere")
    push("bench:1", "--state", "elsewhere")  # nothing is known of what has arrived
    check("from elsewhere", len(below(parent)) == 3 and values_of("metrics", parent, *(c.info.run_id for c in children)) == before)

    # A sweep, killed on its way.
    sweep("1, 2, 4")
    seed = int.from_bytes(os.urandom(4), "little")
    print("seed", seed)
    chance, kills = random.Random(seed), 0
    for wanted in (1, 2, 3, 5):
        p = subprocess.Popen([os.environ["SONDE"], "push", "--to", "mlflow", "sweep:sizes"], stderr=subprocess.DEVNULL,
                             env={**os.environ, "SONDE_STORE": "s.sqlite", "MLFLOW_TRACKING_URI": proxy.uri, "MLFLOW_EXPERIMENT_NAME": "trials"})
        at = len(proxy.seen) + wanted
        while p.poll() is None and len(proxy.seen) < at:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.05)
        kills += p.poll() is None
        p.send_signal(signal.SIGKILL)
        p.wait()
    check("kills", kills == 4, kills)
    where = json.loads(push("sweep:sizes", "--json").stdout)["where"].split()[1]
    children = below(where)
    check("a run of each trial", len(children) == 6 and len({c.info.run_name for c in children}) == 6, [c.info.run_name for c in children])
    check("one run of all", len(client.search_runs([client.get_experiment_by_name("trials").experiment_id], "tags.`sonde.sweep` != ''")) == 1)
    sizes = sorted(c.data.params["env.SIZE"] for c in children)
    check("what was varied", sizes == ["1", "1", "2", "2", "4", "4"], [c.data.params for c in children])
    failed = [c for c in children if c.info.status == "FAILED"]
    check("failed trials", len(failed) == 2 and all("exit" in c.data.tags["sonde.reason"] and "ops" not in c.data.metrics and
                                                    "duration_seconds" not in c.data.metrics for c in failed), failed)
    counts = client.get_run(where).data.metrics
    check("counts", counts == {"trials": 6, "trials_failed": 2, "combinations_skipped": 0}, counts)
    values = values_of("metrics", *(c.info.run_id for c in children))
    check("each value once", len(values) == sum(len(c.data.metrics) for c in children), len(values))

    # It grows: what is there stays as it is.
    sweep("1, 2, 4, 8")
    seen = len(proxy.seen)
    push("sweep:sizes")
    grown = below(where)
    check("grown", len(grown) == 8 and {c.info.run_id for c in children} <= {c.info.run_id for c in grown}, [c.data.params for c in grown])
    made = sum(p.endswith("runs/create") for _, p, _ in proxy.seen[seen:])
    check("only what is new", made == 2, made)

    # Bad input.
    check("no such batch", "there is no bench:99" in push("bench:99", code=1).stderr)
    check("no such sweep", "no sweep 'none'" in push("sweep:none", code=1).stderr)
    check("an indicator", "is not a batch" in push("bench:PiWork", code=2).stderr)
    check("follow", "remove it" in push("bench:1", "--follow", code=2).stderr)
    check("another service", "only recordings" in sonde("push", "--to", "remote-write", "bench:1", code=2).stderr)
finally:
    server.stop()
end()
