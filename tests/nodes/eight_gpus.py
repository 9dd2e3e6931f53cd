# SPDX-License-Identifier: Apache-2.0
"""Four AMD Instinct MI210 and four NVIDIA A100 in one box: what sysfs, fdinfo and the drivers say of them without their libraries."""
import cgroups
import cpus
import devices
import plain


def amd(t, i, address, render):
    place = devices.pci(t, address, "0x1002", "0x740f", "0x038000", "amdgpu", node=i // 2,
                        under=f"pci0000:{address[5]}0/0000:{address[5]}0:01.1")
    vram = 68702699520
    t.folder(
        place, {
            "gpu_busy_percent": 11 + 23 * i, "mem_busy_percent": 7 + 5 * i, "mem_info_vram_total": vram,
            "mem_info_vram_used": vram // (i + 2), "mem_info_vis_vram_total": vram, "mem_info_vis_vram_used": vram //
                                                                                                              (i + 2) - 4096,
            "mem_info_gtt_total": 540092440576, "mem_info_gtt_used": 14848000 * (i + 1), "mem_info_vram_vendor": "hynix",
            "unique_id": f"{0x18f68e602b8a790f + i:x}", "pcie_replay_count": i, "vbios_version": "113-D67301V-073",
            "product_name": "Instinct MI210", "product_number": "102-D67301-00", "serial_number": f"69224800053{i}",
            "current_compute_partition": "SPX", "power_dpm_force_performance_level": "auto",
            "pp_dpm_sclk": "0: 500Mhz\n1: 800Mhz *\n2: 1700Mhz", "pp_dpm_mclk": "0: 400Mhz\n1: 1600Mhz *",
            "ras/umc_err_count": f"ue: {i}\nce: {3 + i}", "gpu_metrics": b"\x90\x00\x01\x03" + bytes(140)})
    card, rendering = f"{place}/drm/card{i + 1}", f"{place}/drm/renderD{render}"
    t.folder(card, {"dev": f"226:{i + 1}"})
    t.folder(rendering, {"dev": f"226:{render}"})
    t.link_to(f"{card}/device", place)
    t.link_to(f"{rendering}/device", place)
    t.link_to(f"sys/class/drm/card{i + 1}", card)
    t.link_to(f"sys/class/drm/renderD{render}", rendering)
    # power1_average is what it draws, except on the third, whose driver is newer: power1_input.
    power = "power1_input" if i == 2 else "power1_average"
    devices.hwmon(
        t, 4 + i, "amdgpu", place, {
            "temp1_input": 38000 + 1000 * i, "temp1_label": "edge", "temp2_input": 51000 + 1000 * i, "temp2_label": "junction",
            "temp3_input": 47000 + 1000 * i, "temp3_label": "mem", power: 43000000 + 81000000 * i, "power1_label": "PPT",
            "power1_cap": 300000000, "freq1_input": 800000000 + i, "freq1_label": "sclk", "freq2_input": 1600000000 + i,
            "freq2_label": "mclk", "in0_input": 806 + i, "in0_label": "vddgfx"})
    # Each has the name of its node in the compute driver's topology; the CPUs are nodes 0 and 1.
    t.folder(
        f"sys/class/kfd/kfd/topology/nodes/{i + 2}", {
            "gpu_id": 51765 + i, "name": "aldebaran", "properties":
                f"cpu_cores_count 0\nsimd_count 416\ndrm_render_minor {render}\n"
                f"vendor_id 4098\ndevice_id 29711\nlocation_id {int(address[5:7], 16) << 8}\ndomain 0\nmax_engine_clk_fcompute 1700"
        })
    t.folder(
        "sys/class/kfd/kfd/proc/4242", {
            "pasid": 32771, f"vram_{51765 + i}": vram // (i + 3), f"sdma_{51765 + i}": 12345 * i,
            f"stats_{51765 + i}/cu_occupancy": 52 + i})


