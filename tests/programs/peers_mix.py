# SPDX-License-Identifier: Apache-2.0
"""A sender and a reader over TCP: peers_mix.py LIMIT SECONDS [HOST [FAMILY]]. LIMIT is what limits the transfer: reader (it reads slowly), buffer
(a small SO_SNDBUF), program (it seldom sends), network (nothing but the way). Prints as JSON: port, bytes sent, bytes that the reader got."""
import json
import os
import socket
import sys
import time

limit, seconds = sys.argv[1], float(sys.argv[2])
host = sys.argv[3] if len(sys.argv) > 3 else "127.0.0.1"
family = socket.AF_INET6 if ":" in host else socket.AF_INET
listener = socket.socket(family)
if limit == "reader":
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
listener.bind(("::" if family == socket.AF_INET6 else "0.0.0.0", 0))
listener.listen()
port = listener.getsockname()[1]
reader = os.fork()
if not reader:
    end, _ = listener.accept()
    got = 0
    while data := end.recv(16384 if limit == "reader" else 1 << 20):
        got += len(data)
        if limit == "reader":
            time.sleep(0.01)
    end.sendall(b"%d" % got)
    end.close()
    os._exit(0)
end = socket.socket(family)
if limit == "buffer":
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16384)
end.connect((host, port))
sent, until = 0, time.monotonic() + seconds
while time.monotonic() < until:
    block = b"x" * (1000 if limit == "program" else 65536)
    end.sendall(block)
    sent += len(block)
    if limit == "program":
        time.sleep(0.05)
end.shutdown(socket.SHUT_WR)
got = int(b"".join(iter(lambda: end.recv(100), b"")))
end.close()
os.waitpid(reader, 0)
print(json.dumps({"port": port, "sent": sent, "got": got}))
