# SPDX-License-Identifier: Apache-2.0
"""sacct.py WHAT JOB DIR...: what sacct says of the job, and Sonde of its recordings, as a row of a table in Markdown; what differs by more
than 2 % and is compared (COMPARED, of "cpu,memory") is said on standard error and is exit status 1. OWN_STEP: that step is Sonde's.

sacct's CPU time is what the kernel told of ended tasks (TotalCPU), its memory the largest sum of resident sets of a task at a look (MaxRSS)."""
import glob
import json
import os
import subprocess
import sys

WITHIN = 0.02


def seconds(text):
    """ "1-02:03:04", "03:04.567" """
    days, _, rest = text.rpartition("-")
    total = 0.0
    for part in rest.split(":"):
        total = total * 60 + float(part or 0)
    return total + 86400 * int(days or 0)


def accounts(job):
    keys = "JobID,State,ExitCode,TotalCPU,MaxRSS,DerivedExitCode"
    out = subprocess.run(["sacct", "-n", "-P", "--noconvert", "-j", job, "-o", keys], check=True, capture_output=True, text=True).stdout
    rows = [dict(zip(keys.split(","), line.split("|"))) for line in out.splitlines()]
    jobs = [r for r in rows if "." not in r["JobID"]]
    own = "." + os.environ.get("OWN_STEP", "none")
    steps = [r for r in rows if "." in r["JobID"] and not r["JobID"].endswith(own)]
    states = {}
    for r in jobs:
        state = r["State"].split()[0] + " " + r["ExitCode"]
        states[state] = states.get(state, 0) + 1
    failed = sorted({r["State"].split()[0] + " " + r["ExitCode"] for r in steps} - set(states))
    memory = [int(r["MaxRSS"].rstrip("K") or 0) * (1024 if r["MaxRSS"].endswith("K") else 1) for r in steps if r["MaxRSS"]]
    return {
        "says": ", ".join(s if n == 1 else f"{n} x {s}" for s, n in states.items()) + (f"; steps: {', '.join(failed)}" if failed else ""),
        "cpu": sum(seconds(r["TotalCPU"]) for r in steps),
        "memory": max(memory, default=0),
    }


def ending(job):
    if job["signal"]:
        return f"signal {job['signal']:.0f}"
    return "end not seen" if job["exit_code"] is None else f"exit code {job['exit_code']:.0f}"


def told(directory):
    out = subprocess.run([os.environ["SONDE"], "show", "--json", directory], check=True, capture_output=True, text=True).stdout
    show = json.loads(out)
    worst = [v["sentence"] for v in show["verdicts"] if v["severity"] == "bad"]
    # A task's own processes, as sacct adds them up; of a job that is watched from beside, its nodes.
    memory = [t["peak_resident_bytes"] or 0 for t in show["tasks"]] or [h["peak_memory_bytes"] or 0 for h in show["hosts"]] or [show["job"]["peak_memory_bytes"] or 0]
    return {"ending": ending(show["job"]), "cpu": show["job"]["cpu_seconds"] or 0, "memory": max(memory), "verdict": worst[0] if worst else None}


def sonde(directories):
    all_told = [told(d) for d in directories]
    endings = {}
    for t in all_told:
        endings[t["ending"]] = endings.get(t["ending"], 0) + 1
    words = ", ".join(e if n == 1 else f"{n} x {e}" for e, n in endings.items())
    verdicts = sorted({t["verdict"] for t in all_told if t["verdict"]})
    return {
        "says": "; ".join([words] + [f'"{v}"' for v in verdicts[:1]]),
        "cpu": sum(t["cpu"] for t in all_told),
        "memory": max(t["memory"] for t in all_told),
    }


def own(job):
    """CPU seconds of the job's last attempt, as its own shells were told (own.JOB.ELEMENT.RANK.ATTEMPT); None: they left nothing."""
    found = glob.glob(f"own.{job}.*")
    last = max((int(f.rpartition(".")[2]) for f in found), default=0)
    total = 0.0
    for name in found:
        if int(name.rpartition(".")[2]) == last:
            with open(name, encoding="utf-8") as f:
                for part in f.read().splitlines()[-1].split():  # of its children: "0m3.012s 0m0.010s"
                    minutes, _, rest = part.rstrip("s").partition("m")
                    total += 60 * int(minutes) + float(rest)
    return total if found else None


def third(job):
    cpu, memory = own(job), os.environ.get("OWN_MEMORY")
    return ", ".join(([f"{cpu:.2f} s"] if cpu else []) + ([f"{int(memory) / 2**20:.0f} MiB"] if memory else []))


def difference(a, b):
    return (b - a) / a if a else None


def cell(what, a, b, words):
    d = difference(a, b)
    return words(a) + ", " + words(b) + (f" ({100 * d:+.1f} %)" if d is not None and what in os.environ.get("COMPARED", "cpu,memory") else "")


def main():
    what, job, directories = sys.argv[1], sys.argv[2], sys.argv[3:]
    a, b = accounts(job), sonde(directories)
    cpu = cell("cpu", a["cpu"], b["cpu"], lambda v: f"{v:.2f} s")
    memory = cell("memory", a["memory"], b["memory"], lambda v: f"{v / 2**20:.0f} MiB")
    print(f"| {what} | {a['says']} | {b['says']} | {cpu} | {memory} | {third(job)} |".replace("\n", " "), flush=True)
    bad = [f"{key} of '{what}': sacct {a[key]}, Sonde {b[key]}" for key in os.environ.get("COMPARED", "cpu,memory").split(",") if key and not
           (a[key] and abs(difference(a[key], b[key])) <= WITHIN)]
    print("\n".join(bad), end="\n" if bad else "", file=sys.stderr)
    return 1 if bad else 0


sys.exit(main())
