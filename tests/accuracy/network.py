# SPDX-License-Identifier: Apache-2.0
# alone
"""A transfer of given size over TCP through the loopback interface. Headers and acknowledgements are added, and so is other traffic
there meanwhile; the kernel's own counters before and after are the second reference."""
import sys

import accuracy

BYTES = 64 << 20
WORK = f"""
import socket, threading, time
server = socket.create_server(("127.0.0.1", 0))
def send():
    with socket.create_connection(server.getsockname()) as s:
        for _ in range({BYTES} >> 16): s.sendall(bytes(65536))
time.sleep(0.3)
thread = threading.Thread(target=send); thread.start()
peer = server.accept()[0]
while peer.recv(1 << 20): pass
thread.join(); time.sleep(0.3)
"""
table = accuracy.Comparison("Network")


def counters():
    with open("/proc/net/dev", encoding="ascii", errors="replace") as f:
        for line in f:
            name, _, numbers = line.partition(":")
            if name.strip() == "lo":
                return [int(x) for x in numbers.split()]
    return None


before = counters()
_, recording = accuracy.record("out", sys.executable, "-c", WORK)
after = counters()
if not before or not after:
    table.left_out("network.received_bytes", "there is no loopback interface")
    table.end()
for metric, column in (("network.received_bytes", 0), ("network.transmitted_bytes", 8)):
    got = recording.risen(metric + "_per_second", "node.memory_total_bytes", "lo")
    table.row(metric, "64 MiB through loopback, and headers", round(got), BYTES, above=BYTES // 20)
    table.row(metric, "/proc/net/dev before and after", round(got), after[column] - before[column], share=0.005)
got = recording.risen("network.received_packets_per_second", "node.memory_total_bytes", "lo")
table.row("network.received_packets", "/proc/net/dev before and after", round(got), after[1] - before[1], share=0.02)
table.end()
