# SPDX-License-Identifier: Apache-2.0
"""Files of /proc that speak of the whole node, with the kernel's own widths and blanks."""


def stat(t, cpus, boot=1718000000, columns=10, irqs=200):
    """fs/proc/stat.c: the total is the sum, but for rounding, of the lines of the CPUs that are online."""
    rows = {}
    for c in cpus:
        guest = t.pick(f"guest {c}", 100, 9000)
        rows[c] = [
            t.pick(f"user {c}", 10**6, 10**8) + guest,
            t.pick(f"nice {c}", 200, 30000) + guest // 7,
            t.pick(f"system {c}", 10**5, 10**7),
            t.pick(f"idle {c}", 10**8, 10**9),
            t.pick(f"iowait {c}", 0, 10**5),
            t.pick(f"irq {c}", 0, 40000),
            t.pick(f"softirq {c}", 10, 90000),
            t.pick(f"steal {c}", 0, 700), guest, guest // 7][:columns]
    total = [sum(column) for column in zip(*rows.values())]
    lines = ["cpu  " + " ".join(map(str, total))]
    lines += [f"cpu{c} " + " ".join(map(str, row)) for c, row in rows.items()]
    counts = [t.pick(f"irq count {i}", 1, 10**8) if i % 3 == 0 else 0 for i in range(irqs)]
    lines.append(f"intr {sum(counts) + 90000000017} " + " ".join(map(str, counts)))
    soft = [t.pick(f"softirq count {i}", 1, 10**9) for i in range(10)]
    lines += [
        f"ctxt {t.pick('ctxt', 10**10, 10**12)}", f"btime {boot}", f"processes {t.pick('forks', 10**6, 10**8)}",
        f"procs_running {t.pick('running', 2, len(cpus) + 2)}", f"procs_blocked {t.pick('blocked', 1, 9)}",
        f"softirq {sum(soft)} " + " ".join(map(str, soft))]
    t.file("proc/stat", "\n".join(lines))


MEMINFO_LATE = ("Zswap", "Zswapped", "KReclaimable", "Percpu", "ShmemHugePages", "ShmemPmdMapped", "FileHugePages",
                "FilePmdMapped", "Unaccepted", "SecPageTables", "Hugetlb")


def meminfo_values(t, total, key="", swap=0):
    """Kibibytes by name, in the kernel's order, which add up as the kernel's do."""
    part = lambda name, low, high: t.pick(f"mem{key} {name}", int(total * low), int(total * high))
    anon, shmem, buffers = part("anon", .2, .3), part("shmem", .01, .02), part("buffers", .0005, .001)
    files = part("files", .2, .3)
    sreclaim, sunreclaim = part("sreclaim", .01, .02), part("sunreclaim", .005, .009)
    active_anon, active_file = part("active anon", .01, .02), part("active file", .05, .09)
    free = total - anon - shmem - buffers - files - sreclaim - sunreclaim - part("lost", .01, .02)
    swapped = part("swapped", .0001, .0002) if swap else 0
    return {
        "MemTotal": total, "MemFree": free, "MemAvailable": free + files * 9 // 10 + sreclaim // 2, "Buffers": buffers,
        "Cached": files + shmem, "SwapCached": swapped // 3, "Active": active_anon + active_file,
        "Inactive": anon - active_anon + files - active_file, "Active(anon)": active_anon, "Inactive(anon)": anon - active_anon,
        "Active(file)": active_file, "Inactive(file)": files - active_file, "Unevictable": part("unevictable", .0001,
                                                                                                .0003), "Mlocked": part(
                                                                                                    "mlocked", .00005, .0001),
        "SwapTotal": swap, "SwapFree": swap - swapped, "Zswap": swapped // 5, "Zswapped": swapped // 2, "Dirty": part(
            "dirty", .0001, .0004), "Writeback": part("writeback", .00001, .00009), "AnonPages": anon, "Mapped": part(
                "mapped", .002, .004), "Shmem": shmem, "KReclaimable": sreclaim + 1024, "Slab": sreclaim + sunreclaim,
        "SReclaimable": sreclaim, "SUnreclaim": sunreclaim, "KernelStack": part("stacks", .0001, .0002), "PageTables": part(
            "tables", .0007, .0009), "SecPageTables": part("second tables", .00001, .00002),
        "NFS_Unstable": 0, "Bounce": 0, "WritebackTmp": 0, "CommitLimit": total // 2 + swap, "Committed_AS": part(
            "committed",
            .4, .6), "VmallocTotal": 34359738367, "VmallocUsed": part("vmalloc", .001, .002), "VmallocChunk": 0, "Percpu": part(
                "percpu", .0005, .0009), "HardwareCorrupted": 4, "AnonHugePages": part("anon huge", .1, .15) // 2048 * 2048,
        "ShmemHugePages": part("shmem huge", .001, .002) // 2048 * 2048, "ShmemPmdMapped": 2048,
        "FileHugePages": part("file huge", .0001, .0002) // 2048 * 2048, "FilePmdMapped": 4096, "Unaccepted": 0,
        "HugePages_Total": 1029, "HugePages_Free": 513, "HugePages_Rsvd": 17, "HugePages_Surp": 5,
        "Hugepagesize": 2048, "Hugetlb": 1029 * 2048 + 2 * 1048576, "DirectMap4k": part("4k", .001, .002), "DirectMap2M": part(
            "2M", .1, .2), "DirectMap1G": part("1G", .7, .8),}


