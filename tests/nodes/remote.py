# SPDX-License-Identifier: Apache-2.0
"""File systems of other machines: what the clients of NFS and of Lustre count."""

OPS4 = """NULL READ WRITE COMMIT OPEN OPEN_CONFIRM OPEN_NOATTR OPEN_DOWNGRADE CLOSE SETATTR FSINFO RENEW SETCLIENTID SETCLIENTID_CONFIRM LOCK LOCKT
LOCKU ACCESS GETATTR LOOKUP LOOKUP_ROOT REMOVE RENAME LINK SYMLINK CREATE PATHCONF STATFS READLINK READDIR SERVER_CAPS DELEGRETURN GETACL SETACL
FS_LOCATIONS RELEASE_LOCKOWNER SECINFO FSID_PRESENT EXCHANGE_ID CREATE_SESSION DESTROY_SESSION SEQUENCE GET_LEASE_TIME RECLAIM_COMPLETE LAYOUTGET
GETDEVICEINFO LAYOUTCOMMIT LAYOUTRETURN SECINFO_NO_NAME TEST_STATEID FREE_STATEID GETDEVICELIST BIND_CONN_TO_SESSION DESTROY_CLIENTID SEEK ALLOCATE
DEALLOCATE LAYOUTSTATS CLONE COPY OFFLOAD_CANCEL LOOKUPP LAYOUTERROR COPY_NOTIFY GETXATTR SETXATTR LISTXATTRS REMOVEXATTR READ_PLUS""".split(
)
OPS3 = """NULL GETATTR SETATTR LOOKUP ACCESS READLINK READ WRITE CREATE MKDIR SYMLINK MKNOD REMOVE RMDIR RENAME LINK READDIR READDIRPLUS FSSTAT FSINFO
PATHCONF COMMIT""".split()


