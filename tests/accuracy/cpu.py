# SPDX-License-Identifier: Apache-2.0
# alone
"""Workers spin until their own CPU clock shows a given time: alone, as threads, one after the other, orphaned and in sessions of their
own. The job's CPU time is compared with what they spun, with the kernel's account of children that were waited for (getrusage) and, if a
control group can be created, with that group's account. Process clocks also run while a hypervisor or an interrupt has the core, which
the kernel's accounts may leave out: the bound is extended by the stolen and interrupt time in /proc/stat meanwhile."""
import os
import subprocess

import accuracy

GROUPS = (("/sys/fs/cgroup", "cpu.stat"), ("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup/cpu,cpuacct", "cpuacct.usage"))
table = accuracy.Comparison("CPU time")


def compare(reference, measured, wanted, share, metric="job.cpu_seconds"):
    now, kinds = accuracy.taken()
    slack = now - before + kinds / os.sysconf("SC_CLK_TCK") if now > before else 0
    table.row(metric, reference, measured, wanted, share=share, slack=slack)


def spin(milliseconds):
    return accuracy.program("spin"), str(1000 * milliseconds)


def group_seconds(folder, name):
    with open(os.path.join(folder, name), encoding="ascii") as f:
        text = f.read()
    if name == "cpuacct.usage":
        return int(text) / 1e9
    return int(dict(line.split() for line in text.splitlines())["usage_usec"]) / 1e6


def new_group():
    """(its folder, the file that has its CPU time); None when none can be made."""
    for root, name in GROUPS:
        folder = f"{root}/sonde-accuracy-{os.getpid()}"
        try:
            os.mkdir(folder)
            group_seconds(folder, name)
            return folder, name
        except OSError:
            try:
                os.rmdir(folder)
            except OSError:
                pass
    return None


def in_a_group():
    made = new_group()
    if not made:
        table.left_out("job.cpu_seconds", "no control group may be made here")
        return
    folder, name = made
    try:
        script = f"echo $$ >{folder}/cgroup.procs && exec {accuracy.program('spawner')} 20 {' '.join(spin(20))}"
        try:
            _, recording = accuracy.record("group", "sh", "-c", script)
        except SystemExit:
            table.left_out("job.cpu_seconds", "a control group was made, but nothing may be put into it")
            return
        compare("cgroup's account of 20 processes of 20 ms", recording.job["cpu_seconds"], group_seconds(folder, name), 0.02)
    finally:
        os.rmdir(folder)


before = accuracy.taken()[0]
_, one = accuracy.record("one", *spin(300))
compare("one process that spins 300 ms", one.job["cpu_seconds"], 0.3, 0.02)
# Of a process that ended between samples a record of perf events tells, with what interrupts and a hypervisor took.
compare("the same, of the process", one.finals("spin")["process.cpu_seconds"], 0.3, 0.05, "process.cpu_seconds")

before = accuracy.taken()[0]
said, many = accuracy.record("many", accuracy.program("spawner"), "100", *spin(3), interval="1s")
kernel = float(said.split()[1]) + float(said.split()[3])
compare("getrusage of 100 processes of 3 ms, sampled once a second", many.job["cpu_seconds"], kernel, 0.01)
split = many.job["cpu_user_seconds"] + many.job["cpu_system_seconds"]
table.row("user + system", "the same", split, kernel, share=0.01)
if many.job["processes_started_at_most"] == many.job["processes_started"]:
    table.row("job.processes_started", "1 + 100", many.job["processes_started"], 101, apart=0)
else:
    table.row("job.processes_started_at_most", "1 + 100, an upper bound", many.job["processes_started_at_most"], 101, above=1e9)

before = accuracy.taken()[0]
said, chain = accuracy.record("chain", accuracy.program("chain"), "50")
compare("forked, orphaned, setsid and re-parented workers of 50 ms", chain.job["cpu_seconds"], float(said.split()[2]), 0.02)

before = accuracy.taken()[0]
with accuracy.begin("threads", accuracy.program("account"), "threads", "3", "100", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
    figures = [float(x) for x in job.stdout.readline().split()]
    job.communicate("")
threads = accuracy.Recording("threads")
compare("getrusage of 3 threads of 100 ms", threads.job["cpu_seconds"], figures[0] + figures[1], 0.02)
before = accuracy.taken()[0]
in_a_group()
table.end()
