# SPDX-License-Identifier: Apache-2.0
"""Where a job's control groups may be: version 1, version 2 of a new kernel below a container's mount, both at once; and /proc with hidepid=2."""
import os

import cgroups
import cpus
import devices
import plain
import process
import remote
from cgroups import mount

V1 = ("cpu,cpuacct", "memory", "cpuset", "devices", "freezer", "blkio", "pids", "net_cls,net_prio", "perf_event", "hugetlb")


AGENT = "/usr/lib/systemd/systemd-cgroups-agent"


def v1_systemd(t):
    """systemd's own hierarchy, where the daemon of the batch system has the job."""
    cgroups.v1_root(t, "sys/fs/cgroup/systemd", AGENT)
    t.folder("sys/fs/cgroup/systemd", {"cgroup.procs": 1, "tasks": 1, "notify_on_release": 1})
    t.folder("sys/fs/cgroup/systemd/system.slice/slurmd.service",
             {"cgroup.procs": "4100\n4242", "tasks": "4100\n4242", "notify_on_release": 1})


def v1_mounts(roots=None):
    rows = [
        mount(27, 23, "0:24", "/", "/sys/fs/cgroup", "ro,nosuid,nodev,noexec", "shared:3 - tmpfs tmpfs ro,mode=755"),
        mount(28, 27, "0:25", "/", "/sys/fs/cgroup/systemd", "rw,nosuid,nodev,noexec,relatime",
              f"shared:4 - cgroup cgroup rw,xattr,release_agent={AGENT},name=systemd")]
    for i, name in enumerate(V1):
        rows.append(
            mount(30 + i, 27, f"0:{27 + i}", (roots or {}).get(name, "/"), f"/sys/fs/cgroup/{name}",
                  "rw,nosuid,nodev,noexec,relatime", f"shared:{5 + i} - cgroup cgroup rw,{','.join(reversed(name.split(',')))}"))
    return rows


def cgroup_v1(t):
    """CentOS 7 with Slurm 20: the controllers know the job, systemd does not; Lustre and NFS of those days."""
    cores = cpus.packages(2, 4, threads=1)
    plain.machine(
        t, cores, kernel="3.10.0-1160.el7.x86_64", psi=(), columns=11,
        without=("Zswap", "Zswapped", "KReclaimable", "Percpu", "ShmemHugePages", "ShmemPmdMapped", "FileHugePages",
                 "FilePmdMapped", "Unaccepted", "SecPageTables", "Hugetlb"))
    cpus.topology(t, cores)
    cpus.nodes(t, {0: 32768000, 1: 32768000}, cores)
    job = "/slurm/uid_1000/job_4711/step_0/task_0"
    groups = {
        "cpu,cpuacct": "/slurm/uid_1000/job_4711/step_0", "memory": job, "cpuset": "/slurm/uid_1000/job_4711/step_0",
        "devices": "/slurm/uid_1000/job_4711/step_0", "freezer": "/slurm/uid_1000/job_4711/step_0", "blkio": "/", "pids": "/",
        "net_cls,net_prio": "/", "perf_event": "/", "hugetlb": "/"}
    lines = [f"{len(V1) + 1 - i}:{','.join(reversed(name.split(',')))}:{groups[name]}" for i, name in enumerate(V1)] + [
        "1:name=systemd:/system.slice/slurmd.service"]
    cgroups.v1(t, groups, ("",), (4242,), [c.cpu for c in cores], "0-3", limits={
        "/slurm/uid_1000/job_4711": 17179869184, "/slurm/uid_1000/job_4711/step_0": 17179869184})
    v1_systemd(t)
    mounts = cgroups.USUAL_MOUNTS + v1_mounts() + [
        mount(60, 21, "0:60", "/", "/lustre", "rw", "- lustre 10.3.0.1@o2ib:/old rw,flock")]
    plain.own_process(t, cores, "\n".join(lines), mounts)
    t.file(
        "proc/4242/mountstats",
        remote.mountstats("rootfs / rootfs", "10.3.0.1@o2ib:/old /lustre lustre",
                          remote.nfs(t, "filer:/vol/home", "/home", version="3", transports=("udp",), columns=8)))
    remote.lustre(t, "old", "ffff880ff5a12800", old=True)


