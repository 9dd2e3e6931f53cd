# SPDX-License-Identifier: Apache-2.0
"""Jobs of third.py: third.py VERB ARGUMENT..."""
import atexit
import gzip
import http.server
import multiprocessing
import os
import re
import select
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile


def work(seconds):
    end, x = time.monotonic() + seconds, 1.0
    while time.monotonic() < end:
        for _ in range(2000):
            x = x * 1.0000001 + 1e-9
    return x


def child_serves(serve):
    """Runs serve(listening socket) in a child, which ends with this; gives the port."""
    listening = socket.create_server(("127.0.0.1", 0))
    child = os.fork()
    if child == 0:
        serve(listening)
        os._exit(0)
    atexit.register(os.kill, child, signal.SIGKILL)
    port = listening.getsockname()[1]
    listening.close()
    return port


def backtracking(seconds):
    """A pattern that tries all ways to cut each line."""
    end, hits = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        hits += bool(re.match(r"(x+x+)+y", "x" * 22))
    print(hits)


def small_messages(n):
    """Head and body of a request go out by two calls, and the second waits for the delayed acknowledgement of the first."""
    def serve(listening):
        peer = listening.accept()[0]
        got = 0
        while True:
            data = peer.recv(65536)
            if not data:
                return
            got += len(data)
            if got >= 120:
                got = 0
                peer.sendall(b"ok")

    port = child_serves(serve)
    s = socket.create_connection(("127.0.0.1", port))
    for _ in range(n):
        s.sendall(b"h" * 20)
        s.sendall(b"b" * 100)
        s.recv(10)


class Answers(http.server.BaseHTTPRequestHandler):
    code, ready_at = 503, float("inf")

    def do_GET(self):
        self.send_response(200 if time.monotonic() > self.ready_at else self.code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def serve_http(listening, seconds):
    Answers.ready_at = time.monotonic() + seconds
    server = http.server.HTTPServer(("127.0.0.1", 0), Answers, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.timeout = 30
    for _ in range(200):
        server.handle_request()


def backoff(tries, ready=1e9, then=0.0):
    """Asks a service that is not ready, and sleeps twice as long after each attempt."""
    port = child_serves(lambda listening: serve_http(listening, ready))
    for i in range(tries):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/")
            break
        except urllib.error.HTTPError:
            if i == tries - 1:
                raise
            time.sleep(0.3 * 2 ** i)
    work(then)


def asks_without_pause(seconds):
    """Looks for data of a socket without a pause, until they come."""
    a, b = socket.socketpair()
    threading.Timer(seconds, lambda: b.send(b"x")).start()
    while not select.select([a], [], [], 0)[0]:
        pass


def recursion(seconds):
    def depth(n):
        return depth(n + 1) + 1

    work(seconds)
    print(depth(0))


def bad_configuration(seconds):
    import json
    work(seconds)
    print(json.loads('{"rate": 0.1, "steps": }'))


def one_step(barrier, own, steps):
    for _ in range(steps):
        work(own)
        barrier.wait()


def barrier_steps(steps):
    """Two processes meet after each step; one has six times the work."""
    barrier = multiprocessing.Barrier(2)
    others = [multiprocessing.Process(target=one_step, args=(barrier, own, steps)) for own in (0.48, 0.08)]
    for p in others:
        p.start()
    for p in others:
        p.join()


def pack(n):
    with zipfile.ZipFile("all.zip", "w") as z:
        for i in range(n):
            z.write(f"small/{i % 100}/{i}")


def make_small(n):
    for d in range(100):
        os.makedirs(f"small/{d}")
    for i in range(n):
        with open(f"small/{i % 100}/{i}", "wb") as f:
            f.write(b"x" * 300)


def reads_archive(seconds):
    """Each query unpacks the same archive from its beginning."""
    end, found = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        with gzip.open("table.gz", "rb") as f:
            for line in f:
                found += line.startswith(b"99999")
    print(found)


def reads_far(seconds):
    """Reads files of a slow file system, one after the other."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name in os.listdir("far"):
            with open(f"far/{name}", "rb") as f:
                f.read()
            if time.monotonic() > end:
                return


def imports_far():
    sys.path.insert(0, "far")
    sys.dont_write_bytecode = True
    for name in sorted(os.listdir("far")):
        if name.endswith(".py"):
            __import__(name[:-3])


def queue_of_one(seconds):
    """Four threads wait for slow answers, and what comes is added up."""
    end = time.monotonic() + seconds

    def serve(listening):
        def answer(peer):
            while peer.recv(100):
                time.sleep(0.25)
                peer.sendall(b"1")

        while True:
            threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()

    port = child_serves(serve)

    def asks():
        s = socket.create_connection(("127.0.0.1", port))
        while time.monotonic() < end:
            s.sendall(b"?")
            s.recv(1)

    threads = [threading.Thread(target=asks) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def symbol(seconds):
    import ctypes
    work(seconds)
    ctypes.CDLL("./libplugin.so")


def paces(seconds):
    """A rate limit of 40 items a second was left in."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(2000))
        time.sleep(0.025)


def forks(seconds):
    """Starts helpers that stay, until no more can be started."""
    work(seconds)
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(2)
            os._exit(0)
    time.sleep(1)


VERBS = {f.__name__: f for f in (backtracking, small_messages, backoff, asks_without_pause, recursion, bad_configuration, barrier_steps, pack, make_small, reads_archive, reads_far,
                                 imports_far, queue_of_one, symbol, paces, forks)}

if __name__ == "__main__":
    VERBS[sys.argv[1]](*(float(x) if "." in x else int(x) for x in sys.argv[2:]))
