# SPDX-License-Identifier: Apache-2.0
"""Two Xeon Gold 6326 (Ice Lake), 2 x 16 cores with SMT, Linux 5.14, a job of Slurm in a cgroup of version 2: the usual node of a cluster."""
import cgroups
import cpus
import devices
import process
import procfs
import remote
from cgroups import mount

FLAGS = (
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush dts acpi mmx fxsr sse sse2 ss ht tm pbe syscall nx pdpe1gb rdtscp lm "
    "constant_tsc art arch_perfmon pebs bts rep_good nopl xtopology nonstop_tsc cpuid aperfmperf pni pclmulqdq dtes64 monitor ds_cpl vmx smx est tm2 ssse3 sdbg "
    "fma cx16 xtpr pdcm pcid dca sse4_1 sse4_2 x2apic movbe popcnt aes xsave avx f16c rdrand lahf_lm abm 3dnowprefetch epb cat_l3 ssbd mba ibrs ibpb stibp "
    "tpr_shadow fsgsbase tsc_adjust bmi1 avx2 smep bmi2 erms invpcid cqm rdt_a avx512f avx512dq rdseed adx smap avx512ifma clflushopt clwb intel_pt avx512cd "
    "sha_ni avx512bw avx512vl xsaveopt dtherm ida arat pln pts hwp avx512vbmi avx512_vnni la57 rdpid fsrm md_clear pconfig flush_l1d arch_capabilities"
)
JOB = "/system.slice/slurmstepd.scope/job_123456/step_0/user/task_0"


def cores_and_power(t):
    cores = cpus.packages(2, 16)
    numbers = [c.cpu for c in cores]
    procfs.stat(t, numbers)
    cpus.topology(t, cores, possible=64)
    cpus.frequency(t, cores, "intel_pstate", "powersave", 800000, 3500000, base=2900000)
    cpus.throttle(t, cores)
    cpus.idle(t, cores)
    cpus.nodes(t, {0: 263734844, 1: 264203120}, cores)
    t.folder(
        "sys/devices/system/cpu/intel_pstate", {
            "status": "active", "no_turbo": 0, "max_perf_pct": 100, "min_perf_pct": 22, "turbo_pct": 23, "num_pstates": 28,
            "hwp_dynamic_boost": 0})
    cpus.cpuinfo(t, cores, "GenuineIntel", 6, 106, 6, "Intel(R) Xeon(R) Gold 6326 CPU @ 2.90GHz", 2900, FLAGS)
    for package in (0, 1):
        devices.coretemp(t, 3 + package, package, range(16))
        devices.thermal(t, 2 * package, "x86_pkg_temp", 51 + 7 * package)
        devices.thermal(t, 2 * package + 1, "acpitz", 23 + package)
    # The zones' numbers are not the packages': the name tells.
    devices.powercap(t, [(0, "package-1", 262143328850, [("dram", 65712999613)]),
                         (1, "package-0", 262143328850, [("dram", 65712999614)]), (2, "psys", 262143328851, [])])
    return cores


def performance_units(t):
    devices.software_pmus(t)
    devices.pmu(t, "cpu", 4, devices.INTEL_FORMAT, devices.INTEL_EVENTS,
                {"branches": 32, "max_precise": 3, "pmu_name": "icelake"})
    devices.rapl_pmu(
        t, 14, "0,16", {
            "energy-pkg": "2.3283064365386962890625e-10", "energy-ram": "2.3283064365386962890625e-10",
            "energy-psys": "2.3283064365386962890625e-10"})
    for i in range(8):
        devices.pmu(
            t, f"uncore_imc_{i}", 20 + i,
            {"event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "inv": "config:23", "thresh": "config:24-31"}, {
                "clockticks": "event=0x00,umask=0x00", "cas_count_read": "event=0x04,umask=0x0f",
                "cas_count_read.scale": "6.103515625e-5", "cas_count_read.unit": "MiB",
                "cas_count_write": "event=0x04,umask=0x30", "cas_count_write.scale": "6.103515625e-5",
                "cas_count_write.unit": "MiB"}, cpumask="0,16")
    for i in range(3):
        devices.pmu(t, f"uncore_imc_free_running_{i}", 30 + i, {"event": "config:0-7", "umask": "config:8-15"}, {
            "read": "event=0xff,umask=0x20", "read.scale": "6.103515625e-5", "read.unit": "MiB", "write": "event=0xff,umask=0x30",
            "write.scale": "6.103515625e-5", "write.unit": "MiB"}, cpumask="0,16")
    for i in range(3):
        devices.pmu(t, f"uncore_upi_{i}", 40 + i, {"event": "config:0-7", "umask": "config:8-15,32-55"}, cpumask="0,16")
    devices.pmu(t, "msr", 15, {"event": "config:0-63"},
                {"aperf": "event=0x01", "mperf": "event=0x02", "smi": "event=0x04", "tsc": "event=0x00"})
    devices.pmu(t, "cstate_pkg", 17, {"event": "config:0-63"}, {"c2-residency": "event=0x00", "c6-residency": "event=0x02"},
                cpumask="0,16")
    devices.pmu(t, "intel_pt", 8, {"tsc": "config:10", "branch": "config:13"}, caps={"cr3_filtering": 1, "max_subleaf": 1})


