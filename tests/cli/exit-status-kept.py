# SPDX-License-Identifier: Apache-2.0
"""The job's wait status is sonde's own; 125, 126 and 127 say what Sonde could not do."""
import os
import resource
import subprocess
import sys

SONDE = os.environ["SONDE"]
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait_status(*arguments):
    return subprocess.run([SONDE, "run", "--quiet", *arguments], stderr=subprocess.DEVNULL).returncode


def kill_self(name):
    return ["--", "sh", "-c", f"kill -{name} $$; sleep 5"]


with open("not_executable", "w") as f:
    f.write("#!/bin/sh\n")
with open("bad_interpreter", "w") as f:
    f.write("#!/no/such/interpreter\n")
os.chmod("bad_interpreter", 0o755)

cases = [
    (["--", "true"], 0),
    (["--", "false"], 1),
    (["--", "sh", "-c", "exit 42"], 42),
    (["--", "sh", "-c", "exit 255"], 255),
    (kill_self("TERM"), -15),
    (kill_self("KILL"), -9),
    (kill_self("SEGV"), -11),
    (kill_self("INT"), -2),
    (["--", "./not_executable"], 126),
    (["--", "./"], 126),
    (["--", "no-such-command-anywhere"], 127),
    (["--", "./no_such_file"], 127),
    (["--no-such-option", "--", "true"], 125),
    (["-i", "soon", "--", "true"], 125),
    ([], 125),
]
faults = 0
for number, (arguments, want) in enumerate(cases):
    got = wait_status("-o", f"out{number}", *arguments)
    if got != want:
        print(f"sonde run {' '.join(arguments)}: wanted {want}, got {got}")
        faults += 1
sys.exit(1 if faults else 0)
