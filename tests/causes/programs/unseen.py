# SPDX-License-Identifier: Apache-2.0
"""Jobs of kept.py: unseen.py VERB ARGUMENT..."""
import concurrent.futures
import http.server
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request


def work(seconds):
    end, x = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for i in range(2000):
            x = (x * 31 + i) % 1000003
    return x


def grow(mb, workers):
    """Forks workers; the first of them keeps all that it has seen."""
    def first():
        kept = []
        while True:
            kept.append(bytearray(b"x" * (mb << 20)))
            work(0.3)
    multiprocessing.set_start_method("fork")
    others = [multiprocessing.Process(target=work, args=(3,)) for _ in range(workers - 1)]
    greedy = multiprocessing.Process(target=first)
    for p in [greedy, *others]:
        p.start()
    for p in [greedy, *others]:
        p.join()
    sys.exit("a worker is gone" if greedy.exitcode else 0)


def connect(port, tries, pause):
    for _ in range(tries):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError as e:
            error = e
            time.sleep(pause / 10)
    sys.exit(f"licence: {error}")


def unfinished(count):
    """Feeds a child that inherits the end it should not have, so that its input never ends."""
    out, into = os.pipe()
    os.set_inheritable(into, True)
    child = subprocess.Popen(["sort", "-n"], stdin=out, stdout=subprocess.DEVNULL, close_fds=False)
    os.close(out)
    os.write(into, b"".join(b"%d\n" % i for i in range(count)))
    os.close(into)
    sys.exit(child.wait())


def flag(seconds):
    """Looks for a file all the time, which comes after some seconds."""
    threading.Timer(seconds, lambda: open("ready", "wb").close()).start()
    while not os.path.exists("ready"):
        pass


def patterns(threads, seconds):
    def search():
        end, found = time.monotonic() + seconds, 0
        text = "alpha beta " * 200
        while time.monotonic() < end:
            found += len(re.findall(r"(\w+) b", text))
        return found
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: search(), range(threads)))


def bound(count, seconds):
    """Workers that all bind themselves to the first core, as a wrong binding does."""
    def worker():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        work(seconds)
    multiprocessing.set_start_method("fork")
    workers = [multiprocessing.Process(target=worker) for _ in range(count)]
    for p in workers:
        p.start()
    for p in workers:
        p.join()


def lost(before, patience):
    """Waits for the result of a child that has crashed."""
    def child(results):
        work(before)
        os.kill(os.getpid(), signal.SIGSEGV)
        results.put(1)
    multiprocessing.set_start_method("fork")
    results = multiprocessing.Queue()
    multiprocessing.Process(target=child, args=(results,), daemon=True).start()
    results.get(timeout=before + patience)


def reread(seconds):
    end, x = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        with open("big.dat", "rb", buffering=0) as f:
            while time.monotonic() < end and (block := f.read(1 << 20)):
                x ^= block[0]


def words(seconds):
    """A client and a server exchange single bytes."""
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        peer = socket.create_connection(listener.getsockname())
        listener.close()
        while peer.recv(1):
            peer.send(b"y")
        os._exit(0)
    peer, _ = listener.accept()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        peer.send(b"x")
        peer.recv(1)
    peer.close()
    os.wait()


class Slow(http.server.BaseHTTPRequestHandler):
    pause = 1.0

    def do_GET(self):
        time.sleep(self.pause)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"row\n")

    def log_message(self, *words):
        """Says nothing."""


def rows(count):
    """Fetches rows one by one from a slow server beside it."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Slow)
    server_pid = os.fork()
    if server_pid == 0:
        server.serve_forever()
    for i in range(count):
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{i}") as reply:
            reply.read()
    os.kill(server_pid, signal.SIGKILL)
    os.wait()


def pool(count, seconds):
    with multiprocessing.Pool(count) as workers:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            workers.map(work, [0.05] * 10 * count, chunksize=5)


def then_sleep(threads, seconds, pause):
    patterns(threads, seconds)
    time.sleep(pause)


VERBS = {f.__name__: f for f in (work, grow, connect, unfinished, flag, patterns, bound, lost, reread, words, rows, pool, then_sleep)}

if __name__ == "__main__":
    VERBS[sys.argv[1]](*map(int, sys.argv[2:]))
