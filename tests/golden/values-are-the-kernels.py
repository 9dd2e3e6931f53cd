# SPDX-License-Identifier: Apache-2.0
"""The golden files of whole machines say what the kernel's files say: read here a second time, by position and without Sonde's code.

A golden file shows what changed, not whether it was right; this test does, for the files whose columns never move.
"""
import os
import re
import sys

TOP, BUILD = os.environ["TOP"], os.environ["BUILD"]
LARGEST = 2**63 - 1

TIMES = "user nice system idle iowait irq softirq steal guest guest_nice".split()
STAT = {"ctxt": "context_switches", "processes": "forks", "intr": "interrupts", "procs_running": "procs_running",
        "procs_blocked": "procs_blocked"}
DISK = """reads reads_merged read_bytes reading_seconds writes writes_merged written_bytes writing_seconds in_flight_count busy_seconds
queued_seconds discards discards_merged discarded_bytes discarding_seconds flushes flushing_seconds""".split()
NETWORK = {0: "received_bytes", 1: "received_packets", 2: "receive_errors", 3: "receive_drops", 4: "receive_overruns",
           7: "received_multicast", 8: "transmitted_bytes", 9: "transmitted_packets", 10: "transmit_errors", 11: "transmit_drops",
           12: "transmit_overruns", 13: "collisions", 14: "carrier_losses"}
MEMORY = {"MemTotal": "memory_total", "MemFree": "memory_free", "MemAvailable": "memory_available", "Buffers": "memory_buffers",
          "Cached": "memory_cached", "SwapCached": "swap_cached", "Active": "memory_active", "Inactive": "memory_inactive",
          "Active(anon)": "memory_active_anon", "Inactive(anon)": "memory_inactive_anon", "Active(file)": "memory_active_file",
          "Inactive(file)": "memory_inactive_file", "Unevictable": "memory_unevictable", "Mlocked": "memory_locked",
          "SwapTotal": "swap_total", "SwapFree": "swap_free", "Zswap": "zswap_compressed", "Zswapped": "zswap_stored",
          "Dirty": "memory_dirty", "Writeback": "memory_writeback", "AnonPages": "memory_anonymous", "Mapped": "memory_mapped",
          "Shmem": "memory_shared", "KReclaimable": "memory_kernel_reclaimable", "Slab": "memory_slab",
          "SReclaimable": "memory_slab_reclaimable", "SUnreclaim": "memory_slab_unreclaimable",
          "KernelStack": "memory_kernel_stack", "PageTables": "memory_page_tables",
          "SecPageTables": "memory_secondary_page_tables", "CommitLimit": "memory_commit_limit",
          "Committed_AS": "memory_committed", "VmallocUsed": "memory_vmalloc", "Percpu": "memory_percpu",
          "HardwareCorrupted": "memory_corrupted", "AnonHugePages": "memory_anonymous_huge", "ShmemHugePages": "memory_shared_huge",
          "FileHugePages": "memory_file_huge", "HugePages_Total": "hugepages_total", "HugePages_Free": "hugepages_free",
          "HugePages_Rsvd": "hugepages_reserved", "HugePages_Surp": "hugepages_surplus", "Hugepagesize": "hugepage",
          "Hugetlb": "hugepages"}


def cpu(text):
    rows = [line.split() for line in text.splitlines()]
    for name, *words in rows:
        if name.startswith("cpu"):
            for time, word in zip(TIMES, words):
                yield (f"node.cpu_{time}_seconds", "-", word) if name == "cpu" else (f"cpu.{time}_seconds", name, word)
        elif name in STAT:
            yield f"node.{STAT[name]}", "-", words[0]
    yield "node.cores_online_count", "-", sum(row[0].startswith("cpu") for row in rows) - 1


def memory(text):
    for line in text.splitlines():
        name, value = line.split(":")
        if name in MEMORY:
            yield f"node.{MEMORY[name]}_{'count' if name.startswith('HugePages_') else 'bytes'}", "-", value.split()[0]


def disk(text):
    for line in text.splitlines():
        _, _, name, *words = line.split()
        if set(words) != {"0"}:
            for metric, word in zip(DISK, words):
                yield f"disk.{metric}", name, word


def network(text):
    for line in text.splitlines()[2:]:
        name, words = line.split(":")
        for column, metric in NETWORK.items():
            yield f"network.{metric}", name.strip(), words.split()[column]


def load(text):
    words = re.split("[ /]", text)
    for minutes, word in zip((1, 5, 15), words):
        yield f"node.load_{minutes}min", "-", word.replace(".", "")
    yield "node.tasks_runnable_count", "-", words[3]
    yield "node.tasks_count", "-", words[4]


def pressure(resource):
    def read(text):
        for line in text.splitlines():
            kind, avg10, *_, total = line.split()
            total = total.split("=")[1]
            # Of a node's cores, full means nothing.
            if (resource, kind) != ("cpu", "full") and int(total) <= LARGEST:
                yield f"node.pressure_{resource}_{kind}_seconds", "-", total
                yield f"node.pressure_{resource}_{kind}_avg10_ratio", "-", avg10.split("=")[1].replace(".", "")
    return read


FILES = {"stat": cpu, "meminfo": memory, "diskstats": disk, "net/dev": network, "loadavg": load} | {
    f"pressure/{resource}": pressure(resource) for resource in ("cpu", "memory", "io", "irq")}


def told(machine):
    """{(metric, instance): stored value} of the golden file."""
    with open(f"{TOP}/tests/golden/node-{machine}.txt", encoding="utf-8", errors="replace") as f:
        return {(m, i): int(v) for m, i, v in re.findall(r"^(\S+) (\S+) present (-?\d+)$", f.read(), re.M)}


def faults_of(machine, proc):
    values, wanted = told(machine), set()
    for path, read in FILES.items():
        if not os.path.exists(f"{proc}/{path}"):
            continue
        with open(f"{proc}/{path}", encoding="utf-8", errors="replace") as f:
            for metric, instance, word in read(f.read()):
                want = int(word) if int(word) <= LARGEST else None
                wanted.add(metric)
                if values.get((metric, instance)) != want:
                    yield f"{machine}: {metric} of {instance} is {values.get((metric, instance))}, {path} says {word}"
    if len(wanted) < 80:
        yield f"{machine}: only {len(wanted)} metrics were compared"


def main():
    # gvisor: zeros of a kernel that counts nothing are no values.
    machines = [name for name in sorted(os.listdir(f"{BUILD}/nodes"))
                if name != "gvisor" and os.path.exists(f"{TOP}/tests/golden/node-{name}.txt")]
    faults = [fault for name in machines for fault in faults_of(name, f"{BUILD}/nodes/{name}/proc")]
    if len(machines) < 13:
        faults.append(f"only {machines} were looked at")
    print("\n".join(faults))
    sys.exit(bool(faults))


main()
