# SPDX-License-Identifier: Apache-2.0
"""sonde stacks of programs made at random: every blocked thread's functions, what it waits for and whom for are right. With LONG 200 programs."""
# limit: 300
import json
import os
import random
import shutil
import subprocess
import time

import random_waits

from ordinary_user import need_unwind
from patience import patience

SONDE, BUILD, LONG = os.environ["SONDE"], os.environ["BUILD"], os.environ.get("LONG")
SEED, PROGRAMS = int(os.environ.get("SEED", "27")), int(os.environ.get("N", "200" if LONG else "16"))
need_unwind()


def quiet(pid):
    """None of its threads has a core or wants one."""
    try:
        calls = [open(f"/proc/{pid}/task/{t}/syscall", encoding="ascii").read() for t in os.listdir(f"/proc/{pid}/task")]
        ran = [open(f"/proc/{pid}/task/{t}/schedstat", encoding="ascii").read() for t in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return None
    return None if any(c.startswith("running") for c in calls) else (calls, ran)


def wait_until_blocked(pid, children):
    end, last, same = time.monotonic() + patience(60), None, 0
    while time.monotonic() < end and same < 5:
        now = quiet(pid)
        kids = len(open(f"/proc/{pid}/task/{pid}/children", encoding="ascii").read().split())
        same = same + 1 if now and now == last and kids >= children else 0
        last = now
        time.sleep(0.05)


def faults_of(thread, truth, who, main, stripped):
    """What is wrong with the functions, and with the object."""
    functions = [f["function"].split("(")[0] for f in thread["frames"] if f["function"]]
    mine = [f for f in functions if f.split("_")[0] in ("load", "solve", "step", "send", "merge", "apply") and f.count("_") == 2]
    wrong_functions = None if stripped or mine == truth["functions"] else f"functions {functions}, not {truth['functions']}"
    holders = [(h["tid"] or h["pid"]) for h in thread["ended_by"]]
    names = " ".join(h["process"] for h in thread["ended_by"])
    wanted = {"m": [main], "p": [who], "-": []}.get(truth["whom"])
    wrong = []
    if thread["waits_for"] != truth["waits_for"]:
        wrong.append(f"waits for {thread['waits_for']}")
    if wanted is not None and holders != wanted:
        wrong.append(f"ended by {holders}, not {wanted}")
    if truth["has"] not in f"{thread['object'] or ''} {names}":
        wrong.append(f"object {thread['object']} {names}")
    return wrong_functions, "; ".join(wrong)


def look(pid):
    done = subprocess.run([SONDE, "stacks", "--json", "--only", str(pid)], capture_output=True, text=True, check=True, timeout=patience(120))
    return {t["tid"]: t for t in json.loads(done.stdout)["threads"]}


def start(draw, name):
    os.mkdir(name)
    if draw.random() < 0.25:
        command, truth = random_waits.script(draw, name)
        if not shutil.which(command[0]):
            return None
        p = subprocess.Popen(command, cwd=name, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)  # pylint: disable=consider-using-with
        wait_until_blocked(p.pid, 1 if truth["threads"][0]["waits_for"] == "child" else 0)
        return p, truth, [p.pid, [p.pid, 0]]
    source, text, build, truth = random_waits.compiled(draw, name)
    with open(f"{name}/{source}", "w", encoding="ascii") as f:
        f.write(text)
    subprocess.run(build, cwd=name, check=True, timeout=patience(120))
    p = subprocess.Popen([f"./{name}"], cwd=name, stdout=subprocess.PIPE, text=True, start_new_session=True)  # pylint: disable=consider-using-with
    said = json.loads(p.stdout.readline())
    wait_until_blocked(p.pid, 0)
    return p, truth, said


def end(p, truths, said):
    os.killpg(p.pid, 9)
    p.wait()
    for truth, (_, queue) in zip(truths, said[1:]):
        if truth["kind"] == "queue":
            subprocess.run(["ipcrm", "-q", str(queue)], check=False)


draws = random.Random(SEED)
counted = {"functions": [0, 0], "objects": [0, 0]}
for number in range(PROGRAMS):
    started = start(draws, f"w{number}")
    if not started:
        continue
    process, true, pids = started
    try:
        threads = look(process.pid)
    finally:
        end(process, true["threads"], pids)
    for i, expected in enumerate(true["threads"]):
        tid, partner = pids[1 + i]
        found = threads.get(tid)
        functions, objects = faults_of(found, expected, partner, pids[0], true["stripped"]) if found else ("absent", "absent")
        for key, fault in (("functions", functions), ("objects", objects)):
            if key == "functions" and true["stripped"]:
                continue
            counted[key][0] += not fault
            counted[key][1] += 1
            if fault:
                print(f"seed {SEED}, {number}, {expected['kind']}: {fault}\n    {true['build']}\n    {found and found['stack']}")
for key, (right, all_) in counted.items():
    print(f"{key}: {right} of {all_} right")
    assert all_ and right >= 0.99 * all_, key
