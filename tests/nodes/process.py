# SPDX-License-Identifier: Apache-2.0
"""Processes of /proc: one call a process; self is the one whose mounts and cgroup speak for the job."""


def status(t, pid, name, parent, threads, cpus, nodes, rss, key):
    """fs/proc/array.c and task_mmu.c: a tab behind the colon, sizes of 8 places in kB."""
    size = {
        "VmPeak": rss * 5, "VmSize": rss * 4, "VmLck": 0, "VmPin": 64, "VmHWM": rss + 812, "VmRSS": rss, "RssAnon": rss * 7 // 10,
        "RssFile": rss // 5, "RssShmem": rss - rss * 7 // 10 - rss // 5, "VmData": rss * 2, "VmStk": 132, "VmExe": 2716,
        "VmLib": 9284, "VmPTE": rss // 400, "VmSwap": 36, "HugetlbPages": 4096}
    rows = [("Name", name), ("Umask", "0022"), ("State", "R (running)"), ("Tgid", pid), ("Ngid", 0), ("Pid", pid),
            ("PPid", parent), ("TracerPid", 0), ("Uid", "1000\t1000\t1000\t1000"), ("Gid", "1000\t1000\t1000\t1000"),
            ("FDSize", 256), ("Groups", "1000 2001 "), ("NStgid", pid), ("NSpid", pid), ("NSpgid", pid), ("NSsid", 4200)]
    rows += [(name, f"{v:8d} kB") for name, v in size.items()]
    rows += [("CoreDumping", 0), ("THP_enabled", 1), ("Threads", threads), ("SigQ", "3/1030219"), ("SigPnd", "0000000000000000"),
             ("CapEff", "0000000000000000"), ("NoNewPrivs", 0), ("Seccomp", 0), ("Speculation_Store_Bypass", "thread vulnerable"),
             ("Cpus_allowed_list", cpus), ("Mems_allowed_list", nodes),
             ("voluntary_ctxt_switches", t.pick(f"voluntary {key}", 100, 90000)),
             ("nonvoluntary_ctxt_switches", t.pick(f"involuntary {key}", 10, 9000))]
    return "\n".join(f"{a}:\t{b}" for a, b in rows)


def stat_line(t, pid, name, parent, threads, key, rss_pages):
    pick = lambda what, low, high: t.pick(f"stat {what} {key}", low, high)
    fields = [
        pid, f"({name})", "R", parent, 4240, 4200, 0, -1, 4194304,
        pick("minflt", 10**4, 10**7),
        pick("cminflt", 10, 10**5),
        pick("majflt", 1, 900),
        pick("cmajflt", 1, 90),
        pick("utime", 10**4, 10**6),
        pick("stime", 10**3, 10**5),
        pick("cutime", 10, 9000),
        pick("cstime", 10, 900), 20, 0, threads, 0, 812345 + pid, rss_pages * 4096 * 4, rss_pages, 18446744073709551615,
        94000000000000, 94000002781184, 140730000000000, 0, 0, 0, 0, 16781312, 134235650, 0, 0, 0, 17,
        pick("cpu", 0, 15), 0, 0, 0,
        pick("guest", 1, 90),
        pick("cguest", 1, 9), 94000003000000, 94000003100000, 94000030000000, 140730000001000, 140730000001100, 140730000001100,
        140730000004000, 0]
    return " ".join(map(str, fields))


def add(t, pid, name, parent, cpus, nodes="0", threads=3, cgroup="0::/", mounts="", mountstats="", fds=(), mapped=None):
    """fds: (number, target, lines of fdinfo behind the usual ones). mapped: pages by NUMA node."""
    rss = t.pick(f"rss {pid}", 10**5, 4 * 10**6) // 4 * 4
    where = f"proc/{pid}"
    t.folder(
        where, {
            "stat": stat_line(t, pid, name, parent, threads, pid, rss // 4), "comm": name, "cgroup": cgroup, "status": status(
                t, pid, name, parent, threads, cpus, nodes, rss, pid), "cmdline": f"/usr/bin/{name}\0--input\0data.h5\0".encode(),
            "environ": b"PATH=/usr/bin\0SLURM_JOB_ID=123456\0API_TOKEN=secret\0",
            "statm": f"{rss} {rss // 4} {rss // 20} 679 0 {rss // 2} 0", "io": "\n".join(
                f"{k}: {t.pick(f'io {k} {pid}', 10**5, 10**11)}"
                for k in ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes")),
            "schedstat": f"{t.pick(f'ran {pid}', 10**9, 10**13)} {t.pick(f'waited {pid}', 10**6, 10**10)} {t.pick(f'slices {pid}', 10**3, 10**6)}",
            "smaps_rollup": rollup(t, pid, rss), "limits": LIMITS, "oom_score": "667", "oom_score_adj": "0", "loginuid": "1000",
            "mountinfo": mounts, "mountstats": mountstats, "numa_maps": numa_maps(mapped or {0: rss // 4}),})
    for i in range(threads):
        tid, key = pid + i, f"{pid} {i}"
        t.folder(
            f"{where}/task/{tid}", {
                "stat": stat_line(t, tid, name, parent, threads, key, rss // 4), "comm": name if not i else f"worker-{i}",
                "schedstat": f"{t.pick(f'ran {key}', 10**9, 10**12)} {t.pick(f'waited {key}', 10**6, 10**9)} {t.pick(f'slices {key}', 10**3, 10**5)}",
                "status": status(t, tid, name, parent, threads, cpus, nodes, rss, key)})
    for number, target, lines in ((0, "/dev/null", ""), (1, "/scratch/job/out.log", ""), *fds):
        t.link(f"{where}/fd/{number}", target)
        t.file(
            f"{where}/fdinfo/{number}",
            f"pos:\t{t.pick(f'pos {pid} {number}', 0, 10**6)}\nflags:\t02100002\nmnt_id:\t{24 + number}\nino:\t{900 + number}\n"
            + lines)


def own(t, pid):
    """What /proc/self and /proc/thread-self are for the one who reads."""
    t.link("proc/self", str(pid))
    t.link("proc/thread-self", f"{pid}/task/{pid}")
    t.link("proc/mounts", "self/mounts")


def rollup(t, pid, rss):
    values = {
        "Rss": rss, "Pss": rss * 8 // 10, "Pss_Dirty": rss * 6 // 10, "Pss_Anon": rss * 7 // 10, "Pss_File": rss // 12,
        "Pss_Shmem": rss // 60, "Shared_Clean": rss // 9, "Shared_Dirty": rss // 50, "Private_Clean": rss // 40,
        "Private_Dirty": rss * 2 // 3, "Referenced": rss * 9 // 10, "Anonymous": rss * 7 // 10, "KSM": 0, "LazyFree": 0,
        "AnonHugePages": 2048 * (rss // 9000), "ShmemPmdMapped": 0, "FilePmdMapped": 0, "Shared_Hugetlb": 0,
        "Private_Hugetlb": 4096, "Swap": 36, "SwapPss": 18, "Locked": 4}
    return "55d0c0a00000-7ffd5a9f0000 ---p 00000000 00:00 0                          [rollup]\n" + "\n".join(
        f"{name + ':':<16}{v:>8} kB" for name, v in values.items())


def numa_maps(pages):
    nodes = " ".join(f"N{node}={n}" for node, n in pages.items())
    total = sum(pages.values())
    return (f"55d0c0a00000 default file=/usr/bin/python3.11 mapped=679 mapmax=3 N0=679 kernelpagesize_kB=4\n"
            f"55d0c1c00000 default heap anon={total} dirty={total} active={total // 2} {nodes} kernelpagesize_kB=4\n"
            f"7f0000000000 bind:0-1 huge anon=2 dirty=2 N0=2 kernelpagesize_kB=2048\n"
            f"7ffd5a9d0000 default stack anon=33 dirty=33 N0=33 kernelpagesize_kB=4")


LIMITS = """Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max file size             unlimited            unlimited            bytes     
Max data size             unlimited            unlimited            bytes     
Max stack size            8388608              unlimited            bytes     
Max core file size        0                    unlimited            bytes     
Max resident set          unlimited            unlimited            bytes     
Max processes             1030219              1030220              processes 
Max open files            1024                 524288               files     
Max locked memory         67108864             67108865             bytes     
Max address space         unlimited            unlimited            bytes     
Max file locks            unlimited            unlimited            locks     
Max pending signals       1030219              1030219              signals   
Max msgqueue size         819200               819200               bytes     
Max nice priority         0                    0                    
Max realtime priority     0                    0                    
Max realtime timeout      unlimited            unlimited            us        """
