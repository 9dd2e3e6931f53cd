# SPDX-License-Identifier: Apache-2.0
"""An EPYC 9124 (Zen 4): 16 cores with SMT on 4 dies in two NUMA nodes, core 3 offline with its sibling, amd-pstate, RAPL through perf and powercap, amd_energy."""
import cgroups
import cpus
import devices
import plain
from cpus import Core


def make(t):
    cores = [Core(thread * 16 + c, 0, c, c // 8, llc=c // 4) for thread in range(2) for c in range(16)]
    offline = (3, 19)
    online = [c for c in cores if c.cpu not in offline]
    plain.machine(t, online, kernel="6.6.30", memory=395821112, net="enp1s0f0np0")
    cpus.topology(t, cores, possible=64, offline=offline,
                  caches=(("Data", 1, "32K"), ("Instruction", 1, "32K"), ("Unified", 2, "1024K"), ("Unified", 3, "32768K")))
    cpus.frequency(t, online, "amd-pstate-epp", "performance", 400000, 3712000, shared=lambda c: [c.cpu])
    t.file("sys/devices/system/cpu/amd_pstate/status", "active")
    t.file("sys/devices/system/cpu/cpufreq/boost", 1)
    cpus.nodes(t, {0: 197910556, 1: 197910000}, online, distance=((10, 12), (12, 10)))
    cpus.cpuinfo(t, online, "AuthenticAMD", 25, 17, 1, "AMD EPYC 9124 16-Core Processor", 1500,
                 "fpu tsc msr sse4a avx512f rapl perfctr_core perfctr_nb perfmon_v2 ibs", "1024 KB")
    host = devices.pci(t, "0000:00:18.3", "0x1022", "0x14b0", "0x060000", "k10temp")
    devices.hwmon(
        t, 0, "k10temp", host, {"temp1_input": 47250, "temp1_label": "Tctl"} |
        {k: v for i in range(4) for k, v in ((f"temp{3 + i}_input", 41000 + 1625 * i), (f"temp{3 + i}_label", f"Tccd{1 + i}"))})
    energy = {
        f"energy{i + 1}_{what}": (f"Ecore{i:03d}" if what == "label" else t.pick(f"amd energy {i}", 10**9, 10**12))
        for i in range(16) for what in ("label", "input")}
    devices.hwmon(t, 1, "amd_energy", "sys/devices/platform/amd_energy.0",
                  energy | {"energy17_label": "Esocket0", "energy17_input": 98765432109876})
    devices.powercap(t, [(0, "package-0", 65532610987, [("core", 65532610987)])], limits=False)
    devices.pmu(t, "cpu", 4, devices.AMD_FORMAT, devices.AMD_EVENTS, {"branches": 16})
    devices.rapl_pmu(t, 12, "0", {"energy-pkg": "2.3283064365386962890625e-10"})
    devices.pmu(
        t, "amd_l3", 14, {
            "event": "config:0-7", "umask": "config:8-15", "coreid": "config:42-44", "enallcores": "config:47",
            "enallslices": "config:46", "sliceid": "config:48-50", "threadmask": "config:56-57"}, cpumask="0,4,8,12")
    devices.pmu(t, "amd_df", 13, {"event": "config:0-7,32-37", "umask": "config:8-15,24-27"}, cpumask="0")
    for i in range(12):
        devices.pmu(t, f"amd_umc_{i}", 15 + i, {"event": "config:0-7", "rdwrmask": "config:8-9"}, cpumask="0")
    devices.pmu(t, "ibs_op", 9, {"cnt_ctl": "config:19", "swfilt": "config2:0"}, caps={"zen4_ibs_extensions": 1})
    plain.own_process(t, cores, "0::/", cgroups.USUAL_MOUNTS + [cgroups.V2_MOUNT])
    cgroups.v2(t, "", root=True, cpus="0-2,4-18,20-31", devices=("8:0",), psi=("cpu", "memory", "io", "irq"), pids=(1, 4242))
    devices.dmi(t, "Supermicro", "AS -1115CS-TNR", "1.5")
