# SPDX-License-Identifier: Apache-2.0
"""A file system in memory whose server can be stopped and go on, as that of a network's may: `python3 fuse.py MOUNTPOINT [DELAY]` serves it until it is
ended, and says "ready" first. DELAY is what each look-up, open and read takes, in seconds. SIGSTOP: who asks it waits. Needs root and a mount namespace of one's own."""
import ctypes
import errno
import os
import stat
import struct
import sys
import time

LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC = 1, 2, 3, 4, 9, 10, 11, 12, 14, 15, 16, 17, 18, 20
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, DESTROY, BATCH_FORGET, FALLOCATE, RENAME2 = 25, 26, 27, 28, 29, 30, 35, 36, 38, 42, 43, 45
SIZE_SET, MODE_SET = 8, 1
HEADER = struct.Struct("<IIQQIIII")
ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
DIRECTORY, FILE = stat.S_IFDIR | 0o777, stat.S_IFREG | 0o600


class Failed(Exception):
    pass


class Node:
    def __init__(self, number, mode):
        self.number, self.mode, self.data, self.names, self.changed = number, mode, bytearray(), {}, time.time()

    def attributes(self):
        whole, part = int(self.changed), int(self.changed % 1 * 1e9)
        size = len(self.data)
        return ATTRIBUTES.pack(self.number, size, (size + 511) // 512, whole, whole, whole, part, part, part, self.mode, 1, 0, 0, 0, 4096, 0)


class Memory:
    def __init__(self):
        self.nodes = {1: Node(1, DIRECTORY)}

    def make(self, parent, name, mode):
        if name in parent.names:
            raise Failed(errno.EEXIST)
        node = Node(max(self.nodes) + 1, mode)
        self.nodes[node.number] = parent.names[name] = node
        return node

    @staticmethod
    def entry(node):
        return struct.pack("<QQQQII", node.number, 0, 0, 0, 0, 0) + node.attributes()

    def lookup(self, node, body):
        name = body.split(b"\0")[0]
        if name not in node.names:
            raise Failed(errno.ENOENT)
        return self.entry(node.names[name])

    def getattr(self, node, _):
        return struct.pack("<QII", 0, 0, 0) + node.attributes()

    def setattr(self, node, body):
        valid, _, _, size = struct.unpack_from("<IIQQ", body)
        if valid & SIZE_SET:
            node.data[size:] = bytes(max(0, size - len(node.data)))
        if valid & MODE_SET:
            node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(struct.unpack_from("<I", body, 68)[0])
        return self.getattr(node, body)

    def mkdir(self, node, body):
        mode, _ = struct.unpack_from("<II", body)
        return self.entry(self.make(node, body[8:].split(b"\0")[0], stat.S_IFDIR | mode & 0o7777))

    def create(self, node, body):
        mode = struct.unpack_from("<II", body)[1]
        return self.entry(self.make(node, body[16:].split(b"\0")[0], stat.S_IFREG | mode & 0o7777)) + struct.pack("<QII", 0, 0, 0)

    def remove(self, node, body):
        found = node.names.get(body.split(b"\0")[0])
        if not found:
            raise Failed(errno.ENOENT)
        if found.names:
            raise Failed(errno.ENOTEMPTY)
        del node.names[body.split(b"\0")[0]]
        return b""

    def rename(self, node, body, head=8):
        to = self.nodes[struct.unpack_from("<Q", body)[0]]
        old, new = body[head:].split(b"\0")[:2]
        if old not in node.names:
            raise Failed(errno.ENOENT)
        to.names[new] = node.names.pop(old)
        return b""

    def rename2(self, node, body):
        return self.rename(node, body, 16)

    def open(self, _, __):
        return struct.pack("<QII", 0, 0, 0)

    def read(self, node, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        return bytes(node.data[offset:offset + size])

    def write(self, node, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        if offset > len(node.data):
            node.data.extend(bytes(offset - len(node.data)))
        node.data[offset:offset + size] = body[40:40 + size]
        node.changed = time.time()
        return struct.pack("<II", size, 0)

    def fallocate(self, node, body):
        _, offset, size = struct.unpack_from("<QQQ", body)
        node.data.extend(bytes(max(0, offset + size - len(node.data))))
        return b""

    def readdir(self, node, body):
        offset = struct.unpack_from("<QQI", body)[1]
        out = b""
        for i, (name, found) in enumerate(sorted(node.names.items())):
            if i >= offset:
                one = struct.pack("<QQII", found.number, i + 1, len(name), found.mode >> 12) + name
                out += one + bytes(-len(one) % 8)
        return out[:struct.unpack_from("<QQI", body)[2]]

    def statfs(self, _, __):
        return struct.pack("<QQQQQIIII24x", 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 4096, 255, 4096, 0)

    def nothing(self, _, __):
        return b""


CALLS = {LOOKUP: "lookup", GETATTR: "getattr", SETATTR: "setattr", MKDIR: "mkdir", UNLINK: "remove", RMDIR: "remove", RENAME: "rename", RENAME2: "rename2",
         OPEN: "open", OPENDIR: "open", READ: "read", WRITE: "write", STATFS: "statfs", RELEASE: "nothing", RELEASEDIR: "nothing", FSYNC: "nothing",
         FSYNCDIR: "nothing", FLUSH: "nothing", READDIR: "readdir", CREATE: "create", FALLOCATE: "fallocate"}


def answer(memory, opcode, node, body):
    if opcode == INIT:
        return struct.pack("<IIIIHHII", 7, 31, 65536, 0, 16, 12, 1 << 17, 1) + bytes(36)
    if opcode not in CALLS:
        raise Failed(errno.ENOSYS)
    return getattr(memory, CALLS[opcode])(memory.nodes[node], body)


def serve(fd, delay):
    memory = Memory()
    while True:
        try:
            request = os.read(fd, 1 << 18)
        except OSError as e:
            if e.errno in (errno.EINTR, errno.ENOENT):
                continue
            return
        _, opcode, unique, node = HEADER.unpack_from(request)[:4]
        if opcode in (FORGET, BATCH_FORGET, INTERRUPT, DESTROY):
            continue
        if delay and opcode in (LOOKUP, OPEN, READ):
            time.sleep(delay)
        code, said = 0, b""
        try:
            said = answer(memory, opcode, node, request[HEADER.size:])
        except Failed as e:
            code = -e.args[0]
        try:
            os.write(fd, struct.pack("<IiQ", 16 + len(said), code, unique) + said)
        except OSError:
            pass # who asked does not wait any more


if __name__ == "__main__":
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"memory", sys.argv[1].encode(), b"fuse", 0, options):
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    print("ready", flush=True)
    serve(device, float(sys.argv[2]) if len(sys.argv) > 2 else 0)
