# SPDX-License-Identifier: Apache-2.0
"""What users' batch and training jobs suffer from, one word each: daily.py MODE ARGUMENT..."""
import fcntl
import http.client
import http.server
import multiprocessing
import os
import random
import socket
import sqlite3
import sys
import time
import zlib


def compute(seconds):
    end, x = time.monotonic() + seconds, 1
    while time.monotonic() < end:
        for _ in range(20000):
            x = (x * 1664525 + 1013904223) & 0xffffffff
    return x


def together(seconds, count=2):
    workers = [multiprocessing.Process(target=compute, args=(seconds,)) for _ in range(count)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def decode(queue, end):
    while time.monotonic() < end:
        compute(0.12)
        queue.put(bytes(50000))
    queue.put(None)


def loader(seconds):
    """The step needs a tenth of what its one loader needs for a batch."""
    queue = multiprocessing.Queue(4)
    worker = multiprocessing.Process(target=decode, args=(queue, time.monotonic() + float(seconds)))
    worker.start()
    while queue.get() is not None:
        compute(0.01)
    worker.join()


def workers(count, seconds):
    together(float(seconds), int(count))


def checkpoint(mb, seconds):
    """A step, and then all weights with fsync."""
    weights, end = os.urandom(int(mb) << 20), time.monotonic() + float(seconds)
    while time.monotonic() < end:
        compute(0.002)
        with open("model.pt", "wb") as f:
            f.write(weights)
            f.flush()
            os.fsync(f.fileno())


def compress(parallel, mb):
    together(float(parallel))
    state = os.urandom(1 << 20) * 2
    for _ in range(int(mb)):
        zlib.compress(state, 9)


def leak(mb):
    """What each batch left behind is kept."""
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 16) * 16 * int(mb)))
        compute(0.15)


def epochs(path, seconds):
    end, total = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        with open(path, "rb") as f:
            while block := f.read(1 << 20):
                total += block[0]
    print(total)


def batches(directory, mb):
    for i in range(100000):
        with open(f"{directory}/batch{i}", "wb") as f:
            f.write(bytes(int(mb) << 20))
        compute(0.3)


def names(directory):
    for i in range(100000):
        with open(f"{directory}/sample{i}", "wb") as f:
            f.write(b"x")
        if i % 50 == 0:
            compute(0.2)


def shards(count):
    held = []
    for i in range(int(count)):
        held.append(open(f"shard{i}", "wb"))
        compute(0.05)


def pools(seconds):
    """A pool for each batch."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        with multiprocessing.Pool(8) as pool:
            pool.map(abs, range(8))


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.3)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format, *args):
        pass


def server(path, seconds):
    """Leaves its port in a file; goes away by itself."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow) as s:
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(str(s.server_address[1]))
        os.rename(path + ".new", path)
        s.timeout, end = 1, time.monotonic() + float(seconds)
        while time.monotonic() < end:
            s.handle_request()


def client(path, count):
    with open(path, encoding="ascii") as f:
        port = int(f.read())
    for i in range(int(count)):
        c = http.client.HTTPConnection("127.0.0.1", port)
        c.request("GET", f"/item/{i}")
        c.getresponse().read()
        c.close()


def hold(path, seconds, rounds):
    for _ in range(int(rounds)):
        with open(path, "w", encoding="ascii") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            compute(float(seconds))


def flock(count, seconds):
    held = [multiprocessing.Process(target=hold, args=("results.lock", 0.25, int(float(seconds) / 0.25 / int(count)) + 1)) for _ in range(int(count))]
    for p in held:
        p.start()
    for p in held:
        p.join()


def rows(seconds):
    """One transaction for each row."""
    with sqlite3.connect("results.db", isolation_level=None) as db:
        db.execute("CREATE TABLE result (id INTEGER, value REAL)")
        end, i = time.monotonic() + float(seconds), 0
        while time.monotonic() < end:
            db.execute("INSERT INTO result VALUES (?, ?)", (i, random.random()))
            i += 1


def missing_column(seconds):
    together(float(seconds))
    table = {"name": [1, 2, 3]}
    return table["score"]


def forks(count, seconds):
    """Workers as many as were asked for, where fewer may be."""
    started = []
    for _ in range(int(count)):
        compute(0.3)
        started.append(os.fork())
        if started[-1] == 0:
            compute(float(seconds))
            os._exit(0)


def sources(count, big):
    """C files to compile: some of one size, and one that is larger by far."""
    for i in range(int(count) + 1):
        functions = 120 if i < int(count) else int(big)
        with open(f"part{i}.c" if i < int(count) else "whole.c", "w", encoding="ascii") as f:
            f.writelines(f"int f{i}_{k}(int a, int b)\n{{\n\tfor (int i = 0; i < b; i++)\n\t\ta = a * {k + 3} ^ (i % ({k} + 7)) / 3;\n\treturn a;\n}}\n"
                         for k in range(functions))


def journal(seconds):
    """Half of the time computes in one thread, the other half waits for each record."""
    end = time.monotonic() + float(seconds)
    with open("journal", "wb") as f:
        while time.monotonic() < end:
            start = time.monotonic()
            for _ in range(20):
                f.write(os.urandom(100000))
                f.flush()
                os.fsync(f.fileno())
            compute(time.monotonic() - start)


def service(seconds):
    """Tries again and again to reach a service that is not there."""
    end = time.monotonic() + float(seconds)
    while True:
        try:
            return socket.create_connection(("127.0.0.1", 1), 1)
        except OSError as e:
            if time.monotonic() > end:
                sys.exit(f"cannot reach the service: {e}")
            time.sleep(0.5)


def words(path):
    """Small writes, each its own call, until there is no room."""
    fd = os.open(f"{path}/log", os.O_WRONLY | os.O_CREAT)
    while True:
        os.write(fd, b"step done\n")


def squeeze(amount):
    return len(zlib.compress(bytes(range(256)) * 4000 * amount, 9))


def pool(count):
    with multiprocessing.Pool(2) as p:
        print(sum(p.imap_unordered(squeeze, [8] * int(count))))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
