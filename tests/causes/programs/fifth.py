# SPDX-License-Identifier: Apache-2.0
"""Jobs of fifth.py, in Python: fifth.py VERB SECONDS."""
import hashlib
import http.client
import http.server
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time


def work(seconds):
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        n = (n * 31 + 7) % 1000003
    return n


def progress(seconds):
    end, n = time.monotonic() + seconds, 0
    with open("progress.log", "w", encoding="ascii") as log:
        while time.monotonic() < end:
            n += 1
            print("step", n, file=log, flush=True)


def threads(seconds):
    several = [threading.Thread(target=work, args=(seconds,)) for _ in range(4)]
    for t in several:
        t.start()
    for t in several:
        t.join()


def uneven(seconds):
    with multiprocessing.Pool(4) as pool:
        pool.map(work, [0.3, 0.3, 0.3, seconds], 1)


def mean_of_none(seconds):
    work(seconds)
    values = []
    print(sum(values) / len(values))


def rows(seconds):
    end, n = time.monotonic() + seconds, 0
    with sqlite3.connect("rows.db") as db:
        db.execute("create table rows (n)")
        while time.monotonic() < end:
            n += 1
            db.execute("insert into rows values (?)", (n,))
            db.commit()


def child(seconds):
    work(0.5)
    subprocess.run(["sleep", str(seconds)], check=True)


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):    # pylint: disable=invalid-name
        time.sleep(0.7)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):    # pylint: disable=arguments-differ
        pass


def service(seconds):
    server = http.server.HTTPServer(("127.0.0.1", 0), Slow)
    pid = os.fork()
    if not pid:
        server.serve_forever()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        asked = http.client.HTTPConnection("127.0.0.1", server.server_port)
        asked.request("GET", "/next")
        asked.getresponse().read()
    os.kill(pid, 15)
    os.waitpid(pid, 0)


def remembers(seconds):
    end, seen = time.monotonic() + seconds, {}
    while time.monotonic() < end:
        seen[len(seen)] = os.urandom(100).hex()
        if len(seen) % 1000 == 0:
            time.sleep(0.01)


def digest(seconds):
    end, block = time.monotonic() + seconds, bytes(1 << 20)
    while time.monotonic() < end:
        hashlib.sha256(block).digest()


def even(seconds):
    with multiprocessing.Pool(len(os.sched_getaffinity(0))) as pool:
        pool.map(digest, [seconds / 4] * 4 * len(os.sched_getaffinity(0)), 1)


if __name__ == "__main__":
    {f.__name__: f for f in (work, progress, threads, uneven, mean_of_none, rows, child, service, remembers, even)}[sys.argv[1]](float(sys.argv[2]))