def cgroup_v2(t):
    """A container of Kubernetes in a cgroup namespace of its own: the mount's root is the job's group, and /proc/self/cgroup says "/"."""
    cores = cpus.packages(1, 8)
    plain.machine(t, cores, kernel="6.10.3-cloud", disks_more=((259, 0, "nvme0n1", "n0"),))
    cpus.topology(t, cores)
    mounts = [
        mount(900, 800, "0:90", "/", "/", "rw,relatime",
              "- overlay overlay rw,lowerdir=/var/lib/containerd/l1:/var/lib/containerd/l2,upperdir=/u,workdir=/w"),
        mount(901, 900, "0:91", "/", "/proc", "rw,nosuid,nodev,noexec,relatime", "- proc proc rw"),
        mount(902, 900, "0:92", "/", "/sys", "ro,nosuid,nodev,noexec,relatime", "- sysfs sysfs ro"),
        mount(903, 902, "0:29", "/", "/sys/fs/cgroup", "ro,nosuid,nodev,noexec,relatime",
              "- cgroup2 cgroup rw,nsdelegate,memory_recursiveprot")]
    plain.own_process(t, cores, "0::/", mounts, pid=7)
    # What is mounted is not the root of all groups: it has limits, and memory.current.
    cgroups.v2(t, "", pids=(1, 7), limit=8589934592, quota="250000 100000", cpus="0-15", mems="0", devices=("259:0", "8:0"),
               psi=("cpu", "memory", "io", "irq"))


def cgroup_hybrid(t):
    """systemd's hybrid: version 1 has the controllers, version 2 is mounted beside them without any. A ZFS volume and a DRBD that do
    not say which disks they stand on, and a disk that is on another machine."""
    cores = cpus.packages(1, 4)
    plain.machine(t, cores, kernel="5.4.0-190-generic", psi=("cpu", "memory", "io"), columns=17,
                  disks_more=((230, 0, "zd0", "zvol"), (147, 0, "drbd0", "drbd"), (43, 0, "nbd0", "nbd")))
    cpus.topology(t, cores)
    job = "/slurm_node7/uid_1000/job_99/step_batch"
    groups = {name: job if name in ("memory", "cpuset", "freezer", "devices") else "/system.slice/slurmd.service" for name in V1}
    groups |= {"perf_event": "/", "net_cls,net_prio": "/", "hugetlb": "/"}
    lines = [f"{12 - i}:{name}:{groups[name]}" for i, name in enumerate(V1)] + [
        "1:name=systemd:/system.slice/slurmd.service", "0::/system.slice/slurmd.service"]
    cgroups.v1(t, groups, ("",), (4242,), [c.cpu for c in cores], "0-3", limits={
        job: 4294967296, os.path.dirname(job): 4294967296})
    v1_systemd(t)
    unified = "sys/fs/cgroup/unified/system.slice/slurmd.service"
    t.folder(
        unified, {
            "cgroup.procs": "4100\n4242", "cgroup.controllers": "", "cgroup.events": "populated 1",
            "cpu.stat": "usage_usec 778899001122\nuser_usec 700000000000\nsystem_usec 78899001122"})
    t.folder("sys/fs/cgroup/unified", {"cgroup.procs": "1", "cgroup.controllers": ""})
    rows = v1_mounts() + [
        mount(29, 27, "0:26", "/", "/sys/fs/cgroup/unified", "rw,nosuid,nodev,noexec,relatime",
              "shared:5 - cgroup2 cgroup2 rw,nsdelegate")]
    plain.own_process(t, cores, "\n".join(lines), cgroups.USUAL_MOUNTS + rows)


def hidepid_2(t):
    """Only one's own processes are listed; node-wide files are there all the same. The cgroup's list names pids that cannot be looked at."""
    cores = cpus.packages(1, 2)
    plain.machine(t, cores)
    cpus.topology(t, cores)
    mounts = [m.replace("- proc proc rw", "- proc proc rw,hidepid=invisible") for m in cgroups.USUAL_MOUNTS] + [cgroups.V2_MOUNT]
    plain.own_process(t, cores, "0::/user.slice", mounts)
    process.add(t, 4250, "child", 4242, "0-3", cgroup="0::/user.slice", mounts="\n".join(mounts))
    for path in ("", "/user.slice"):
        cgroups.v2(t, path, root=not path, cpus="0-3", mems="0", pids=(1, 2, 4100, 4242, 4250) if path else (),
                   devices=("8:0",))
    devices.dmi(t, "QEMU", "Standard PC (Q35 + ICH9, 2009)", "1.16.2")
