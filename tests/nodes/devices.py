# SPDX-License-Identifier: Apache-2.0
"""Devices of /sys, each where the kernel has it, with the links from class/, bus/ and block/ that lead there."""
from procfs import NET_COLUMNS, NET_OTHERS, disk_numbers


def pci(t, address, vendor, device, kind, driver, node=0, link=("16.0 GT/s PCIe", 16), under="pci0000:00"):
    """A function on the bus; its folder below sys/."""
    where = f"sys/devices/{under}/{address}"
    t.folder(
        where, {
            "vendor": vendor, "device": device, "class": kind, "numa_node": node,
            "subsystem_vendor": "0x1028", "subsystem_device": "0x0a6b", "revision": "0x01", "irq": t.pick(
                f"irq {address}", 24, 300), "current_link_speed": link[0], "current_link_width": link[1], "max_link_speed":
                    link[0], "max_link_width": 16, "enable": 1, "modalias": f"pci:v0000{vendor[2:]}d0000{device[2:]}",
            "uevent": f"DRIVER={driver}\nPCI_CLASS={kind[2:]}\nPCI_ID={vendor[2:].upper()}:{device[2:].upper()}\nPCI_SLOT_NAME={address}"
        })
    t.link_to(f"sys/bus/pci/devices/{address}", where)
    t.link_to(f"{where}/driver", f"sys/bus/pci/drivers/{driver}")
    t.link_to(f"{where}/subsystem", "sys/bus/pci")
    t.link_to(f"sys/bus/pci/drivers/{driver}/{address}", where)
    return where


def net(t, name, numbers, place=None, speed=None, kind=1, index=2, state="up", mtu=1500, more=None):
    """An interface on a device (place) or a virtual one; speed None: asking for it is an error, which a fixture gives as an empty file."""
    where = f"{place}/net/{name}" if place else f"sys/devices/virtual/net/{name}"
    files = {
        "type": kind, "operstate": state, "carrier": int(state == "up"), "mtu": mtu, "flags": "0x1003", "ifindex": index,
        "iflink": index, "address": f"02:00:00:{index:02x}:9b:{index * 7:02x}", "tx_queue_len": 1000,
        "speed": "" if speed is None else speed, "duplex": "" if speed is None else "full", "dev_id": "0x0", "dev_port": 0,
        "carrier_changes": 3, "carrier_up_count": 2, "carrier_down_count": 1, "dormant": 0}
    t.folder(where, files | (more or {}))
    t.folder(f"{where}/statistics", {c: numbers[c] for c in NET_COLUMNS + NET_OTHERS})
    t.link_to(f"sys/class/net/{name}", where)
    t.link_to(f"{where}/subsystem", "sys/class/net")
    if place:
        t.link_to(f"{where}/device", place)
    return where


def bond(t, name, members, mode="802.3ad 4"):
    where = f"sys/devices/virtual/net/{name}"
    t.folder(f"{where}/bonding", {"slaves": " ".join(members), "mode": mode, "mii_status": "up", "miimon": 100})
    t.file("sys/class/net/bonding_masters", name)
    for member, place in members.items():
        t.link_to(f"{where}/lower_{member}", place)
        t.link_to(f"{place}/master", where)
        t.link_to(f"{place}/upper_{name}", where)
        t.folder(f"{place}/bonding_slave", {"state": "active", "mii_status": "up", "link_failure_count": 1})


def block_links(t, name, where, major, minor, kind="disk"):
    t.file(f"{where}/uevent", f"MAJOR={major}\nMINOR={minor}\nDEVNAME={name}\nDEVTYPE={kind}")
    t.link_to(f"sys/class/block/{name}", where)
    t.link_to(f"sys/dev/block/{major}:{minor}", where)


def block(t, name, place, sectors, key, major=259, minor=0, rotational=0, partitions=(), slaves=(), hidden=0, model="",
          scheduler="[none] mq-deadline"):
    """A whole disk below its device, or below virtual/block; partitions: (name, first sector, sectors, key)."""
    where = f"{place}/{name}" if place else f"sys/devices/virtual/block/{name}"
    files = {
        "size": sectors, "dev": f"{major}:{minor}", "removable": 0, "ro": 0, "hidden": hidden, "range": 16,
        "inflight": f"{3:8d} {5:8d}", "queue/rotational": rotational, "queue/scheduler": scheduler, "queue/nr_requests": 1023,
        "queue/logical_block_size": 512, "queue/physical_block_size": 4096, "queue/read_ahead_kb": 128, "stat": "".join(
            f" {v:8d}" for v in disk_numbers(t, key))}
    t.folder(where, files)
    t.link_to(f"sys/block/{name}", where)
    block_links(t, name, where, major, minor)
    if place:
        t.link_to(f"{where}/device", place)
        t.folder(place, {
            "model": f"{model:<40}", "serial": f"S{t.pick(name, 10**8, 10**9)}    ", "firmware_rev": "GDC5302Q", "state": "live"})
    for i, (part, start, size, part_key) in enumerate(partitions, 1):
        t.folder(
            f"{where}/{part}", {
                "partition": i, "start": start, "size": size, "dev": f"{major}:{minor + i}", "stat": "".join(
                    f" {v:8d}" for v in disk_numbers(t, part_key))})
        block_links(t, part, f"{where}/{part}", major, minor + i, f"partition\nPARTN={i}")
    for slave in slaves:
        t.link_to(f"{where}/slaves/{slave.rsplit('/', 1)[1]}", slave)
        t.link_to(f"{slave}/holders/{name}", where)
    return where


