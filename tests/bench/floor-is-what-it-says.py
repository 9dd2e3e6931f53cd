# SPDX-License-Identifier: Apache-2.0
"""The yardstick of the benches, bench/floor.c, makes exactly the system calls that it says, and they are those that Sonde makes
to read everything of processes that ran. So it can neither shrink nor grow unseen."""
import os
import re
import shutil
import subprocess
import sys
from collections import Counter

PROCESSES = 3
CALL = re.compile(r"^(\w+)\((.*)$")
PATH = re.compile(r"^\d+<(/proc/[^>]*)>")
CLOCK = re.compile(r"^0x(f[0-9a-f]{7})\b")
OFTEN = ["stat", "meminfo", "diskstats", "self/net/dev"]
MORE = "/proc/version"
RARELY = ["loadavg", "pressure/cpu", "pressure/memory", "pressure/io"]  # once a second


def fail(text):
    sys.exit(f"FAIL: {text}")


def descendants(root):
    pids = [root]
    for pid in pids:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            pids += map(int, f.read().split())
    return pids


def in_words(call, arguments, tree):
    """"pread /proc/PID/stat" for a process of the tree, "/proc/self" for its reader; a call that names no file of /proc is its name."""
    call = {"newfstatat": "fstat", "pread64": "pread"}.get(call, call)
    if match := CLOCK.match(arguments):
        pid = ~int(match[1], 16) >> 3 & 0x1FFFFFFF
        return f"{call} of {'PID' if pid in tree else pid}"
    if match := PATH.match(arguments):
        return call + " " + re.sub(r"/proc/(\d+)/", lambda m: f"/proc/{'PID' if int(m[1]) in tree else 'self'}/", match[1])
    return call


def samples(name, begins, tree, command):
    """The system calls of a command between one that is `begins` and the next, counted; without those before the first and after
    the last."""
    subprocess.run(["strace", "-y", "-o", name, *command], check=True, stdout=subprocess.DEVNULL)
    rows = []
    with open(name, encoding="utf-8", errors="replace") as lines:
        for call, arguments in (match.groups() for match in map(CALL.match, lines) if match):
            if call == begins[0] and begins[1] in arguments:
                rows.append(Counter())
            elif rows:
                rows[-1][in_words(call, arguments, tree)] += 1
    return rows[:-1]


def floor(mode, tree):
    """Its samples, two a second: every other one has what is read once a second."""
    return samples(mode, ("clock_nanosleep", ""), tree, [os.environ["BUILD"] + "/bench/floor", mode, str(tree[0]), "6", "500", MORE])


def check_floor(mode, tree, often, rarely):
    rows = floor(mode, tree)
    if len(rows) != 5 or any(row != often + (rarely if i % 2 else Counter()) for i, row in enumerate(rows)):
        fail(f"floor {mode}: wanted 5 samples of {dict(often)} and {dict(rarely)} in every other one, got {list(map(dict, rows))}")


def check_moved(tree, often, rarely, read):
    """Whose clock moved is read, all of it; who was late this time is not."""
    rows = floor("moved", tree)
    least = [often + (rarely if i % 2 else Counter()) for i in range(len(rows))]
    fds = "fstat /proc/PID/fd"
    for i, row in enumerate(rows):
        if i % 2 and row[fds] != row["pread /proc/PID/stat"]:
            fail(f"floor moved: asked for files open of {row[fds]} processes, read {row['pread /proc/PID/stat']}")
        if i % 2:
            del row[fds]
    more = [row - want for row, want in zip(rows, least)]
    if len(rows) != 5 or any(want - row or extra - read or len(set(extra[call] for call in read)) != 1 for want, row, extra in zip(least, rows, more)):
        fail(f"floor moved: wanted 5 samples of {dict(often)} and of {dict(read)} for some, got {list(map(dict, rows))}")
    if not any(more):
        fail("floor moved: nobody was read")


def check_sonde(tree, node, each, rarely):
    rows = samples("sonde", ("read", "timerfd"), tree, [
        os.environ["SONDE"], "attach", "-q", "-p", str(tree[0]), "-i", "100ms", "--duration", "3s", "--pss", "off",
        "--max-overhead", "off", "-o", "recording"])
    everything = sum(row >= each for row in rows[8:])
    if everything < 0.9 * len(rows[8:]):
        fail(f"Sonde reads everything of each process in {everything} samples of {len(rows[8:])} only")
    for once in rarely:
        n = sum(row >= once for row in rows[8:])
        if not 1 <= n <= len(rows[8:]) / 5:
            fail(f"Sonde does {dict(once)} in {n} samples of {len(rows[8:])}, at ten a second, which is to be once a second")
    usual = Counter(frozenset(row.items()) for row in rows[8:]).most_common(1)[0][0]
    made = Counter({call: n for call, n in usual if "/proc/" in call or " of " in call})
    made["pread /proc/self/statm"] -= 1  # of itself
    made["pread /proc/loadavg"] = min(1, made["pread /proc/loadavg"])  # without perf events also to find who was born
    if +made != node + each:
        fail(f"Sonde does in most samples {dict(+made)}, the floor {dict(node + each)}")


def main():
    if not shutil.which("strace") or subprocess.run(["strace", "-o", "probe", "true"], check=False).returncode:
        print("strace is not installed or may not trace")
        sys.exit(77)
    with subprocess.Popen([os.environ["PROGRAMS"] + "/tree", str(PROCESSES), "10", "100", "20"], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            tree = descendants(process.pid)
            node, slow = (Counter(f"pread /proc/{name}" for name in names if os.path.exists(f"/proc/{name}")) for names in (OFTEN, RARELY))
            more = node + Counter([f"pread {MORE}"])
            read, fds, clocks = (Counter([call] * PROCESSES) for call in ("pread /proc/PID/stat", "fstat /proc/PID/fd", "clock_gettime of PID"))
            read["pread /proc/PID/io"] = PROCESSES
            check_floor("full", tree, more + read, slow + fds)
            check_floor("gate", tree, more + clocks, slow)
            check_moved(tree, more + clocks, slow, read)
            check_sonde(tree, node, read + clocks, (slow, fds))
        finally:
            process.kill()


main()
