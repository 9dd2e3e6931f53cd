# SPDX-License-Identifier: Apache-2.0
"""The job does not notice what happens to the helper that unwinds, nor what it reads: it is killed, stopped or missing; debug information is
garbage; names are endless; code has no file. What was sampled is in the recording, and what is missing is said."""
# limit: 300
import csv
import datetime
import glob
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

from ordinary_user import need_unwind
from patience import patience
from stacks import Stacks, helper_of

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
KINDS = PROGRAMS + "/stack_kinds"
HELPER = os.path.dirname(SONDE) + "/libexec/sonde/sonde-unwind"
need_unwind()


def start(name, *command, hz=499, **more):
    return subprocess.Popen([SONDE, "run", f"--stacks={hz}", "-q", "-o", name, "--", *command], stderr=subprocess.PIPE, text=True, **more)


def ended(process, status=0):
    said = process.communicate()[1]
    assert process.returncode == status, (process.returncode, said)
    return said


def record(name, *command, status=0, **more):
    said = ended(start(name, *command, **more), status)
    assert not said, said
    found = Stacks(name)
    if "forbidden" in str(found.metadata.get("source.stacks")):
        print(found.metadata["source.stacks"])
        sys.exit(77)
    return found


def through(found, function):
    return sum(s.weight for s in found.samples if any(function in part for part in found.path(s.node)))


def cpu_of(pid):
    """Its CPU time, without that of its children."""
    return time.clock_gettime((~pid << 3) | 2)


def parent_of(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])


# Killed twice: others take its place, and what they find has ids of its own. What it used counts once.
job = start("killed", KINDS, "plain", "4")
dead, used = 0, 0
for wait in (1.2, 1.2):
    time.sleep(wait)
    pid = helper_of("killed", but=dead)
    used += cpu_of(pid)
    os.kill(pid, signal.SIGKILL)
    dead = pid
recorder = parent_of(helper_of("killed", but=dead))
time.sleep(0.5)
at, own = time.time(), cpu_of(recorder)
ended(job)
rows = csv.DictReader(subprocess.run([SONDE, "export", "killed", "-o", "-", "--raw", "--wide", "--metrics", "monitor.*cpu_seconds"],
                                     check=True, capture_output=True, text=True).stdout.splitlines())
row = [row for row in rows if datetime.datetime.fromisoformat(row["time"][:26] + "+00:00").timestamp() < at][-1]
print("killed: CPU of the recorder", own, "of the helpers that ended", used, "recorded", row)
assert float(row["monitor.cpu_seconds"]) < own + 0.5 * used, (row, own, used)
assert float(row["monitor.unwind_cpu_seconds"]) > 0.5 * used, (row, used)
seen = Stacks("killed")
print("killed:", seen.total(), through(seen, "burn"), seen.metadata.get("stacks.helper_restarts"))
assert seen.metadata["stacks.helper_restarts"] == 2, seen.metadata
assert through(seen, "burn") >= 400, seen.ends()

# Stopped: the job ends at once all the same, and the recording half a second later.
job = start("stopped", "sh", "-c", f"{KINDS} plain 1; date +%s.%N >over")
time.sleep(0.5)
stopped = helper_of("stopped")
os.kill(stopped, signal.SIGSTOP)
ended(job)
waited = time.time() - float(pathlib.Path("over").read_text())
print(f"stopped: {waited:.2f} s")
assert "did not answer" in Stacks("stopped").metadata["stacks.note"]
assert not os.path.exists(f"/proc/{stopped}") or "Z" in open(f"/proc/{stopped}/stat").read().rsplit(")", 1)[1][:3]

# A process that ends does not wake it: the kernel would, for every event that the process has inherited.
storm = "i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i+1)); done"
job = start("woken", "sh", "-c", f"{storm}; touch stormed; {storm}; {storm}; touch calm; sleep 1")
at = []
for sign in ("stormed", "calm"):
    end = time.monotonic() + patience(60)
    while not os.path.exists(sign) and time.monotonic() < end:
        time.sleep(0.02)
    status = pathlib.Path(f"/proc/{helper_of('woken')}/status").read_text()
    at.append((time.monotonic(), int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])))