def hwmon(t, number, name, place, sensors):
    """sensors: {"temp1_input": 45000, ...}; place None: a virtual one."""
    where = f"{place}/hwmon/hwmon{number}" if place else f"sys/devices/virtual/hwmon/hwmon{number}"
    t.folder(where, {"name": name} | sensors)
    t.link_to(f"sys/class/hwmon/hwmon{number}", where)
    t.link_to(f"{where}/subsystem", "sys/class/hwmon")
    if place:
        t.link_to(f"{where}/device", place)


def coretemp(t, number, package, cores, first=34000):
    """drivers/hwmon/coretemp.c: temp1 is the package, temp<core id + 2> a core."""
    sensors = {}
    for i, label in [(1, f"Package id {package}")] + [(c + 2, f"Core {c}") for c in cores]:
        sensors |= {
            f"temp{i}_input": first + 1000 * t.pick(f"temp {package} {i}", 1, 50), f"temp{i}_label": label, f"temp{i}_max": 93000,
            f"temp{i}_crit": 103000, f"temp{i}_crit_alarm": 0}
    hwmon(t, number, "coretemp", f"sys/devices/platform/coretemp.{package}", sensors)


def thermal(t, number, kind, celsius):
    where = f"sys/devices/virtual/thermal/thermal_zone{number}"
    t.folder(where, {"type": kind, "temp": celsius * 1000 + number, "mode": "enabled", "policy": "step_wise"})
    t.link_to(f"sys/class/thermal/thermal_zone{number}", where)


