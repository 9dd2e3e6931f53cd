# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""A push to PostgreSQL puts all of a recording into the database: each value as it was stored, once, however often and by how many it is
pushed, and whoever is killed; says in a sentence what went wrong; keeps passwords out of command lines and sentences. What docs/push.md
shows as queries runs."""
import csv
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
from fractions import Fraction

import postgres
from patience import patience

SONDE = os.environ["SONDE"]
TABLES = "nodes metrics instances labels finals series samples marks spans metadata pushes runs run_hosts summaries".split()
faults = []


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:600]}")


def push(directory, *options, code=0, **variables):
    p = subprocess.run([SONDE, "push", directory, "--to", "postgres", *options], capture_output=True, text=True, timeout=patience(120),
                       env={**server.environment, "SONDE_POSTGRES_URL": server.url, **variables})
    check(f"status of push {directory} {options}", p.returncode == code, f"{p.returncode}, wanted {code}: {p.stderr}")
    check("one sentence without a password", p.stderr.count("\n") == 1 and postgres.PASSWORD not in p.stderr + p.stdout, p.stderr)
    return p.stderr if "--json" not in options else json.loads(p.stdout)


def counts():
    return [int(server.sql(f"SELECT COUNT(*) FROM {t}")[0][0]) for t in TABLES]


def nanoseconds(text):
    at, fraction = re.match(r"(.*?)(?:[.](\d+))?Z$", text).groups()
    return int(datetime.fromisoformat(at + "+00:00").timestamp()) * 10**9 + int((fraction or "0").ljust(9, "0"))


def exported(directory):
    """{(host, metric, device, time): value} of what does not come and go, as the export has it."""
    text = subprocess.run([SONDE, "export", directory, "-o", "-", "--table", "series", "--raw"], check=True, capture_output=True,
                          text=True).stdout
    return {(r["node"], r["metric"], r["instance"] or None, nanoseconds(r["time"])): float(r["value"])
            for r in csv.DictReader(io.StringIO(text)) if r["metric"].partition(".")[0] not in ("process", "command", "task")}


def has_all_values(directory):
    want = exported(directory)
    got = {}
    for host, metric, device, time_ns, stored, real, mul, div, value in server.sql(
            "SELECT n.host, m.name, i.name, p.time_ns, p.stored, p.real_value, m.mul, m.div, r.value FROM samples p"
            " JOIN series s USING (run_id, series) JOIN metrics m USING (run_id, metric) JOIN nodes n USING (run_id, node)"
            " LEFT JOIN instances i ON i.run_id = s.run_id AND i.instance = s.instance"
            " JOIN readings r ON r.run_id = p.run_id AND r.series = p.series AND r.time_ns = p.time_ns"
            " WHERE COALESCE(m.domain, '') NOT IN ('process', 'command', 'task')"):
        check("one of an integer and a real", (stored is None) != (real is None), metric)
        exact = float(Fraction(int(stored)) * int(mul) / int(div)) if stored is not None else float(real)
        check("the view's value", abs(float(value) - exact) <= 1e-12 * abs(exact), f"{metric} {value} {exact}")
        got[host, metric, device, int(time_ns)] = exact
    check("values that are there", len(want) > 1000 and want.keys() == got.keys(), f"{len(want)} {len(got)} {list(want.keys() ^ got.keys())[:3]}")
    different = [k for k in want if k in got and abs(want[k] - got[k]) > 1e-12 * abs(want[k])]
    check("values", not different, different[:3])


server = postgres.Server()
hostile = "a'b\"c\\d\te\u00e9\u202e"
subprocess.run([SONDE, "run", "--quiet", "-i", "20ms", "-o", "job", "--", "sh", "-c", "sleep 0.6; exit 3", hostile], check=False)

# All of it, once.
result = push("job", "--json")
check("what is told", result["complete"] and result["values"] > 1000 and result["where"] == server.url, result)
before = counts()
check("samples", int(server.sql("SELECT COUNT(*) FROM samples")[0][0]) == result["values"] == int(server.sql("SELECT samples FROM pushes")[0][0]))
check("rows", all(n > 0 for t, n in zip(TABLES, before) if t not in ("marks", "spans", "labels")), list(zip(TABLES, before)))
has_all_values("job")
check("hostile text", hostile[3:] in server.sql("SELECT command FROM runs")[0][0], server.sql("SELECT command FROM runs"))
show = json.loads(subprocess.run([SONDE, "show", "--json", "job"], capture_output=True, text=True, check=True).stdout)["job"]
run = server.sql("SELECT exit_code, state, nodes, wall_seconds FROM runs")[0]
check("the run", run[:3] == ["3", "complete", "1"] and float(run[3]) == show["wall_seconds"], run)
figures = {name: float(value) for name, value in server.sql("SELECT name, value FROM summaries WHERE value IS NOT NULL")}
check("summary", figures and all(figures[k] == show[k] for k in figures if k in show and show[k] is not None), figures)

# The environment is sent when that is asked for.
environment = "SELECT COUNT(*) FROM metadata WHERE name LIKE 'job.environment.%'"
check("without the environment", server.sql(environment)[0][0] == "0", server.sql(environment))
check("with it, it is another content", "pushed" in push("job", "--with-environment"))
check("the environment", int(server.sql(environment)[0][0]) > 3, server.sql(environment))
check("and that is noted", "already" in push("job", "--with-environment") and "pushed" in push("job"))
check("it is gone again", counts()[:-4] == before[:-4], counts())

# Again, and by eight at once: nothing is added.
check("again", "already" in push("job"))
check("nothing was added", counts() == before, counts())
subprocess.run(["cp", "-r", "job", "twin"], check=True)
subprocess.run([SONDE, "run", "--quiet", "-i", "20ms", "-o", "other", "--", "sleep", "0.3"], check=True)
many = [subprocess.Popen([SONDE, "push", d, "--to", "postgres"], stderr=subprocess.PIPE, text=True,
                         env={**server.environment, "SONDE_POSTGRES_URL": server.url}) for d in ["job", "twin", "other", "other"] * 2]
for p in many:
    check("eight at once", p.wait(patience(120)) == 0, p.stderr.read())
check("two runs", server.sql("SELECT COUNT(*) FROM runs") == [["2"]] and server.sql("SELECT COUNT(DISTINCT run_id) FROM samples") == [["2"]])
twice = server.sql("SELECT COUNT(*) FROM (SELECT run_id, series, time_ns FROM samples GROUP BY run_id, series, time_ns HAVING COUNT(*) > 1) AS t")
check("each value once", twice == [["0"]], twice)

# Killed on the way: nothing half, and the same command puts the rest there.
subprocess.run([SONDE, "run", "--quiet", "-i", "10ms", "-o", "long", "--", "sleep", "1"], check=True)
for _ in range(6):
    p = subprocess.Popen([SONDE, "push", "long", "--to", "postgres"], stderr=subprocess.DEVNULL,
                         env={**server.environment, "SONDE_POSTGRES_URL": server.url})
    time.sleep(random.random() * 0.25)
    p.send_signal(signal.SIGKILL)
    p.wait()
    half = server.sql("SELECT COUNT(*) FROM (SELECT run_id FROM samples GROUP BY run_id HAVING COUNT(*) <>"
                      " (SELECT samples FROM pushes WHERE pushes.run_id = samples.run_id)) AS t")
    check("nothing half", half == [["0"]], half)
push("long")
check("three runs", server.sql("SELECT COUNT(*) FROM pushes") == [["3"]])

# A job that runs is replaced by what it has become.
job = subprocess.Popen([SONDE, "run", "--quiet", "-i", "20ms", "-o", "running", "--", "sleep", "30"])
while not os.path.isdir("running") or not os.listdir("running"):
    time.sleep(0.05)
time.sleep(0.3)
push("running")
check("it runs", server.sql("SELECT COUNT(*) FROM runs WHERE state = 'running'") == [["1"]], server.sql("SELECT state FROM runs"))
job.send_signal(signal.SIGTERM)
job.wait()
push("running")
check("it has ended", server.sql("SELECT state, signal FROM runs ORDER BY id DESC LIMIT 1") == [["complete", "15"]])
check("one run of it", server.sql("SELECT COUNT(*) FROM pushes") == [["4"]])

# What the document shows.
document = open(os.path.join(os.environ["TOP"], "docs/push.md")).read()
queries = re.findall(r"```sql\n(.*?)```", document, re.S)
check("queries of the document", len(queries) >= 4, len(queries))
for q in queries:
    check("a query of the document gives rows", server.sql(q), q)
for table in TABLES:
    check("the document tells of each table", f"`{table}`" in document, table)

# What goes wrong is said.
check("wrong password", "password" in push("job", code=1, PGPASSWORD="wrong"))
check("a password in the command line", "everybody on this machine can see it" in push("job", "--url", server.url.replace("anna@", "anna:secret@"), code=2))
check("no address", "SONDE_POSTGRES_URL" in push("job", code=2, SONDE_POSTGRES_URL=""))
check("a malformed address", "malformed" in push("job", code=2, SONDE_POSTGRES_URL="postgres://anna:%zz@/jobs"))
check("another kind", "postgres://" in push("job", code=2, SONDE_POSTGRES_URL="https://x/"))
latest = server.sql("SELECT version FROM sonde_schema")[0][0]
server.sql("UPDATE sonde_schema SET version = 1000")
check("a newer version", "newer" in push("job", code=1))
server.halt()
check("no server", "cannot reach" in push("job", "--patience", "1s", code=1))
subprocess.run([SONDE, "run", "--quiet", "-o", "late", "--", "true"], check=True)
late = subprocess.Popen([SONDE, "push", "late", "--to", "postgres", "--patience", "60s"], stderr=subprocess.PIPE, text=True,
                        env={**server.environment, "SONDE_POSTGRES_URL": server.url})
time.sleep(0.5)
server.start()
server.sql(f"UPDATE sonde_schema SET version = {latest}")
check("a server that comes up meanwhile", late.wait(patience(90)) in (0, 1), late.stderr.read())
push("late")
check("five runs", server.sql("SELECT COUNT(*) FROM pushes") == [["5"]])

# Tables of the first version, which had runs only, are brought up by eight at once.
first = ("runs", "run_hosts", "summaries", "sonde_schema")
newer = [name for (name,) in server.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'sonde'") if name not in first]
server.sql("DROP VIEW rates, readings; DROP TABLE " + ", ".join(newer) + "; UPDATE sonde_schema SET version = 1")
many = [subprocess.Popen([SONDE, "push", d, "--to", "postgres"], stderr=subprocess.PIPE, text=True,
                         env={**server.environment, "SONDE_POSTGRES_URL": server.url}) for d in ["job", "other"] * 4]
for p in many:
    check("eight that migrate", p.wait(patience(120)) == 0, p.stderr.read())
check("migrated", server.sql("SELECT version FROM sonde_schema") == [[latest]] and server.sql("SELECT COUNT(*) FROM pushes") == [["2"]])
check("what was there", server.sql("SELECT COUNT(*) FROM runs") == [["5"]])

server.stop()
check("nothing is left", not os.path.exists(server.folder))
for fault in faults:
    print(fault)
sys.exit(bool(faults))
