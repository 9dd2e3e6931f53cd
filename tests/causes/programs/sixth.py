# SPDX-License-Identifier: Apache-2.0
"""Jobs of sixth.py: sixth.py VERB ARGUMENT..."""
import json
import multiprocessing
import queue
import socket
import socketserver
import subprocess
import sys
import threading
import time


def work(seconds):
    end, x = time.monotonic() + float(seconds), 1
    while time.monotonic() < end:
        for i in range(20000):
            x = (x * 1103515245 + i) & 0x7FFFFFFF
    return x


def do_json(s):
    work(s)
    json.loads(json.dumps([{"run": i, "rate": i / 7} for i in range(1000)])[:-7000])


def do_forbidden(s):
    work(s)
    with open("results/rates.csv", "w", encoding="ascii") as f:
        f.write("1\n")


def do_port(s):
    work(s)
    first = socket.create_server(("127.0.0.1", 0))
    socket.socket().bind(first.getsockname())


def do_child(s):
    work(s)
    subprocess.run(["sh", "-c", "exit 3"], check=True)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def do_down(s):
    port = free_port()
    for _ in range(4):
        time.sleep(float(s) / 5)
        try:
            socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError as e:
            print("attempt failed:", e)
    socket.create_connection(("127.0.0.1", port))


def do_backoff(s):
    port, pause, end = free_port(), 0.1, time.monotonic() + float(s)
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(min(pause, end - time.monotonic() if end > time.monotonic() else 0))
            pause *= 1.7


def do_producer(s):
    pieces = queue.Queue()

    def take():
        while pieces.get() is not None:
            work(0.01)
    workers = [threading.Thread(target=take) for _ in range(4)]
    for w in workers:
        w.start()
    end = time.monotonic() + float(s)
    while time.monotonic() < end:
        time.sleep(0.5)
        pieces.put(1)
    for w in workers:
        pieces.put(None)


def do_one_server(s):
    class Slow(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(100)
            time.sleep(0.3)
            self.request.sendall(b"done")
    socketserver.TCPServer.request_queue_size = 100
    server = socketserver.TCPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    end = time.monotonic() + float(s)

    def client():
        while time.monotonic() < end:
            with socket.create_connection(server.server_address) as c:
                c.sendall(b"work")
                c.recv(100)
    clients = [threading.Thread(target=client) for _ in range(8)]
    for c in clients:
        c.start()
    for c in clients:
        c.join()


def do_pool(s, n):
    with multiprocessing.Pool(int(n)) as pool:
        pool.map(work, [float(s)] * int(n), 1)


def do_keeps(s):
    end, kept, i = time.monotonic() + float(s), {}, 0
    while time.monotonic() < end:
        for _ in range(2000):
            i += 1
            kept[i] = f"line {i} " * 20
        time.sleep(0.005)


def do_even(cores, s):
    with multiprocessing.get_context("spawn").Pool(int(cores)) as pool:
        pool.map(work, [float(s)] * int(cores), 1)


if __name__ == "__main__":
    globals()["do_" + sys.argv[1]](*sys.argv[2:])
