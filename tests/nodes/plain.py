# SPDX-License-Identifier: Apache-2.0
"""What a machine has that is made for something else: cores, memory, one disk, one interface."""
import devices
import process
import procfs


def machine(t, cores, kernel="6.1.0-25-amd64", memory=65536000, swap=0, without=("Zswap", "Zswapped", "Unaccepted"),
            psi=("cpu", "memory", "io", "irq"), columns=17, net="eth0", arm=False, net_more=(), devices_of=(), disks_more=()):
    numbers = [c.cpu for c in cores]
    procfs.stat(t, numbers)
    procfs.meminfo(t, memory, swap=swap, without=without)
    procfs.pressure(t, psi)
    procfs.interrupts(t, numbers, list(devices_of), arm=arm)
    procfs.others(t, numbers, kernel, "Debian 6.1.106-3 (2024-08-26)", "BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro quiet")
    procfs.diskstats(t, [(8, 0, "sda", "a"), (8, 1, "sda1", "a1"), *disks_more], columns)
    for major, minor, name, key in disks_more:
        devices.block(t, name, None, 209715200, key, major=major, minor=minor)
    ata = "sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0"
    devices.block(t, "sda", f"{ata}/block", 937703088, "a", major=8, rotational=1, partitions=(("sda1", 2048, 937701040, "a1"),),
                  model="ST4000NM0035", scheduler="none [mq-deadline]")
    names = {name: procfs.net_numbers(t, name) for name in ("lo", net, *net_more)}
    procfs.net_dev(t, names)
    devices.net(t, "lo", names["lo"], kind=772, index=1, state="unknown", mtu=65536)
    place = devices.pci(t, "0000:00:1f.6", "0x8086", "0x15bc", "0x020000", "e1000e", link=("Unknown", 0))
    devices.net(t, net, names[net], place, 1000)
    devices.software_pmus(t)
    return names


def own_process(t, cores, cgroup, mounts, pid=4242, **more):
    process.add(t, pid, "python3", 4240, f"0-{len(cores) - 1}", cgroup=cgroup, mounts="\n".join(mounts),
                mountstats="device /dev/sda1 mounted on / with fstype ext4\n", **more)
    process.own(t, pid)
