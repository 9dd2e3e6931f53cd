# SPDX-License-Identifier: Apache-2.0
"""Jobs of the eleventh set of causes in Python, for judge.py: the first word names the job."""
import concurrent.futures
import http.client
import http.server
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time


def crunch(seconds):
    """Plain work of an interpreter."""
    x, end = 1, time.process_time() + seconds
    while time.process_time() < end:
        for i in range(20000):
            x = (x * 31 + i) % 1000003
    return x


def relax(side, passes):
    """Smooths an array of numpy, one element after the other."""
    import numpy
    field = numpy.ones((side, side))
    for _ in range(passes):
        for i in range(1, side - 1):
            for k in range(1, side - 1):
                field[i, k] = (field[i - 1, k] + field[i + 1, k] + field[i, k - 1] + field[i, k + 1]) / 4
    print(field.sum())


def merge(seconds):
    """Two workers make parts, then one process merges all of them."""
    with multiprocessing.Pool(2) as pool:
        parts = pool.map(crunch, [0.5] * 8)
    print(sum(parts), crunch(seconds))


def chunk(seconds):
    """One of the chunks is far larger than the others."""
    with multiprocessing.Pool(2) as pool:
        print(sum(pool.map(crunch, [1, 1, seconds, 1], chunksize=1)))


def products(size, times):
    import numpy
    a = numpy.random.default_rng(1).random((size, size))
    for _ in range(times):
        a = a @ a
        a /= abs(a).max()
    return float(a[0, 0])


def blas(workers, size, times):
    """Each worker's library brings its own threads."""
    with multiprocessing.Pool(workers) as pool:
        print(pool.starmap(products, [(size, times)] * workers))


class Pages(http.server.BaseHTTPRequestHandler):
    delay = 0.2

    def do_GET(self):
        time.sleep(self.delay)
        body = b"x" * 3000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(delay, lifetime, portfile):
    """A server that thinks about each page; it ends by itself."""
    Pages.delay = delay
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    with open(portfile, "w", encoding="ascii") as f:
        f.write(str(server.server_address[1]))
    threading.Timer(lifetime, os._exit, [0]).start()
    server.serve_forever()


def fetch(portfile, pages):
    with open(portfile, encoding="ascii") as f:
        port = int(f.read())
    for i in range(pages):
        c = http.client.HTTPConnection("127.0.0.1", port)
        c.request("GET", f"/record/{i}")
        c.getresponse().read()
        c.close()


def retry(tries):
    """Tries to reach a service that is not there, with longer and longer pauses."""
    pause = 0.5
    for _ in range(tries):
        try:
            c = http.client.HTTPConnection("127.0.0.1", 1)
            c.request("GET", "/")
            return
        except ConnectionRefusedError as error:
            print("not reached:", error, flush=True)
            last = error
            time.sleep(pause)
            pause *= 1.6
    raise last


def late(seconds):
    """Prepares for a while, then wants a file that nobody made."""
    print(crunch(seconds))
    with open("weights/final.json", encoding="ascii") as f:
        json.load(f)


def lost_task(number):
    crunch(0.7)
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def lost():
    """One of the workers is killed from outside."""
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(lost_task, range(12))))


def grid(megabytes):
    """Makes tables until it has them all."""
    tables = []
    for i in range(megabytes):
        tables.append(bytearray(1 << 20))
        if i % 20 == 0:
            crunch(0.1)
    print(len(tables))


def cache(entries):
    """A cache that forgets nothing."""
    known = {}
    for i in range(entries):
        known[f"question {i}"] = f"answer {i * 7919 % 104729} of a length that matters, kept for later " * 3
    print(len(known))


def leak(steps):
    """Each step keeps its work area."""
    kept = []
    for _ in range(steps):
        area = bytearray(4 << 20)
        for i in range(0, len(area), 4096):
            area[i] = 1
        kept.append(area)
        crunch(0.04)


def descriptors(seconds):
    """Opens a file for each item and closes none."""
    opened = []
    crunch(seconds)
    for i in range(5000):
        opened.append(open(f"item{i}", "w", encoding="ascii"))
        opened[-1].write(str(crunch(0.005)))


def solvers(n, seconds):
    """Starts one solver, waits for it, starts the next."""
    for i in range(n):
        subprocess.run([sys.executable, __file__, "solve", str(seconds)], check=True, stdout=subprocess.DEVNULL)


def upload(rate):
    """Takes lines no faster than the service that they go to."""
    for n, _ in enumerate(sys.stdin):
        if n % 100 == 0:
            time.sleep(100 / rate)


def hang():
    """Two threads take two locks in different orders."""
    a, b = threading.Lock(), threading.Lock()

    def take(first, second):
        with first:
            time.sleep(0.5)
            with second:
                print("both")

    crunch(1)
    both = [threading.Thread(target=take, args=order) for order in ((a, b), (b, a))]
    for t in both:
        t.start()
    for t in both:
        t.join()


def samples(n):
    """Saves each sample as a file of its own and makes sure of it."""
    os.mkdir("samples")
    for i in range(n):
        with open(f"samples/{i:06}.json", "w", encoding="ascii") as f:
            json.dump({"number": i, "value": i * 3 % 17}, f)
            f.flush()
            os.fsync(f.fileno())


def straggler(number):
    crunch((0.8, 0.8, 9)[number])
    if number == 2:
        raise ValueError("no convergence")


def uneven(_):
    """The one worker that takes long fails at its end."""
    with multiprocessing.Pool(2) as pool:
        pool.map(straggler, range(3), chunksize=1)


def pool(chunks):
    """Even chunks for two workers."""
    with multiprocessing.Pool(2) as workers:
        print(sum(workers.imap_unordered(crunch, [0.25] * chunks)))


def value(word):
    try:
        return float(word) if "." in word else int(word)
    except ValueError:
        return word


JOBS = {f.__name__: f for f in (relax, merge, chunk, blas, serve, fetch, retry, late, lost, grid, cache, leak, descriptors, solvers, upload, hang, samples, uneven, pool, products)}
JOBS["solve"] = crunch

if __name__ == "__main__":
    JOBS[sys.argv[1]](*map(value, sys.argv[2:]))
