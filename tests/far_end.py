# SPDX-License-Identifier: Apache-2.0
"""A network with a round trip, in a network namespace of one's own: far_end.py DELAY LOSS RATE COMMAND... (root). What is sent to 10.9.0.2 comes back
from there, DELAY seconds later, so that a server of this namespace is its own far end; each LOSS-th large packet is lost (0: none), and no more than
RATE bytes a second pass (0: as they come). Exit code 77: it
cannot be made here."""
import collections
import fcntl
import os
import select
import struct
import subprocess
import sys
import time

delay, loss, rate, command = float(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
try:
    os.unshare(os.CLONE_NEWNET) if hasattr(os, "unshare") else __import__("ctypes").CDLL(None, use_errno=True).unshare(0x40000000)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"far0", 0x1001))  # TUNSETIFF, IFF_TUN | IFF_NO_PI
    for words in ("link set lo up", "addr add 10.9.0.1/24 dev far0", "link set far0 up txqueuelen 5000"):
        subprocess.run(["ip", *words.split()], check=True)
except (OSError, subprocess.CalledProcessError) as reason:
    print("no network can be made here:", reason)
    raise SystemExit(77)
job = subprocess.Popen(command)
waiting, large, free = collections.deque(), 0, 0.0
while job.poll() is None:
    now = time.monotonic()
    while waiting and waiting[0][0] <= now:
        try:
            os.write(tun, waiting.popleft()[1])
        except OSError:
            pass
    left = min(max(waiting[0][0] - now, 0), 0.02) if waiting else 0.02
    if not select.select([tun], [], [], left)[0]:
        continue
    try:
        while packet := os.read(tun, 65536):
            large += len(packet) > 500
            if packet[0] >> 4 != 4 or (loss and len(packet) > 500 and large % loss == 0):
                continue
            now = time.monotonic()
            if rate and len(packet) > 500:
                if free > now + 0.02:
                    continue  # the queue is full
                free = max(free, now) + len(packet) / rate
            # Swapped addresses leave every checksum as it is.
            waiting.append((max(free if rate else now, now) + delay, packet[:12] + packet[16:20] + packet[12:16] + packet[20:]))
    except BlockingIOError:
        pass
raise SystemExit(job.returncode)
