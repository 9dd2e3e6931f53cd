# SPDX-License-Identifier: Apache-2.0
"""/sys/devices/system/cpu and node: what cores there are, how fast, how hot, with which memory."""
from procfs import meminfo_values
from tree import cpu_list, cpu_mask

CPU = "sys/devices/system/cpu"


class Core:
    """One logical CPU; siblings share (package, die, core)."""

    def __init__(self, cpu, package, core, node, die=0, llc=None, kind="core"):
        self.cpu, self.package, self.core, self.node, self.die, self.kind = cpu, package, core, node, die, kind
        self.llc = llc if llc is not None else package


def packages(count, cores, threads=2, nodes_each=1):
    """The usual numbering: a thread of every core of every package, then the second threads."""
    return [
        Core(thread * count * cores + p * cores + c, p, c, p * nodes_each + c * nodes_each // cores)
        for thread in range(threads)
        for p in range(count)
        for c in range(cores)]


def topology(t, cores, possible=None, offline=(),
             caches=(("Data", 1, "48K"), ("Instruction", 1, "32K"), ("Unified", 2, "1280K"), ("Unified", 3, "24576K"))):
    online = [c for c in cores if c.cpu not in offline]
    everyone = [c.cpu for c in cores]
    t.folder(
        CPU, {
            "online": cpu_list([c.cpu for c in online]), "offline": cpu_list(offline), "present": cpu_list(everyone), "possible":
                cpu_list(range(possible or len(cores))), "isolated": "\n", "nohz_full": "(null)\n", "kernel_max": 8191,
            "modalias": "cpu:type:x86,ven0000fam0006mod006A:feature:,0000,0001", "vulnerabilities/meltdown": "Not affected",
            "vulnerabilities/spectre_v2": "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional; RSB filling",
            "vulnerabilities/mds": "Mitigation: Clear CPU buffers; SMT vulnerable"})
    smt = any(a.cpu != b.cpu and (a.package, a.core, a.kind) == (b.package, b.core, b.kind) for a in online for b in online)
    t.folder(f"{CPU}/smt", {"active": int(smt), "control": "on" if smt else "notsupported"})
    for c in cores:
        if c.cpu:
            t.file(f"{CPU}/cpu{c.cpu}/online", int(c in online))
        if c in online:
            core(t, c, online, caches, len(cores))


def core(t, c, online, caches, total):
    where = f"{CPU}/cpu{c.cpu}"
    siblings = [o.cpu for o in online if (o.package, o.core, o.kind) == (c.package, c.core, c.kind)]
    package = [o.cpu for o in online if o.package == c.package]
    die = [o.cpu for o in online if (o.package, o.die) == (c.package, c.die)]
    t.folder(
        f"{where}/topology", {
            "core_id": c.core, "physical_package_id": c.package, "die_id": c.die, "thread_siblings_list": cpu_list(siblings),
            "core_cpus_list": cpu_list(siblings), "thread_siblings": cpu_mask(siblings, total),
            "core_siblings_list": cpu_list(package), "package_cpus_list": cpu_list(package), "die_cpus_list": cpu_list(die)})
    for i, (kind, level, size) in enumerate(caches):
        shared = siblings if level < 3 else [o.cpu for o in online if o.llc == c.llc]
        t.folder(
            f"{where}/cache/index{i}", {
                "type": kind, "level": level, "size": size, "shared_cpu_list": cpu_list(shared), "id": min(shared),
                "coherency_line_size": 64})
    t.link_to(f"{where}/node{c.node}", f"sys/devices/system/node/node{c.node}")


def frequency(t, cores, driver, governor, low, high, base=None, shared=lambda c: [c.cpu], without=()):
    """cpufreq: a policy for cores that change together; kHz. A CPU of `without` has none."""
    for c in cores:
        group = shared(c)
        policy = f"{CPU}/cpufreq/policy{group[0]}"
        if c.cpu in without:
            continue
        t.link_to(f"{CPU}/cpu{c.cpu}/cpufreq", policy)
        if c.cpu != group[0]:
            continue
        files = {
            "affected_cpus": " ".join(map(str, group)), "related_cpus": " ".join(map(
                str, group)), "cpuinfo_min_freq": low, "cpuinfo_max_freq": high, "cpuinfo_transition_latency": 20000,
            "scaling_available_governors": f"{governor} performance" if governor != "performance" else "performance powersave",
            "scaling_cur_freq": t.pick(f"freq {c.cpu}", low + 1, high), "scaling_driver": driver, "scaling_governor": governor,
            "scaling_min_freq": low, "scaling_max_freq": high - 100000, "scaling_setspeed": "<unsupported>"}
        if base:
            files["base_frequency"] = base
            files["energy_performance_preference"] = "balance_performance"
        t.folder(policy, files)


def throttle(t, cores):
    """arch/x86/kernel/cpu/mce/therm_throt.c: siblings share the core's counts, a package's cores the package's."""
    for c in cores:
        values = {}
        for level, key in (("core", f"{c.package} {c.core} {c.kind}"), ("package", f"{c.package}")):
            values[f"{level}_throttle_count"] = t.pick(f"throttle {level} {key}", 1, 900)
            values[f"{level}_throttle_max_time_ms"] = t.pick(f"throttle max {level} {key}", 1, 70)
            values[f"{level}_throttle_total_time_ms"] = t.pick(f"throttle total {level} {key}", 900, 50000)
        t.folder(f"{CPU}/cpu{c.cpu}/thermal_throttle", values)


def idle(t, cores, states=(("POLL", 0), ("C1", 1), ("C1E", 4), ("C6", 170))):
    t.folder(f"{CPU}/cpuidle", {"current_driver": "intel_idle", "current_governor": "menu"})
    for c in cores:
        for i, (name, latency) in enumerate(states):
            t.folder(
                f"{CPU}/cpu{c.cpu}/cpuidle/state{i}", {
                    "name": name, "latency": latency, "time": t.pick(f"idle {c.cpu} {i}", 10**6, 10**12), "usage": t.pick(
                        f"idle use {c.cpu} {i}", 10**3, 10**9)})


def nodes(t, memory, cores, distance=((10, 20), (20, 10)), hugepages=True):
    """memory: kB by node. drivers/base/node.c: the columns are those of meminfo behind "Node N "."""
    where = "sys/devices/system/node"
    t.folder(
        where, {
            "online": cpu_list(memory), "possible": cpu_list(memory), "has_cpu": cpu_list({c.node for c in cores}), "has_memory":
                cpu_list([n for n in memory if memory[n]]), "has_normal_memory": cpu_list([n for n in memory if memory[n]])})
    names = ("MemTotal", "MemFree", "MemUsed", "SwapCached", "Active", "Inactive", "Active(anon)", "Inactive(anon)",
             "Active(file)", "Inactive(file)", "Unevictable", "Mlocked", "Dirty", "Writeback", "FilePages", "Mapped", "AnonPages",
             "Shmem", "KernelStack", "PageTables", "SecPageTables", "NFS_Unstable", "Bounce", "WritebackTmp", "KReclaimable",
             "Slab", "SReclaimable", "SUnreclaim", "AnonHugePages", "ShmemHugePages", "ShmemPmdMapped", "FileHugePages",
             "FilePmdMapped", "Unaccepted")
    for n, total in memory.items():
        cpus = [c.cpu for c in cores if c.node == n]
        v = meminfo_values(t, total, key=f" node {n}")
        v["MemUsed"], v["FilePages"] = total - v["MemFree"], v["Cached"] + v["Buffers"]
        lines = [f"Node {n} {name + ':':<15} {v[name]:>8} kB" for name in names]
        lines += [
            f"Node {n} HugePages_{kind}: {count:>5}" for kind, count in (("Total", 514 + n), ("Free", 250 + n), ("Surp", n))]
        t.folder(
            f"{where}/node{n}", {
                "cpulist": cpu_list(cpus) or "\n", "cpumap": cpu_mask(cpus, len(cores)), "distance": " ".join(
                    map(str, distance[n])), "meminfo": "\n".join(lines), "numastat": "\n".join(
                        f"{k} {t.pick(f'numa {n} {k}', 1, 10**10)}"
                        for k in ("numa_hit", "numa_miss", "numa_foreign", "interleave_hit", "local_node", "other_node")),
                "vmstat": "\n".join(
                    f"{k} {t.pick(f'node {n} {k}', 1, 10**8)}" for k in ("nr_free_pages", "nr_anon_pages", "pgpromote_success"))})
        if hugepages:
            t.folder(f"{where}/node{n}/hugepages/hugepages-2048kB",
                     {"nr_hugepages": 514 + n, "free_hugepages": 250 + n, "surplus_hugepages": n})
        for c in cpus:
            t.link_to(f"{where}/node{n}/cpu{c}", f"{CPU}/cpu{c}")


def cpuinfo(t, cores, vendor, family, model, stepping, name, mhz, flags, cache="24576 KB"):
    """arch/x86/kernel/cpu/proc.c: only the CPUs that are online, a tab before each colon that its name leaves room for."""
    text = []
    for c in cores:
        siblings = sum(o.package == c.package for o in cores)
        count = len({(o.core, o.kind) for o in cores if o.package == c.package})
        rows = (("processor\t", c.cpu), ("vendor_id\t", vendor), ("cpu family\t", family), ("model\t\t", model),
                ("model name\t", name), ("stepping\t", stepping), ("microcode\t", "0xd0003e7"),
                ("cpu MHz\t\t", f"{mhz + t.pick(f'mhz {c.cpu}', 0, 600)}.{c.cpu:03d}"), ("cache size\t", cache),
                ("physical id\t", c.package), ("siblings\t", siblings), ("core id\t\t", c.core), ("cpu cores\t", count),
                ("apicid\t\t", c.cpu * 2), ("initial apicid\t", c.cpu * 2), ("fpu\t\t", "yes"), ("fpu_exception\t", "yes"),
                ("cpuid level\t", 27), ("wp\t\t", "yes"), ("flags\t\t", flags),
                ("bugs\t\t", "spectre_v1 spectre_v2 spec_store_bypass swapgs"), ("bogomips\t", "5800.00"), ("clflush size\t", 64),
                ("cache_alignment\t", 64), ("address sizes\t", "46 bits physical, 57 bits virtual"), ("power management", ""))
        text.append("\n".join(f"{a}: {b}" if b != "" else f"{a}:" for a, b in rows) + "\n\n")
    t.file("proc/cpuinfo", "".join(text))
