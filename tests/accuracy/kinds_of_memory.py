# SPDX-License-Identifier: Apache-2.0
# alone
# limit: 300
"""Memory that resident sets do not show, or show wrongly: pages that several processes share, huge pages of hugetlbfs, transparent huge
pages of which one byte is used, memfds, files of /dev/shm and System V segments that no process maps, memory that was swapped out, and
processes that have ended before a sample saw them. A program holds a given size until its standard input ends. Processes that have ended are recorded with
process starts by perf events, by the proc connector and by polling for new pids; what is held too, with LONG and for docs/accuracy.md, and else by the first of these. Of transparent huge pages and of swap the reference is what the
kernel gives the program (smaps). What no sample has seen must be a lower bound that says so. Files that another process of the user writes
into /dev/shm meanwhile are not the job's."""
import contextlib
import os
import re
import subprocess
import tempfile
import time

import accuracy

MIB, SIZE = 1 << 20, 64
HUGE = "/proc/sys/vm/nr_hugepages"
HELD = ("private", "shared", "hugetlb", "hugetlb-shared", "thp", "memfd", "shm", "sysv", "swap")
table = accuracy.Comparison("Kinds of memory")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def kib(field, text):
    found = re.search(rf"^{field}:\s+(\d+)", text, re.M)
    return int(found[1]) if found else 0


