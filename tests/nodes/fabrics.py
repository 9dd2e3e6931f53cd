# SPDX-License-Identifier: Apache-2.0
"""Machines of fast networks: an adapter of two ports, InfiniBand and Ethernet, beside an old one; Omni-Path; Slingshot, with
Cray's own meters of energy."""
import cgroups
import cpus
import devices
import plain


def infiniband_two_ports(t):
    cores = cpus.packages(1, 4, threads=1)
    names = plain.machine(t, cores, net_more=("ibp1s0", "enp1s0d1", "ib2"))
    cpus.topology(t, cores)
    place = devices.pci(t, "0000:01:00.0", "0x15b3", "0x1003", "0x028000", "mlx4_core", link=("8.0 GT/s PCIe", 8))
    devices.infiniband(t, "mlx4_0", place,
                       {1: ("4: ACTIVE", "56 Gb/sec (4X FDR)", "InfiniBand"), 2: ("4: ACTIVE", "40 Gb/sec (4X QDR)", "Ethernet")},
                       board="MT_1090120019", firmware="2.42.5000", hardware=False)
    port = f"{place}/infiniband/mlx4_0/ports"
    # A driver before Linux 4.5: counters of 32 bits stand still at their end, those of 64 bits lie beside them.
    t.folder(f"{port}/1/counters", {
        "port_xmit_data": 4294967295, "port_rcv_data": 4294967295, "port_xmit_packets": 4294967295, "port_rcv_packets": 3141592653
    })
    t.folder(
        f"{port}/1/counters_ext", {
            "port_xmit_data_64": 18014398509481983, "port_rcv_data_64": 9007199254740993, "port_xmit_packets_64": 70368744177664,
            "port_rcv_packets_64": 35184372088832, "port_unicast_xmit_packets": 70368744000000,
            "port_unicast_rcv_packets": 35184372000000, "port_multicast_xmit_packets": 177664, "port_multicast_rcv_packets": 88832
        })
    for name in ("unicast_xmit_packets", "unicast_rcv_packets", "multicast_xmit_packets", "multicast_rcv_packets"):
        t.file(f"{port}/1/counters/{name}", "N/A (no PMA)")
    devices.net(t, "ibp1s0", names["ibp1s0"], place, 56000, kind=32, index=4, mtu=65520, more={"mode": "connected"})
    devices.net(t, "enp1s0d1", names["enp1s0d1"], place, 40000, index=5, more={"dev_port": 1})
    second = devices.pci(t, "0000:02:00.0", "0x15b3", "0x1021", "0x020700", "mlx5_core", link=("32.0 GT/s PCIe", 16))
    devices.infiniband(t, "mlx5_2", second, {1: ("1: DOWN", "400 Gb/sec (4X NDR)", "InfiniBand")}, firmware="28.39.2048")
    devices.net(t, "ib2", names["ib2"], second, -1, kind=32, index=6, state="down", mtu=4092)
    third = devices.pci(t, "0000:03:00.0", "0x15b3", "0x1021", "0x020700", "mlx5_core", link=("32.0 GT/s PCIe", 16))
    devices.infiniband(t, "rocep3s0", third, {1: ("4: ACTIVE", "800 Gb/sec (4X XDR)", "Ethernet")}, firmware="40.43.1014")
    # Bytes of this port are four times this: beyond 64 bits.
    t.folder(f"{third}/infiniband/rocep3s0/ports/1/counters",
             {"port_xmit_data": 18446744073709551615, "port_rcv_data": 9223372036854775808, "port_xmit_wait": 2.5})
    plain.own_process(t, cores, "0::/", cgroups.USUAL_MOUNTS + [cgroups.V2_MOUNT])


def omni_path(t):
    cores = cpus.packages(2, 2)
    names = plain.machine(
        t, cores, kernel="4.18.0-553.el8_10.x86_64", psi=(), net_more=("ib0",),
        without=("KReclaimable", "Zswap", "Zswapped", "SecPageTables", "Unaccepted", "FileHugePages", "FilePmdMapped"),
        columns=15)
    cpus.topology(t, cores)
    place = devices.pci(t, "0000:81:00.0", "0x8086", "0x24f0", "0x020800", "hfi1", node=1, link=("8.0 GT/s PCIe", 16))
    more = {
        "boardversion": "ChipABI 3.0, ChipRev 7.17, SW Compat 3", "serial": "0x012a34b5", "nctxts": 28, "nfreectxts": 27,
        "tempsense": "46.50  0.00 105.00 105.00 0 0 0"}
    devices.infiniband(t, "hfi1_0", place, {1: ("4: ACTIVE", "100 Gb/sec (4X EDR)", "InfiniBand")},
                       board="Intel Omni-Path Host Fabric Interface Adapter 100 Series", firmware="1.27.0", hardware=False,
                       more=more)
    t.folder(
        f"{place}/infiniband/hfi1_0/ports/1/hw_counters", {
            "lifespan": 0, "RxCtxtFullErr": 17, "RxFlit": 123456789012, "TxFlit": 234567890123, "TxPkt": 3456789012,
            "RxPkt": 4567890123, "TxWait": 5678901, "RcSendComplete": 67890, "RcTimeOut": 78})
    t.folder(f"{place}/infiniband/hfi1_0/ports/1", {"CCMgtA/cc_settings_bin": b"\1\2\3", "sl2sc/0": 0, "vl2mtu/0": 10240})
    devices.net(t, "ib0", names["ib0"], place, 100000, kind=32, index=4, mtu=10236)
    plain.own_process(t, cores, "0::/\n1:name=systemd:/system.slice/slurmd.service", cgroups.USUAL_MOUNTS)


