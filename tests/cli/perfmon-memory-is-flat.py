# SPDX-License-Identifier: Apache-2.0
# plain
"""The memory of import perfmon, export --to perfmon and --names perfmon does not grow with the length of what is read."""
import os
import subprocess

SONDE = os.environ["SONDE"]
MOST_KIB = 8192


def peak(*words):
    pid = os.posix_spawn(SONDE, [SONDE, *words], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 2, "err", os.O_WRONLY | os.O_CREAT, 0o600)])
    _, status, usage = os.wait4(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, (words, open("err", encoding="utf-8").read())
    return usage.ru_maxrss


def write(where, rows):
    """A little at a time: a process begins with the peak of the one that starts it."""
    def numbers(f, values):
        f.writelines(("," if i else "") + str(v) for i, v in enumerate(values))

    os.makedirs(f"{where}/metrics")
    with open(f"{where}/metrics/cpu_metrics.json", "w", encoding="utf-8") as f:
        f.write('{"host_names": ["h"], "h": {"time_stamps": [')
        numbers(f, (1650000000 + i for i in range(rows)))
        for key in ("cpu_percent", "num_threads", "num_fds", "memory_percent"):
            f.write(f'], "{key}": [')
            numbers(f, (i * 0.5 for i in range(rows)))
        f.write(']}, "sampling_frequency": 1}')


peaks = {}
for rows in (2000, 100000):
    write(f"in{rows}", rows)
    peaks[rows] = [
        peak("import", "perfmon", f"in{rows}", "-o", f"run{rows}"),
        peak("export", f"run{rows}", "--to", "perfmon", "-o", f"out{rows}"),
        peak("export", f"run{rows}", "--names", "perfmon", "-o", f"tables{rows}"),
    ]
assert all(b - a < MOST_KIB for a, b in zip(peaks[2000], peaks[100000])), peaks
