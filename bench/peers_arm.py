# SPDX-License-Identifier: Apache-2.0
"""peers_arm.py SECONDS DIRECTORY COMMAND... [++ COMMAND...]

Starts the commands, two seconds apart, lets them settle, and prints what they and their descendants use: CPU seconds a
second, resident bytes, and the bytes a second by which the files in the directory grew. Then ends them all.
"""
import os
import signal
import subprocess
import sys
import time

from clock_cpu import cost, family

SETTLE = 5


def size_of(directory):
    return sum(entry.stat().st_size for entry in os.scandir(directory) if entry.is_file())


def end(started):
    """Children first asked, then, when they are still what was started, killed."""
    pids = [pid for process in started for pid in family(process.pid)]
    open_pids = [os.pidfd_open(pid) for pid in pids if os.path.exists(f"/proc/{pid}")]
    for process in reversed(started):
        process.terminate()
    for process in started:
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            pass
    for fd in open_pids:
        try:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
        except OSError:
            pass  # it has ended
    for process in started:
        process.wait()


def main():
    seconds, directory = float(sys.argv[1]), sys.argv[2]
    commands = [[]]
    for word in sys.argv[3:]:
        if word == "++":
            commands.append([])
        else:
            commands[-1].append(word)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    started = []
    try:
        for command in commands:
            started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr))
            time.sleep(2)
        time.sleep(SETTLE - 2 * len(commands))
        size = size_of(directory)
        share, resident = cost([process.pid for process in started], seconds)
        if any(process.poll() is not None for process in started):
            sys.exit("peers_arm: it has ended before it was told to")
        print(share, resident, (size_of(directory) - size) / seconds)
    finally:
        end(started)


main()
