# SPDX-License-Identifier: Apache-2.0
# limit: 300
"""Each query of the dashboards and alert rules runs where it would: in PostgreSQL with pushed jobs, in a Prometheus that scrapes a running
job. All give rows but those that name what a machine may lack."""
import atexit
import json
import os
import signal
import subprocess
import sys
import time

import grafana
import postgres
import prometheus
from patience import patience

SONDE, BUILD, PROGRAMS = (os.environ[name] for name in ("SONDE", "BUILD", "PROGRAMS"))
PATIENCE = patience(90)
MAY_LACK = {"GPUs", "Memory of GPUs", "Waiting", "Memory of the job"}
faults = []


def check(what, holds, detail=""):
    if not holds:
        faults.append(f"{what}: {str(detail)[:500]}")


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    sys.exit(f"waited in vain: {what}")


def record(directory, *command):
    subprocess.run([SONDE, "run", "-q", "-i", "50ms", "-o", directory, "--", *command], check=False,
                   env=os.environ | {"PATH": f"{os.path.dirname(SONDE)}:{os.environ['PATH']}"})


def check_postgres():
    server = postgres.Server()
    for i in range(3):
        record(f"failed{i}", "sh", "-c", f"sonde mark epoch loss=1; {PROGRAMS}/spin 400000; exit 3")
    record("good", "sleep", "0.3")
    for directory in ("failed0", "failed1", "failed2", "good"):
        subprocess.run([SONDE, "push", directory, "--to", "postgres"], check=True, stderr=subprocess.DEVNULL,
                       env={**server.environment, "SONDE_POSTGRES_URL": server.url})
    uid = server.sql("SELECT uid FROM runs WHERE exit_code = 3 LIMIT 1")[0][0]
    now = time.time_ns()
    macros = [(r"\$__unixEpochNanoFrom\(\)", str(now - 3600 * 10**9)), (r"\$__unixEpochNanoTo\(\)", str(now + 60 * 10**9))]

    def rows(text, **variables):
        # A data source of Grafana has no search path: names are written out.
        return server.sql("SET search_path TO pg_catalog; " + grafana.expand(text, variables, macros))

    board = grafana.boards()["jobs-in-postgresql.json"]
    for v in board["templating"]["list"]:
        if v["type"] == "query":
            check(f"variable {v['name']}", rows(v["query"]), v["query"])
    user = "'" + rows(board["templating"]["list"][1]["query"])[0][0] + "'"
    for title, target in grafana.targets(board):
        found = rows(target["rawSql"], user=user, run=uid)
        check(title, found and found[0][0] is not None, target["rawSql"])
    panels = {title: target["rawSql"] for title, target in reversed(grafana.targets(board))}
    check("four jobs", rows(panels["Jobs"], user=user) == [["4"]], rows(panels["Jobs"], user=user))
    check("none of another user", rows(panels["Jobs"], user="'somebody'") == [["0"]])
    check("three failed", float(rows(panels["Failed"], user=user)[0][0]) == 0.75, rows(panels["Failed"], user=user))
    marks = rows(board["annotations"]["list"][0]["target"]["rawSql"], run=uid)
    check("the mark", len(marks) == 1 and "loss" in marks[0][1], marks)
    fired = {title: rows(text) for title, text, _ in grafana.alert_queries()}
    check("three alert rules", len(fired) == 3, fired)
    check("it failed again and again", [r[2] for r in fired["Job fails again and again"]] == ["3"], fired)
    check("none ran out of memory", fired["Job ran out of memory"] == [], fired)
    threshold = {title: over for title, _, over in grafana.alert_queries()}
    check("three are more than the threshold", 3 > threshold["Job fails again and again"] >= 1, threshold)
    server.stop()


def check_prometheus():
    if not os.path.exists(f"{BUILD}/libexec/sonde/sonde-serve"):
        return print("sonde-serve is not built: libmicrohttpd-dev is not installed")
    job = subprocess.Popen([SONDE, "run", "--node-recorder=own", "-q", "-i", "100ms", "-o", "job", "--", "sh", "-c",
                            "while :; do head -c 1000000 /dev/zero >x; sleep 0.05; done"], start_new_session=True)
    atexit.register(lambda: job.poll() is None and os.killpg(job.pid, signal.SIGKILL))
    wait_for("the job is recorded", lambda: os.path.isdir("job") and os.listdir("job"))
    serve = subprocess.Popen([SONDE, "serve", "--metrics", "--json", "--listen", "127.0.0.1:0", "job"], stdout=subprocess.PIPE, text=True,
                             env=os.environ | {"SONDE_TOKEN": "a-token-of-the-tests-0123"})
    atexit.register(serve.kill)
    text = ""
    while "}" not in text:
        line = serve.stdout.readline()
        if not line:
            sys.exit("serve ended")
        text += line
    address = json.loads(text)["url"].split("/")[2]
    with open("token", "w", encoding="utf-8") as f:
        f.write("a-token-of-the-tests-0123")
    server = prometheus.Receiver("prometheus", f"scrape_configs:\n- job_name: sonde\n  scrape_interval: 1s\n  authorization: {{credentials_file: "
                                 f"{os.path.abspath('token')}}}\n  static_configs: [{{targets: [\"{address}\"]}}]\n")
    atexit.register(server.stop)
    server.wait()

    def ask(text):
        status, answer = server.get("/api/v1/query", query=text)
        if status != 200:
            sys.exit(f"Prometheus refuses {text}: {answer[:300]}")
        return json.loads(answer)["data"]["result"]

    wait_for("rates", lambda: ask("rate(sonde_job_cpu_seconds_total[30s])"))
    for title, target in grafana.targets(grafana.boards()["running-jobs.json"]):
        text = grafana.expand(target["expr"], {"job": ".+", "node": ".+"}, [(r"\$__rate_interval", "30s")])
        found = ask(text)
        check(title, found or title in MAY_LACK, text)
    check("memory", ask("sonde_job_resident_bytes"))
    for text in grafana.alert_expressions():
        ask(text)
    # Each rule can fire: with the threshold moved past what this job does, it does.
    for text, moved in ((0, ("< 0.02", "< 1000")), (1, ("< 0.05", "< 2")), (3, ("> 120", "> -120"))):
        rule = grafana.alert_expressions()[text]
        check(f"the rule fires: {rule}", moved[0] in rule and ask(rule.replace(*moved).replace("15m", "30s")), rule)


check_postgres()
check_prometheus()
for fault in faults:
    print(fault)
sys.exit(bool(faults))