def fdinfo(t, client, address, i, driver="amdgpu"):
    rows = [("drm-driver", driver), ("drm-client-id", client), ("drm-pdev", address), ("pasid", 32771),
            ("drm-memory-vram", f"{1048576 * (i + 1) + 12} KiB"), ("drm-memory-gtt", f"{2048 * (i + 1)} KiB"),
            ("drm-memory-cpu", f"{12 * (i + 1)} KiB"), ("drm-engine-gfx", f"{t.pick(f'gfx {client}', 10**9, 10**13)} ns"),
            ("drm-engine-compute", f"{t.pick(f'compute {client}', 10**9, 10**13)} ns"), ("drm-engine-capacity-compute", 4),
            ("drm-engine-dma", f"{t.pick(f'dma {client}', 10**6, 10**10)} ns")]
    return "\n".join(f"{a}:\t{b}" for a, b in rows) + "\n"


def nvidia(t, i, address):
    devices.pci(t, address, "0x10de", "0x20b2", "0x030200", "nvidia", node=1 - i // 2,
                under=f"pci0000:{address[5]}0/0000:{address[5]}0:03.1")
    t.file(
        f"proc/driver/nvidia/gpus/{address}/information",
        f"Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t {310 + i}\nGPU UUID: \t GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a7{i}\n"
        f"Video BIOS: \t 92.00.a0.00.0{i}\nBus Type: \t PCIe\nDMA Size: \t 47 bits\nDMA Mask: \t 0x7fffffffffff\nBus Location: \t {address}\nDevice Minor: \t {3 - i}\n"
        "GPU Firmware: \t 535.183.01\nGPU Excluded:\t No")


def make(t):
    cores = cpus.packages(2, 4)
    plain.machine(t, cores, memory=1056436060)
    cpus.topology(t, cores)
    cpus.nodes(t, {0: 528218030, 1: 528218030}, cores)
    t.folder("sys/module/amdgpu",
             {"version": "6.7.0", "initstate": "live", "refcnt": 12, "coresize": 19578880, "taint": "OE", "parameters/ras_enable": -1})
    addresses = [f"0000:{b}:00.0" for b in ("c3", "83", "43", "03")]
    for i, address in enumerate(addresses):
        amd(t, i, address, 128 + i)
    # The console's own card is no accelerator.
    console = devices.pci(t, "0000:62:00.0", "0x1a03", "0x2000", "0x030000", "ast")
    t.folder(f"{console}/drm/card0", {"dev": "226:0"})
    t.link_to(f"{console}/drm/card0/device", console)
    t.link_to("sys/class/drm/card0", f"{console}/drm/card0")
    t.folder(f"{console}/drm/card0/card0-VGA-1", {"status": "disconnected", "enabled": "disabled"})
    t.link_to("sys/class/drm/card0-VGA-1", f"{console}/drm/card0/card0-VGA-1")
    t.file("sys/class/drm/version", "drm 1.1.0 20060810")
    for i, bus in enumerate(("27", "2a", "a7", "aa")):
        nvidia(t, i, f"0000:{bus}:00.0")
    t.file(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)"
    )
    t.file("proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nModifyDeviceFiles: 1\nDeviceFileUID: 0")
    # Two descriptors of one client count once; another client of another card counts, too.
    fds = ((5, "/dev/kfd", ""), (6, "/dev/dri/renderD128", fdinfo(
        t, 42, addresses[0],
        0)), (7, "/dev/dri/renderD128", fdinfo(t, 42, addresses[0], 0)), (8, "/dev/dri/renderD130", fdinfo(
            t, 43, addresses[2],
            2)), (9, "/dev/nvidiactl", ""), (10, "/dev/nvidia1", ""), (11, "/dev/nvidia3", ""), (12, "/dev/nvidia-uvm", ""))
    plain.own_process(t, cores, "0::/system.slice/slurmstepd.scope/job_77/step_batch/user/task_0",
                      cgroups.USUAL_MOUNTS + [cgroups.V2_MOUNT], fds=fds)
    for path in ("", "/system.slice", "/system.slice/slurmstepd.scope", "/system.slice/slurmstepd.scope/job_77",
                 "/system.slice/slurmstepd.scope/job_77/step_batch", "/system.slice/slurmstepd.scope/job_77/step_batch/user",
                 "/system.slice/slurmstepd.scope/job_77/step_batch/user/task_0"):
        cgroups.v2(t, path, root=not path, cpus="0-15", devices=("8:0",), pids=(4242,) if path.endswith("task_0") else (),
                   peak=True)
