# SPDX-License-Identifier: Apache-2.0
"""With whom a job talks by TCP (run --peers), as an ordinary user: bytes to the byte, of IPv4, IPv6 and mapped addresses; others' sockets are not
the job's; what limits a transfer, on loopback and over a way with a round trip (tests/far_end.py, root); several nodes as a matrix; nothing where it
was not asked for."""
# limit: 300
import glob
import json
import os
import shutil
import subprocess
import sys
import time

import explained
import jsonschema

from ordinary_user import USER, enter_room
from patience import patience

SONDE, TOP = (os.environ[name] for name in ("SONDE", "TOP"))
holder = enter_room()
MIX = TOP + "/tests/programs/peers_mix.py"
with open(TOP + "/docs/schema/peers.json", encoding="utf-8") as f:
    SCHEMA = json.load(f)


def sonde(*words):
    return subprocess.run([SONDE, *words], capture_output=True, text=True, check=True).stdout


def record(name, *command, before=(), options=("--peers",)):
    said = subprocess.run([*before, SONDE, "run", "-q", "--stacks=off", *options, "-o", name, "--", *command], stdout=subprocess.PIPE, text=True, timeout=patience(100),
                          check=False)
    if said.returncode == 77:
        return None, None
    assert said.returncode == 0, said
    if USER:
        subprocess.run(["chmod", "-R", "a+rX", name], check=True)
    document = json.loads(sonde("show", "--peers", "--json", name))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document, said.stdout


refused, _ = record("tried", "true", before=USER)
if refused["not_recorded"]:
    print("sockets are not listed here:", refused["not_recorded"])
    raise SystemExit(77)
off, _ = record("off", "true", before=USER, options=())
assert off["peers"] == [] and "--peers" in off["not_recorded"], off

# ---- refused: seccomp makes socket(AF_NETLINK) fail ----
DENY = """
import ctypes, os, struct, sys
call = {"x86_64": 41, "aarch64": 198}[os.uname().machine]
rows = [(0x20, 0, 0, 0), (0x15, 0, 3, call), (0x20, 0, 0, 16), (0x15, 0, 1, 16), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code)))) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
denied, _ = record("denied", "true", before=(*USER, sys.executable, "-c", DENY))
assert denied["peers"] == [] and "Operation not permitted" in denied["not_recorded"], denied
assert "not permitted" in subprocess.run([sys.executable, "-c", DENY, SONDE, "doctor"], capture_output=True, text=True, check=False).stdout.split(" peers: ")[1][:200]

# ---- bytes, and whose they are: beside another process of this user that sends, too ----
beside = subprocess.Popen([*USER, sys.executable, MIX, "program", "12"], stdout=subprocess.PIPE, text=True)
for host in ("127.0.0.1", "::1", "::ffff:127.0.0.1"):
    if host != "127.0.0.1" and not os.path.exists("/proc/net/if_inet6"):
        continue
    document, said = record("bytes" + host.replace(":", "_"), sys.executable, MIX, "program", "2.5", host, before=USER)
    truth = json.loads(said)
    ends = {row["direction"]: row for row in document["peers"] if row["port"] == truth["port"]}
    assert len(document["peers"]) == 2 and set(ends) == {"in", "out"}, document["peers"]
    assert ends["out"]["sent_bytes"] == ends["in"]["received_bytes"] == truth["sent"] == truth["got"], (truth, ends)
    assert ends["out"]["received_bytes"] == ends["in"]["sent_bytes"] == len(str(truth["got"])), (truth, ends)
    assert ends["out"]["remote_address"] == host.replace("::ffff:", ""), ends["out"]
    assert ends["out"]["limited_by"] == "program" and ends["in"]["limited_by"] is None, ends
    assert all(row["unseen_ends"] == 0 and row["connections"] == 1 for row in ends.values()), ends
    assert "peers_mix" in ends["out"]["process"], ends["out"]
assert json.loads(beside.communicate(timeout=patience(60))[0])["sent"] > 0

# ---- attached: what was there before does not count ----
program = subprocess.Popen([*USER, sys.executable, MIX, "program", "6"], stdout=subprocess.PIPE, text=True)
time.sleep(2)
subprocess.run([*USER, SONDE, "attach", "-q", "--stacks=off", "--peers", "-o", "attached", "-p", str(program.pid)], check=True, timeout=patience(60))
truth = json.loads(program.communicate(timeout=patience(60))[0])
attached = {row["direction"]: row for row in json.loads(sonde("show", "--peers", "--json", "attached"))["peers"]}
assert 0.3 * truth["sent"] < attached["out"]["sent_bytes"] < 0.75 * truth["sent"], (truth, attached)
assert attached["out"]["sent_bytes"] == attached["in"]["received_bytes"], attached

# ---- the kernel has no room for an answer now and then (ENOBUFS): bytes are exact all the same ----
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
static int questions, fails;
static int is_netlink(int fd)
{
	struct sockaddr own;
	socklen_t size = sizeof own;

	return !getsockname(fd, &own, &size) && own.sa_family == AF_NETLINK;
}
ssize_t send(int fd, const void *from, size_t n, int flags)
{
	if (is_netlink(fd))
		fails = ++questions % 3 == 2;
	return ((ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send"))(fd, from, n, flags);
}
ssize_t recv(int fd, void *to, size_t n, int flags)
{
	if (fails && is_netlink(fd) && flags & MSG_TRUNC) {
		fails = 0;
		errno = ENOBUFS;
		return -1;
	}
	return ((ssize_t (*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv"))(fd, to, n, flags);
}
"""
shim = subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c", "-", "-o", "shim.so", "-ldl"], input=SHIM, text=True, check=False)
if not shim.returncode:
    os.chmod("shim.so", 0o755)
    said = subprocess.run([*USER, "env", "LD_PRELOAD=" + os.path.abspath("shim.so"), SONDE, "run", "-q", "--stacks=off", "--peers", "-o", "short", "--",
                           sys.executable, MIX, "program", "6"], stdout=subprocess.PIPE, text=True, check=True, timeout=patience(60)).stdout
    truth, short = json.loads(said), json.loads(sonde("show", "--peers", "--json", "short"))
    ends = {row["direction"]: row for row in short["peers"] if row["port"] == truth["port"]}
    assert ends["out"]["sent_bytes"] == ends["in"]["received_bytes"] == truth["sent"], (truth, short)
    assert all(row["unseen_ends"] == 0 for row in ends.values()), ends

