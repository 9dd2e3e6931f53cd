# SPDX-License-Identifier: Apache-2.0
# quiet
# limit: 300
"""Processes that are hard to follow: children that the kernel reaps since SIGCHLD is ignored or has SA_NOCLDWAIT set, for all of them or
for every second one, that are their parent's siblings (CLONE_PARENT), that are orphaned (double fork), that stay zombies, that run in
another pid namespace; a process that executes another program again and again, and one that does so in a second thread; and 200 children
that are alive together for a moment. Each is recorded
with process starts by perf events, by the proc connector and by polling for new pids, once a second: most end between two samples. Each
process spins until its own clock shows a given time and reports it. Where the kernel forgets what ended, figures are lower bounds and must
say so."""
import os
import shutil
import subprocess
import sys

import accuracy

COUNT, MS, KIB, TOGETHER, CROWD = 40, 10, 600, 8, 200
# None of them ends before the last has begun.
GATHERING = f"""import os
gate, key = os.pipe()
for child in range({CROWD}):
    if not os.fork():
        os.close(key)
        os.read(gate, 1)
        os._exit(0)
os.close(key)
for child in range({CROWD}):
    os.wait()
print()"""
table = accuracy.Comparison("Processes")
taken = {}


def compare(what, metric, measured, wanted, share):
    """A bound that grows by what interrupts and the hypervisor took meanwhile: clocks of processes run on."""
    now, kinds = accuracy.taken()
    slack = now - taken["before"] + kinds / os.sysconf("SC_CLK_TCK")
    table.row(metric, what, measured, wanted, share=share, slack=slack if now > taken["before"] else 0)


def hold_counts(what, way, job, started):
    if job["processes_started_at_most"] == job["processes_started"] and way != "polling":
        table.row("processes_started", what, job["processes_started"], started, apart=0)
    else:
        table.row("processes_started_at_most", what, job["processes_started_at_most"], started, above=1e9)


def hold_peak(what, way, job, most):
    if job["processes_peak_is_lower_bound"]:
        table.lower_bound("processes_peak", what, job["processes_peak"], most, True)
    else:
        table.row("processes_peak", what, job["processes_peak"], most, share=0.4)


def hold_cpu(what, job, spun, count=COUNT):
    if job["cpu_is_lower_bound"]:
        table.lower_bound("job.cpu_seconds", what, job["cpu_seconds"], spun, True)
        table.row("job.cpu_at_most_seconds", what, job["cpu_at_most_seconds"], 0.95 * spun, above=1e9)
    else:
        # Their clocks were read before they ended: starting and ending them comes on top.
        compare(what, "job.cpu_seconds", job["cpu_seconds"], spun, 0.25 if count * MS / 1000 > spun / 2 else 0.05)


def record(way, name, *command):
    taken["before"] = accuracy.taken()[0]
    # Without records only a sample shows that nobody waits.
    interval = "100ms" if way != "perf" and name in ("nocldwait", "mixed") else "1s"
    said, recording = accuracy.record(f"{name}-{way}", *command, interval=interval, options=("--process-events", way))
    return said.split(), recording.job


def children(way, how, words, more=0, prefix=(), count=COUNT):
    """As many children that each write KIB; `more` processes that start them."""
    said, job = record(way, how + "-" * len(prefix), *prefix, accuracy.program("disown"), how, str(count), str(MS), str(KIB), str(TOGETHER))
    what = f"{way}: {count} children {words}"
    processes = 1 + count * (2 if how == "double" else 1) + more
    hold_counts(what, way, job, processes)
    hold_cpu(what, job, float(said[1]), count)
    if job["io_is_lower_bound"]:
        table.lower_bound("job.written_bytes", what, job["written_bytes"], count * KIB * 1024 + 200, True)
    else:
        table.row("job.written_bytes", what, job["written_bytes"], count * KIB * 1024, above=count * 100)
    if how == "waited":
        hold_peak(what, way, job, 1 + more + TOGETHER)


def passing(way, how, words):
    said, job = record(way, how, accuracy.program("passing"), how, "20", "10")
    what = f"{way}: one process that executes 20 programs, {words}"
    hold_counts(what, way, job, 1)
    hold_cpu(what, job, float(said[0]))


def crowd(way):
    _, job = record(way, "crowd", sys.executable, "-c", GATHERING)
    what = f"{way}: {CROWD} children that are alive together, and who started them"
    hold_counts(what, way, job, 1 + CROWD)
    if job["processes_peak_is_lower_bound"]:
        table.lower_bound("processes_peak", what, job["processes_peak"], 1 + CROWD, True)
    else:
        table.row("processes_peak", what, job["processes_peak"], 1 + CROWD, apart=0)


def may_make_namespaces():
    made = shutil.which("unshare") and subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], stderr=subprocess.DEVNULL, check=False)
    return made and made.returncode == 0


for each in accuracy.ways(table, "processes_started"):
    children(each, "waited", "that are waited for")
    children(each, "ignore", "whose parent ignores SIGCHLD")
    children(each, "nocldwait", "whose parent has set SA_NOCLDWAIT")
    # A look a sample at who ignores: one in two finds it.
    children(each, "mixed", "of which every second one is waited for", count=4 * COUNT)
    children(each, "sibling", "of who waits for the one that started them")
    children(each, "double", "orphaned by a double fork")
    children(each, "zombies", "that stay zombies")
    if may_make_namespaces():
        children(each, "waited", "in a pid namespace of their own", more=1, prefix=("unshare", "--pid", "--fork", "--mount-proc"))
    else:
        table.left_out("processes_started", "a pid namespace: none may be made here")
    passing(each, "exec", "one after the other")
    passing(each, "thread", "each in a second thread")
    crowd(each)
table.end()