@contextlib.contextmanager
def huge_pages(wanted):
    """Are there so many free ones? Who may reserve some does, and gives them back."""
    def free():
        return kib("HugePages_Free", read("/proc/meminfo")) * kib("Hugepagesize", read("/proc/meminfo")) * 1024

    before = read(HUGE) if os.path.exists(HUGE) else None
    size = kib("Hugepagesize", read("/proc/meminfo")) * 1024
    reserved = False
    if before and size == 2 * MIB and free() < wanted and os.access(HUGE, os.W_OK):
        with contextlib.suppress(OSError):
            with open(HUGE, "w", encoding="ascii") as f:
                f.write(str(int(before) + wanted // size))
            reserved = True
    try:
        yield size == 2 * MIB and free() >= wanted
    finally:
        if reserved:
            with open(HUGE, "w", encoding="ascii") as f:
                f.write(before)


def swaps():
    return len(read("/proc/swaps").splitlines()) > 1


@contextlib.contextmanager
def swap_space(wanted):
    """Where there is none, root adds a file of this folder and takes it away."""
    def run(*command):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    file = os.path.abspath("swap-space")
    added = False
    if not swaps() and os.geteuid() == 0:
        with open(file, "wb") as f:
            os.chmod(file, 0o600)
            f.write(bytes(wanted))
        added = run("mkswap", file) and run("swapon", file)
    try:
        yield
    finally:
        if added:
            subprocess.run(["swapoff", file], check=True)


def why_not(kind, has_huge):
    if kind.startswith("hugetlb") and not has_huge:
        return "no huge pages of hugetlbfs are free, and none may be reserved"
    if kind == "thp" and "[never]" in read("/sys/kernel/mm/transparent_hugepage/enabled"):
        return "transparent huge pages are off"
    if kind == "swap" and not swaps():
        return "this machine has no swap"
    return None


def held_by(pid):
    return {field: 1024 * kib(field, read(f"/proc/{pid}/smaps_rollup")) for field in ("AnonHugePages", "Swap", "Rss")}


def child_of(recorder, name):
    """The pid of the program: `held` was read from its pipe, so it is there."""
    children = read(f"/proc/{recorder}/task/{recorder}/children").split()
    return next(pid for pid in children if read(f"/proc/{pid}/comm").strip() == name)


def hold(way, kind):
    """(what the kernel gives it, the recording)"""
    out = f"{kind}-{way}"
    with accuracy.begin(out, accuracy.program("mem"), kind, str(SIZE), "0", interval="200ms", options=("--process-events", way),
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
        if job.stdout.readline() != "held\n":
            job.communicate()
            return None, None
        given = held_by(child_of(job.pid, "mem"))
        time.sleep(1.5)
        job.communicate("")
    return given, accuracy.Recording(out)


def largest(recording, metric):
    return max((value for _, value in recording.series(metric)), default=None)


def compare(way, kind):
    given, recording = hold(way, kind)
    what = f"{way}: {SIZE} MiB, {kind}"
    if not recording:
        table.left_out("peak_memory_bytes", f"{what}: the kernel does not give them")
        return
    if kind == "thp":
        table.row("job.anonymous_huge_bytes", f"{what}: AnonHugePages in smaps", largest(recording, "job.anonymous_huge_bytes"),
                  given["AnonHugePages"], share=0.02)
        table.row("job.resident_bytes", f"{what}: Rss in smaps, of {SIZE // 2} bytes used", largest(recording, "job.resident_bytes"),
                  given["Rss"], share=0.02, slack=0.5 * MIB)
        return
    if kind == "swap":
        table.row("job.swap_bytes", f"{what}: Swap in smaps", largest(recording, "job.swap_bytes"), given["Swap"], share=0.05)
        return
    own = {"hugetlb": "job.hugetlb_bytes", "memfd": "job.memory_files_bytes", "shm": "job.memory_files_bytes", "sysv": "job.memory_files_bytes"}
    metric = own.get(kind.split("-", maxsplit=1)[0])
    if metric:
        table.row(metric, what, largest(recording, metric), SIZE * MIB, above=MIB)
    if recording.job["peak_memory_kind"] == "cgroup":
        table.left_out("peak_memory_bytes", f"{what}: the control group's own peak is recorded, with page cache")
    else:
        table.row("peak_memory_bytes", what, recording.job["peak_memory_bytes"], SIZE * MIB, share=0.02, slack=4 * MIB)


@contextlib.contextmanager
def foreign_writer(size):
    """Writes a file into /dev/shm, as another job of the user would."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as f:
        for _ in range(size // MIB):
            f.write(bytes(MIB))
        f.flush()
        yield


def beside_another(way, kind, wanted):
    """The other one has half as much again, and writes it while the job holds what it has, or nothing."""
    out = f"beside-{kind}-{way}"
    with accuracy.begin(out, accuracy.program("mem"), kind, str(SIZE), "0", interval="200ms", options=("--process-events", way),
                        stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
        held = job.stdout.readline()
        time.sleep(0.5)
        with foreign_writer(SIZE * MIB * 3 // 2):
            time.sleep(1)
        job.communicate("")
    assert held == "held\n", (kind, held)
    table.row("job.memory_files_bytes", f"{way}: {SIZE} MiB, {kind}, beside {SIZE * 3 // 2} MiB that another process writes into /dev/shm",
              largest(accuracy.Recording(out), "job.memory_files_bytes"), wanted, above=SIZE * MIB // 16)


def short_children(way):
    """So short that no sample is due while they are there: each 64 MiB, one by one; or 20 of 16 MiB together."""
    mem = accuracy.program("mem")
    for name, count, size, ms, script in (
            ("alone", 10, SIZE, 1, f"for i in 1 2 3 4 5 6 7 8 9 10; do {mem} private {SIZE} 1; done"),
            ("together", 20, 16, 200, f"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do {mem} private 16 200 & done; wait")):
        _, recording = accuracy.record(f"{name}-{way}", "sh", "-c", f"sleep 0.3; {script}", interval="60s", options=("--process-events", way))
        job = recording.job
        what = f"{way}: {count} children of {size} MiB, {name}, which no sample sees"
        most = size if name == "alone" else count * size
        if job["peak_memory_kind"] == "cgroup":
            table.left_out("peak_memory_bytes", f"{what}: the control group's own peak is recorded")
            continue
        table.lower_bound("peak_memory_bytes", what, job["peak_memory_bytes"], (most + 8) * MIB, job["peak_memory_is_lower_bound"])
        table.row("peak_memory_bytes", f"{what}: one of them", job["peak_memory_bytes"], size * MIB, above=1e9)


ways = list(accuracy.ways(table, "peak_memory_bytes"))
of_held = ways if os.environ.get("LONG") or os.environ.get("ACCURACY") else ways[:1]  # how starts are seen is nothing to memory that is held
with huge_pages(2 * SIZE * MIB) as have_huge:
    for each in HELD:
        with swap_space(2 * SIZE * MIB) if each == "swap" else contextlib.nullcontext():
            missing = why_not(each, have_huge)
            if missing:
                table.left_out("peak_memory_bytes", f"{SIZE} MiB, {each}: {missing}")
                continue
            for one in of_held:
                compare(one, each)
for one in of_held:
    beside_another(one, "private", 0)
    beside_another(one, "shm", SIZE * MIB)
for one in ways:
    short_children(one)
table.end()