def nfs(t, server, point, version="4.2", transports=("tcp",), age=1234567, columns=9):
    """net/sunrpc/stats.c and fs/nfs/super.c; errors is the ninth column since Linux 5.3."""
    key = f"nfs {point}"
    kind = "nfs" if version == "3" else "nfs4"
    events = [t.pick(f"{key} event {i}", 1, 10**6) for i in range(27)]
    bytes_ = [t.pick(f"{key} bytes {i}", 10**6, 10**13) for i in range(6)]
    bytes_ += [b // 4096 for b in bytes_[4:6]]
    lines = [
        f"device {server} mounted on {point} with fstype {kind} statvers=1.1",
        f"\topts:\trw,vers={version},rsize=1048576,wsize=1048576,namlen=255,acregmin=3,acregmax=60,acdirmin=30,acdirmax=60,hard,proto={transports[0]},"
        "timeo=600,retrans=2,sec=sys,local_lock=none", f"\tage:\t{age}"]
    if kind == "nfs4":
        lines += ["\timpl_id:\tname='',domain='',date='0,0'"]
    lines += ["\tcaps:\tcaps=0xfffbc03f,wtmult=512,dtsize=1048576,bsize=0,namlen=255"]
    if kind == "nfs4":
        lines += [
            "\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x68800,acl=0x3,sessions,pnfs=not configured,lease_time=90,lease_expired=0"
        ]
    lines += [
        "\tsec:\tflavor=1,pseudoflavor=1", "\tevents:\t" + " ".join(map(str, events)) + " ",
        "\tbytes:\t" + " ".join(map(str, bytes_)) + " ", f"\tRPC iostats version: 1.1  p/v: 100003/{version[0]} (nfs)"]
    for i, transport in enumerate(transports):
        v = [t.pick(f"{key} xprt {i} {j}", 1, 10**8) for j in range(16)]
        words = {
            "tcp": [0, 1, 2, 0, 17, v[0], v[0] - 3, 1, v[1], v[2], 65, v[3], v[4]], "udp": [
                876, 1, v[0], v[0] - 5, 2, v[1], v[2], 64, v[3], v[4]], "rdma": [
                    0, 0, 3, 0, 5, v[0], v[0] - 2, 0, v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], 0, 1, 4, v[11],
                    v[12], 0, v[13], v[14]]}
        lines.append(f"\txprt:\t{transport} " + " ".join(map(str, words[transport])))
    lines.append("\tper-op statistics")
    for op in OPS3 if kind == "nfs" else OPS4:
        quiet = op not in ("READ", "WRITE", "OPEN", "CLOSE", "GETATTR", "LOOKUP", "ACCESS", "READDIR", "COMMIT", "SEQUENCE",
                           "READDIRPLUS", "CREATE", "REMOVE")
        n = 0 if quiet else t.pick(f"{key} {op}", 10**3, 10**7)
        row = [n, n + n // 1000, n // 90000, n * 210, n * 330, n // 3, n * 2, n * 3, n // 500][:columns]
        if op in ("READ", "WRITE"):
            row[3], row[4] = (n * 188, bytes_[4] + n * 120) if op == "READ" else (bytes_[5] + n * 200, n * 136)
        lines.append(f"\t{op:>12}: " + " ".join(map(str, row)) + ("" if columns == 9 else " "))
    return "\n".join(lines) + "\n\n"


def mountstats(*parts):
    return "".join(
        p if p.startswith("device") else f"device {p.split(' ')[0]} mounted on {p.split(' ')[1]} with fstype {p.split(' ')[2]}\n"
        for p in parts)


LUSTRE = (("read_bytes", "bytes"), ("write_bytes", "bytes"), ("read", "usecs"), ("write", "usecs"), ("ioctl", "reqs"),
          ("open", "usecs"), ("close", "usecs"), ("mmap", "usecs"), ("page_fault", "usecs"), ("seek", "usecs"),
          ("fsync", "usecs"), ("readdir", "usecs"), ("setattr", "usecs"), ("truncate", "usecs"), ("getattr", "usecs"),
          ("unlink", "usecs"), ("mkdir", "usecs"), ("statfs", "usecs"), ("inode_permission", "usecs"), ("getxattr", "usecs"),
          ("opencount", "reqs"), ("openclosetime", "usecs"))


def lustre_stats(t, key, old=False):
    """lprocfs_stats_seq_show: name, samples, [unit], least, most, sum, sum of squares; before 2.13 calls had no times."""
    lines = [
        f"snapshot_time             {1732112345 if not old else 1573112345}.123456{'789 secs.nsecs' if not old else ' secs.usecs'}"
    ]
    if not old:
        lines += [
            "start_time                1731500000.000000000 secs.nsecs", "elapsed_time              612345.123456789 secs.nsecs"]
    for name, unit in LUSTRE:
        n = t.pick(f"lustre {key} {name}", 10**3, 10**8)
        if old and unit != "bytes":
            if name not in ("read", "write", "opencount", "openclosetime"):
                lines.append(f"{name:<25} {n} samples [regs]")
        elif unit == "reqs":
            lines.append(f"{name:<25} {n} samples [reqs]")
        else:
            total = t.pick(f"lustre {key} {name} sum", n * 10, n * 90000)
            lines.append(
                f"{name:<25} {n} samples [{unit}] {4096 if unit == 'bytes' else 1} {4194304 if unit == 'bytes' else 93210} {total}"
                + ("" if old else f" {total * 977}"))
    return "\n".join(lines)


def lustre(t, name="scratch", instance="ffff8f1e2c3d4800", old=False, total=7 * 10**12):
    """kilobytes and files in sysfs since 2.12, statistics where only root reads; before, all in /proc."""
    client = f"{name}-{instance}"
    values = {
        "kbytestotal": total, "kbytesfree": total // 3, "kbytesavail": total // 4, "filestotal": 3 * 10**9, "filesfree": 10**9,
        "blocksize": 4194304, "fstype": "lustre", "uuid": "4c1ad5a4-5f3f-4d6c-a3a4-9f2b1a1f3c55", "max_read_ahead_mb": 1024,
        "client_type": "local client"}
    if old:
        t.folder(f"proc/fs/lustre/llite/{client}", values | {"stats": lustre_stats(t, client, old=True)})
        t.folder("proc/fs/lustre", {"version": "lustre: 2.10.8", "health_check": "healthy"})
    else:
        t.folder(f"sys/fs/lustre/llite/{client}", values)
        t.folder("sys/fs/lustre", {"version": "2.15.4", "health_check": "healthy", "jobid_var": "disable", "jobid_name": "%e.%u"})
        t.file(f"sys/kernel/debug/lustre/llite/{client}/stats", lustre_stats(t, client))
