# SPDX-License-Identifier: Apache-2.0
"""Machines that few have and that sites with large ones do: POWER9 with GPUs' memory as NUMA nodes, A64FX without disks, Xeon Phi in a
Cray XC, a node of EFA in a cloud, and one whose batch system mounts all controllers as one hierarchy."""
import cgroups
import cpus
import devices
import plain
import procfs
import remote
from cgroups import mount
from cpus import Core

OLD_MEMORY = ("Zswap", "Zswapped", "KReclaimable", "Percpu", "ShmemHugePages", "ShmemPmdMapped", "FileHugePages", "FilePmdMapped",
              "Unaccepted", "SecPageTables", "Hugetlb")
MEMORY_4_18 = ("KReclaimable", "Zswap", "Zswapped", "SecPageTables", "Unaccepted", "FileHugePages", "FilePmdMapped")


def power_interrupts(t, numbers):
    """arch/powerpc/kernel/irq.c: names that no other architecture has, a blank more behind the numbers."""
    lines = [" " * 12 + "".join(f"CPU{c:<8}" for c in numbers)]
    for name, text in ((" 16", " XIVE-IPI   0 Edge      IPI"), ("261", " XIVE-IRQ 4194321 Edge      mlx5_comp0@pci:0003:01:00.0"),
                       ("LOC", "  Local timer interrupts for timer event device"), ("LOC", "  Local timer interrupts for others"),
                       ("SPU", "  Spurious interrupts"), ("PMI", "  Performance monitoring interrupts"),
                       ("MCE", "  Machine check exceptions"), ("HMI", "  Hypervisor Maintenance Interrupts"),
                       ("NMI", "  System Reset interrupts"), ("WDG", "  Watchdog soft-NMI interrupts"),
                       ("DBL", "  Doorbell interrupts")):
        lines.append(f"{name}: " + "".join(f"{t.pick(f'{name} {text} {c}', 1, 10**6):>10} " for c in numbers) + text)
    lines.append("BAD:          9")
    t.file("proc/interrupts", "\n".join(lines))


