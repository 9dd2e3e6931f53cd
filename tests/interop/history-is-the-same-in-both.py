# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""Every run leaves its summary for the history, whatever becomes of its recording; `sonde ls` and `sonde usage` tell the same of it from
SQLite and from PostgreSQL; many that end or are added at once lose nothing; a job notices nothing of it."""
import json
import os
import random
import shutil
import stat
import subprocess
import sys
import time

import postgres
from patience import patience

SONDE = os.environ["SONDE"]
PROGRAMS = os.environ["PROGRAMS"]
DATA = os.path.join(os.getcwd(), "data")
faults = []
chance = random.Random(6)
server = postgres.Server()
clean = {k: v for k, v in server.environment.items() if not k.startswith(("SLURM", "SONDE_")) and k != "USER"}


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:600]}")


def sonde(*words, code=0, **variables):
    p = subprocess.run([SONDE, *words], capture_output=True, text=True, timeout=patience(120), env={**clean, "XDG_DATA_HOME": DATA, **variables})
    check(f"status of {words}", p.returncode == code, f"{p.returncode}, wanted {code}: {p.stderr}")
    return p


def runs(*words, **variables):
    return json.loads(sonde("ls", "--history", "--json", *words, **variables).stdout)["runs"]


def names(*words, **variables):
    return sorted(r["name"] for r in runs(*words, **variables))


def job(index, status, **variables):
    return {"SLURM_JOB_ID": str(100 + index), "SLURM_ARRAY_JOB_ID": "100", "SLURM_ARRAY_TASK_ID": str(index), "SLURM_JOB_NAME": "train",
            "SLURM_JOB_USER": "anna", "SLURM_CLUSTER_NAME": "blue", "SLURM_JOB_NUM_NODES": "1", **variables}


check("no history yet", names() == [])
os.mkdir("jobs")
for i in range(1, 4):
    sonde("run", "-o", f"jobs/sonde_{i}", "--", "sh", "-c", f"{PROGRAMS}/mem private 16 1; exit {i == 3:d}", code=int(i == 3), **job(i, 0))
sonde("run", "-q", "-o", "jobs/sonde_4", "--", "sleep", "0.1", USER="otto")
sonde("run", "-q", "-o", "jobs/sonde_5", "--", "sh", "-c", "kill -TERM $$", code=-15, USER="otto")
check("modes", all(stat.S_IMODE(os.stat(os.path.join(d, f)).st_mode) & 0o77 == 0 for d, _, fs in os.walk(DATA) for f in fs))
check("what was left", len(os.listdir(f"{DATA}/sonde/ended")) == 5, os.listdir(f"{DATA}/sonde"))

# What is not wanted is not there, what cannot be written is not noticed.
sonde("run", "-q", "-o", "a", "--no-history", "--", "true")
sonde("run", "-q", "-o", "b", "--", "true", SONDE_HISTORY="off")
p = sonde("run", "-q", "-o", "c", "--", "sh", "-c", "exit 7", code=7, XDG_DATA_HOME="/proc/nowhere")
check("a job without a place for its history", p.stderr == "", p.stderr)

# It outlives the recording.
shutil.rmtree("jobs/sonde_2")
with open(f"{DATA}/sonde/ended/0-bad.json", "w") as f:
    f.write('{"uid": "x", "hosts": 7}')
with open(f"{DATA}/sonde/ended/1-path.json", "w") as f:  # as one of many tasks leaves it
    json.dump({"path": os.path.abspath("a")}, f)
p = sonde("ls", "--history")
check("what is no run is said", p.stderr.count("\n") == 1 and "left out" in p.stderr, p.stderr)
check("lines", len(p.stdout.splitlines()) == 7, p.stdout)
check("nothing is left behind", not os.listdir(f"{DATA}/sonde/ended"))
check("said once", sonde("ls", "--history").stderr == "")
every = runs("--name", "t*n,s*")
check("a run of which only the place was left", [(r["path"], r["exit_code"]) for r in runs("--name", "true")] == [(os.path.abspath("a"), 0)])
check("names", sorted(r["name"] for r in every) == ["sh", "sleep", "train", "train", "train"], every)
check("in their order", [r["start"] for r in every] == sorted(r["start"] for r in every))
show = json.loads(sonde("show", "--json", "jobs/sonde_4").stdout)["job"]
figures = next(r for r in every if r["name"] == "sleep")["figures"]
check("figures are the summary's", len(figures) > 10 and all(show[k] == v for k, v in figures.items() if k in show), figures)
check("exit codes", sorted(str(r["exit_code"]) for r in every) == ["0", "0", "0", "1", "None"] and [15] == [r["signal"] for r in every if r["signal"]])

# Filters.
check("--name", names("--name", "tra*,sle?p") == ["sleep", "train", "train", "train"])
check("--user", names("--user", "otto") == ["sh", "sleep"] and len(runs("--user", "anna")) == 3)
check("--host", len(runs("--host", os.uname().nodename)) == 6 and not runs("--host", "nowhere"))
check("--since", len(runs("--since", "1d")) == len(runs("--since", "2020-01-01")) == 6 and not runs("--since", "2100-01-01"))
check("no part of a directory", "--add adds all" in sonde("ls", "--add", "jobs", "--name", "x", code=2).stderr)
for text in "yesterday", "9999-01-01":
    check("a time that is none", "--since takes" in sonde("ls", "--since", text, code=2).stderr)

# The other database: the same recordings, but the one that is gone.
url = server.url
sonde("ls", "--add", "jobs", "--store", url)
here = [r for r in every if not r["path"].endswith("sonde_2")]
there = runs("--store", url)
check("the same runs", here == there, [(a, b) for a, b in zip(here, there) if a != b][:1])
sonde("ls", "--add", "jobs", "--store", "other.sqlite")
check("in a file, too", runs("--store", "other.sqlite") == there)
for by in "name", "array", "host", "user":
    both = [sonde("usage", "--by", by, *form, "--store", where).stdout for form in [(), ("--json",)] for where in (url, "other.sqlite")]
    check(f"usage by {by}", both[0] == both[1] and both[2] == both[3] and both[0], both[:2])
u = json.loads(sonde("usage", "--by", "array", "--json").stdout)
check("the array", [(g["name"], g["of"], g["runs"], g["failed"]) for g in u["groups"]] == [("100", "train", 3, 1)], u)
memory = u["groups"][0]["figures"]["peak_memory_bytes"]
values = sorted(r["figures"]["peak_memory_bytes"] for r in every if r["name"] == "train")
check("its memory", [memory[k] for k in ("p50", "p90", "p95", "max", "runs")] == [values[1], values[2], values[2], values[2], 3], memory)
check("what to ask for", memory["next"] == 100 * 1048576 and u["percentile"] == 95 and u["margin_percent"] == 20, memory)

# Many at once. Whoever looks meanwhile takes none away.
os.mkdir("many")
many = [subprocess.Popen([SONDE, "run", "-q", "-o", f"many/{i}", "--", "sh", "-c", f"exit {i}"], env={**clean, "XDG_DATA_HOME": DATA})
        for i in range(8)]
lookers = [subprocess.Popen([SONDE, "ls", "--history"], stdout=subprocess.DEVNULL, env={**clean, "XDG_DATA_HOME": DATA}) for _ in range(3)]
check("those that look", [p.wait(patience(60)) for p in lookers] == [0] * 3)
check("the jobs' own exit codes", [p.wait(patience(60)) for p in many] == list(range(8)))
check("all of them", sorted(r["exit_code"] for r in runs("--since", "1h") if "/many/" in r["path"]) == list(range(8)))
for where in url, "other.sqlite":
    adding = [subprocess.Popen([SONDE, "ls", "--add", f"many/{i}", "--store", where], stdout=subprocess.DEVNULL, env=clean) for i in range(8)]
    check("eight that add", [p.wait(patience(120)) for p in adding] == [0] * 8)
    check("all are added", len(runs("--store", where)) == 12, len(runs("--store", where)))

# A store for several users is named once and for all; its password is in no command line.
check("SONDE_STORE", len(runs(SONDE_STORE=url)) == 12)
check("a password", "seen by everybody" in sonde("ls", "--store", url.replace("anna@", "anna:x@"), code=2).stderr)
check("no server", "cannot reach" in sonde("usage", "--store", "postgres://anna@127.0.0.1:1/jobs", code=1).stderr)
check("no store", "cannot open" in sonde("usage", "--store", "nowhere/x.sqlite", code=1).stderr)

# One that a database refuses keeps none of the others out; what is too long for an index is cut; what a killed process left goes.
os.makedirs(f"{DATA}2/sonde/ended")


def leave(number, **what):
    with open(f"{DATA}2/sonde/ended/{number:020}-1-host.json", "w") as f:
        json.dump({"uid": f"left-{number}", "state": "complete", "start": "2026-11-20T13:05:33Z", **what}, f)


def ended():
    return sorted(os.listdir(f"{DATA}2/sonde/ended"))


long = "".join(chance.choices("abcdefghijklmnopqrstuvwxyz\u00e9", k=20000))
leave(1, name="before")
leave(2, name=long, uid=long[::-1], command=long, hosts=[long[1:], long[2:]])
leave(3, name="refused")
leave(4, name="after")
for name, age in (("00000000000000000005-1-host", 7200), ("00000000000000000006-1-host", 0), ("notes", 7200)):
    path = f"{DATA}2/sonde/ended/{name}"
    open(path, "w").close()
    os.utime(path, (time.time() - age,) * 2)
server.sql("ALTER TABLE runs ADD CHECK (name <> 'refused')")
p = sonde("ls", "--history", "--json", XDG_DATA_HOME=f"{DATA}2", SONDE_STORE=url)
left = [r["name"] for r in json.loads(p.stdout)["runs"]]
check("the others", {"before", "after"} < set(left) and "refused" not in left, left)
check("a long name", any(n and n != long and long.startswith(n) and len(n.encode()) > 700 for n in left), [len(n or "") for n in left])
check("one is refused", p.stderr.count("\n") == 1 and "refuses" in p.stderr and "00000000000000000003" in p.stderr, p.stderr)
check("what stays", ended() == ["00000000000000000003-1-host.json", "00000000000000000006-1-host", "notes"], ended())
server.sql("ALTER TABLE runs DROP CONSTRAINT runs_name_check")
p = sonde("ls", "--history", "--json", XDG_DATA_HOME=f"{DATA}2", SONDE_STORE=url)
check("later", p.stderr == "" and "refused" in p.stdout and len(ended()) == 2, p.stderr)

server.stop()
for fault in faults:
    print(fault)
sys.exit(bool(faults))
