# SPDX-License-Identifier: Apache-2.0
# limit: 240
"""--jobs of bench sweep and bench run: as many trials at a time, each on cores of its own, which its facts say; in the same order, and after a kill
each trial exactly once. Off by default; more jobs than cores are refused."""
import collections
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import built
from patience import patience

SONDE = os.environ["SONDE"]
faults = []
built.need(("database", "libsqlite3-dev"), ("yaml", "libyaml-dev"))
os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")


def check(what, good, detail=""):
    if not good and len(faults) < 20:
        faults.append(f"{what}: {str(detail)[:1500]}")


def cores():
    """Of the CPUs that this process may use, those that do not share a core with one before them."""
    left, n = set(os.sched_getaffinity(0)), 0
    while left:
        cpu, n = min(left), n + 1
        left.discard(cpu)
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as f:
                for part in f.read().strip().split(","):
                    first, _, last = part.partition("-")
                    left -= set(range(int(first), int(last or first) + 1))
        except OSError:
            pass
    return n


def sonde(*words, code=0):
    p = subprocess.run([SONDE, "bench", *words], capture_output=True, text=True, timeout=patience(100), check=False)
    check(f"status of {words}", p.returncode == code, f"{p.returncode}: {p.stderr}{p.stdout}")
    return p


def ask(store, sql, *values):
    with sqlite3.connect(store) as db:
        return db.execute(sql, values).fetchall()


def trials(store, batch=None):
    """Of each: batch, number, jobs and CPUs by its facts, CPUs as it saw them, whether it met another."""
    fact = "(SELECT f.text FROM environment_facts f WHERE f.environment_id = t.environment_id AND f.name = 'trial.%s')"
    rows = ask(store, f"SELECT t.batch_id, t.number, {fact % 'jobs'}, {fact % 'cpus'}, x.cpus, x.met FROM trials t "
                      "JOIN trials_pi_place x ON x.trial_id = t.id ORDER BY t.id")
    return [r for r in rows if batch in (None, r[0])]


# It waits for another one that is running at the same time, for as long as a busy machine may take, unless there is none to wait for.
with open("place.py", "w") as f:
    f.write("""#!/usr/bin/env python3
import json, os, time
cpus = sorted(os.sched_getaffinity(0))
with open(os.environ["LOG"], "a") as f:
    f.write(f"{os.getenv('A')}\\n")
end = time.monotonic() + float(os.getenv("PATIENCE", "0"))
met = lambda: sum(1 for _ in open(os.environ["LOG"])) > 1
while not met() and time.monotonic() < end:
    time.sleep(0.01)
while os.getenv("GATE") and not os.path.exists(os.environ["GATE"]):
    time.sleep(0.01)
print(json.dumps({"name": "PiPlace", "component": "c", "@parameters": {},
                  "@result": {"cpus": ",".join(map(str, cpus)), "met": "yes" if met() else "no", "n": 1}}))
""")
os.chmod("place.py", 0o755)


def spec(name, **variables):
    with open(f"{name}.json", "w") as f:
        json.dump({"script": "place.py", "identifier": name, "batch_size": 3, "environment": {"LOG": os.path.abspath(f"{name}.log"), **variables},
                   "matrix": {"parameters": {"A": ["1", "2", "3", "4"]}}}, f)
    return f"{name}.json"


def expand(text):
    """0-1,3 as 0,1,3."""
    parts = [p.partition("-") for p in text.split(",")]
    return ",".join(str(c) for a, _, b in parts for c in range(int(a), int(b or a) + 1))


many = cores() + 1
alone = "leave --jobs out" if cores() == 1 else f"may use {cores()}: give at most --jobs {cores()}"
for words in (("sweep", "--jobs", str(many), spec("refused")), ("run", "--jobs", str(many), "./place.py")):
    p = sonde(*words, "--store", "refused.sqlite", code=2)
    check("more jobs than cores", p.stderr.count("\n") == 1 and f"--jobs {many} needs a core for each job" in p.stderr and alone in p.stderr,
          p.stderr)
p = sonde("sweep", "--jobs", "2", "--executor", "slurm", "--store", "refused.sqlite", "refused.json", code=2)
check("Slurm has its own", p.stderr.count("\n") == 1 and "--jobs is for trials on this machine" in p.stderr, p.stderr)
check("nothing of it is made", not os.path.exists("refused.sqlite") and not [d for d in os.listdir() if d.startswith(("sweep_", "bench_"))],
      os.listdir())

# As ever, when it is not asked for: no other runs, no fact says so, and no core is taken from it.
sonde("sweep", "-q", "--store", "off.sqlite", spec("off"))
all_cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
got = trials("off.sqlite")
check("off", len(got) == 12 and all(r[2:5] == (None, None, all_cpus) for r in got) and got[0][5] == "no", got)
check("off: stats", "side by side" not in sonde("stats", "--store", "off.sqlite", "bench:1").stdout)
p = subprocess.run(["taskset", "-c", str(min(os.sched_getaffinity(0))), SONDE, "bench", "run", "--jobs", "2", "--store", "one.sqlite", "./place.py"],
                   capture_output=True, text=True, check=False)
