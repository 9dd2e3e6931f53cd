# SPDX-License-Identifier: Apache-2.0
"""The Python programs of the ninth set: ninth.py WHAT ARGUMENTS."""
import http.server
import logging
import multiprocessing
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from fractions import Fraction


def steps(n):
    x = 1
    for _ in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x


def threads(count, millions):
    each = [threading.Thread(target=steps, args=(int(millions) * 1000000 // int(count),)) for _ in range(int(count))]
    for t in each:
        t.start()
    for t in each:
        t.join()


def seen(n):
    known, x = [], 1
    for _ in range(int(n)):
        x = (x * 1103515245 + 12345) % 2147483648
        if x >> 4 not in known:
            known.append(x >> 4)
    print(len(known))


def debugged(n):
    """Each step of a cheap computation is logged."""
    logging.basicConfig(filename="run.log", level=logging.DEBUG, format="%(asctime)s %(levelname)s %(name)s %(funcName)s:%(lineno)d %(message)s")
    x = 1
    for i in range(int(n)):
        x = (x * 1103515245 + 12345) % 2147483648
        logging.debug("step %d: state is now %d, residual %.6f", i, x, x / 2147483648)


def load_then_pool(lines, millions):
    """One process reads the table, then two compute on it."""
    total = 0
    with open("table", encoding="ascii") as f:
        for number, line in zip(range(int(lines)), f):
            total += sum(float(Fraction(field)) for field in line.split(",")) * (number % 3)
    with multiprocessing.Pool(2) as pool:
        print(total, sum(pool.map(steps, [int(millions) * 100000] * 20, 1)))


def writer(rounds):
    base = sqlite3.connect("shared.db", timeout=120, isolation_level=None)
    base.execute("PRAGMA synchronous = OFF")
    for _ in range(rounds):
        base.execute("BEGIN IMMEDIATE")
        base.execute("INSERT INTO results VALUES (?)", (steps(900000),))
        base.execute("COMMIT")


def writers(count, rounds):
    sqlite3.connect("shared.db").execute("CREATE TABLE results (value)")
    all_of_them = [multiprocessing.Process(target=writer, args=(int(rounds),)) for _ in range(int(count))]
    for p in all_of_them:
        p.start()
    for p in all_of_them:
        p.join()


def commits_then_waits(seconds):
    """A transaction for each row, then it waits for a list that nobody writes."""
    base = sqlite3.connect("rows.db", isolation_level=None)
    base.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, value)")
    end, x = time.monotonic() + float(seconds), 1
    while time.monotonic() < end:
        x = (x * 1103515245 + 12345) % 2147483648
        base.execute("INSERT INTO rows (value) VALUES (?)", (x,))
    os.mkfifo("list")
    with open("list", encoding="ascii") as f:
        print(f.read())


class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.3)
        body = b"x" * 2000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def slow_service(requests):
    """Metadata of each sample is asked from a service, one after the other."""
    server = http.server.HTTPServer(("127.0.0.1", 0), Slow)
    child = multiprocessing.Process(target=server.serve_forever, daemon=True)
    child.start()
    got = 0
    for i in range(int(requests)):
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/sample/{i}") as answer:
            got += len(answer.read())
    print(got)
    child.terminate()


def refused(times):
    """The service is not there; it is tried again each second."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    for _ in range(int(times)):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(1)
    sys.exit(f"cannot reach the license server at 127.0.0.1:{port}: Connection refused")


def unread_pipe():
    """The child writes more than a pipe holds, and its parent waits for its end before it reads."""
    with subprocess.Popen(["seq", "200000"], stdout=subprocess.PIPE) as child:
        child.wait()
        print(len(child.stdout.read()))


def grows(step):
    """Keeps each block that it has made."""
    kept, x = [], 0
    while True:
        kept.append(bytearray(os.urandom(4096)) * 256 * int(step))
        x += steps(1500000)


def helpers():
    """Starts a helper for each item and ends none of them."""
    started = []
    try:
        while True:
            started.append(subprocess.Popen(["sleep", "60"]))
            steps(2000000)
    finally:
        for p in started:
            p.kill()


def table(rows):
    """Writes rows for a while, then misses a key."""
    units = {"a": 1.0, "b": 2.5}
    with open(1, "w", encoding="ascii", buffering=1 << 16, closefd=False) as out:
        for i in range(int(rows)):
            name = "abc"[(i >= int(rows) - 1) * 2 or i % 2]
            out.write(f"{i} {name} {steps(20) * units[name]}\n")


def sources(count):
    """C files of many small functions, and a main one that calls them."""
    for part in range(int(count)):
        with open(f"part{part}.c", "w", encoding="ascii") as f:
            for k in range(260):
                f.write(f"int f{part}_{k}(int a, int b)\n{{\n\tint t[32];\n\tfor (int i = 0; i < 32; i++)\n\t\tt[i] = a * {k + 3 + 1000 * part} ^ (i % {k % 7 + 2});\n"
                        f"\tfor (int i = 0; i < b; i++)\n\t\ta += t[(a ^ i) & 31] / {k + 2} + (i % {k + 5});\n\treturn a;\n}}\n")
            f.write(f"int part{part}(int a)\n{{\n" + "".join(f"\ta += f{part}_{k}(a, {k});\n" for k in range(260)) + "\treturn a;\n}\n")
    with open("main.c", "w", encoding="ascii") as f:
        f.write("".join(f"int part{i}(int);\n" for i in range(int(count))) + "int main(int n, char **arg)\n{\n\t(void)arg;\n\tfor (int i = 0; i < 100; i++) {\n" +
                "".join(f"\t\tn += part{i}(n);\n" for i in range(int(count))) + "\t}\n\treturn n == 7;\n}\n")


if __name__ == "__main__":
    {"threads": threads, "seen": seen, "debugged": debugged, "load-then-pool": load_then_pool, "writers": writers, "commits-then-waits": commits_then_waits,
     "slow-service": slow_service, "refused": refused, "unread-pipe": unread_pipe, "grows": grows, "helpers": helpers, "table": table, "sources": sources,
     "steps": lambda millions: print(steps(int(millions) * 1000000))}[sys.argv[1]](*sys.argv[2:])
