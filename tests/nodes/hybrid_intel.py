# SPDX-License-Identifier: Apache-2.0
"""A Core i7-12700 (Alder Lake): 8 P cores with two threads each, 4 E cores in one module with one; two units of perf, and RAPL told twice."""
import cgroups
import cpus
import devices
import plain
from cpus import Core

P_EVENTS = devices.INTEL_EVENTS | {"mem-loads": "event=0xcd,umask=0x1,ldlat=3", "topdown-heavy-ops": "event=0x00,umask=0x84"}
E_EVENTS = {
    "cpu-cycles": "event=0x3c", "instructions": "event=0xc0", "cache-references": "event=0x2e,umask=0x4f",
    "cache-misses": "event=0x2e,umask=0x41", "branch-instructions": "event=0xc4", "branch-misses": "event=0xc5",
    "bus-cycles": "event=0x3c", "ref-cycles": "event=0x00,umask=0x03", "mem-stores": "event=0xd0,umask=0x6",
    "topdown-be-bound": "event=0x74,umask=0x0", "topdown-retiring": "event=0xc2,umask=0x0"}


def make(t):
    # Core ids have gaps: 0, 4, 8 ... 28 for P, 36 to 39 for E.
    cores = [Core(i, 0, i // 2 * 4, 0, kind="P") for i in range(16)] + [Core(16 + i, 0, 36 + i, 0, kind="E") for i in range(4)]
    plain.machine(t, cores, kernel="6.8.0-45-generic", memory=32614148, swap=8388604, without=("Unaccepted",))
    cpus.topology(t, cores,
                  caches=(("Data", 1, "48K"), ("Instruction", 1, "32K"), ("Unified", 2, "1280K"), ("Unified", 3, "25600K")))
    cpus.frequency(t, cores[:16], "intel_pstate", "powersave", 800000, 4900000, base=2100000)
    cpus.frequency(t, cores[16:], "intel_pstate", "powersave", 800000, 3600000, base=1600000)
    cpus.throttle(t, cores)
    cpus.nodes(t, {0: 32614148}, cores, distance=((10,),))
    cpus.cpuinfo(t, cores, "GenuineIntel", 6, 151, 2, "12th Gen Intel(R) Core(TM) i7-12700", 2100,
                 "fpu tsc msr sse4_2 avx2 hybrid hwp pts", "25600 KB")
    devices.coretemp(t, 1, 0, [i * 4 for i in range(8)] + [36, 37, 38, 39], first=29000)
    devices.thermal(t, 0, "acpitz", 27)
    devices.thermal(t, 1, "x86_pkg_temp", 52)
    devices.hwmon(t, 0, "acpitz", "sys/devices/virtual/thermal/thermal_zone0", {"temp1_input": 27800})
    zones = [(0, "package-0", 262143328850, [("core", 262143328851), ("uncore", 262143328852)]), (1, "psys", 262143328853, [])]
    devices.powercap(t, zones)
    # The same package once more, through memory-mapped registers.
    devices.powercap(t, [(0, "package-0", 262143328850, [])], control="intel-rapl-mmio")
    devices.pmu(t, "cpu_core", 4, devices.INTEL_FORMAT, P_EVENTS,
                {"branches": 32, "max_precise": 3, "pmu_name": "alderlake_hybrid"}, cpus="0-15")
    devices.pmu(t, "cpu_atom", 10, devices.INTEL_FORMAT, E_EVENTS,
                {"branches": 32, "max_precise": 3, "pmu_name": "alderlake_hybrid"}, cpus="16-19")
    devices.rapl_pmu(
        t, 24, "0", {
            "energy-cores": "2.3283064365386962890625e-10", "energy-pkg": "2.3283064365386962890625e-10",
            "energy-gpu": "2.3283064365386962890625e-10", "energy-psys": "2.3283064365386962890625e-10"})
    for i in range(2):
        devices.pmu(t, f"uncore_imc_free_running_{i}", 18 + i, {"event": "config:0-7", "umask": "config:8-15"}, {
            "data_read": "event=0xff,umask=0x20", "data_read.scale": "6.103515625e-5", "data_read.unit": "MiB",
            "data_write": "event=0xff,umask=0x30"}, cpumask="0")
    t.folder("sys/devices/system/cpu", {"intel_pstate/status": "active", "intel_pstate/no_turbo": 0})
    t.folder("sys/devices/system/cpu/types/intel_core_0", {"cpulist": "0-15"})
    t.folder("sys/devices/system/cpu/types/intel_atom_0", {"cpulist": "16-19"})
    group = "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal.slice/vte-spawn-1f2e.scope"
    plain.own_process(t, cores, f"0::{group}", cgroups.USUAL_MOUNTS + [cgroups.V2_MOUNT])
    cgroups.v2(t, "", root=True, cpus="0-19", mems="0", devices=("8:0",), psi=("cpu", "memory", "io", "irq"))
    path = ""
    for part in group.split("/")[1:]:
        path += f"/{part}"
        # A user's groups have the controllers that systemd delegates: no cpuset, no cpu, no io; cpu.stat is in each all the same.
        cgroups.v2(t, path, pids=(4242,) if path == group else (), cpus="0-19", mems="0", devices=("8:0",),
                   controllers="memory pids")
    devices.dmi(t, "ASUS", "System Product Name", "2103")