TELEMETRY_SETS = {
    "hni_pkts_recv_by_tc": 8, "hni_pkts_sent_by_tc": 8, "hni_rx_paused": 8, "hni_tx_paused": 8, "hni_discard_cntr": 8,
    "lpe_net_match_priority": 4, "lpe_net_match_overflow": 4, "atu_cache_miss": 4}
TELEMETRY = ("hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets", "hni_pcs_corrected_cw", "hni_pcs_uncorrected_cw",
             "hni_llr_rx_replay_event", "hni_llr_tx_replay_event", "pct_spt_timeouts", "pct_sct_timeouts", "pct_retry_srb_requests",
             "pct_no_trs_nacks", "pct_no_tct_nacks", "parbs_tarb_pi_posted_pkts", "parbs_tarb_pi_non_posted_pkts",
             "parbs_tarb_pi_posted_blocked_cnt", "parbs_tarb_pi_non_posted_blocked_cnt", "hni_timeouts_0",
             *(f"{name}_{i}" for name, n in TELEMETRY_SETS.items() for i in range(n)))


def cray_ex(t):
    """A telemetry file has the value, then the time it was read at; pm_counters has "value unit time us"."""
    cores = cpus.packages(1, 8)
    names = plain.machine(t, cores, kernel="5.14.21-150500.55.49_13.0.56-cray_shasta_c", psi=("cpu", "memory", "io"), net="nmn0",
                          net_more=("hsn0", "hsn1"), without=("Zswap", "Zswapped", "SecPageTables", "Unaccepted"))
    cpus.topology(t, cores)
    cpus.frequency(t, cores, "acpi-cpufreq", "ondemand", 1500000, 2000000)
    for i, bus in enumerate(("51", "d1")):
        place = devices.pci(t, f"0000:{bus}:00.0", "0x17db", "0x0501", "0x020000", "cxi_ss1", link=("16.0 GT/s PCIe", 16))
        devices.net(t, f"hsn{i}", names[f"hsn{i}"], place, 200000, index=4 + i, mtu=9000)
        t.folder(place,
                 {f"telemetry/{k}": f"{t.pick(f'cxi {i} {k}', 10**6, 10**14)}@173211234{i}.{123456789 + i}" for k in TELEMETRY})
        t.folder(f"{place}/port",
                 {"link": "up", "speed": "BS_200G", "media": "electrical", "link_layer_retry": "on", "loopback": "off"})
        t.folder(f"{place}/properties", {"nid": 81 + i, "nic_addr": f"0x{81 + i:x}", "rdzv_get_idx": 1})
        t.folder(f"{place}/cxi/cxi{i}", {"dev": f"241:{i}"})
        t.link_to(f"{place}/cxi/cxi{i}/device", place)
        t.link_to(f"sys/class/cxi/cxi{i}", f"{place}/cxi/cxi{i}")
    meters = {
        "energy": ("J", 98765432), "power": ("W", 421), "cpu_energy": ("J", 45678901), "cpu_power": ("W", 187), "memory_energy": (
            "J", 12345678), "memory_power": ("W", 53), "accel0_energy": ("J", 23456789), "accel0_power": ("W", 89),
        "accel1_energy": ("J", 0), "accel1_power": ("W", 0)}
    t.folder("sys/cray/pm_counters",
             {name: f"{value} {unit} 1732112345{i:06d} us" for i, (name, (unit, value)) in enumerate(meters.items())})
    t.folder(
        "sys/cray/pm_counters", {
            "freshness": 5512345, "generation": 7, "startup": 1731500000123456, "raw_scan_hz": 10, "version": 3,
            "power_cap": "0 W 1731500000123456 us", "cpu0_temp": "51 C 1732112345000017 us"})
    devices.powercap(t, [(0, "package-0", 65532610987, [("core", 65532610987)])], limits=False)
    plain.own_process(t, cores, "0::/", cgroups.USUAL_MOUNTS + [cgroups.V2_MOUNT])