# ---- what limits it ----
document, said = record("reader", sys.executable, MIX, "reader", "3", before=USER)
sender = next(row for row in document["peers"] if row["direction"] == "out")
assert sender["limited_by"] == "reader" and sender["receiver_limited_seconds"] >= 0.5 * sender["busy_seconds"], sender
assert sender["sent_bytes"] == json.loads(said)["sent"], (sender, said)
assert "waited for the reader" in sonde("show", "reader"), sonde("show", "reader")
assert "waited-for-reader" in {verdict["rule"] for verdict in json.loads(sonde("show", "--json", "reader"))["verdicts"]}
told = explained.explain("reader", ask="io")
assert explained.finding(told, "waited-for-reader")["settle"].startswith("sonde show --peers"), told
assert "waited for the reader" in explained.finding(told, "peers")["claim"], told
assert any(number["at"].startswith("peers:/peers/0/") for number in explained.finding(told, "peers")["numbers"]), told
sonde("report", "--only", "html", "reader")
with open("reader/report.html", encoding="utf-8") as f:
    assert "With whom the job talked by TCP" in f.read()
if shutil.which("pdftotext") and os.path.exists(f"{os.environ['BUILD']}/libexec/sonde/sonde-draw"):
    sonde("report", "--only", "pdf", "reader")
    (paper,) = glob.glob("reader/*.pdf")
    paper = " ".join(subprocess.run(["pdftotext", "-l", "1", paper, "-"], check=True, capture_output=True, text=True).stdout.split())
    assert "With whom the job talked by TCP" in paper and "waited for the reader" in paper, paper

right = tried = 0
for limit, delay, loss, rate in (("buffer", 0.005, 0, 0), ("network", 0.005, 0, 10000000), ("reader", 0.005, 0, 0), ("program", 0.002, 0, 0),
                                 ("network", 0.005, 10, 0)):
    far = (sys.executable, TOP + "/tests/far_end.py", str(delay), str(loss), str(rate))
    document, said = record(f"far{tried}", sys.executable, MIX, limit, "2.5", "10.9.0.2", before=far)
    if not document:
        print("no network with a round trip can be made here")
        break
    tried += 1
    sender = max(document["peers"], key=lambda row: row["sent_bytes"])
    named = {"send buffer": "buffer"}.get(sender["limited_by"], sender["limited_by"])
    right += named == limit
    if named != limit:
        print(f"{limit}, {delay} s, loss {loss}, rate {rate}: named {named}", sender)
    assert sender["sent_bytes"] == json.loads(said)["sent"], (sender, said)
    assert sender["retransmits"] > 0 or not loss, sender