def power9(t):
    """An AC922 with SMT2 of 4: each second pair of threads is off, sockets are 0 and 8, and so are their nodes; 252 to 255 are GPUs' memory.
    Firmware has taken the first core out of service."""
    cores = [
        Core(package * 16 + core * 4 + thread, package * 8, package * 2048 + 8 + core * 4, package * 8)
        for package in (0, 1)
        for core in range(4)
        for thread in range(4)
        if package or core]
    off = [c.cpu for c in cores if c.cpu % 4 > 1]
    online = [c for c in cores if c.cpu not in off]
    numbers = [c.cpu for c in online]
    plain.machine(t, online, kernel="4.18.0-305.25.1.el8_4.ppc64le", psi=(), columns=15, without=MEMORY_4_18, net="enP5p1s0f0")
    power_interrupts(t, numbers)
    cpus.topology(t, cores, offline=off,
                  caches=(("Data", 1, "32K"), ("Instruction", 1, "32K"), ("Unified", 2, "512K"), ("Unified", 3, "10240K")))
    cpus.frequency(t, online, "powernv-cpufreq", "performance", 2300000, 3800000,
                   shared=lambda c: [c.cpu // 4 * 4, c.cpu // 4 * 4 + 1])
    memory = {0: 301465600, 8: 301989888, 252: 16515072, 253: 16515072, 254: 16515072, 255: 0}
    cpus.nodes(t, memory, online, distance={n: (10, 40, 80, 80, 80, 80) for n in memory}, hugepages=False)
    t.file(
        "proc/cpuinfo", "".join(f"processor\t: {n}\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3800.000000MHz\n"
                                "revision\t: 2.1 (pvr 004e 1201)\n\n" for n in numbers) +
        "timebase\t: 512000000\nplatform\t: PowerNV\nmodel\t\t: 8335-GTW        \nmachine\t\t: PowerNV 8335-GTW        \n"
        "firmware\t: OPAL\nMMU\t\t: Radix")
    sensors = {"in1_input": 1012, "in1_label": "Chip 0 Vdd Remote Sense"}
    for i, (label, watts) in enumerate((("System", 1312), ("Chip 0 ", 187), ("Chip 0 Vdd", 121), ("Chip 8 ", 176)), 1):
        sensors |= {
            f"power{i}_input": watts * 1000000, f"power{i}_label": label, f"energy{i}_input": t.pick(label, 10**12, 10**15),
            f"energy{i}_label": label}
    for i, label in enumerate(("Chip 0 Core 8", "Chip 0 Core 12", "Chip 0 DIMM 0", "GPU 0 Core", "GPU 0 Memory"), 1):
        sensors |= {f"temp{i}_input": 40000 + i * 1000, f"temp{i}_label": label, f"temp{i}_fault": int("Memory" in label)}
    devices.hwmon(t, 0, "ibmpowernv", "sys/devices/platform/opal-sensor", sensors)
    for domain in ("0003", "0033"):
        place = devices.pci(t, f"{domain}:01:00.0", "0x15b3", "0x1019", "0x020700", "mlx5_core", node=8 * int(domain[2] == "3"),
                            under=f"pci{domain}:00")
        devices.infiniband(t, f"mlx5_{0 if domain == '0003' else 3}", place, {1: ("4: ACTIVE", "100 Gb/sec (4X EDR)", "InfiniBand")})
    # LSF has the job in memory and cpuset, the site's own daemon in the cores it allocates; nobody in the others.
    job = "/lsf/summit/job.1234567.18921.1606000000"
    groups = {"cpu,cpuacct": "/allocation_1234567", "memory": job, "cpuset": "/allocation_1234567", "blkio": "/", "freezer": job}
    cgroups.v1(t, groups, ("",), (4242,), numbers, "0-1,4-5", limits={job: 274877906944})
    mounts = cgroups.USUAL_MOUNTS + [
        mount(30 + i, 23, f"0:{27 + i}", "/", f"/sys/fs/cgroup/{name}", "rw,nosuid,nodev,noexec,relatime",
              f"shared:{5 + i} - cgroup cgroup rw,{name}") for i, name in enumerate(groups)] + [
                  mount(60, 21, "0:60", "/", "/gpfs/alpine", "rw,relatime", "shared:40 - gpfs alpine rw")]
    plain.own_process(t, online, "\n".join(f"{9 - i}:{name}:{path}" for i, (name, path) in enumerate(groups.items())), mounts)


def a64fx(t):
    """Its CPUs 0 and 1 are the system's; those of the jobs begin with 12. No disk, no network but its own, no cpufreq, no pressure."""
    cores = [Core(c, 0, c, 0) for c in (0, 1)] + [Core(c, 0, c, 4 + (c - 12) // 12) for c in (*range(12, 16), *range(24, 28))]
    plain.machine(t, cores, kernel="4.18.0-240.15.1.el8_3.aarch64+fujitsu", psi=(), without=MEMORY_4_18 + ("DirectMap4k", "DirectMap2M",
                                                                                                          "DirectMap1G"), arm=True)
    for path in [p for p in {**t.files, **t.links} if p.startswith(("sys/block", "sys/class/net/eth0", "sys/class/block"))]:
        t.files.pop(path, None)
        t.links.pop(path, None)
    t.file("proc/diskstats", "")
    procfs.net_dev(t, {"lo": procfs.net_numbers(t, "lo")})
    cpus.topology(t, cores, possible=60, caches=(("Data", 1, "64K"), ("Instruction", 1, "64K"), ("Unified", 2, "8192K")))
    memory = {0: 3145728, 4: 6815744, 5: 6815744}
    cpus.nodes(t, memory, cores, distance={n: (10, 30, 20) for n in memory}, hugepages=False)
    t.file(
        "proc/cpuinfo", "".join(
            f"processor\t: {c.cpu}\nBogoMIPS\t: 200.00\nFeatures\t: fp asimd evtstrm sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm "
            "fcma dcpop sve\nCPU implementer\t: 0x46\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0x001\nCPU revision\t: 0\n\n"
            for c in cores))
    job = "/system.slice/plexec.service/job_0815"
    groups = {"memory": job, "cpuset": job}
    cgroups.v1(t, groups, ("",), (4242,), [c.cpu for c in cores], "12-15", limits={job: 6000000000})
    mounts = cgroups.USUAL_MOUNTS + [
        mount(30 + i, 23, f"0:{27 + i}", "/", f"/sys/fs/cgroup/{name}", "rw,relatime", f"- cgroup cgroup rw,{name}")
        for i, name in enumerate(groups)]
    plain.own_process(t, cores, "\n".join(f"{2 - i}:{name}:{path}" for i, (name, path) in enumerate(groups.items())), mounts)


def cray_xc(t):
    """A Xeon Phi whose fast memory is a NUMA node without CPUs; pm_counters before they had a time; NFS of servers that tell version 1.0."""
    cores = [Core(thread * 4 + core, 0, core, 0) for thread in range(4) for core in range(4)]
    plain.machine(t, cores, kernel="4.12.14-150.17_5.0.92-cray_ari_c", psi=(), columns=11, without=OLD_MEMORY, net="ipogif0")
    cpus.topology(t, cores)
    cpus.frequency(t, cores, "intel_pstate", "performance", 1000000, 1600000)
    cpus.throttle(t, cores)
    cpus.nodes(t, {0: 98566144, 1: 16515072}, cores, distance=((10, 31), (31, 10)), hugepages=False)
    meters = {"energy": 79413545, "power": 207, "cpu_energy": 45678901, "cpu_power": 121, "memory_energy": 2345678, "memory_power": 12}
    t.folder("sys/cray/pm_counters",
             {name: f"{value} {'J' if name.endswith('energy') else 'W'}" for name, value in meters.items()})
    t.folder("sys/cray/pm_counters", {"freshness": 2156701, "generation": 11, "raw_scan_hz": 10, "version": 1, "startup": 1422467230})
    devices.powercap(t, [(0, "package-0", 262143328850, [("dram", 65712999613)])])
    remote.lustre(t, "snx11168", "ffff880ff5a12800")
    old_nfs = remote.nfs(t, "10.131.240.1:/dsl", "/dsl", version="3", columns=8).replace("statvers=1.1", "statvers=1.0")
    lines = [line for line in old_nfs.split("\n") if not line.lstrip().startswith(("age:", "xprt:", "sec:"))]
    plain.own_process(t, cores, "0::/", cgroups.USUAL_MOUNTS)
    t.file("proc/4242/mountstats", remote.mountstats("none /proc proc", "\n".join(lines)))


EFA = ("tx_bytes", "tx_pkts", "rx_bytes", "rx_pkts", "rx_drops", "send_bytes", "send_wrs", "recv_bytes", "recv_wrs", "rdma_read_wrs",
       "rdma_read_bytes", "rdma_read_wr_err", "rdma_read_resp_bytes", "lifespan")


def cloud(t):
    """Graviton with EFA, which has none of InfiniBand's counters; a job's group of version 2 in which only memory and pids are on."""
    cores = [Core(i, 0, i, 0) for i in range(4)]
    names = plain.machine(t, cores, kernel="6.1.102-111.182.amzn2023.aarch64", net="ens5", arm=True,
                          without=("DirectMap4k", "DirectMap2M", "DirectMap1G", "Unaccepted"))
    cpus.topology(t, cores)
    t.folder("sys/devices/system/node", {"online": "0", "possible": "0-15"})
    place = devices.pci(t, "0000:00:06.0", "0x1d0f", "0xefa2", "0x020000", "efa")
    devices.infiniband(t, "rdmap0s6", place, {1: ("4: ACTIVE", "200 Gb/sec (4X HDR)", "Unspecified")}, kind="7: unspecified",
                       firmware="0.0.0.0", hardware=False)
    port = f"{place}/infiniband/rdmap0s6/ports/1"
    for path in [p for p in t.files if p.startswith(f"{port}/counters/")]:
        del t.files[path]
    t.folder(f"{port}/hw_counters", {name: t.pick(f"efa {name}", 10**5, 10**12) for name in EFA})
    devices.net(t, "ens5", names["ens5"], devices.pci(t, "0000:00:05.0", "0x1d0f", "0xec20", "0x020000", "ena"), None)
    job = "/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0"
    path = ""
    cgroups.v2(t, "", root=True, cpus="0-3", mems="0")
    for part in job.split("/")[1:]:
        path += "/" + part
        cgroups.v2(t, path, pids=(4242,) if path == job else (), psi=(), peak=False, cpus="0-3", mems="0",
                   limit=8589934592 if part == "job_7" else "max", controllers="memory pids")
        group = f"sys/fs/cgroup{path}"
        usage = t.pick(f"usage {path}", 10**9, 10**12)
        t.file(f"{group}/cpu.stat", f"usage_usec {usage}\nuser_usec {usage - usage // 9}\nsystem_usec {usage // 9}")
        for name in ("io.stat", "cpu.max", "cpu.weight", "cpu.max.burst", "cpuset.cpus", "cpuset.cpus.effective", "cpuset.mems",
                     "cpuset.mems.effective", "hugetlb.2MB.current", "hugetlb.2MB.max"):
            del t.files[f"{group}/{name}"]
    plain.own_process(t, cores, f"0::{job}", cgroups.USUAL_MOUNTS + [cgroups.V2_MOUNT])


def oar(t):
    """OAR before systemd: all controllers of version 1 as one hierarchy, outside of /sys; and the same shown a second time below the job."""
    cores = cpus.packages(1, 4, threads=1)
    plain.machine(t, cores, kernel="4.19.0-27-amd64", psi=(), columns=15, without=OLD_MEMORY)
    cpus.topology(t, cores)
    joined, job = "cpuset,cpu,cpuacct,blkio,memory,devices,freezer,pids", "/oar/alice_2001234"
    cgroups.v1(t, {joined: job}, ("",), (4242,), [c.cpu for c in cores], "0-1", limits={job: 16000000000})
    old, new = f"sys/fs/cgroup/{joined}", "proc/4242/root" + "/dev/oar_cgroups"
    for kind in (t.files, t.links):
        for path in [p for p in kind if p.startswith(("sys/fs/cgroup/",))]:
            value = kind.pop(path)
            if path.startswith(old + "/"):
                kind[new + path[len(old):]] = value
    mounts = cgroups.USUAL_MOUNTS + [
        mount(30, 24, "0:30", "/", "/dev/oar_cgroups", "rw,relatime", f"shared:9 - cgroup oar_cgroups rw,{joined}"),
        mount(31, 24, "0:30", job, "/var/lib/oar/job\\040group", "rw,relatime", f"shared:9 - cgroup oar_cgroups rw,{joined}")]
    plain.own_process(t, cores, f"1:{joined}:{job}", mounts)
