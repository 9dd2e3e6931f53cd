# SPDX-License-Identifier: Apache-2.0
"""Jobs in Python: pools, threads, limits, waits, files."""
import multiprocessing
import os
import queue
import socket
import sqlite3
import subprocess
import sys
import threading
import time


def compute(seconds):
    end = time.monotonic() + seconds
    x = 1
    while time.monotonic() < end:
        for _ in range(2000):
            x = (x * 1664525 + 1013904223) % 4294967296
    return x


def procs(count, seconds):
    workers = [multiprocessing.Process(target=compute, args=(seconds,)) for _ in range(int(count))]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def gil(count, seconds):
    workers = [threading.Thread(target=compute, args=(seconds,)) for _ in range(int(count))]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def uneven(short, long):
    with multiprocessing.Pool(os.cpu_count()) as pool:
        pool.map(compute, [short] * (os.cpu_count() - 1) + [long], chunksize=1)


def pickle(mega, seconds):
    end = time.monotonic() + seconds
    table = [str(i) for i in range(int(mega * 60000))]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        while time.monotonic() < end:
            pool.map(len, [table] * os.cpu_count(), chunksize=1)


def eat(seconds):
    compute(seconds)
    kept = []
    while True:
        kept.append(bytearray(16 << 20))


def leak(mega):
    kept = []
    while True:
        kept.append(bytearray(b"x") * (int(mega) << 18))
        compute(0.25)


def open_files(seconds):
    compute(seconds)
    kept = []
    while True:
        kept.append(open(f"shard-{len(kept)}", "w"))


def forks(seconds):
    compute(seconds)
    kept = []
    while True:
        kept.append(subprocess.Popen(["sleep", "4"]))


def fill(folder, seconds):
    compute(float(seconds))
    with open(f"{folder}/result.csv", "w") as out:
        while True:
            out.write("1.000,2.000,3.000\n" * 1000)


def broken(seconds):
    compute(seconds)
    raise ValueError("could not convert string to float: 'n/a'")


def storm(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        subprocess.run(["true"], check=True)


def hang():
    wanted = queue.Queue()
    worker = threading.Thread(target=wanted.get)
    worker.start()
    worker.join()


def client(seconds):
    server = socket.create_server(("127.0.0.1", 0))
    with socket.create_connection(server.getsockname(), timeout=seconds) as asked:
        asked.sendall(b"GET / HTTP/1.0\r\n\r\n")
        asked.recv(1)


def resolve():
    socket.getaddrinfo("licence.cluster.example", 443)


def sqlite(seconds):
    database = sqlite3.connect("rows.db")
    database.execute("create table row(value)")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        database.execute("insert into row values (1)")
        database.commit()


def imports(count):
    sys.path.insert(0, "modules")
    for i in range(int(count)):
        __import__(f"part{i}")
    compute(0.5)


VERBS = {"procs": procs, "serial": compute, "gil": gil, "uneven": uneven, "pickle": pickle, "eat": eat, "leak": leak, "open": open_files, "forks": forks, "fill": fill,
         "raise": broken, "storm": storm, "hang": hang, "client": client, "resolve": resolve, "sqlite": sqlite, "imports": imports}

if __name__ == "__main__":
    VERBS[sys.argv[1]](*[a if "/" in a else float(a) for a in sys.argv[2:]])
