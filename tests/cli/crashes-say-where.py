# SPDX-License-Identifier: Apache-2.0
# limit: 120
"""A job that crashes says how, and in which function and line, where the kernel's log may be read; another one's crash is not taken for the job's."""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time

from ordinary_user import USER, need_unwind
from patience import patience

SONDE, PROGRAM = os.environ["SONDE"], os.environ["PROGRAMS"] + "/crashes"
CODE = open(os.environ["TOP"] + "/tests/programs/crashes.c", encoding="utf-8").read().splitlines()
os.environ["SONDE_HISTORY"] = "off"
BURST_S = 5 # the kernel writes ten such records in this time, at most, of all processes


def skip(why):
    print(why)
    sys.exit(77)


try:
    LOG = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    os.lseek(LOG, 0, os.SEEK_END)
except OSError as error:
    skip(f"the kernel's log cannot be read: {error}")
if os.readlink("/proc/self/ns/pid") != "pid:[4026531836]":
    skip("the kernel's log has other pids than this pid namespace")
if platform.machine() != "x86_64" or open("/proc/sys/debug/exception-trace", encoding="ascii").read().strip() == "0":
    skip("this kernel does not write of crashes")
need_unwind()


def logged(name):
    """Whether the kernel wrote of a crash of that name since this was asked last."""
    found = False
    while True:
        try:
            found |= re.search(rf";(traps: )?{name}\[\d+\]", os.read(LOG, 8192).decode("utf-8", "replace")) is not None
        except BlockingIOError:
            return found
        except BrokenPipeError:
            pass


def ended(name, *command, user=()):
    """All sentences of the verdicts of a job."""
    shutil.rmtree(name, ignore_errors=True)
    subprocess.run([*user, SONDE, "run", "--quiet", "--no-error-text", "--stacks=off", "-i", "50ms", "-o", name, "--", *command],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=patience(60), check=False)
    shown = json.loads(subprocess.run([SONDE, "show", "--json", name], check=True, capture_output=True).stdout)
    return "\n".join(f"{v['rule']}: {v['sentence']}" for v in shown["verdicts"])


def crashes(name, *command, of="crashes"):
    """The same of a job whose crash the kernel wrote of: it leaves out what comes too fast."""
    for _ in range(6):
        logged(of)
        said = ended(name, *command)
        if logged(of):
            return said
        time.sleep(BURST_S)
    return skip("the kernel's log leaves out these crashes: others crash here, too")


def has(said, *wanted):
    for text in wanted:
        assert text in said, (text, said)


def line(what):
    return next(i for i, text in enumerate(CODE, 1) if f"/* HERE: {what} */" in text)


has(crashes("null", PROGRAM, "null"), "killed: Killed by SIGSEGV after ", f": a null pointer was read in parse_row (crashes.c:{line('null')}).")
has(crashes("write", PROGRAM, "write"), f": a null pointer was written to in put_row (crashes.c:{line('write')}).")
has(crashes("constant", PROGRAM, "constant"), f": it wrote to memory that is read-only in put_row (crashes.c:{line('write')}).")
said = crashes("division", PROGRAM, "division")
has(said, "Killed by SIGFPE after ", f": an integer was divided by zero, or the smallest by -1 in mean (crashes.c:{line('division')}).")
said = crashes("stack", "sh", "-c", 'ulimit -s 3000; exec "$0" stack', PROGRAM)
has(said, "stack-overflowed: Killed by SIGSEGV after ", ": the stack overflowed in fill (crashes.c:")
assert "8.0 MiB" not in said and "limit-stack" not in said, said
said = crashes("limited", "sh", "-c", '(sleep 0.7; touch go) & ulimit -s 3000; exec "$0" stack go', PROGRAM)
has(said, "stack-overflowed: Killed by SIGSEGV after ", "; the limit is 2.9 MiB (ulimit -s). Use a loop")
os.unlink("go")
has(crashes("thread", PROGRAM, "thread-null"), f": a null pointer was read in parse_row (crashes.c:{line('null')}).")
has(crashes("thread-stack", PROGRAM, "thread-stack"), "stack-overflowed: ", ": the stack of a thread overflowed in fill (crashes.c:", "OMP_STACKSIZE")

# Of a shell that goes on, one that runs for less than a sample.
said = crashes("child", "sh", "-c", '"$0" null; exit 3', PROGRAM)
has(said, "Failed: exit code 3 after ", "First to die: crashes (pid ", f"by SIGSEGV: a null pointer was read in parse_row (crashes.c:{line('null')}).")
said = crashes("reported", "sh", "-c", '"$0" null; exit $?', PROGRAM)
has(said, "a command that the shell ran was killed by SIGSEGV. First to die: crashes (pid ", "a null pointer was read in parse_row")

said = crashes("hidden", "sh", "-c", '"$0" null; true', PROGRAM)
if "Hidden failure" in said: # where the kernel tells how it ended, or what it ran for is known
    has(said, f"In the kernel's log: a null pointer was read in parse_row (crashes.c:{line('null')}).")

# A file that is another one by the end has none of the names.
shutil.copy(PROGRAM, "gone")
said = crashes("replaced", "sh", "-c", './gone null; status=$?; cp gone other; rm gone; cp other gone; exit $status', of="gone")
has(said, "by SIGSEGV: a null pointer was read.")

# What the kernel does not write of: abort, a signal that was sent, also while another one of its name crashes outside of the job.
said = ended("abort", PROGRAM, "abort")
has(said, "Killed by SIGABRT after ", ": it called abort, as after")
assert "pointer" not in said and "stack overflowed" not in said, said
logged("crashes")
for _ in range(6):
    with subprocess.Popen([PROGRAM, "null", "go"]) as beside:
        said = ended("raised", "sh", "-c", 'touch go; sleep 0.3; "$0" raise; exit $?', PROGRAM)
        beside.wait()
    os.unlink("go")
    has(said, "killed by SIGSEGV")
    assert "pointer" not in said, said
    if logged("crashes"):
        break
    time.sleep(BURST_S)

# Who may not read the log is told by doctor, and nothing is missing but the place.
doctor = json.loads(subprocess.run([SONDE, "doctor", "--json"], check=False, capture_output=True).stdout)
found = {m["name"]: m for m in doctor["mechanisms"]}["process.kernel_log"]
assert found["state"] == "available", found
if USER and open("/proc/sys/kernel/dmesg_restrict", encoding="ascii").read().strip() == "1":
    os.chmod(".", 0o777)
    doctor = json.loads(subprocess.run([*USER, SONDE, "doctor", "--json"], check=False, capture_output=True).stdout)
    found = {m["name"]: m for m in doctor["mechanisms"]}["process.kernel_log"]
    assert found["state"] == "forbidden" and "dmesg_restrict" in found["fix_admin"], found
    said = ended("forbidden", PROGRAM, "null", user=USER)
    has(said, "Killed by SIGSEGV after ", ": invalid memory access (segmentation fault).")