def powercap(t, zones, control="intel-rapl", limits=True):
    """zones: (number, name, largest, zones inside). energy_uj is root's alone since Linux 5.10; as fixtures are read by anyone, it is not here."""
    base = f"sys/devices/virtual/powercap/{control}"
    t.folder(base, {"enabled": 1})
    t.link_to(f"sys/class/powercap/{control}", base)

    def zone(parent, path, name, largest):
        where = f"{parent}/{path}"
        t.folder(
            where, {
                "name": name, "enabled": int("dram" not in name), "max_energy_range_uj": largest, "energy_uj": t.pick(
                    f"energy {path}", largest // 9, largest)})
        if limits:
            t.folder(
                where, {
                    "constraint_0_name": "long_term", "constraint_0_power_limit_uw": 185000000,
                    "constraint_0_max_power_uw": 185000000, "constraint_0_time_window_us": 999424})
        t.link_to(f"sys/class/powercap/{path}", where)
        return where

    for number, name, largest, inside in zones:
        where = zone(base, f"{control}:{number}", name, largest)
        for i, (sub, sub_largest) in enumerate(inside):
            zone(where, f"{control}:{number}:{i}", sub, sub_largest)


IB_COUNTERS = ("symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors", "port_rcv_remote_physical_errors",
               "port_rcv_switch_relay_errors", "port_xmit_discards", "port_xmit_constraint_errors", "port_rcv_constraint_errors",
               "local_link_integrity_errors", "excessive_buffer_overrun_errors", "VL15_dropped")
IB_TRAFFIC = ("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets", "unicast_xmit_packets",
              "unicast_rcv_packets", "multicast_xmit_packets", "multicast_rcv_packets", "port_xmit_wait")
IB_HARDWARE = ("duplicate_request", "implied_nak_seq_err", "lifespan", "local_ack_timeout_err", "np_cnp_sent",
               "np_ecn_marked_roce_packets", "out_of_buffer", "out_of_sequence", "packet_seq_err", "req_cqe_error",
               "resp_cqe_error", "rnr_nak_retry_err", "rp_cnp_handled", "rx_atomic_requests", "rx_read_requests",
               "rx_write_requests", "roce_adp_retrans")


def infiniband(t, name, place, ports, board="MT_0000000223", firmware="20.35.1012", hardware=True, kind="1: CA", more=None):
    """ports: {number: (state, rate, link layer)}. drivers/infiniband/core/sysfs.c: data in words of 4 bytes, packets in packets."""
    where = f"{place}/infiniband/{name}"
    t.folder(
        where, {
            "node_type": kind, "board_id": board, "fw_ver": firmware, "hca_type": "MT4123", "hw_rev": 0,
            "node_desc": f"{t.name} {name}", "node_guid": f"b859:9f03:00{len(name):02x}:{t.pick(name, 4096, 65535):04x}",
            "sys_image_guid": "b859:9f03:00d4:1c2e"} | (more or {}))
    t.link_to(f"sys/class/infiniband/{name}", where)
    t.link_to(f"{where}/device", place)
    for number, (state, rate, layer) in ports.items():
        port, up = f"{where}/ports/{number}", state.startswith("4")
        t.folder(
            port, {
                "state": state, "phys_state": "5: LinkUp" if up else "3: Disabled", "rate": rate, "link_layer": layer,
                "lid": f"0x{t.pick(f'lid {name} {number}', 1, 999):x}", "sm_lid": "0x1", "sm_sl": 0, "lid_mask_count": 0,
                "cap_mask": "0xa651e848", "gids/0": "fe80:0000:0000:0000:b859:9f03:00d4:1c2e", "pkeys/0": "0xffff"})
        key = f"ib {name} {number}"
        t.folder(f"{port}/counters", {c: t.pick(f"{key} {c}", 1, 90) if up else 0 for c in IB_COUNTERS})
        t.folder(f"{port}/counters",
                 {c: t.pick(f"{key} {c}", 10**6, 10**13 if "data" in c else 10**11) if up else 0 for c in IB_TRAFFIC})
        if hardware:
            t.folder(f"{port}/hw_counters", {c: t.pick(f"{key} {c}", 1, 10**6) if up else 0 for c in IB_HARDWARE})
            t.file(f"{port}/hw_counters/lifespan", 10)


def pmu(t, name, number, formats=None, events=None, caps=None, cpumask=None, cpus=None):
    """A unit of perf; events: {"name": "event=0x3c"}, a ".scale" or ".unit" among them as the kernel has it (no newline behind a scale)."""
    where = f"sys/devices/{name}"
    files = {"type": number, "perf_event_mux_interval_ms": 4}
    if cpumask is not None:
        files["cpumask"] = cpumask
    if cpus is not None:
        files["cpus"] = cpus
    t.folder(where, files)
    t.folder(f"{where}/format", formats or {})
    t.folder(f"{where}/caps", caps or {})
    for event, text in (events or {}).items():
        t.file(f"{where}/events/{event}", text.encode() if event.endswith((".scale", ".unit")) else text)
    t.link_to(f"sys/bus/event_source/devices/{name}", where)
    t.link_to(f"{where}/subsystem", "sys/bus/event_source")


INTEL_FORMAT = {
    "event": "config:0-7", "umask": "config:8-15", "edge": "config:18", "pc": "config:19", "inv": "config:23",
    "cmask": "config:24-31", "any": "config:21", "in_tx": "config:32", "in_tx_cp": "config:33", "offcore_rsp": "config1:0-63",
    "ldlat": "config1:0-15", "frontend": "config1:0-23"}
INTEL_EVENTS = {
    "cpu-cycles": "event=0x3c", "instructions": "event=0xc0", "cache-references": "event=0x2e,umask=0x4f",
    "cache-misses": "event=0x2e,umask=0x41", "branch-instructions": "event=0xc4", "branch-misses": "event=0xc5",
    "bus-cycles": "event=0x3c,umask=0x01", "ref-cycles": "event=0x00,umask=0x03", "mem-loads": "event=0xcd,umask=0x1,ldlat=3",
    "mem-stores": "event=0xd0,umask=0x82", "slots": "event=0x00,umask=0x4", "topdown-retiring": "event=0x00,umask=0x80",
    "topdown-bad-spec": "event=0x00,umask=0x81", "topdown-fe-bound": "event=0x00,umask=0x82",
    "topdown-be-bound": "event=0x00,umask=0x83"}
AMD_FORMAT = {
    "event": "config:0-7,32-35", "umask": "config:8-15", "edge": "config:18", "inv": "config:23", "cmask": "config:24-31"}
AMD_EVENTS = {
    "cpu-cycles": "event=0x76", "instructions": "event=0xc0", "cache-references": "event=0xff60", "cache-misses": "event=0x0964",
    "branch-instructions": "event=0xc2", "branch-misses": "event=0xc3", "stalled-cycles-frontend": "event=0xa9"}


def rapl_pmu(t, number, cpumask, scales):
    """scales: {"energy-pkg": "2.3283064365386962890625e-10", ...}"""
    events = {}
    for i, (name, scale) in enumerate(scales.items(), 1):
        events |= {name: f"event=0x{i:02x}", f"{name}.scale": scale, f"{name}.unit": "Joules"}
    pmu(t, "power", number, {"event": "config:0-7"}, events, cpumask=cpumask)


def software_pmus(t):
    for name, number in (("software", 1), ("tracepoint", 2), ("breakpoint", 5)):
        pmu(t, name, number)


def dmi(t, vendor, product, bios):
    where = "sys/devices/virtual/dmi/id"
    t.folder(
        where, {
            "sys_vendor": vendor, "product_name": product, "board_vendor": vendor, "board_name": "0K12R3", "bios_vendor": vendor,
            "bios_version": bios, "bios_date": "03/14/2024", "chassis_type": 23, "product_family": "", "product_serial": "ABC1234"
        })
    t.link_to("sys/class/dmi/id", where)
