# SPDX-License-Identifier: Apache-2.0
"""Control groups: what a group of either version holds, and the mounts that show where they are."""
from procfs import pressure

MEMORY_STAT = """anon file kernel kernel_stack pagetables sec_pagetables percpu sock vmalloc shmem zswap zswapped file_mapped file_dirty file_writeback
swapcached anon_thp file_thp shmem_thp inactive_anon active_anon inactive_file active_file unevictable slab_reclaimable slab_unreclaimable slab
workingset_refault_anon workingset_refault_file workingset_activate_anon workingset_activate_file workingset_restore_anon workingset_restore_file
workingset_nodereclaim pgscan pgsteal pgscan_kswapd pgscan_direct pgsteal_kswapd pgsteal_direct pgfault pgmajfault pgrefill pgactivate pgdeactivate
pglazyfree pglazyfreed zswpin zswpout thp_fault_alloc thp_collapse_alloc""".split()
CONTROLLERS = "cpuset cpu io memory hugetlb pids rdma misc"


def v2(t, path, pids=(), limit="max", quota="max 100000", peak=True, cpus="0-63", mems="0-1", root=False,
       psi=("cpu", "memory", "io"), devices=("259:0",), where="sys/fs/cgroup", controllers=CONTROLLERS):
    """A group; the root has no limits, no memory.current, and of cpu.stat only the use."""
    group = f"{where}{path}"
    usage = t.pick(f"cg usage {path}", 10**12, 10**14)
    user = usage * 7 // 10
    cpu = {"usage_usec": usage, "user_usec": user, "system_usec": usage - user, "core_sched.force_idle_usec": 0}
    if not root:
        cpu |= {
            "nr_periods": t.pick(f"cg periods {path}", 10**4, 10**6), "nr_throttled": t.pick(f"cg throttled {path}", 10, 10**4),
            "throttled_usec": t.pick(f"cg throttled us {path}", 10**6, 10**9), "nr_bursts": 0, "burst_usec": 0}
    t.folder(
        group, {
            "cgroup.controllers": controllers, "cgroup.subtree_control": controllers, "cgroup.procs": "\n".join(map(str, pids)),
            "cgroup.threads": "\n".join(map(str, pids)), "cgroup.max.depth": "max", "cgroup.max.descendants": "max",
            "cgroup.stat": f"nr_descendants {3 + len(path) % 5}\nnr_dying_descendants 1", "cpu.stat": "\n".join(
                f"{k} {v}" for k, v in cpu.items()), "memory.stat": "\n".join(
                    f"{k} {t.pick(f'cg {path} {k}', 10, 10**10) // 4096 * 4096 if i < 27 else t.pick(f'cg {path} {k}', 1, 10**7)}"
                    for i, k in enumerate(MEMORY_STAT)), "io.stat": "\n".join(
                        f"{d} " + " ".join(f"{k}={t.pick(f'cg {path} {d} {k}', 10**3, 10**11)}"
                                           for k in ("rbytes", "wbytes", "rios", "wios", "dbytes", "dios"))
                        for d in devices), "cpuset.cpus.effective": cpus, "cpuset.mems.effective": mems})
    pressure(t, psi, f"{group}/", ".pressure")
    if root:
        return
    current = t.pick(f"cg current {path}", 10**9, 10**11) // 4096 * 4096
    files = {
        "cgroup.type": "domain", "cgroup.events": "populated 1\nfrozen 0", "cgroup.freeze": 0, "cpu.max": quota,
        "cpu.weight": 100, "cpu.max.burst": 0, "cpuset.cpus": cpus, "cpuset.mems": mems, "memory.current": current,
        "memory.max": limit, "memory.high": "max", "memory.low": 0, "memory.min": 0, "memory.oom.group": 0,
        "memory.swap.current": current // 300 // 4096 * 4096, "memory.swap.max": "max",
        "memory.events": f"low 0\nhigh {t.pick(f'cg high {path}', 1, 900)}\nmax {t.pick(f'cg max {path}', 1, 90)}\noom {2 + len(pids)}\noom_kill {len(pids)}\noom_group_kill 0",
        "memory.events.local": f"low 0\nhigh {len(path)}\nmax 3\noom 1\noom_kill 0\noom_group_kill 0",
        "memory.numa_stat": f"anon N0={current // 3} N1={current // 5}\nfile N0={current // 7} N1={current // 11}",
        "pids.current": 7 + len(pids), "pids.max": 62914 if len(pids) else "max", "pids.events": "max 0",
        "hugetlb.2MB.current": 4194304, "hugetlb.2MB.max": "max",
        "rdma.current": "mlx5_0 hca_handle=2 hca_object=2000" if "rdma" in controllers else "", "misc.current": ""}
    if peak:
        files |= {
            "memory.peak": current + current // 4 // 4096 * 4096, "pids.peak": 41 + len(pids),
            "memory.swap.peak": current // 200 // 4096 * 4096}
    t.folder(group, files)


def v1_cpu(t, group, cpus, path):
    usage = t.pick(f"v1 usage {path}", 10**13, 10**15)
    t.folder(
        f"{group}", {
            "cpuacct.usage": usage, "cpuacct.usage_user": usage * 8 // 10, "cpuacct.usage_sys": usage - usage * 8 // 10,
            "cpuacct.stat": f"user {usage * 8 // 10 // 10**7}\nsystem {usage // 5 // 10**7}",
            "cpuacct.usage_percpu": " ".join(str(usage // len(cpus) + c) for c in cpus) + " ", "cpu.shares": 1024,
            "cpu.cfs_period_us": 100000, "cpu.cfs_quota_us": -1 if len(path) < 30 else 800000, "cpu.stat":
                f"nr_periods {t.pick(f'v1 periods {path}', 10**4, 10**6)}\nnr_throttled {t.pick(f'v1 throttled {path}', 10, 10**4)}\n"
                f"throttled_time {t.pick(f'v1 throttled ns {path}', 10**9, 10**12)}"})


V1_MEMORY = """cache rss rss_huge shmem mapped_file dirty writeback swap pgpgin pgpgout pgfault pgmajfault inactive_anon active_anon inactive_file
active_file unevictable""".split()


def v1_memory(t, group, path, limit):
    """total_ is with the groups inside. No limit is the largest number of whole pages."""
    none = 9223372036854771712
    usage = t.pick(f"v1 memory {path}", 10**9, 10**10) // 4096 * 4096
    own = {
        k: t.pick(f"v1 {path} {k}", 10, 10**8) // 4096 * 4096 if not k.startswith("pg") else t.pick(f"v1 {path} {k}", 10, 10**8)
        for k in V1_MEMORY}
    lines = [f"{k} {v}" for k, v in own.items()]
    lines += [f"hierarchical_memory_limit {limit or none}", f"hierarchical_memsw_limit {limit or none}"]
    lines += [f"total_{k} {v * 3}" for k, v in own.items()]
    t.folder(
        group, {
            "memory.usage_in_bytes": usage, "memory.max_usage_in_bytes": usage + 409600, "memory.limit_in_bytes": limit or none,
            "memory.failcnt": 11, "memory.soft_limit_in_bytes": none, "memory.memsw.usage_in_bytes": usage + 8192,
            "memory.memsw.max_usage_in_bytes": usage + 413696, "memory.memsw.limit_in_bytes":
                limit or none, "memory.memsw.failcnt": 0, "memory.kmem.usage_in_bytes": usage // 50 // 4096 * 4096,
            "memory.kmem.tcp.usage_in_bytes": 36864, "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2",
            "memory.stat": "\n".join(lines), "memory.use_hierarchy": 1, "memory.swappiness": 60,
            "memory.numa_stat": "total=9999 N0=6666 N1=3333\nfile=999 N0=666 N1=333\nanon=9000 N0=6000 N1=3000\nunevictable=0 N0=0 N1=0"
        })


def v1_others(t, controller, group, path, pids, cpus, devices, root):
    """The root of a hierarchy has neither a number of pids nor a state of its freezer (CFTYPE_NOT_ON_ROOT)."""
    if controller == "cpuset":
        t.folder(group,
                 {"cpuset.cpus": cpus, "cpuset.mems": "0-1", "cpuset.effective_cpus": cpus, "cpuset.effective_mems": "0-1"})
    if controller == "pids" and not root:
        t.folder(group, {"pids.current": 9 + len(pids), "pids.max": "max", "pids.events": "max 0"})
    if controller == "freezer" and not root:
        t.folder(group, {"freezer.state": "THAWED"})
    if controller == "devices":
        t.folder(group, {"devices.list": "c 195:0 rwm\nc 195:255 rwm\nc 1:* rwm"})
    if controller == "blkio":
        for name, high in (("io_service_bytes", 10**11), ("io_serviced", 10**8)):
            rows = [(d, k, t.pick(f"v1 {path} {name} {d} {k}", 10, high))
                    for d in devices
                    for k in ("Read", "Write", "Sync", "Async", "Discard")]
            total = sum(v for _, k, v in rows if k in ("Read", "Write", "Discard"))
            lines = [f"{d} {k} {v}" for d, k, v in rows] + [
                f"{d} Total {sum(v for e, k, v in rows if e == d and k in ('Read', 'Write', 'Discard'))}" for d in devices]
            t.file(f"{group}/blkio.throttle.{name}", "\n".join(lines + [f"Total {total}"]))


def v1_root(t, group, agent=""):
    """What only the root of a hierarchy has: kernel/cgroup/cgroup-v1.c."""
    t.folder(group, {"release_agent": agent + "\n", "cgroup.sane_behavior": 0})


def v1(t, controllers, paths, pids, cpus, cpu_text, limits=None, devices=("8:0",)):
    """controllers: {"cpu,cpuacct": group of the job, ...}; each group of paths up to the root is there."""
    for joined, job in controllers.items():
        chain = [""] if job == "/" else [job[:i] for i in range(len(job) + 1) if job[i:i + 1] in ("/", "")]
        for path in chain:
            group, key = f"sys/fs/cgroup/{joined}{path}", f"{joined}{path}"
            mine = pids if path == chain[-1] else ()
            t.folder(group,
                     {"cgroup.procs": "\n".join(map(str, mine)), "tasks": "\n".join(map(str, mine)), "notify_on_release": 0})
            if not path:
                v1_root(t, group)
            for controller in joined.split(","):
                if controller == "cpuacct":
                    v1_cpu(t, group, cpus, key)
                elif controller == "memory":
                    v1_memory(t, group, key, (limits or {}).get(path))
                else:
                    v1_others(t, controller, group, key, mine, cpu_text, devices, not path)
        for part in joined.split(",") if "," in joined else ():
            t.link(f"sys/fs/cgroup/{part}", joined)


def mount(number, parent, device, root, point, options, tail):
    return f"{number} {parent} {device} {root} {point} {options} {tail}"


USUAL_MOUNTS = [
    mount(21, 1, "259:2", "/", "/", "rw,relatime", "shared:1 - xfs /dev/nvme0n1p2 rw,attr2,inode64,logbufs=8,noquota"),
    mount(22, 21, "0:20", "/", "/proc", "rw,nosuid,nodev,noexec,relatime", "shared:12 - proc proc rw"),
    mount(23, 21, "0:21", "/", "/sys", "rw,nosuid,nodev,noexec,relatime", "shared:2 - sysfs sysfs rw"),
    mount(24, 21, "0:5", "/", "/dev", "rw,nosuid", "shared:8 - devtmpfs devtmpfs rw,size=4096k,mode=755"),
    mount(25, 24, "0:22", "/", "/dev/shm", "rw,nosuid,nodev", "shared:9 - tmpfs tmpfs rw,inode64"),
    mount(26, 21, "0:23", "/", "/run", "rw,nosuid,nodev", "shared:11 - tmpfs tmpfs rw,size=52727612k,mode=755"),]
V2_MOUNT = mount(27, 23, "0:24", "/", "/sys/fs/cgroup", "rw,nosuid,nodev,noexec,relatime",
                 "shared:3 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot")
