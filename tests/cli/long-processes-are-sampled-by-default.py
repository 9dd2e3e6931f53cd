# SPDX-License-Identifier: Apache-2.0
# quiet
"""Without an option, processes that have used half a second of CPU time are sampled: what they used before is given to no code, nor is what shorter ones
used, which are named; nothing is started for them, and nothing for threads that would pay for it. Where it is not possible nobody is told."""
# limit: 200
import json
import os
import subprocess
import sys

from ordinary_user import USER, enter_room, need_unwind
from patience import patience
from stacks import Stacks

SONDE, PROGRAMS, BUILD = (os.environ[name] for name in ("SONDE", "PROGRAMS", "BUILD"))
KINDS = PROGRAMS + "/stack_kinds"
need_unwind()
room = enter_room()
SINCE = "A process is sampled once it has used 0.5 s of CPU time"
NAMED = "processes too short to be sampled"


def text_of(*arguments):
    done = subprocess.run([SONDE, *arguments], check=False, capture_output=True, text=True)
    return done.stdout + done.stderr


def record(name, *command, options=(), prefix=()):
    subprocess.run([*USER, *prefix, SONDE, "run", "-q", *options, "-o", name, "--", *command], check=True, stdout=subprocess.DEVNULL, timeout=patience(120))
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)
    return Stacks(name), json.loads(text_of("show", "--code", "--json", name))


def helper_was_there(name):
    return "monitor.unwind_resident_bytes" in text_of("export", "-o", "-", "--raw", name)


# A long process: whatever has samples is its function, and the sum is less than its time by about 0.7 seconds.
seen, code = record("long", KINDS, "plain", "4")
if "stacks.after_ns" not in seen.metadata:
    print("perf events are not permitted here:", text_of("doctor"))
    sys.exit(77)
print("long:", {key: value for key, value in code.items() if key.endswith("seconds")}, code["missing"])
assert seen.metadata["stacks.after_ns"] == 5 * 10**8 and seen.metadata["stacks.threads_at_a_time"] >= 1, seen.metadata
assert seen.share("burn") >= 0.95 and helper_was_there("long"), seen.ends()
assert 0.4 < code["unsampled_seconds"] + code["too_short_seconds"] < 2.5 and 1.5 < code["sampled_seconds"] < 3.6, code
# On a crowded machine others may take its core from it some thousand times a second: then it is called restless for a while.
assert code["missing"]["sampled_after_seconds"] == 0.5 and code["missing"]["threads_too_restless"] <= 1, code["missing"]
assert SINCE in text_of("show", "--code", "long") and "\nhot spots   burn" in text_of("show", "long")

# One that goes on for half a second after it is worth it has samples, too: it is looked at twice at once, and not after another second.
seen, code = record("chain", "sh", "-c", 'for i in 1 2 3 4 5 6; do "$0" plain 1.1; done', KINDS)
print("chain:", code["samples"], {key: value for key, value in code.items() if key.endswith("seconds")})
assert code["samples"] >= 25 and seen.share("burn") >= 0.9, code

# Short ones: named with their seconds, no helper, no line in the summary, no verdict.
seen, code = record("short", KINDS, "short", "0.02", "120")
print("short:", code["too_short_seconds"], code["user_seconds"], code["too_short"])
assert not seen.samples and not helper_was_there("short")
assert code["sampled_seconds"] == 0 and code["too_short_seconds"] >= 0.9 * code["user_seconds"] > 1, code
assert code["too_short"][0]["command"].startswith("stack_kinds") and code["too_short"][0]["processes"] >= 120, code["too_short"]
assert NAMED in text_of("show", "--code", "short") and "too short to sample" not in text_of("show", "short")
assert "code-unsampled" not in text_of("show", "--json", "short")

# A short job says nothing of code at all; nor does any without stacks.
for name, options, amount in (("little", (), "0.2"), ("off", ("--stacks=off",), "2")):
    seen, code = record(name, KINDS, "plain", amount, options=options)
    assert not any(key.startswith("stacks.") or key.startswith("source.stacks") for key in seen.metadata), seen.metadata
    assert code["not_recorded"] == "stacks were not recorded" and not helper_was_there(name), code

# Two processes that wake each other: an event would slow them.
PING = """import os, signal, time
a, b = os.pipe(), os.pipe()
other = os.fork()
mine, theirs = (a, b) if other else (b, a)
if other:
    os.write(a[1], b"x")
while not other or time.process_time() < 4:
    os.write(theirs[1], os.read(mine[0], 1))
os.kill(other, signal.SIGKILL)
os.wait()
"""
seen, code = record("ping", "/usr/bin/python3" if USER else sys.executable, "-c", PING)
print("ping:", code["missing"], code["sampled_seconds"], code["user_seconds"], code["system_seconds"])
assert code["missing"]["threads_too_restless"] == 2 and code["sampled_seconds"] == 0, code["missing"]
assert "2 threads were not sampled while changing between running and waiting" in text_of("show", "--code", "ping")

# Where the kernel or the installation does not permit it, the summary is silent, since nobody asked; who looks for code finds the reason.
os.makedirs("bare/libexec", exist_ok=True)
subprocess.run(["cp", SONDE, "bare/sonde"], check=True)
bare = subprocess.run([*USER, "env", "-u", "SONDE_LIBEXEC", "./bare/sonde", "run", "-o", "alone", "--", KINDS, "plain", "1.5"], check=True,
                      capture_output=True, text=True, timeout=patience(60))
assert "stacks" not in bare.stderr and "unwind" not in bare.stderr, bare.stderr
if subprocess.run([PROGRAMS + "/without", "perf_event_open", "true"], check=False).returncode == 0:
    seen, code = record("filtered", KINDS, "plain", "1.5", prefix=(PROGRAMS + "/without", "perf_event_open"))
    brief = subprocess.run([SONDE, "show", "filtered"], check=True, capture_output=True, text=True).stdout
    assert "perf_event_open" not in brief and "stacks" not in brief, brief
    assert code["not_recorded"].startswith("forbidden: perf_event_open is blocked"), code
