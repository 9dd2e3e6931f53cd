# SPDX-License-Identifier: Apache-2.0
"""A container of gVisor, whose kernel is a program: /proc and /sys have what pkg/sentry/fsimpl/proc and sys of gVisor write, and no more."""

KIB = {"MemTotal": 2097152, "MemFree": 2031616, "MemAvailable": 2047404, "Buffers": 0, "Cached": 15788, "SwapCache": 0, "Active": 41856,
       "Inactive": 7894, "Active(anon)": 33962, "Inactive(anon)": 0, "Active(file)": 7894, "Inactive(file)": 7894, "Unevictable": 0,
       "Mlocked": 0, "SwapTotal": 0, "SwapFree": 0, "Dirty": 0, "Writeback": 0, "AnonPages": 33962, "Mapped": 15788, "Shmem": 0}
CPUS = range(2)
PID = 7


def own_process(t):
    """Counters that it does not keep are 0; no smaps_rollup, schedstat, numa_maps and mountstats."""
    where = f"proc/{PID}"
    stat = f"{PID} (python3) R 1 1 1 0 0 0 0 0 0 0 131 17 4 1 0 0 2 0 77 91234304 2953 " + " ".join(["0"] * 13) + " 17" + " 0" * 14
    names = ("Name:\tpython3", "State:\tR (running)", f"Tgid:\t{PID}", f"Pid:\t{PID}", "PPid:\t1", "TracerPid:\t0", "FDSize:\t4",
             "VmSize:\t89096 kB", "VmRSS:\t11812 kB", "VmData:\t9120 kB", "Threads:\t2", "CapInh:\t0000000000000000",
             "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "Seccomp:\t0", "Mems_allowed:\t1",
             "Mems_allowed_list:\t0")
    io = ("rchar: 4718592", "wchar: 91022", "syscr: 1211", "syscw: 87", "read_bytes: 0", "write_bytes: 0", "cancelled_write_bytes: 0")
    files = {"stat": stat, "status": "\n".join(names), "comm": "python3", "cmdline": b"/usr/bin/python3\0app.py\0", "io": "\n".join(io),
             "statm": "22274 2953 0 0 0 0 0", "environ": b"PATH=/usr/bin\0", "oom_score": "0", "oom_score_adj": "0",
             "mountinfo": "1 1 0:21 / / rw - overlay none rw\n2 1 0:22 / /dev rw - dev none rw\n3 1 0:23 / /sys ro,noexec - sysfs none ro\n"
                          "4 1 0:24 / /proc rw,noexec - proc none rw\n5 1 0:25 / /tmp rw - tmpfs none rw"}
    t.folder(where, files)
    for tid in (PID, PID + 1):
        t.folder(f"{where}/task/{tid}", {name: text for name, text in files.items() if name not in ("environ", "mountinfo")})
    t.link("proc/self", str(PID))
    t.link("proc/thread-self", f"{PID}/task/{PID}")


def gvisor(t):
    none = " ".join(["0"] * 10)
    t.folder("proc", {
        "stat": f"cpu  {none}\n" + "".join(f"cpu{i} {none}\n" for i in CPUS)
                + "intr 0\nctxt 0\nbtime 1718000000\nprocesses 0\nprocs_running 0\nprocs_blocked 0\nsoftirq" + " 0" * 11,
        "meminfo": "\n".join(f"{name + ':':<15}{value:>9} kB" for name, value in KIB.items()),
        "loadavg": "0.00 0.00 0.00 0/0 0", "uptime": "86.41 0.00", "cmdline": "BOOT_IMAGE=/vmlinuz-4.4.0-gvisor quiet",
        "version": "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016", "filesystems": "nodev\toverlay\nnodev\ttmpfs\nnodev\tproc",
        "mounts": "none / overlay rw 0 0\nnone /proc proc rw,noexec 0 0\nnone /sys sysfs ro,noexec 0 0",
        "cpuinfo": "".join(f"processor\t: {i}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: unknown\n"
                           f"stepping\t: unknown\ncpu MHz\t\t: 2000.000\nflags\t\t: fpu sse2 avx2\n\n" for i in CPUS)})
    t.folder("proc/net", {
        "dev": "Inter-|   Receive                                                |  Transmit\n"
               " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
               + "".join(f"{name:>6}: {v} {v // 700} 0 0 0 0 0 0 {v // 9} {v // 800} 0 0 0 0 0 0\n" for name, v in (("eth0", 918273), ("lo", 0))),
        "snmp": "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs"
                " InErrs OutRsts InCsumErrors\nTcp: 1 200 120000 -1 2 0 0 0 1 821 790 3 0 0 0"})
    t.folder("proc/sys/kernel", {"hostname": "runsc", "osrelease": "4.4.0", "sem": "32000\t1024000000\t500\t32000", "shmmni": "4096"})
    t.folder("sys/devices/system/cpu", {"online": "0-1", "possible": "0-1", "present": "0-1"})
    own_process(t)