def network(t):
    numbers = {
        name: procfs.net_numbers(t, name)
        for name in ("lo", "eno1np0", "eno2np1", "bond0", "bond0.2023", "ib0", "ib1", "idrac", "enp3s0")}
    # What the bond carried is what its members carried, and its VLAN a part of that.
    numbers["bond0"] = {k: numbers["eno1np0"][k] + numbers["eno2np1"][k] for k in numbers["lo"]}
    numbers["bond0.2023"] = {k: v // 3 for k, v in numbers["bond0"].items()}
    numbers["enp3s0"] = dict.fromkeys(numbers["lo"], 0)
    procfs.net_dev(t, numbers)
    devices.net(t, "lo", numbers["lo"], kind=772, index=1, state="unknown", mtu=65536)
    members = {}
    for i, name in enumerate(("eno1np0", "eno2np1")):
        place = devices.pci(t, f"0000:31:00.{i}", "0x14e4", "0x16d7", "0x020000", "bnxt_en", under="pci0000:30/0000:30:02.0")
        members[name] = devices.net(t, name, numbers[name], place, 25000, index=2 + i, mtu=9000)
    devices.net(t, "enp3s0", numbers["enp3s0"],
                devices.pci(t, "0000:03:00.0", "0x8086", "0x1521", "0x020000", "igb", link=("5.0 GT/s PCIe", 4)), -1, index=4,
                state="down")
    devices.net(t, "bond0", numbers["bond0"], None, 50000, index=9, mtu=9000)
    devices.bond(t, "bond0", members)
    vlan = devices.net(t, "bond0.2023", numbers["bond0.2023"], None, 50000, index=10, mtu=9000)
    t.link_to(f"{vlan}/lower_bond0", "sys/devices/virtual/net/bond0")
    t.file("proc/net/vlan/config",
           "VLAN Dev name\t | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\nbond0.2023     | 2023  | bond0")
    usb = "sys/devices/pci0000:00/0000:00:14.0/usb1/1-14/1-14:1.0"
    t.folder(usb, {"bInterfaceClass": "02"})
    devices.net(t, "idrac", numbers["idrac"], usb, 425, index=5)
    for i, (node, bus) in enumerate(((0, "4b"), (1, "b1"))):
        place = devices.pci(t, f"0000:{bus}:00.0", "0x15b3", "0x101b", "0x020700", "mlx5_core", node=node,
                            under=f"pci0000:{bus[0]}a/0000:{bus[0]}a:02.0")
        devices.infiniband(t, f"mlx5_{i}", place, {1: ("4: ACTIVE", "200 Gb/sec (4X HDR)", "InfiniBand")})
        devices.net(t, f"ib{i}", numbers[f"ib{i}"], place, 200000, kind=32, index=6 + i, mtu=2044)


def disks(t):
    procfs.diskstats(t, [(259, 0, "nvme0n1", "n0"), (259, 1, "nvme0n1p1", "n0p1"), (259, 2, "nvme0n1p2", "n0p2"),
                         (259, 3, "nvme1n1", "n1"), (7, 0, "loop0", None), (7, 1, "loop1", None), (253, 0, "dm-0", "dm0"),
                         (9, 127, "md127", "md")])
    folders = []
    for i, address in enumerate(("0000:65:00.0", "0000:e3:00.0")):
        place = devices.pci(t, address, "0x144d", "0xa824", "0x010802", "nvme", node=i, link=("16.0 GT/s PCIe", 4),
                            under=f"pci0000:{address[5]}4/0000:{address[5]}4:02.0")
        parts = ((("nvme0n1p1", 2048, 2097152, "n0p1"), ("nvme0n1p2", 2099200, 3747649536, "n0p2")) if i == 0 else ())
        folders.append(
            devices.block(t, f"nvme{i}n1", f"{place}/nvme/nvme{i}", 3750748848, f"n{i}", minor=3 * i, partitions=parts,
                          model="Dell Ent NVMe PM1735a MU 1.6TB"))
        t.link_to(f"sys/class/nvme/nvme{i}", f"{place}/nvme/nvme{i}")
        devices.hwmon(
            t, i, "nvme", f"{place}/nvme/nvme{i}", {
                "temp1_input": 33850 + 1000 * i, "temp1_label": "Composite", "temp1_max": 81850, "temp1_crit": 84850,
                "temp2_input": 36850 + 1000 * i, "temp2_label": "Sensor 1"})
    for i in (0, 1):
        devices.block(t, f"loop{i}", None, 0, None, major=7, minor=i, rotational=1)
    devices.block(t, "dm-0", None, 3747641344, "dm0", major=253, slaves=(f"{folders[0]}/nvme0n1p2",))
    t.folder("sys/devices/virtual/block/dm-0/dm", {"name": "vg-root", "uuid": "LVM-x"})
    devices.block(t, "md127", None, 3750616064, "md", major=9, minor=127, slaves=(folders[1],))
    devices.hwmon(t, 2, "power_meter", "sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI000D:00",
                  {"power1_average": 512000000, "power1_average_interval": 1000, "power1_oem_info": "", "power1_is_battery": 0})


MOUNTS = cgroups.USUAL_MOUNTS + [
    cgroups.V2_MOUNT,
    mount(40, 21, "253:0", "/", "/tmp", "rw,relatime", "shared:20 - xfs /dev/mapper/vg-root rw"),
    mount(50, 21, "0:50", "/", "/home", "rw,relatime", "shared:30 - nfs4 nfs1.cluster:/export/home rw,vers=4.2,proto=tcp"),
    mount(51, 21, "0:51", "/", "/opt/shared\\040apps", "ro,relatime", "shared:31 - nfs nfs2.cluster:/apps ro,vers=3,proto=tcp"),
    mount(52, 21, "0:52", "/", "/projects", "rw,relatime", "shared:32 - nfs4 10.2.0.7:/projects rw,vers=4.1,proto=rdma"),
    mount(53, 21, "0:53", "/", "/scratch", "rw,relatime",
          "shared:33 - lustre 10.3.0.1@o2ib:10.3.0.2@o2ib:/scratch rw,flock,lazystatfs"),]


def job(t):
    stats = remote.mountstats("/dev/nvme0n1p2 / xfs", "proc /proc proc", "sysfs /sys sysfs", "cgroup2 /sys/fs/cgroup cgroup2",
                              "auto.home /misc autofs",
                              remote.nfs(t, "nfs1.cluster:/export/home", "/home", transports=("tcp",) * 4),
                              remote.nfs(t, "nfs2.cluster:/apps", "/opt/shared\\040apps", version="3"),
                              remote.nfs(t, "10.2.0.7:/projects", "/projects", version="4.1",
                                         transports=("rdma",)), "10.3.0.1@o2ib:/scratch /scratch lustre")
    remote.lustre(t)
    here = {"cpus": "0-7,32-39", "nodes": "0", "cgroup": f"0::{JOB}", "mounts": "\n".join(MOUNTS), "mountstats": stats}
    process.add(t, 4242, "python3", 4240, threads=9, mapped={0: 400000, 1: 30000},
                fds=((3, "/data/in put.dat", ""), (4, "/scratch/job/out.h5", "")), **here)
    process.add(t, 4300, "worker (a) b", 4242, threads=2, **here)
    process.own(t, 4242)
    cgroups.v2(t, "", root=True, cpus="0-63", peak=False)
    path = ""
    for part in JOB.split("/")[1:]:
        path += "/" + part
        last = path == JOB
        # The job's group has the limits of memory and cores; those above and below it do not.
        limited = part == "job_123456"
        cgroups.v2(t, path, pids=(4242, 4300) if last else (), peak=False, limit=34359738368 if limited else "max",
                   cpus="0-7,32-39" if "job" in path else "0-63", mems="0" if "job" in path else "0-1",
                   devices=("259:0", "253:0"))


def make(t):
    cores = cores_and_power(t)
    numbers = [c.cpu for c in cores]
    procfs.meminfo(t, 527937964, swap=16777212, without=("Zswap", "Zswapped", "SecPageTables", "Unaccepted"))
    procfs.pressure(t)
    procfs.interrupts(t, numbers,
                      [(0, "IR-IO-APIC    2-edge      timer"), (8, "IR-IO-APIC    8-edge      rtc0"),
                       (9, "IR-IO-APIC    9-fasteoi   acpi")] + [
                           (130 + i, f"IR-PCI-MSI {52953088 + i}-edge      mlx5_comp{i}@pci:0000:4b:00.0") for i in range(6)] + [
                               (180 + i, f"IR-PCI-MSI {25690112 + i}-edge      nvme0q{i}") for i in range(4)])
    procfs.others(t, numbers, "5.14.0-427.31.1.el9_4.x86_64", "Thu Aug 15 2024",
                  "BOOT_IMAGE=(hd0,gpt2)/vmlinuz root=/dev/mapper/vg-root ro psi=1 transparent_hugepage=always")
    performance_units(t)
    network(t)
    disks(t)
    job(t)
    devices.dmi(t, "Dell Inc.", "PowerEdge R650", "1.14.1")
    t.folder("sys/kernel/mm/transparent_hugepage",
             {"enabled": "[always] madvise never", "defrag": "always defer defer+madvise [madvise] never"})
