# SPDX-License-Identifier: Apache-2.0
"""strangers.py UID: connects to the sockets of that user's shared recorders and sends what makes no sense. Prints how many there were."""
import socket
import sys

with open("/proc/net/unix") as file:
    names = {line.split()[7][1:] for line in file if " @sonde/" in line and f"/{sys.argv[1]}/" in line}
reached = 0
for name in sorted(names):
    for _ in range(20):
        stranger = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stranger.settimeout(5)
        try:
            stranger.connect("\0" + name)
            stranger.send(b"\x02" * 400)
            stranger.recv(1000)
        except OSError:
            pass
        stranger.close()
    reached += 1
print(reached)
