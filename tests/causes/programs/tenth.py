# SPDX-License-Identifier: Apache-2.0
"""Jobs of the tenth set that are written in Python: tenth.py WHAT NUMBER..."""
import http.server
import json
import multiprocessing
import os
import queue
import re
import socket
import sqlite3
import sys
import threading
import time
import urllib.request

WHAT, NUMBERS = sys.argv[1], [float(x) for x in sys.argv[2:]]


def burn(seconds):
    end, x = time.thread_time() + seconds, 0
    while time.thread_time() < end:
        for i in range(5000):
            x = (x * 31 + i) % 1000003
    return x


def pool(workers, seconds):
    with multiprocessing.Pool(int(workers)) as p:
        p.map(burn, [seconds] * int(workers), chunksize=1)


def folds(short, long):
    """Cross validation: one fold is far larger."""
    with multiprocessing.Pool(2) as p:
        p.map(burn, [short, short, short, long], chunksize=1)


def gil(threads, seconds):
    some = [threading.Thread(target=burn, args=(seconds,)) for _ in range(int(threads))]
    for t in some:
        t.start()
    for t in some:
        t.join()


def commits(seconds):
    db = sqlite3.connect("results.db")
    db.execute("create table r (id integer primary key, loss real)")
    i, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        i += 1
        db.execute("insert into r values (?, ?)", (i, 1 / (i + 1)))
        db.commit()


def unbuffered(millions):
    fd = os.open("trace.bin", os.O_CREAT | os.O_WRONLY)
    for i in range(int(millions * 1e6)):
        os.write(fd, b"%08d" % (i % 99999999))


def slow_service(requests, delay):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            time.sleep(delay)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *args):
            pass

    here, there = socket.socketpair()
    server = os.fork()
    if not server:
        here.close()
        s = http.server.HTTPServer(("127.0.0.1", 0), Answer)
        there.send(str(s.server_port).encode())
        s.serve_forever()
    port = here.recv(10).decode()
    try:
        for i in range(int(requests)):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/feature/{i}").read()
    finally:
        os.kill(server, 9)
        os.wait()


def slow_service_then_error(requests, delay):
    slow_service(requests, delay)
    print({"rows": []}["columns"])


def loader(steps, load):
    """A training loop that computes a little and waits for its one reader, which decodes for long."""
    batches = multiprocessing.Queue(2)
    def read():
        for i in range(int(steps)):
            burn(load)
            batches.put(bytes(100000))
    reader = multiprocessing.Process(target=read)
    reader.start()
    for i in range(int(steps)):
        batches.get()
        burn(0.01)
    reader.join()


def poll_queue(seconds):
    q = queue.Queue()
    threading.Timer(seconds, q.put, [1]).start()
    while True:
        try:
            return q.get_nowait()
        except queue.Empty:
            os.path.exists("/tmp/stop-now")


def config_each_step(steps):
    with open("config.json", "w", encoding="ascii") as f:
        json.dump({f"layer{i}": {"w": list(range(40)), "name": "x" * 30} for i in range(4000)}, f)
    for i in range(int(steps)):
        with open("config.json", encoding="ascii") as f:
            json.load(f)


def hoard(megabytes, first):
    burn(first)
    kept = []
    for i in range(int(megabytes)):
        kept.append(bytearray(os.urandom(1024)) * 1024)
        time.sleep(0.01)


def worker_fails(seconds):
    with multiprocessing.Pool(2) as p:
        p.map(burn, [seconds] * 2, chunksize=1)
        p.map(int, ["12", "0x1z"])


def licence(seconds, work):
    burn(work)
    for i in range(int(seconds)):
        time.sleep(1)


def again(megabytes, times):
    with open("table.bin", "wb") as f:
        for i in range(int(megabytes)):
            f.write(os.urandom(1 << 20))
    for i in range(int(times)):
        with open("table.bin", "rb") as f:
            while f.read(1 << 20):
                pass


def addresses(lines, letters):
    """A pattern that backtracks for ever on what does not match."""
    bad = "a" * int(letters) + "!"
    for i in range(int(lines)):
        re.match(r"^(\w+\.?)+@example$", bad)


def fork_bound(seconds):
    burn(seconds)
    some = [multiprocessing.Process(target=time.sleep, args=(3,)) for _ in range(60)]
    for p in some:
        p.start()
    for p in some:
        p.join()


globals()[WHAT](*NUMBERS)
