# SPDX-License-Identifier: Apache-2.0
# alone
"""A program calls a function a given number of times. An execution breakpoint on it, a perf event that needs neither privileges nor
counters of the CPU, is counted through an events file: the same path as that of every hardware event, so it must be exact. Run by root,
two devices represent counters of the CPU: the tracepoint of a system call that a program makes a given number of times, also exact; and
`msr`, whose ticks are compared with a program's own CPU time in ticks of the same clock. That time also runs while a hypervisor or an
interrupt has the core: the bound is extended by the stolen and interrupt time in /proc/stat meanwhile."""
import ctypes
import os
import platform
import struct
import shutil
import subprocess

import accuracy

TIMES, MILLISECONDS = 54_321, 1000
TRACEPOINT = "events/syscalls/sys_enter_getppid/id"
MSR = "/sys/bus/event_source/devices/msr"
PERF_TYPE_TRACEPOINT, PERF_TYPE_BREAKPOINT, EXECUTED, EXCLUDE_KERNEL_AND_HYPERVISOR = 2, 5, 4, 0b11 << 5
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241, "ppc64le": 319, "riscv64": 241, "s390x": 331}.get(platform.machine())
table = accuracy.Comparison("Perf events")


def permits(kind, config, flags=0, address=0):
    """Whether the kernel lets this program count such an event of its own; without Sonde."""
    if PERF_EVENT_OPEN is None:
        return False
    size = 72  # type, size, config, period, sample type, read format, flags, wakeup, breakpoint type, address, length
    asked = struct.pack("=IIQQQQQIIQQ", kind, size, config, 0, 0, 0, flags | 1, 0, EXECUTED if address else 0, address, 8 if address else 0)
    fd = ctypes.CDLL(None).syscall(ctypes.c_long(PERF_EVENT_OPEN), asked, ctypes.c_int(0), ctypes.c_int(-1), ctypes.c_int(-1),
                                   ctypes.c_ulong(0))
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def counted(event, *work):
    """(what the work says, how often the event came); None for the latter when Sonde has not counted it."""
    with open("file.events", "w", encoding="ascii") as f:
        f.write(f"group test\nevent {event}\n")
    name = event.split()[0]
    said, recording = accuracy.record("out-" + name, *work, options=("--perf", "test", "--events", "file.events"))
    rate = f"perf.test.{name}_per_second"
    if rate not in {row["metric"] for row in recording.table("series")}:
        return said, None
    return said, round(recording.risen(rate, "job.processes_live_count"))


def breakpoints():
    metric, work = "perf.test.calls", ("setarch", "-R", accuracy.program("account"), "calls")
    addresses = set()
    for _ in range(2):
        ended = subprocess.run([*work, "0"], capture_output=True, text=True, check=False)
        addresses.add(ended.stdout.strip() if ended.returncode == 0 else None)
    if None in addresses or len(addresses) > 1:
        return table.left_out(metric, "addresses cannot be kept from changing here")
    address = addresses.pop()
    if not permits(PERF_TYPE_BREAKPOINT, 0, EXCLUDE_KERNEL_AND_HYPERVISOR, int(address, 16)):
        return table.left_out(metric, "perf events are not permitted here")
    for attempt in range(20):  # some virtual machines deliver a breakpoint's trap to the program now and then
        try:
            _, calls = counted(f"calls counted breakpoint config1={address}", *work, str(TIMES))
            break
        except SystemExit:
            if attempt == 19:
                raise
            shutil.rmtree("out-calls", ignore_errors=True)
    return table.row(metric, "calls of a function", calls, TIMES, apart=0)


def read(path):
    try:
        with open(path, encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


def tracepoint_number():
    """In a mount namespace of its own, since the file system that tells it need not be mounted."""
    os.makedirs("trace", exist_ok=True)
    script = f"mount -t tracefs tracefs trace && cat trace/{TRACEPOINT}"
    return subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False).stdout.strip()


def tracepoints():
    metric = "perf.test.getppid"
    if os.geteuid() != 0:
        return table.left_out(metric, "only root may count the tracepoint that stands in for a counter")
    number = tracepoint_number()
    if not number.isdigit():
        return table.left_out(metric, "this kernel has no tracepoints of system calls, or shows none here")
    if not permits(PERF_TYPE_TRACEPOINT, int(number)):
        return table.left_out(metric, "tracepoints are not permitted here")
    _, calls = counted(f"getppid sys_enter_getppid tracepoint config={number}", accuracy.program("account"), "getppid", str(TIMES))
    return table.row(metric, "system calls made", calls, TIMES, apart=0)


def ticks():
    metric, before = "perf.test.tsc", accuracy.taken()[0]
    if os.geteuid() != 0:
        return table.left_out(metric, "only root may count the device msr that stands in for counters")
    if read(MSR + "/events/tsc") != "event=0x00" or not permits(int(read(MSR + "/type")), 0):
        return table.left_out(metric, "there is no device msr that counts ticks here")
    said, got = counted("tsc ticks msr config=0x0", accuracy.program("account"), "ticks", str(MILLISECONDS))
    wanted, (now, kinds) = int(said), accuracy.taken()
    share_taken = (now - before + kinds / os.sysconf("SC_CLK_TCK")) * 1000 / MILLISECONDS if now > before else 0
    return table.row(metric, "CPU time of a program in ticks", got, wanted, share=0.02, slack=share_taken * wanted)


breakpoints()
tracepoints()
ticks()
table.end()
