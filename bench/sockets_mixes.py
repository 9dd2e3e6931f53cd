# SPDX-License-Identifier: Apache-2.0
"""What limits a transfer by TCP, judged on mixes whose limit is made: sockets_mixes.py [SEED [WORDS...]]. Runs each mix (only those with one of the WORDS in
their names) under `sonde run --peers` and prints what was named beside what was made, last "RIGHT JUDGED EXACT COUNTED". SONDE names the program.

A mix is a way (loopback, a rate with a queue behind it, a round trip) and connections. Each has a program that writes, a reader and their buffers, each
with a rate of its own; the limit is the smallest of the rates, and the next one is twice as large at least. Root, for ways other than loopback."""
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FAR = os.path.join(HERE, "..", "tests", "far_end.py")
KB, MB = 1000, 1000000


# ---- the job: connections as processes ----

def receive_all(end, one):
    """Reads until the other end has finished: at one["read_rate"], in bursts of one["read_burst"] seconds apart."""
    got, start = 0, time.monotonic()
    size = one.get("read_size", 1 << 16)
    if one.get("read_late"):
        time.sleep(one["read_late"])
    while data := end.recv(size):
        got += len(data)
        if one.get("read_burst"):
            # Sleeps, then reads for as long as a tenth of the sleep, at most what the rate permits.
            allowed = one["read_rate"] * one["read_burst"]
            while allowed > 0 and (more := end.recv(min(size, int(allowed) + 1))):
                got += len(more)
                allowed -= len(more)
            time.sleep(one["read_burst"])
        elif one.get("read_rate"):
            time.sleep(max(0, start + got / one["read_rate"] - time.monotonic()))
    return got


def reader(listener, one):
    end, _ = listener.accept()
    if one.get("chat"):
        got = sent = 0
        request, response, think = one["chat"][:3]
        while True:
            left = request
            while left and (data := end.recv(left)):
                left -= len(data)
                got += len(data)
            if left:
                break
            time.sleep(one.get("serve", 0))
            end.sendall(b"r" * response)
            sent += response
        end.close()
        return {"port": listener.getsockname()[1], "end": "in", "sent": sent, "got": got}
    got = receive_all(end, one)
    answer = b"" if one.get("ending") == "close" else b"%d" % got
    try:
        end.sendall(answer)
    except BrokenPipeError:
        answer = b""
    end.close()
    return {"port": listener.getsockname()[1], "end": "in", "sent": len(answer), "got": got}


def writer(host, port, one):
    end = socket.socket()
    if one.get("sndbuf"):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, one["sndbuf"])
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, one.get("cc", "cubic").encode())
    if one.get("nodelay"):
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    end.connect((host, port))
    sent, got, start = 0, 0, time.monotonic()
    until = start + one["seconds"]
    if one.get("late"):
        time.sleep(one["late"])
    if one.get("chat"):
        request, response, think = one["chat"][:3]
        while time.monotonic() < until:
            end.sendall(b"q" * request)
            sent += request
            left = response
            while left:
                data = end.recv(min(left, 1 << 20))
                left -= len(data)
                got += len(data)
            time.sleep(think)
        end.shutdown(socket.SHUT_WR)
        assert not end.recv(1)
    else:
        block = b"x" * one.get("block", 65536)
        while time.monotonic() < until:
            end.sendall(block)
            sent += len(block)
            if one.get("rate"):
                time.sleep(max(0, start + one.get("late", 0) + sent / one["rate"] - time.monotonic()))
        if one.get("ending") != "close":
            end.shutdown(socket.SHUT_WR)
            back = b"".join(iter(lambda: end.recv(100), b""))
            got = len(back)
            assert int(back) == sent, (back, sent)
    end.close()
    return {"port": port, "end": "out", "sent": sent, "got": got, "seconds": time.monotonic() - start}


