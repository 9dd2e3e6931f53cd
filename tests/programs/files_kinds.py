# SPDX-License-Identifier: Apache-2.0
"""Uses files in every way that there is: files_kinds.py DIR [io_uring]. Prints as JSON what a name under DIR should have: [bytes read, written, mapped, and mapped
to be changed]; of NAME|NAME those of both. With io_uring it sets up one of these, too, or ends with 77."""
import ctypes
import json
import mmap
import os
import socket
import subprocess
import sys
import time

room = os.fsencode(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
N, DATA = 10000, b"x" * 10000
want = {}
os.chdir(room)
os.mkdir("sub")


def opened(name, flags=os.O_RDWR | os.O_CREAT, **more):
    return os.open(name, flags, 0o600, **more)


def filled(name):
    fd = opened(name)
    assert os.write(fd, DATA) == N
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


# Calls: each with another number of bytes than the one before, so that none is taken for another.
fd = opened("preadv2")
assert os.pwritev(fd, [DATA, b"y"], 0, os.RWF_DSYNC) == N + 1
assert os.preadv(fd, [bytearray(N - 3)], 1, os.RWF_HIPRI) == N - 3
want["preadv2"] = [N - 3, N + 1]
source = filled("source")
want["source"] = [0, N]
for name, call, n in (("sendfile", os.sendfile, 7000), ("copy_file_range", lambda to, of, at, n: os.copy_file_range(of, to, n, at), 6000)):
    fd = opened(name)
    assert call(fd, source, 0, n) == n
    want[name] = [0, n]
    want["source"][0] += n
ends = os.pipe()
fd = opened("splice")
assert libc.splice(source, None, ends[1], None, 5000, 0) == 5000
assert libc.splice(ends[0], None, fd, None, 5000, 0) == 5000
want["splice"] = [0, 5000]
want["source"][0] += 5000
fd = libc.syscall(85, b"creat", 0o600)
assert os.write(fd, DATA) == N
want["creat"] = [0, N]
how = (ctypes.c_uint64 * 3)(os.O_RDWR | os.O_CREAT, 0o600, 0)
fd = libc.syscall(437, -100, b"openat2", how, 24)
if fd >= 0:
    assert os.write(fd, DATA) == N
    want["openat2"] = [0, N]
directory = os.open("sub", os.O_DIRECTORY)
fd = opened("at", dir_fd=directory)
assert os.write(fd, DATA) == N
want["sub/at"] = [0, N]
block = mmap.mmap(-1, 8192)
try:
    fd = opened("direct", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    assert os.write(fd, block) == 8192
    want["direct"] = [0, 8192]
except OSError:
    pass  # not on this file system

# Names: relative ones, links, of descriptors, hostile, gone and changed ones.
os.chdir("sub")
fd = filled("relative")
os.chdir("..")
want["sub/relative"] = [0, N]
os.symlink("linked", "link")
fd = filled("link")
want["linked"] = [0, N]
fd = filled("through")
again = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
assert len(os.read(again, N)) == N
want["through"] = [N, N]
for name in (b"new\nline", b"\xff\xfe", b"back\\slash", "ä ö".encode(), b"dots..", b" "):
    fd = filled(name)
    want[name.decode(errors="surrogateescape")] = [0, N]
fd = filled("gone")
os.unlink("gone")
assert len(os.read(fd, N)) == N
want["gone"] = [N, N]
fd = filled("before")
os.rename("before", "after")
assert len(os.read(fd, N)) == N
want["before|after"] = [N, N]  # by either name
fd = opened("replaced")
assert os.write(fd, DATA) == N
other = opened("new")
os.rename("new", "replaced")
assert os.write(other, DATA) == N
want["replaced|new"] = [0, 2 * N]

# Descriptors: copied, inherited by a program, sent by a socket.
fd = filled("copied")
copy = os.dup2(fd, 77)
os.close(fd)
assert len(os.read(copy, N)) == N
want["copied"] = [N, N]
with open("inherited", "wb") as f:
    subprocess.run(["sh", "-c", "printf 12345; exec head -c 3 /dev/zero"], stdout=f, check=True)
want["inherited"] = [0, 8]
left, right = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
fd = filled("sent")
if not os.fork():
    # pylint: disable=protected-access
    got = socket.recv_fds(right, 1, 1)[1][0]
    data = os.read(got, N)
    time.sleep(1)  # what it is, nobody knows but this process
    os._exit(len(data) != N)
socket.send_fds(left, [b"."], [fd])
assert os.wait()[1] == 0
want["sent"] = [N, N]

# What is in no call of read or write.
fd = filled("mapped")
with mmap.mmap(fd, N, prot=mmap.PROT_READ) as m:
    assert m[5] == ord("x")
want["mapped"] = [0, N, 12288]
fd = opened("changed")
os.truncate(fd, 4096)
with mmap.mmap(fd, 4096) as m:
    m[5] = 1
want["changed"] = [0, 0, 4096, 4096]
if sys.argv[2:] == ["io_uring"]:
    if libc.syscall(425, 4, (ctypes.c_uint32 * 30)()) < 0:
        raise SystemExit(77)
print(json.dumps({name: (counts + [0, 0])[:4] for name, counts in want.items()}))
