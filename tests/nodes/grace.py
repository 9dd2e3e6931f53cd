# SPDX-License-Identifier: Apache-2.0
"""NVIDIA Grace (Neoverse V2), cut to 16 cores; its memory is node 0, the GPU's the nodes 1 to 3; pages of 64 kB, power from ACPI meters."""
import cgroups
import cpus
import devices
import plain
from cpus import Core


def cpuinfo(t, cores):
    """arch/arm64/kernel/cpuinfo.c: no name, only the MIDR's parts."""
    text = ""
    for c in cores:
        text += (
            f"processor\t: {c.cpu}\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc "
            "dcpop sha3 sm3 sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs sb paca pacg dcpodp sve2 sveaes svepmull svebitperm svesha3 svesm4 flagm2 frint "
            "svei8mm svebf16 i8mm bf16 dgh bti\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 0\n\n"
        )
    t.file("proc/cpuinfo", text)


def make(t):
    cores = [Core(i, 0, i, 0) for i in range(16)]
    plain.machine(
        t, cores, kernel="6.8.0-1015-nvidia-64k", memory=501939072, net="enP2p3s0", arm=True,
        without=("DirectMap4k", "DirectMap2M", "DirectMap1G", "Unaccepted"), devices_of=[
            (11, "    GICv3  27 Level     arch_timer"), (14, "    GICv3  23 Level     arm-pmu"),
            (230, "ITS-MSI 134742016 Edge      mlx5_comp0@pci:0002:03:00.0")])
    cpus.topology(t, cores,
                  caches=(("Data", 1, "64K"), ("Instruction", 1, "64K"), ("Unified", 2, "1024K"), ("Unified", 3, "116736K")))
    cpus.frequency(t, cores, "cppc_cpufreq", "performance", 81000, 3447000)
    for c in cores:
        t.folder(f"sys/devices/system/cpu/cpu{c.cpu}/regs/identification",
                 {"midr_el1": "0x00000000410fd4f0", "revidr_el1": "0x0000000000000000"})
        t.folder(
            f"sys/devices/system/cpu/cpu{c.cpu}/acpi_cppc", {
                "feedback_ctrs": f"ref:{t.pick(f'ref {c.cpu}', 10**12, 10**13)} del:{t.pick(f'del {c.cpu}', 10**12, 10**14)}",
                "highest_perf": 345, "nominal_perf": 325, "reference_perf": 100})
    # Node 1 has no core and no memory of its own that /proc counts; the others are empty.
    cpus.nodes(t, {0: 501939072, 1: 99614720, 2: 0, 3: 0}, cores,
               distance=((10, 80, 80, 80), (80, 10, 255, 255), (80, 255, 10, 255), (80, 255, 255, 10)), hugepages=False)
    cpuinfo(t, cores)
    for i, meter in enumerate(("Module Power Socket 0", "Grace Power Socket 0", "CPU Power Socket 0", "SysIO Power Socket 0")):
        place = f"sys/devices/LNXSYSTM:00/LNXSYBUS:00/ACPI000D:0{i}"
        devices.hwmon(
            t, 1 + i, "power_meter", place, {
                "power1_average": 312000000 - 61000000 * i, "power1_average_interval": 50, "power1_oem_info": meter,
                "power1_is_battery": 0, "power1_model_number": "", "power1_serial_number": ""})
        # The driver puts its files beside the device, too.
        t.folder(place, {"power1_average": 312000000 - 61000000 * i, "power1_oem_info": meter, "status": 15})
    for i, name in enumerate(("TZ00", "TZ01")):
        devices.thermal(t, i, name, 41 + 3 * i)
    devices.pmu(t, "armv8_pmuv3_0", 8, {"event": "config:0-15", "long": "config1:0", "rdpmc": "config1:1"}, {
        "cpu_cycles": "event=0x0011", "inst_retired": "event=0x0008", "l1d_cache_refill": "event=0x0003",
        "l1d_cache": "event=0x0004", "br_mis_pred": "event=0x0010", "ll_cache_rd": "event=0x0036",
        "ll_cache_miss_rd": "event=0x0037", "stall_backend": "event=0x0024", "stall_frontend": "event=0x0023"},
                {"bus_slots": 0, "bus_width": 0, "slots": "0x00000008"}, cpus="0-15")
    devices.pmu(t, "nvidia_scf_pmu_0", 9, {"event": "config:0-31"},
                {"cycles": "event=0x100000000", "cmem_rd_access": "event=0x2a", "cmem_wb_access": "event=0x4f"}, cpumask="0")
    devices.pmu(t, "nvidia_nvlink_c2c0_pmu_0", 10, {"event": "config:0-31"}, {"cycles": "event=0x100000000"}, cpumask="0")
    plain.own_process(t, cores, "0::/system.slice/docker-0a1b2c.scope", cgroups.USUAL_MOUNTS + [cgroups.V2_MOUNT])
    for path in ("", "/system.slice", "/system.slice/docker-0a1b2c.scope"):
        cgroups.v2(t, path, root=not path, cpus="0-15", mems="0-1", devices=("8:0",), pids=(4242,) if "docker" in path else (),
                   limit=68719476736 if "docker" in path else "max", quota="1200000 100000" if "docker" in path else "max 100000")
    devices.dmi(t, "NVIDIA", "P4352", "01.02.01")