def apart(task, *words):
    """Runs it in a process; returns its pid and where its result will be."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.write(theirs, json.dumps(task(*words)).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(theirs)
    return pid, ours


def job(text):
    mix = json.loads(text)
    tasks = []
    for one in mix["connections"]:
        listener = socket.socket()
        if one.get("rcvbuf"):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, one["rcvbuf"])
        listener.bind(("0.0.0.0", 0))
        listener.listen()
        tasks += [apart(reader, listener, one), apart(writer, mix["host"], listener.getsockname()[1], one)]
        listener.close()
    ends = []
    for pid, result in tasks:
        with os.fdopen(result) as f:
            ends.append(json.loads(f.read()))
        assert os.waitpid(pid, 0)[1] == 0
    print(json.dumps(ends))


# ---- the mixes ----

def mixes(rng):
    """(name, way, [(truth of what the writer sends, truth of what the reader sends back, or None; connection)])"""
    def near(value, spread=1.5):
        return value * spread ** rng.uniform(-1, 1)

    def whole(value, spread=1.5):
        return int(near(value, spread))

    def cc():
        return rng.choice(("cubic", "reno", "bbr"))

    lo = ("lo",)

    def rate(value, queue):  # bytes a second, seconds of queue
        value = near(value)
        return ("rate", int(value), max(int(value * queue), 20000))

    def trip(delay, loss=0, value=0):
        return ("trip", near(delay), loss, value)

    def flood(truth, seconds, **more):
        return (truth, None, {"seconds": near(seconds, 1.15), "cc": cc(), "ending": rng.choice(("both", "both", "close")), **more})

    def chat(request, response, think, seconds, truths=("program", "program"), **more):
        return (*truths, {"chat": (request, response, think), "seconds": near(seconds, 1.15), "cc": cc(), **more})

    # The reader: a rate of its own, on any way, evenly or in bursts, with small and large buffers.
    yield "reader-steady", lo, [flood("reader", 3, read_rate=near(1 * MB), read_size=16384)]
    yield "reader-small-reads", lo, [flood("reader", 3, read_rate=near(200 * KB), read_size=1000, rcvbuf=whole(30000))]
    yield "reader-bursts", lo, [flood("reader", 5, read_rate=near(2 * MB), read_burst=near(0.3))]
    yield "reader-rare-bursts", lo, [flood("reader", 7, read_rate=near(8 * MB), read_burst=near(1.0))]
    yield "reader-small-writes", lo, [flood("reader", 3, block=whole(700), read_rate=near(300 * KB), rcvbuf=65536, nodelay=1)]
    yield "reader-of-rate", rate(20 * MB, 0.02), [flood("reader", 4, read_rate=near(2 * MB))]
    yield "reader-of-rate-bursts", rate(12 * MB, 0.05), [flood("reader", 5, read_rate=near(1 * MB), read_burst=near(0.2), rcvbuf=whole(200000))]
    yield "reader-far", trip(0.01), [flood("reader", 4, read_rate=near(700 * KB), rcvbuf=whole(150000))]
    yield "reader-far-bursts", trip(0.02), [flood("reader", 5, read_rate=near(500 * KB), read_burst=near(0.25), rcvbuf=whole(150000))]
    yield "reader-of-a-paced-program", lo, [flood("reader", 4, block=whole(20000), rate=near(4 * MB), read_rate=near(600 * KB, 1.2), rcvbuf=whole(100000))]
    yield "reader-short", lo, [flood("reader", 1.2, read_rate=near(1 * MB), rcvbuf=65536)]
    yield "reader-small-send-buffer", lo, [flood("reader", 3, sndbuf=whole(40000), read_rate=near(1 * MB), rcvbuf=whole(60000))]
    yield "reader-late", lo, [flood("reader", 4, read_late=3.0, rcvbuf=65536)]
    yield "reader-after-a-pause", lo, [flood("reader", 6, late=1.0, read_rate=near(1 * MB), rcvbuf=whole(100000))]
    # The reader's buffer: it reads at once, but a round trip carries no more than its buffer.
    yield "window-far", trip(0.04), [flood("reader", 4, rcvbuf=whole(20000, 1.2))]
    yield "window-farther", trip(0.08), [flood("reader", 6, rcvbuf=whole(40000, 1.2))]
    # The send buffer: smaller than what a round trip could carry.
    yield "buffer-far", trip(0.02), [flood("buffer", 3, sndbuf=whole(12000))]
    yield "buffer-farther", trip(0.06), [flood("buffer", 4, sndbuf=whole(30000))]
    yield "buffer-small-writes", trip(0.03), [flood("buffer", 3, sndbuf=whole(10000), block=whole(2000))]
    yield "buffer-large-writes", trip(0.03), [flood("buffer", 4, sndbuf=whole(20000), block=1 << 20)]
    yield "buffer-of-rate", trip(0.04, 0, 4 * MB), [flood("buffer", 4, sndbuf=whole(16000))]
    yield "buffer-short", trip(0.02), [flood("buffer", 1.3, sndbuf=whole(12000))]
    yield "buffer-three", trip(0.03), [flood("buffer", 4, sndbuf=whole(10000)) for _ in range(3)]
    yield "buffer-bursts-of-program", trip(0.04), [flood("buffer", 5, sndbuf=whole(8000), block=200000, rate=near(2 * MB))]
    # The network: its rate, with short and long queues; losses.
    yield "network-rate", rate(4 * MB, 0.05), [flood("network", 4)]
    yield "network-slow", rate(200 * KB, 0.2), [flood("network", 4)]
    yield "network-fast", rate(40 * MB, 0.01), [flood("network", 3)]
    yield "network-short-queue", rate(5 * MB, 0.005), [flood("network", 3)]
    yield "network-long-queue", rate(1 * MB, 0.6), [flood("network", 6)]
    yield "network-endless-queue", rate(1.2 * MB, 8), [flood("network", 7)]
    yield "network-queue-and-window", rate(1 * MB, 1.0), [flood("network", 5, rcvbuf=whole(150000))]
    yield "network-queue-and-buffer", rate(1 * MB, 1.0), [flood("network", 5, sndbuf=whole(150000))]
    yield "network-small-writes", rate(1 * MB, 0.1), [flood("network", 3, block=whole(500))]
    yield "network-far", trip(0.01, 0, 3 * MB), [flood("network", 4)]
    yield "network-farther", trip(0.05, 0, 2 * MB), [flood("network", 6)]
    yield "network-losses", trip(0.01, 60), [flood("network", 3, cc="cubic") for _ in range(1)]
    yield "network-few-losses", trip(0.03, 300), [flood("network", 5, cc="reno")]
    yield "network-shared", rate(4 * MB, 0.05), [flood("network", 5) for _ in range(4)]
    yield "network-short", rate(1 * MB, 0.05), [flood("network", 1.3)]
    yield "network-paced-above", rate(1 * MB, 0.1), [flood("network", 4, block=30000, rate=near(4 * MB, 1.2))]
    yield "network-reader-paced-above", rate(800 * KB, 0.1), [flood("network", 4, read_rate=near(4 * MB, 1.2))]
    # The program: it seldom writes, whatever the way and the buffers are.
    yield "program-trickle", lo, [flood("program", 3, block=whole(1000, 3), rate=near(20 * KB, 3))]
    yield "program-half", rate(8 * MB, 0.05), [flood("program", 4, block=whole(10000), rate=near(1.5 * MB))]
    yield "program-bursts", lo, [flood("program", 4, block=4 * MB, rate=near(6 * MB))]
    yield "program-bursts-on-rate", rate(10 * MB, 0.05), [flood("program", 5, block=1 * MB, rate=near(2 * MB))]
    yield "program-far", trip(0.03), [flood("program", 4, block=whole(5000), rate=near(100 * KB))]
    yield "program-far-bursts", trip(0.02), [flood("program", 5, block=100000, rate=near(150 * KB, 1.2))]
    yield "program-small-buffer", trip(0.02), [flood("program", 4, block=whole(3000), rate=near(40 * KB), sndbuf=20000)]
    yield "program-slow-reader", lo, [flood("program", 4, block=whole(5000), rate=near(200 * KB), read_rate=1 * MB, rcvbuf=65536)]
    yield "program-burst-reader", lo, [flood("program", 5, block=whole(5000), rate=near(100 * KB), read_rate=2 * MB, read_burst=0.05)]
    yield "program-short", lo, [flood("program", 1.3, block=whole(5000), rate=near(200 * KB))]
    yield "program-losses", trip(0.01, 40), [flood("program", 4, block=whole(4000), rate=near(60 * KB))]
    # Requests and responses: the program waits for the other.
    yield "chat-small", lo, [chat(whole(200), whole(200), 0, 3)]
    yield "chat-think", lo, [chat(whole(500), whole(50000), near(0.03), 3)]
    yield "chat-far", trip(0.02), [chat(whole(300), whole(2000), 0, 4)]
    yield "chat-slow-server", lo, [chat(whole(1000), whole(100000), 0, 4, serve=near(0.1))]
    yield "chat-bulk-of-rate", rate(3 * MB, 0.1), [chat(whole(200), 3 * MB, 0, 5, ("program", "network"))]
    # Several at once, each with its own limit.
    yield "several-on-loopback", lo, [flood("reader", 4, read_rate=near(500 * KB), rcvbuf=65536), flood("program", 4, block=2000, rate=near(50 * KB)),
                                      chat(100, 1000, 0.01, 4)]
    yield "several-far", trip(0.03), [flood("buffer", 4, sndbuf=12000), flood("reader", 4, read_rate=near(100 * KB), rcvbuf=40000),
                                      flood("program", 4, block=2000, rate=near(30 * KB))]
    yield "several-on-rate", rate(6 * MB, 0.05), [flood("network", 5), flood("reader", 5, read_rate=near(300 * KB), rcvbuf=whole(60000)),
                                                  flood("program", 5, block=4000, rate=near(100 * KB))]


# ---- judging ----

def inside(way, words):
    """The command that runs words on that way, and the address that leads over it."""
    if way[0] == "lo":
        return words, "127.0.0.1"
    if way[0] == "trip":
        return [sys.executable, FAR, str(way[1]), str(way[2]), str(way[3]), *words], "10.9.0.2"
    shape = f"ip link set lo up mtu 9000 && tc qdisc add dev lo root tbf rate {way[1] * 8} burst {max(way[1] // 100, 20000)} limit {way[2]} && exec \"$@\""
    return ["unshare", "--net", "sh", "-c", shape, "sh", *words], "127.0.0.1"


def judge(name, way, connections, room):
    folder = os.path.join(room, name)
    _, host = inside(way, [])
    text = json.dumps({"host": host, "connections": [one for _, _, one in connections]})
    words, _ = inside(way, [os.environ["SONDE"], "run", "-q", "--stacks=off", "--peers", "-o", folder, "--", sys.executable, os.path.abspath(__file__), "job", text])
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    if done.returncode == 77:
        print(f"{name}: {way[0]} cannot be made here")
        return []
    assert done.returncode == 0, (name, done)
    shown = subprocess.run([os.environ["SONDE"], "show", "--peers", "--json", folder], stdout=subprocess.PIPE, text=True, check=True)
    rows = {(row["port"], row["direction"]): row for row in json.loads(shown.stdout)["peers"]}
    ends = json.loads(done.stdout)
    found = []
    for (out, back, one), ends_of in zip(connections, zip(ends[::2], ends[1::2])):
        for truth, end in zip((back, out), ends_of):
            row = rows.get((end["port"], end["end"]))
            named = row and {"send buffer": "buffer"}.get(row["limited_by"], row["limited_by"])
            if one.get("chat") and end["sent"] < end["got"] / 10:
                truth = None  # nothing is said of an end that hardly sends
            exact = bool(row) and row["sent_bytes"] == end["sent"] and row["received_bytes"] == end["got"]
            found.append((name, truth, named, exact, one["seconds"] >= 2, row, end))
    return found


def main():
    if sys.argv[1:2] == ["job"]:
        return job(sys.argv[2])
    seed, only = int(sys.argv[1]) if sys.argv[1:] else 1, sys.argv[2:]
    right = judged = exact = counted = 0
    with tempfile.TemporaryDirectory() as room:
        for name, way, connections in mixes(random.Random(seed)):
            if only and not any(word in name for word in only):
                continue
            for _, truth, named, is_exact, is_long, row, end in judge(name, way, connections, room):
                if truth:
                    judged += 1
                    right += truth == named
                if is_long:
                    counted += 1
                    exact += is_exact
                if (truth and truth != named) or (is_long and not is_exact):
                    print(f"{name}: made {truth}, named {named}, bytes {'exact' if is_exact else end}: {way} {json.dumps(row)}", flush=True)
    print(right, judged, exact, counted)
    return 0


main()