def meminfo(t, total, swap=0, without=()):
    """fs/proc/meminfo.c: names padded to 16, values to 8, huge pages counted without a unit."""
    lines = []
    for name, v in meminfo_values(t, total, swap=swap).items():
        if name in without:
            continue
        if name.startswith("HugePages_"):
            lines.append(f"{name + ':':<16} {v:>7}")
        elif name == "HardwareCorrupted":
            lines.append(f"{name}: {v:>5} kB")
        else:
            lines.append(f"{name + ':':<16}{v:>8} kB")
    t.file("proc/meminfo", "\n".join(lines))


def diskstats(t, disks, columns=17):
    """disks: (major, minor, name, key); devices with one key count the same."""
    lines = []
    for major, minor, name, key in disks:
        lines.append(f"{major:4d} {minor:7d} {name} " + " ".join(map(str, disk_numbers(t, key)[:columns])))
    t.file("proc/diskstats", "\n".join(lines))


def disk_numbers(t, key):
    """As in diskstats and in /sys/block/*/stat; an idle device has a key of None."""
    if key is None:
        return [0] * 17
    high = (10**7, 10**6, 10**10, 10**8, 10**7, 10**6, 10**10, 10**8, 90, 10**9, 10**9, 10**5, 10**4, 10**9, 10**6, 10**6, 10**6)
    return [t.pick(f"disk {key} {i}", max(1, h // 90), h) for i, h in enumerate(high)]


NET_COLUMNS = ("rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo_errors", "rx_frame_errors", "rx_compressed",
               "multicast", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo_errors", "collisions",
               "tx_carrier_errors", "tx_compressed")
NET_OTHERS = ("rx_crc_errors", "rx_length_errors", "rx_over_errors", "rx_missed_errors", "rx_nohandler", "tx_aborted_errors",
              "tx_heartbeat_errors", "tx_window_errors")


def net_numbers(t, name):
    small = ("rx_errors", "rx_fifo_errors", "rx_frame_errors", "rx_compressed", "tx_errors", "tx_fifo_errors", "collisions",
             "tx_carrier_errors", "tx_compressed")
    out = {}
    for column in NET_COLUMNS + NET_OTHERS:
        big = column.endswith("bytes"), column.endswith("packets") or column == "multicast"
        high = 10**13 if big[0] else 10**10 if big[1] else 90 if column in small else 4000
        out[column] = t.pick(f"net {name} {column}", high // 90, high)
    return out


def net_dev(t, numbers):
    """net/core/net-procfs.c; numbers: by interface, as net_numbers gives them."""
    lines = [
        "Inter-|   Receive                                                |  Transmit",
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed"
    ]
    for name, v in numbers.items():
        row = [v[c] for c in NET_COLUMNS]
        lines.append("%6s: %7d %7d %4d %4d %4d %5d %10d %9d %8d %7d %4d %4d %4d %5d %7d %10d" % (name, *row))
    t.file("proc/net/dev", "\n".join(lines))


def pressure(t, files=("cpu", "memory", "io"), where="proc/pressure/", ending="", cpu_full=True):
    """kernel/sched/psi.c: irq has only full; full of a node's cpu is 0 since Linux 5.13, and was not there before."""
    for f in files:
        lines = []
        for kind in ("some", "full"):
            if (f == "irq" and kind == "some") or (f == "cpu" and kind == "full" and not cpu_full):
                continue
            share = [t.pick(f"psi {where} {f} {kind} {span}", 1, 3000) for span in (10, 60, 300)]
            total = t.pick(f"psi {where} {f} {kind}", 10**7, 10**11)
            if (f, kind, ending) == ("cpu", "full", ""):
                share, total = [0, 0, 0], 0
            a, b, c = (f"{s // 100}.{s % 100:02d}" for s in share)
            lines.append(f"{kind} avg10={a} avg60={b} avg300={c} total={total}")
        t.file(where + f + ending, "\n".join(lines))


def interrupts(t, cpus, devices, arm=False):
    """kernel/irq/proc.c: a column for every CPU that is online; named rows have a sentence, and ERR and MIS one number."""
    width = 4
    lines = [" " * (width + 8) + "".join(f"CPU{c:<8}" for c in cpus)]

    def row(name, text, few=False):
        counts = " ".join(f"{0 if few and i % 5 else t.pick(f'irq {name} {c}', 1, 10**7):>10}" for i, c in enumerate(cpus))
        lines.append(f"{name:>{width}}: {counts} {text}")

    for number, device in devices:
        row(number, device, few=True)
    if arm:
        for i, text in enumerate(("Rescheduling interrupts", "Function call interrupts", "CPU stop interrupts",
                                  "CPU stop (for crash dump) interrupts", "Timer broadcast interrupts", "IRQ work interrupts")):
            row(f"IPI{i}", text)
        lines.append(f"{'Err':>{width}}:          0")
    else:
        for name, text in (("NMI", "Non-maskable interrupts"), ("LOC", "Local timer interrupts"), ("SPU", "Spurious interrupts"),
                           ("PMI", "Performance monitoring interrupts"), ("IWI", "IRQ work interrupts"),
                           ("RTR", "APIC ICR read retries"), ("RES", "Rescheduling interrupts"),
                           ("CAL", "Function call interrupts"), ("TLB", "TLB shootdowns"), ("TRM", "Thermal event interrupts"),
                           ("THR", "Threshold APIC interrupts"), ("DFR", "Deferred Error APIC interrupts"),
                           ("MCE", "Machine check exceptions"), ("MCP", "Machine check polls")):
            row(name, " " + text)
        lines += [f"{'ERR':>{width}}:          3", f"{'MIS':>{width}}:          7"]
        for name, text in (("PIN", "Posted-interrupt notification event"), ("NPI", "Nested posted-interrupt event"),
                           ("PIW", "Posted-interrupt wakeup event")):
            row(name, " " + text, few=True)
    t.file("proc/interrupts", "\n".join(lines))
    soft = [" " * 20 + "".join(f"CPU{c:<8}" for c in cpus)]
    for name in ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"):
        soft.append(f"{name:>12}:" + "".join(f" {t.pick(f'soft {name} {c}', 1, 10**9):10d}" for c in cpus))
    t.file("proc/softirqs", "\n".join(soft))


VMSTAT = """nr_free_pages nr_zone_inactive_anon nr_zone_active_anon nr_dirty nr_writeback numa_hit numa_miss numa_foreign numa_interleave
numa_local numa_other nr_anon_pages nr_mapped nr_file_pages nr_shmem pgpgin pgpgout pswpin pswpout pgalloc_dma pgalloc_dma32 pgalloc_normal
allocstall_normal pgfree pgactivate pgdeactivate pgfault pgmajfault pgsteal_kswapd pgsteal_direct pgscan_kswapd pgscan_direct oom_kill
numa_pte_updates numa_huge_pte_updates numa_hint_faults numa_hint_faults_local numa_pages_migrated pgmigrate_success pgmigrate_fail
compact_stall compact_fail compact_success htlb_buddy_alloc_success thp_fault_alloc thp_fault_fallback thp_collapse_alloc thp_split_page
thp_zero_page_alloc thp_swpout workingset_refault_anon workingset_refault_file balloon_inflate swap_ra swap_ra_hit""".split()


def protocols(t):
    """net/ipv4/proc.c: a line of names, then a line of values."""
    groups = {
        "snmp": {
            "Ip": "Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors InDiscards InDelivers OutRequests OutDiscards",
            "Tcp": "RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs "
                   "RetransSegs InErrs OutRsts InCsumErrors",
            "Udp": "InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors"},
        "netstat": {
            "TcpExt": "SyncookiesSent SyncookiesRecv TW PAWSActive ListenOverflows ListenDrops TCPLostRetransmit TCPFastRetrans "
                      "TCPTimeouts TCPSynRetrans",
            "IpExt": "InNoRoutes InTruncatedPkts InMcastPkts OutMcastPkts InOctets OutOctets"}}
    fixed = {"Forwarding": 1, "DefaultTTL": 64, "RtoAlgorithm": 1, "RtoMin": 200, "RtoMax": 120000, "MaxConn": -1}
    for path, tables in groups.items():
        lines = []
        for name, words in tables.items():
            values = [fixed.get(word, t.pick(f"{name} {word}", 1, 10**9)) for word in words.split()]
            lines += [f"{name}: {words}", f"{name}: {' '.join(map(str, values))}"]
        t.file(f"proc/net/{path}", "\n".join(lines))
    t.file(
        "proc/net/sockstat", "sockets: used 612\nTCP: inuse 71 orphan 2 tw 13 alloc 90 mem 37\nUDP: inuse 11 mem 6\n"
        "UDPLITE: inuse 0\nRAW: inuse 1\nFRAG: inuse 0 memory 0")


def others(t, cpus, release, distribution, cmdline, uptime=2345678):
    """What describes the kernel, and counters that no widths need care for."""
    t.file("proc/vmstat", "\n".join(f"{name} {t.pick('vmstat ' + name, 10, 10**9)}" for name in VMSTAT))
    protocols(t)
    t.folder("proc/sys/fs", {"file-nr": "12352\t0\t9223372036854775807", "file-max": 2**63 - 1, "nr_open": 1048576})
    t.file("proc/uptime", f"{uptime}.57 {uptime * len(cpus) * 7 // 10}.31")
    t.file("proc/version",
           f"Linux version {release} (builder@host) (gcc (GCC) 12.2.0, GNU ld 2.40) #1 SMP PREEMPT_DYNAMIC {distribution}")
    t.file("proc/cmdline", cmdline)
    load = [t.pick(f"load {i}", 100, 9000) for i in range(3)]
    t.file(
        "proc/loadavg",
        " ".join(f"{v // 100}.{v % 100:02d}" for v in load) + f" {t.pick('runnable', 3, 60)}/{t.pick('tasks', 900, 4000)} 424299")
    t.folder(
        "proc/sys/kernel", {
            "osrelease": release, "ostype": "Linux", "hostname": t.name, "perf_event_paranoid": 2, "pid_max": 4194304,
            "kptr_restrict": 1, "randomize_va_space": 2, "nmi_watchdog": 1, "numa_balancing": 1, "yama/ptrace_scope": 0})
    t.folder("proc/sys/vm", {"overcommit_memory": 0, "swappiness": 60, "nr_hugepages": 1029, "zone_reclaim_mode": 0})
    rows = ["version 15", "timestamp 4297512345"]
    for c in cpus:
        rows.append(
            f"cpu{c} 0 0 {t.pick(f'sched {c} 3', 1, 10**9)} {t.pick(f'sched {c} 4', 1, 10**8)} {t.pick(f'sched {c} 5', 1, 10**9)} "
            f"{t.pick(f'sched {c} 6', 1, 10**8)} {t.pick(f'sched {c} 7', 10**12, 10**15)} {t.pick(f'sched {c} 8', 10**11, 10**14)} {t.pick(f'sched {c} 9', 1, 10**9)}"
        )
    t.file("proc/schedstat", "\n".join(rows))