ended(job)
woken, by_clock = at[1][1] - at[0][1], 40 * (at[1][0] - at[0][0])
print(f"woken: {at[0][1]} times while 1000 processes ended, {woken} times while 2000 more did")
assert woken < 400 + by_clock, (woken, by_clock)

# Missing: everything else is recorded, and why there are no stacks.
os.mkdir("nowhere")
seen = record("missing", KINDS, "plain", "0.1", env={**os.environ, "SONDE_LIBEXEC": os.path.abspath("nowhere")})
assert not seen.samples and "the helper sonde-unwind is not installed" in seen.metadata["source.stacks"], seen.metadata
assert seen.metadata["job.exit_code"] == 0

# Not asked for: nothing of it. The job's status and its view of itself are what they are without.
seen = record("off", "sh", "-c", "exit 3", status=3)
subprocess.run([SONDE, "run", "-q", "-o", "none", "--", "true"], check=True)
assert not Stacks("none").samples and not Stacks("none").modules
job = start("traced", "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; grep TracerPid /proc/self/status; exit 7", stdout=subprocess.PIPE)
out, said = job.communicate()
assert (out, said, job.returncode) == ("TracerPid:\t0\n", "", 7), (out, said, job.returncode)

# Garbage in the sections that tell of code: the job runs, and its samples are there.
if shutil.which("objcopy") and shutil.which("readelf"):
    chance = random.Random(26)
    program = pathlib.Path(KINDS).read_bytes()
    listed = subprocess.run(["readelf", "-SW", KINDS], check=True, capture_output=True, text=True).stdout
    places = {}
    for line in listed.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] in (".eh_frame", ".eh_frame_hdr", ".symtab", ".strtab", ".debug_info", ".debug_line", ".debug_abbrev",
                                           ".debug_str", ".debug_rnglists", ".note.gnu.build-id"):
            places[words[1]] = (int(words[4], 16), int(words[5], 16))
    assert ".eh_frame" in places and ".symtab" in places, listed
    lived = restarts = 0
    for turn in range(40 if os.environ.get("LONG") else 8):
        broken = bytearray(program)
        for offset, size in places.values():
            for _ in range(chance.choice((0, 1, 20, size // 4))):
                broken[offset + chance.randrange(size)] = chance.randrange(256)
        if turn % 4 == 3:  # the table of sections, too
            for _ in range(30):
                broken[len(broken) - 1 - chance.randrange(2000)] = chance.randrange(256)
        pathlib.Path("broken").write_bytes(broken)
        os.chmod("broken", 0o755)
        seen = record(f"broken{turn}", "./broken", "plain", "0.2")
        lived += seen.total() > 20
        restarts += seen.metadata.get("stacks.helper_restarts", 0)
    print(f"garbage: {lived} of {turn + 1} have their samples, {restarts} restarts")
    assert lived >= (turn + 1) // 2

# Files that it dies of or hangs on, more of them than it is started again without a reason: each costs one helper, and is left alone from then on. Its
# samples are there, by address, and what runs afterwards has names.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *dwarf_begin_elf(void *elf, int how, void *group)
{
    static void *(*real)(void *, int, void *);
    char *(*raw)(void *, size_t *) = (char *(*)(void *, size_t *))dlsym(RTLD_DEFAULT, "elf_rawfile");
    size_t size = 0;
    const char *image = raw(elf, &size), *end = size > 16 ? image + size - 16 : "";
    real = (void *(*)(void *, int, void *))dlsym(RTLD_NEXT, "dwarf_begin_elf");
    if (!memcmp(end, "dies of callers ", 16) || (!memcmp(end, "dies of its name", 16) && gettid() != getpid()))
        abort();
    while (!memcmp(end, "loops on callers", 16))
        ;
    while (!memcmp(end, "waits for a name", 16) && gettid() != getpid())
        pause();
    return real(elf, how, group);
}
"""
if b"dwarf_begin_elf" in pathlib.Path(HELPER).read_bytes():
    subprocess.run(["cc", "-w", "-shared", "-fPIC", "-o", "shim.so", "-x", "c", "-", "-ldl"], check=True, text=True, input=SHIM)

    def ending(name, end):
        pathlib.Path(name).write_bytes(pathlib.Path(KINDS).read_bytes() + end)
        os.chmod(name, 0o755)

    for i in range(7):
        ending(f"deadly{i}", b"dies of its name" if i == 3 else b"dies of callers ")
    ONE = "for i in 0 1 2 3 4 5 6; do ./deadly$i plain 0.4; sleep 0.3; done; "
    job = subprocess.Popen([SONDE, "run", "--stacks=499", "-q", "-i", "100ms", "-o", "deadly", "--", "sh", "-c", f"{ONE}{ONE}{KINDS} plain 0.4"],
                           stderr=subprocess.PIPE, text=True, env={**os.environ, "LD_PRELOAD": os.path.abspath("shim.so")})
    said = ended(job)
    seen = Stacks("deadly")
    print("deadly:", said, {name: value for name, value in seen.metadata.items() if name.startswith("stacks.")}, seen.ends())
    assert "stacks.note" not in seen.metadata, seen.metadata["stacks.note"]
    assert seen.metadata["stacks.files_left_out"] == seen.metadata["stacks.helper_restarts"] == 7, seen.metadata
    assert seen.metadata["stacks.left_out"].split(", ") == [f"deadly{i}" for i in range(7)], seen.metadata
    assert all(through(seen, f"deadly{i}+0x") > 20 for i in range(7)), seen.ends()
    assert through(seen, "burn") > 100, seen.ends()
    ending("loops", b"loops on callers")
    ending("waits", b"waits for a name")
    job = subprocess.Popen([SONDE, "run", "--stacks=499", "-q", "-i", "100ms", "-o", "hangs", "--", "sh", "-c", f"./loops plain 4; ./waits plain 5; {KINDS} plain 1"],
                           stderr=subprocess.PIPE, text=True, env={**os.environ, "LD_PRELOAD": os.path.abspath("shim.so"), "SONDE_UNWIND_PATIENCE": "1"})
    said = ended(job)
    seen = Stacks("hangs")
    print("hangs:", said, {name: value for name, value in seen.metadata.items() if name.startswith("stacks.")}, seen.ends())
    assert seen.metadata["stacks.files_left_out"] == seen.metadata["stacks.helper_restarts"] == 2, seen.metadata
    assert seen.metadata["stacks.left_out"] == "loops, waits" and "stacks.note" not in seen.metadata, seen.metadata
    assert through(seen, "loops+0x") > 20 and through(seen, "waits+0x") > 20 and through(seen, "burn") > 100, seen.ends()

    # Who reads the recording learns which files they were.
    LEFT_OUT = "Files left out, on which Sonde's helper crashed or hung: loops, waits. Their functions are addresses."
    shown = subprocess.run([SONDE, "show", "--code", "hangs"], check=True, capture_output=True, text=True).stdout
    assert LEFT_OUT in shown, shown
    shown = json.loads(subprocess.run([SONDE, "show", "--code", "--json", "hangs"], check=True, capture_output=True, text=True).stdout)
    assert shown["missing"]["files_left_out"] == "loops, waits", shown["missing"]
    subprocess.run([SONDE, "report", "-o", "hangs-page", "hangs"], check=True)
    assert LEFT_OUT.replace("'", "&#39;") in pathlib.Path("hangs-page/report.html").read_text(encoding="utf-8")

# Names of 100 kB, with what is harmful elsewhere, and not UTF-8.
pathlib.Path("name.s").write_bytes(b'.globl main\nmain: mov $800000000, %ecx\nlong: dec %ecx\njnz long\nxor %eax, %eax\nret\n.size main, .-main\n'
                                   b'.type main, @function\n.section .note.GNU-stack,"",@progbits\n')
if os.uname().machine == "x86_64" and shutil.which("objcopy"):
    subprocess.run(["cc", "-o", "plain", "name.s"], check=True)
    pathlib.Path("names").write_bytes(b"main " + b"n" * 100000 + b"<b>\xff\n")
    subprocess.run(["objcopy", "--redefine-syms=names", "plain", "long"], check=True)
    seen = record("long-names", "./long")
    names = {f.function for f in seen.frames.values()}
    assert any(set(n) == {"n"} and 4000 < len(n) <= 4096 for n in names), [n[:40] for n in names]

# Code without a file, which the program's own user names in a file.
JIT = """
import ctypes, mmap, os, sys
code = bytes([0xb9, 0, 0x46, 0xc3, 0x23, 0xff, 0xc9, 0x75, 0xfc, 0xc3])  # mov ecx, 600000000; dec ecx; jnz; ret
room = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
room.write(code)
at = ctypes.addressof(ctypes.c_char.from_buffer(room))
with open(f"/tmp/perf-{os.getpid()}.map", "w") as f:
    print(f"{at:x} {len(code):x} made while it ran <i>", file=f)
if len(sys.argv) > 1:
    os.chown(f.name, 12345, 12345)
for _ in range(6):
    ctypes.CFUNCTYPE(None)(at)()
os.unlink(f.name)
"""
if os.uname().machine == "x86_64":
    seen = record("jit", sys.executable, "-c", JIT)
    print("jit:", through(seen, "made while it ran <i>"), seen.total())
    assert through(seen, "made while it ran <i>") >= seen.total() / 2, seen.ends()
    if os.getuid() == 0:
        seen = record("jit-of-another", sys.executable, "-c", JIT, "chown")
        assert seen.total() > 50 and not through(seen, "made while it ran"), seen.ends()

# Many short processes: all samples are of the right program, and no more time than there was.
seen = record("short", KINDS, "short", "0.007", "100")
sampled = sum(s.weight * s.unit for s in seen.samples) / 1e9
print(f"short: {sampled:.3f} of 0.7 s")
assert 0.2 <= sampled <= 0.9 and {s.command for s in seen.samples} <= {"stack_kinds", "sonde"}, sampled

# So short that none of them is sampled: all their time is said to be that of this program's short processes.
seen = record("shorter", KINDS, "short", "0.007", "100", hz=99)
shown = json.loads(subprocess.run([SONDE, "show", "--code", "--json", "shorter"], check=True, capture_output=True, text=True).stdout)
print("shorter:", seen.total(), shown["user_seconds"], shown["too_short_seconds"], shown["unsampled_seconds"], shown["too_short"])
assert shown["not_recorded"] is None and shown["user_seconds"] >= 0.6, shown
assert shown["too_short_seconds"] + shown["sampled_seconds"] >= 0.95 * shown["user_seconds"] and shown["sampled_seconds"] <= 0.1, shown
assert shown["too_short"][0]["command"] == "stack_kinds" and 100 <= shown["too_short"][0]["processes"] <= 101, shown["too_short"]
text = subprocess.run([SONDE, "show", "shorter"], check=True, capture_output=True, text=True).stdout
assert "code        too short to sample" in text, text

# Where the events of each task would cost the job too much they are closed, which is said.
SWITCHES = """
import os
(a, b), (c, d) = os.pipe(), os.pipe()
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if not os.fork():
    os.close(b)
    while os.read(a, 1):
        os.write(d, b"x")
    os._exit(0)
for _ in range(120000):
    os.write(b, b"x")
    os.read(c, 1)
os.close(b)
os._exit(0)
"""
seen = record("switches", sys.executable, "-c", SWITCHES)
print("switches:", seen.metadata.get("mechanism.exit_records"), seen.metadata.get("stacks.note"))
if "switched tasks too often" in seen.metadata.get("mechanism.exit_records", ""):
    assert seen.metadata["stacks.note"] == "sampled until the job switched tasks too often for it", seen.metadata

# Launchers that share a recorder: each task's own processes are sampled.
tasks = [subprocess.Popen([SONDE, "run", "--node-recorder", "shared", "--stacks=499", "-q", "-o", "shared", "--", KINDS, "plain", "0.5"]) for _ in range(3)]
assert [task.wait() for task in tasks] == [0, 0, 0]
end = time.monotonic() + patience(20)
while time.monotonic() < end and any(os.path.getsize(tail) for tail in glob.glob("shared/*.tail")):
    time.sleep(0.1)
seen = Stacks("shared")
by_task = {s.instance: 0 for s in seen.samples}
for s in seen.samples:
    by_task[s.instance] += s.weight
print("shared:", by_task)
assert len(by_task) == 3 and all(100 < n < 300 for n in by_task.values()), by_task
