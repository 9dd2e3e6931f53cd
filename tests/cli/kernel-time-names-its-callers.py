# SPDX-License-Identifier: Apache-2.0
"""Where the kernel's work may be sampled, verdicts on kernel time name the calls and who made them, and where pages were touched first. Where
it may not, as for users by default, nothing is told of it, and samples of user time are as ever."""
import json
import os
import re
import subprocess

from patience import patience

SONDE, PROGRAMS = os.environ["SONDE"], os.environ["PROGRAMS"]
KINDS = {
    "faults": (["page-faults", "kernel-time"], "touch_pages"),
    "writes": (["small-io"], "write_bytes"),
    "names": (["names-storm", "kernel-time", "empty-calls"], "ask_names"),
}
SAMPLES_KERNEL = 1 << 38 | 1 << 21  # CAP_PERFMON, CAP_SYS_ADMIN


def is_permitted():
    with open("/proc/self/status", encoding="ascii") as f:
        capabilities = int(re.search(r"CapEff:\s*(\w+)", f.read()).group(1), 16)
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        return bool(capabilities & SAMPLES_KERNEL) or int(f.read()) <= 1


def run(name, kind, options=(), before=()):
    subprocess.run([*before, SONDE, "run", "-q", "--interval", "100ms", *options, "-o", name, "--", PROGRAMS + "/kernel_calls", kind, "4"],
                   check=True, timeout=patience(60))
    shown = subprocess.run([SONDE, "show", "--json", name], check=True, capture_output=True, text=True).stdout
    return json.loads(shown)


if is_permitted():
    for kind, (rules, function) in KINDS.items():
        for options in ((), ("--stacks",)):
            show = run(kind + "".join(options), kind, options)
            told = [v["sentence"] for v in show["verdicts"] if v["rule"] in rules]
            print(kind, options, told, show["code"]["kernel"] and show["code"]["kernel"]["function"][:3])
            kernel = show["code"]["kernel"]
            assert len(told) == 1 and f"{function} (kernel_calls.c:" in told[0], (kind, show["verdicts"])
            below = [f for f in kernel["function"] if f["name"] == function]
            assert below and below[0]["total_ratio"] > 0.9, kernel
            assert kernel["sampled_seconds"] < 1.3 * show["code"]["system_seconds"], show["code"]
if os.geteuid() == 0:
    os.mkdir("theirs", 0o777)
    os.chmod("theirs", 0o777)
    os.chmod(".", 0o755)
    os.chdir("theirs")
    show = run("forbidden", "names", ["--stacks"], ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    print(show["code"])
    assert show["code"]["kernel"] is None and show["code"]["samples"] > 0, show["code"]
