# SPDX-License-Identifier: Apache-2.0
"""Jobs of tests/causes/second.py that want Python."""
import hashlib
import http.server
import io
import multiprocessing
import os
import shutil
import socket
import sqlite3
import sys
import tarfile
import threading
import time
import urllib.request


def compute(seconds, clock=time.monotonic):
    end, x = clock() + seconds, 1
    while clock() < end:
        for _ in range(2000):
            x = (x * 1103515245 + 12345) % 2147483648
    return x


def locked(seconds):
    """Another process keeps a transaction open for longer than this one waits."""
    sqlite3.connect("runs.db").execute("CREATE TABLE runs (n)")
    if os.fork() == 0:
        holder = sqlite3.connect("runs.db", isolation_level=None)
        holder.execute("BEGIN EXCLUSIVE")
        time.sleep(seconds + 4)
        os._exit(0)
    time.sleep(0.5)
    try:
        sqlite3.connect("runs.db", timeout=seconds).execute("INSERT INTO runs VALUES (1)")
    finally:
        os.wait()


class Answer(http.server.BaseHTTPRequestHandler):
    delay, size = 0.0, 100

    def do_GET(self):
        time.sleep(self.delay)
        self.send_response(200)
        self.send_header("Content-Length", str(self.size))
        self.end_headers()
        self.wfile.write(bytes(self.size))

    def log_message(self, *args):
        pass


def served(delay, size):
    """A server in a process of its own; gives it and its address."""
    Answer.delay, Answer.size = delay, size
    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    process = multiprocessing.Process(target=server.serve_forever, daemon=True)
    process.start()
    return process, f"http://127.0.0.1:{server.server_port}/"


def asks(count, delay):
    """One answer after the other from a service that thinks about each."""
    process, url = served(delay, 100)
    for i in range(int(count)):
        urllib.request.urlopen(f"{url}{i}").read()
    process.kill()


def downloads(count, mib):
    """The same model again for every sample."""
    process, url = served(0, int(mib) << 20)
    for _ in range(int(count)):
        with open("model.bin", "wb") as f:
            shutil.copyfileobj(urllib.request.urlopen(url + "model.bin"), f, 1 << 20)
    process.kill()


def port(seconds):
    """The service of an earlier step still has the port."""
    first = socket.socket()
    first.bind(("127.0.0.1", 0))
    first.listen()
    compute(seconds)
    http.server.HTTPServer.allow_reuse_address = False
    http.server.HTTPServer(first.getsockname(), Answer).serve_forever()


def imports(seconds):
    compute(seconds)
    import torchvision_transforms_extra as extra
    extra.flip()


def address():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()


def retries(count):
    """Nobody serves the database; every attempt is refused, the last one too."""
    where = address()
    for i in range(int(count)):
        try:
            socket.create_connection(where)
        except ConnectionRefusedError:
            if i + 1 == int(count):
                raise
            time.sleep(2)


def doubles(start):
    """A table that is twice as long after each chunk."""
    table = bytearray(b"x" * (int(start) << 20))
    while True:
        compute(1.2)
        table = table + table


def deadlock(pause):
    """Two threads take two locks in different orders."""
    one, two = threading.Lock(), threading.Lock()

    def take(first, second):
        with first:
            time.sleep(pause)
            with second:
                pass
    threads = [threading.Thread(target=take, args=pair) for pair in ((one, two), (two, one))]
    for t in threads:
        t.start()
    compute(1)
    for t in threads:
        t.join()


def pack(count):
    with tarfile.open("thumbnails.tar", "w") as tar:
        for i in range(int(count)):
            info = tarfile.TarInfo(f"thumbnails/{i % 97}/{i}.jpg")
            info.size = 900
            tar.addfile(info, io.BytesIO(bytes([i % 256]) * 900))


def commit(path, rows):
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("CREATE TABLE IF NOT EXISTS rows (n)")
        for i in range(int(rows)):
            db.execute("INSERT INTO rows VALUES (?)", (i,))


def scratch(where, mib):
    """Intermediate results in files that have no name any more and stay open."""
    kept = []
    for i in range(100):
        compute(0.4)
        f = open(f"{where}/part{i}", "wb")
        os.unlink(f.name)
        f.write(bytes(int(mib) << 20))
        f.flush()
        kept.append(f)


def looks(files, seconds):
    """Asks for the state of every file of a directory, again and again."""
    os.mkdir("queue")
    for i in range(int(files)):
        with open(f"queue/{i}", "w", encoding="ascii"):
            pass
    end = time.time() + seconds
    while time.time() < end:
        newest = max(os.stat(f"queue/{name}").st_mtime for name in os.listdir("queue"))
    print(newest)


def chunk(i):
    compute(0.35, time.process_time)
    return hashlib.sha256(str(i).encode()).hexdigest()


def pool(chunks):
    """Equal chunks on as many workers as there are cores."""
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as workers:
        print(len(workers.map(chunk, range(int(chunks)), chunksize=1)))


VERBS = {f.__name__: f for f in (locked, asks, downloads, port, imports, retries, doubles, deadlock, pack, commit, scratch, looks, pool)}


def value(word):
    try:
        return float(word)
    except ValueError:
        return word


if __name__ == "__main__":
    VERBS[sys.argv[1]](*[value(word) for word in sys.argv[2:]])