check("one core", p.returncode == 2 and "may use only one: leave --jobs out" in p.stderr and p.stderr.count("\n") == 1, p.stderr)
if cores() < 2:
    print("\n".join(faults) or "this process may use one core only")
    sys.exit(1 if faults else 77)

p = sonde("sweep", "-q", "--jobs", "2", "--store", "on.sqlite", spec("on", PATIENCE="60"))
got = trials("on.sqlite")
sets = {r[3] for r in got}
check("on", len(got) == 12 and {r[2] for r in got} == {"2"} and {r[5] for r in got} == {"yes"}, got)
check("its facts are true", all(expand(r[3]) == r[4] for r in got), got)
used = [set(expand(s).split(",")) for s in sets]
check("two sets of one size without a CPU in common", len(used) == 2 and not used[0] & used[1] and set().union(*used) <= set(all_cpus.split(",")),
      sets)
check("both work", len(collections.Counter(r[3] for r in got)) == 2 and collections.Counter((r[0], r[1]) for r in got).most_common(1)[0][1] == 1, got)
for words, known in (([], True), (["--jobs", "2"], False)):
    sonde("run", "-q", "-n", "2", "-i", "50ms", *words, "--store", "others.sqlite", "--", "sleep", "1")
    got = ask("others.sqlite", "SELECT others_ratio FROM trials WHERE batch_id = (SELECT MAX(id) FROM batches)")
    check(f"the CPU time of others is known: {known}", [r[0] is not None for r in got] == 2 * [known], got)

# The order is that without it, as far as two that begin together have one.
ORDER = "SELECT p.combination, t.number FROM trials t JOIN sweep_points p ON p.batch_id = t.batch_id ORDER BY t.start_ns"
planned, begun = ask("off.sqlite", ORDER), ask("on.sqlite", ORDER)
check("the order", sorted(planned) == sorted(begun) and all(abs(planned.index(t) - i) <= 2 for i, t in enumerate(begun)), (planned, begun))

# What shows it.
first = ask("on.sqlite", "SELECT MIN(id) FROM batches")[0][0]
check("stats", "side by side: 3 of 3 trials ran 2 at a time, each on cores of its own" in sonde("stats", "--store", "on.sqlite",
                                                                                                f"bench:{first}").stdout)
told = json.loads(sonde("stats", "--json", "--store", "on.sqlite", f"bench:{first}").stdout)["batches"][0]["side_by_side"]
check("stats as JSON", sum(t["trials"] for t in told) == 3 and {t["jobs"] for t in told} == {2} and {t["cpus"] for t in told} <= sets, told)
check("list", sonde("list", "--store", "on.sqlite").stdout.count("[2 at a time]") == 4)
check("list as JSON", [b["jobs"] for b in json.loads(sonde("list", "--json", "--store", "on.sqlite").stdout)["batches"]] == 4 * [[2]])
check("show", "trial.jobs" in sonde("show", "--store", "on.sqlite", f"bench:{first}/1").stdout)

# bench run has it, too, and warms up on the cores of each job.
os.environ.update(LOG=os.path.abspath("run.log"), PATIENCE="60")
sonde("run", "-q", "-n", "4", "--warmup", "1", "--jobs", "2", "--store", "on.sqlite", "./place.py")
batch = ask("on.sqlite", "SELECT MAX(id) FROM batches")[0][0]
got = trials("on.sqlite", batch)
with open("run.log") as f:
    check("bench run", sorted(r[1] for r in got) == [1, 2, 3, 4] and {r[3] for r in got} == sets and len(f.readlines()) == 6, got)
sonde("run", "-q", "-n", "3", "--store", "on.sqlite", "./place.py")
p = subprocess.run([SONDE, "compare", "--store", "on.sqlite", f"bench:{batch}", f"bench:{batch + 1}"], capture_output=True, text=True, check=False)
check("compare", "trial.jobs" in p.stdout and "trial.cpus" in p.stdout, p.stdout)

# Killed while two run: neither is stored; both run again, and each trial is there once.
killed = subprocess.Popen([SONDE, "bench", "sweep", "-q", "--jobs", "2", "--store", "kill.sqlite", spec("kill", GATE=os.path.abspath("gate"))],
                          stderr=subprocess.DEVNULL)
while not os.path.exists("kill.log") or sum(1 for _ in open("kill.log")) < 2:
    time.sleep(0.02)
killed.send_signal(signal.SIGKILL)
killed.wait()
check("none of them is done", ask("kill.sqlite", "SELECT COUNT(*) FROM trials") == [(0,)])
with open("gate", "w"):
    pass
p = sonde("sweep", "-q", "--jobs", "2", "--store", "kill.sqlite", "kill.json")
got = ask("kill.sqlite", "SELECT batch_id, number, COUNT(*) FROM trials GROUP BY batch_id, number")
check("each once", len(got) == 12 and {n for _, _, n in got} == {1} and "another process" not in p.stderr, (got, p.stderr))
with open("kill.log") as f:
    check("two ran again", len(f.readlines()) == 14)
sonde("sweep", "-q", "--jobs", "2", "--store", "kill.sqlite", "kill.json")
with open("kill.log") as f:
    check("nothing is left to run", len(f.readlines()) == 14)
print("\n".join(faults))
sys.exit(bool(faults))
