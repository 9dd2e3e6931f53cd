# SPDX-License-Identifier: Apache-2.0
"""Prometheus and VictoriaMetrics receive by remote write what an export has: each sample once, also of a job that still runs, and when a
push is killed on the way. Passwords stay out of what is said and kept."""
import csv
import glob
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from datetime import datetime

import mlflow_server
import prometheus
from patience import patience

SONDE, SECRET = os.environ["SONDE"], "Gehe1m"
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {detail}")


def push(url, *options, code=0):
    p = subprocess.run([SONDE, "push", "job", "--to", "remote-write", *options], capture_output=True, text=True,
                       env={**os.environ, "SONDE_REMOTE_WRITE_URL": url})
    check(f"status of {options}", p.returncode == code, f"{p.returncode} {p.stderr}")
    check("one sentence without a password", p.stderr.count("\n") == 1 and SECRET not in p.stderr, p.stderr)
    return p.stderr


def follow(url):
    return subprocess.Popen([SONDE, "push", "job", "--to", "remote-write", "--labels", "cluster=f", "--follow=1s", "--patience", "0"],
                            stderr=subprocess.PIPE, text=True, env={**os.environ, "SONDE_REMOTE_WRITE_URL": url})


def exported(cluster):
    text = subprocess.run([SONDE, "export", "job", "-o", "-", "--table", "series"], check=True, capture_output=True, text=True).stdout
    want = {}
    for r in csv.DictReader(io.StringIO(text)):
        scope = r["metric"].partition(".")[0]
        if scope in ("process", "command"):
            continue
        device = {"device" if scope in ("node", "job", "instance") else scope: r["instance"]} if r["instance"] else {}
        labels = frozenset({"__name__": "sonde_" + re.sub(r"[^a-zA-Z0-9]", "_", r["metric"]), "node": r["node"], "cluster": cluster, **device}.items())
        at, fraction = re.match(r"(.*?)(?:[.](\d+))?Z$", r["time"]).groups()
        ms = int(datetime.fromisoformat(at + "+00:00").timestamp()) * 1000 + int((fraction or "0").ljust(9, "0")[:3])
        series = want.setdefault(labels, [])
        if not series or series[-1][0] < ms:
            series.append((ms, float(r["value"])))
    return want


receivers = [prometheus.Receiver("prometheus"), prometheus.Receiver("victoria-metrics")]
job = subprocess.Popen([SONDE, "run", "--quiet", "-i", "20ms", "-o", "job", "--", "sh", "-c", "until [ -e over ]; do sleep 0.2; done"])
try:
    for r in receivers:
        r.wait()
    while not glob.glob("job/*.sonde"):
        time.sleep(0.05)
    time.sleep(1)
    proxies = [mlflow_server.Proxy(r.port) for r in receivers]
    urls = [p.uri.replace("//", f"//user:{SECRET}@") + "/api/v1/write" for p in proxies]
    proxies[0].fail = lambda method, path: 503 if len(proxies[0].seen) in (2, 3) else None  # who follows goes on when it is away
    followers = [follow(url) for url in urls]
    for proxy in proxies:
        end = time.monotonic() + patience(60)
        while len(proxy.seen) < 4 and time.monotonic() < end:
            time.sleep(0.05)
        proxy.fail = lambda method, path: None
    for url in urls:
        push(url, "--labels", "cluster=x")  # it runs
    open("over", "w").close()
    job.wait()
    for follower in followers:
        said = follower.communicate(timeout=patience(120))[1]
        check("who follows", follower.returncode == 0 and said.count("\n") == 1 + 2 * (follower is followers[0]) and "pushed job" in said, said)
    lines = [sum(1 for _ in open(name)) for name in glob.glob("job/.push-*")]
    check("journals do not grow", len(lines) == 4 and max(lines) == 3, lines)
    for url, proxy in zip(urls, proxies):
        for _ in range(3):
            p = subprocess.Popen([SONDE, "push", "job", "--to", "remote-write", "--labels", "cluster=x"], stderr=subprocess.DEVNULL,
                                 env={**os.environ, "SONDE_REMOTE_WRITE_URL": url})
            time.sleep(random.random() * 0.05)
            p.send_signal(signal.SIGKILL)
            p.wait()
        push(url, "--labels", "cluster=x")
        requests = len(proxy.seen)
        check("again", "already" in push(url, "--labels", "cluster=x") and len(proxy.seen) == requests, "was sent again")
        check("who", all(h.get("Authorization", "").startswith("Basic ") for _, _, h in proxy.seen))
    for r, cluster in [(r, cluster) for r in receivers for cluster in "xf"]:
        want = exported(cluster)
        check("export", len(want) > 100, len(want))
        end, wrong = time.monotonic() + patience(60), True
        while wrong and time.monotonic() < end:  # VictoriaMetrics shows what it has after a moment, and keeps about fifteen digits
            got = r.samples(f'{{cluster="{cluster}"}}', time.time())
            wrong = [(dict(k), v[:3], got.get(k, [])[:3]) for k, v in want.items() if [t for t, _ in v] != [t for t, _ in got.get(k, [])] or
                     any(abs(a - b) > 1e-9 * abs(a) for (_, a), (_, b) in zip(v, got[k]))]
            time.sleep(0.3 * bool(wrong))
        check(r.name, len(got) == len(want) and not wrong, f"{len(got)} of {len(want)} series; {len(wrong)} differ; {wrong[:2]}")
    check("journals", len(glob.glob("job/.push-remote-write-*")) == 4)
    for name in glob.glob("job/.push-*"):
        check("a password in the journal", SECRET not in open(name).read() and os.stat(name).st_mode & 0o777 == 0o600)
    check("not found", "address of the receiver" in push(receivers[0].url.replace("write", "wrote"), code=1))

    # Two steps of a job, each with its own recorder, at once: series of their own. An older job of the same labels is refused, and stays so.
    steps = [subprocess.Popen([SONDE, "run", "--quiet", "-i", "50ms", "--node-recorder=own", "-o", "steps", "--", "sleep", "2"],
                              env={**os.environ, "SLURM_JOB_ID": "77", "SLURM_STEP_ID": step}) for step in "01"]
    for step in steps:
        step.wait()
    said = json.loads(subprocess.run([SONDE, "push", "steps", "--to", "remote-write", "--url", receivers[0].url, "--json", "--labels", "cluster=y"],
                                     check=True, capture_output=True, text=True).stdout)
    got = receivers[0].samples('{cluster="y"}', time.time())
    check("steps", sum(map(len, got.values())) == said["values"] > 0, f"{sum(map(len, got.values()))} of {said}")
    check("which step", {dict(k).get("recording") for k in got} == {None, "2"}, "")
    for _ in range(2):
        check("an older job", "--labels distinguishes this job" in push(receivers[0].url, "--labels", "cluster=y", code=1))
    check("labels", "NAME=VALUE" in push(urls[0], "--labels", "node=x", code=2))
    check("unreachable", "cannot reach" in push(f"http://u:{SECRET}@127.0.0.1:{mlflow_server.free_port()}/w", "--patience", "0", code=1))
finally:
    if job.poll() is None:
        job.kill()
    for r in receivers:
        r.stop()

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(bool(faults))