if tried == 5:
    # No address is in the recording, nor on a command line; the same one has the same name.
    far = (sys.executable, TOP + "/tests/far_end.py", "0.002", "0", "0")
    document, said = record("hidden", sys.executable, MIX, "program", "1", "10.9.0.2", before=far, options=("--peers", "--waits", "--no-addresses"))
    told = sonde("show", "--peers", "--json", "hidden") + sonde("show", "--json", "--all", "hidden") + sonde("show", "--waits", "--json", "hidden")
    assert "10.9.0." not in told, told[max(told.index("10.9.0.") - 100, 0):][:200]
    sender = max(document["peers"], key=lambda row: row["sent_bytes"])
    assert sender["sent_bytes"] == json.loads(said)["sent"] and sender["remote_address"].startswith("address-"), sender
    assert sender["name"] == f"{sender['remote_address']}:{sender['port']:.0f}" and sender["remote_address"] in told.split('"command_line"', 1)[1], sender
# On a machine that is too crowded to move packets in time one may be told otherwise.
assert right >= tried - 1, (right, tried)

# ---- three nodes, each with an address to each other ----
# From, to, bytes that the one who connects sends in 2.5 s, and bytes of the answer.
TALKS = [(12, 11, 1000000, 7), (13, 11, 250000, 125000), (13, 12, 25, 2000000)]
TALK = """
import json, socket, sys, threading, time
me, talks = int(sys.argv[1]), json.loads(sys.argv[2])

def serve(address, port, sent, answer):
    end = socket.create_server((address, port)).accept()[0]
    while sent > 0 and (data := end.recv(1 << 20)):
        sent -= len(data)
    end.sendall(b"y" * answer)
    end.close()

def connect(address, port, sent, answer):
    for _ in range(300):
        try:
            end = socket.create_connection((address, port))
            break
        except OSError:
            time.sleep(0.05)
    for _ in range(25):
        end.sendall(b"x" * (sent // 25))
        time.sleep(0.1)
    end.shutdown(socket.SHUT_WR)
    while answer > 0 and (data := end.recv(1 << 20)):
        answer -= len(data)
    end.close()

threads = [threading.Thread(target=serve if to == me else connect, args=(f"10.8.{source + to - 22}.{to}", 7000, sent, answer))
           for source, to, sent, answer in talks if me in (source, to)]
[one.start() for one in threads]
[one.join() for one in threads]
"""
holders = []
if os.getuid() == 0 and subprocess.run(["unshare", "--net", "--uts", "true"], check=False).returncode == 0:
    holders = [subprocess.Popen(["unshare", "--net", "--uts", "sh", "-c", f"echo n{i} >/proc/sys/kernel/hostname && echo ready && exec sleep 120"], text=True,
                                stdout=subprocess.PIPE) for i in (11, 12, 13)]
    assert all(holder.stdout.readline() == "ready\n" for holder in holders)
inner = {i: ["nsenter", "-t", str(one.pid), "--net", "--uts"] for i, one in zip((11, 12, 13), holders)}
try:
    made = bool(holders)
    for one, two, _, _ in TALKS if made else ():
        pids = [str(holders[i - 11].pid) for i in (one, two)]
        made = made and not subprocess.run(["ip", "link", "add", f"to{two}", "netns", pids[0], "type", "veth", "peer", "name", f"to{one}", "netns", pids[1]],
                                           check=False).returncode
        for i, other in ((one, two), (two, one)) if made else ():
            for words in ("link set lo up", f"addr add 10.8.{one + two - 22}.{i}/24 dev to{other}", f"link set to{other} up"):
                subprocess.run([*inner[i], "ip", *words.split()], check=True)
    if made:
        nodes = [subprocess.Popen([*inner[i], "env", "SLURM_JOB_ID=4711", "SLURM_JOB_NODELIST=n[11-13]", "SLURM_JOB_NUM_NODES=3", f"SLURMD_NODENAME=n{i}",
                                   SONDE, "run", "-q", "--stacks=off", "--peers", "-o", "nodes", "--", sys.executable, "-c", TALK, str(i), json.dumps(TALKS)])
                 for i in inner]
        assert [node.wait(timeout=patience(60)) for node in nodes] == [0, 0, 0]
        document = json.loads(sonde("show", "--peers", "--json", "nodes"))
        cells = {(cell["from"], cell["to"]): cell["bytes"] for cell in document["matrix"]}
        wanted = {(f"n{one}", f"n{two}"): sent for one, two, sent, _ in TALKS} | {(f"n{two}", f"n{one}"): answer for one, two, _, answer in TALKS}
        assert cells == wanted, (cells, document)
        assert {row["remote_node"] for row in document["peers"]} == {"n11", "n12", "n13"}, document["peers"]
        assert "From node (row) to node (column)" in sonde("show", "--peers", "nodes")
        sonde("report", "--only", "html", "nodes")
        with open("nodes/report.html", encoding="utf-8") as f:
            assert "Bytes from node to node" in f.read()
    else:
        print("no three nodes can be made here")
finally:
    for one in holders:
        one.kill()
        one.wait()
