# SPDX-License-Identifier: Apache-2.0
"""The Python programs of the eighth set: eighth.py WHAT ARGUMENTS."""
import csv
import gc
import multiprocessing
import os
import random
import signal
import socket
import struct
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import shared_memory


def compute(seconds):
    end, x = time.monotonic() + seconds, 1
    while time.monotonic() < end:
        for _ in range(5000):
            x = (x * 1103515245 + 12345) % 2147483648
    return x


def steps(n):
    x = 1
    for _ in range(n):
        x = (x * 1103515245 + 12345) % 2147483648
    return x


def receive(s, n):
    got = b""
    while len(got) < n:
        part = s.recv(n - len(got))
        if not part:
            sys.exit(0)
        got += part
    return got


def listener():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(64)
    return s


def nagle(seconds):
    """Head and body of each request are two writes, without TCP_NODELAY; the server acknowledges late."""
    door = listener()
    child = os.fork()
    if child == 0:
        s = door.accept()[0]
        while True:
            receive(s, 4)
            receive(s, 100)
            s.sendall(b"done")
    s = socket.create_connection(door.getsockname())
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        s.send(b"head")
        s.send(b"b" * 100)
        receive(s, 4)
        n += 1
    s.close()
    door.close()
    os.waitpid(child, 0)
    print(n, "requests")


def connections(seconds):
    """Each request makes a connection of its own."""
    door = listener()
    child = os.fork()
    if child == 0:
        while True:
            s = door.accept()[0]
            s.recv(100)
            s.send(b"value")
            s.close()
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        s = socket.create_connection(door.getsockname())
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.send(b"key")
        s.recv(5)
        s.close()
        n += 1
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
    print(n, "connections")


def lines(seconds):
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        print(n)
        n += 1


def collects(seconds):
    """All objects are examined by the collector after each item."""
    kept = [[i] for i in range(1500000)]
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        n += len(kept[n % len(kept)])
        gc.collect()
    print(n, "items")


def task(seconds):
    return compute(seconds)


def chunks(seconds):
    """map's chunksize gives all the long tasks to one of the workers."""
    tasks = [seconds / 20] * 20 + [0.001] * 20
    with multiprocessing.Pool(2) as pool:
        pool.map(task, tasks, chunksize=20)


def count(shared, seconds, seed):
    rng, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        key = rng.randrange(100)
        shared[key] = shared.get(key, 0) + 1


def manager(n, seconds):
    """Workers count in a dictionary that lives in a process of its own."""
    with multiprocessing.Manager() as m:
        shared = m.dict()
        workers = [multiprocessing.Process(target=count, args=(shared, seconds, i)) for i in range(int(n))]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        print(sum(shared.values()), "counts")


def bound(n, seconds):
    """The parent binds itself, and its workers inherit that."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    workers = [multiprocessing.Process(target=compute, args=(seconds,)) for _ in range(int(n))]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def table(seconds):
    """Rows of a table, one after the other in the interpreter."""
    end, total, passes = time.monotonic() + seconds, 0.0, 0
    while time.monotonic() < end:
        with open("table.csv", encoding="ascii", newline="") as f:
            for row in csv.DictReader(f):
                total += float(row["a"]) * float(row["b"]) - float(row["c"])
        passes += 1
    print(total, passes)


def buffers(mb, seconds):
    """A fresh buffer in each step, given back at its end."""
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        b = bytearray(int(mb) << 20)
        b[n % len(b)] = 1
        n += 1
    print(n, "steps")


def doomed(seconds, die):
    compute(seconds)
    if die:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1


def killed(seconds):
    """One worker of a pool is killed."""
    with ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(doomed, [seconds, seconds], [False, True])))


def hold(event):
    event.wait()


def threads(_):
    """A thread for each item, kept, until no more can be started."""
    event = threading.Event()
    kept = []
    try:
        while True:
            t = threading.Thread(target=hold, args=(event,), daemon=True)
            t.start()
            kept.append(t)
            compute(0.5)
    finally:
        print(len(kept), "threads", flush=True)
        event.set()


def checkpointing(i, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        compute(min(2, max(0.01, end - time.monotonic())))
        with open(f"checkpoint{i}", "wb") as f:
            f.write(bytes(3 << 20))


def checkpoints(n, seconds):
    """Even workers, each of which writes a small checkpoint now and then."""
    workers = [multiprocessing.Process(target=checkpointing, args=(i, seconds)) for i in range(int(n))]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def add_up(name, i, n, meet, seconds):
    m = shared_memory.SharedMemory(name)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        m.buf[i * 64] = compute(0.5) % 251
    meet.wait()
    m.close()


def shared(n, seconds):
    """Even workers on shared memory, which meet once at the end."""
    m = shared_memory.SharedMemory(create=True, size=1 << 20)
    meet = multiprocessing.Barrier(int(n))
    workers = [multiprocessing.Process(target=add_up, args=(m.name, i, int(n), meet, seconds)) for i in range(int(n))]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    m.close()
    m.unlink()


def take(queue):
    while True:
        n = queue.get()
        if n is None:
            return
        steps(n)


def ahead(workers, n):
    """All pieces wait in a queue before they are wanted; whoever is free takes the next."""
    queue = multiprocessing.Queue()
    for _ in range(int(n)):
        queue.put(1000000)
    for _ in range(int(workers)):
        queue.put(None)
    some = [multiprocessing.Process(target=take, args=(queue,)) for _ in range(int(workers))]
    for w in some:
        w.start()
    for w in some:
        w.join()


def late_then_alone(seconds, alone):
    nagle(seconds)
    compute(alone)


if __name__ == "__main__":
    globals()[sys.argv[1]](*map(float, sys.argv[2:]))
