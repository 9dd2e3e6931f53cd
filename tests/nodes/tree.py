# SPDX-License-Identifier: Apache-2.0
"""A machine as the tests see it: files and links below proc/ and sys/, written to a folder.

Numbers come from pick(): plausible, different from their neighbours, the same every time, and untouched by what is added
elsewhere, so that a golden file changes only where its machine does.
"""
import hashlib
import os


class Tree:

    def __init__(self, name):
        self.name = name
        self.files = {}
        self.links = {}

    def file(self, path, text):
        """A text gets the newline that nearly every file of the kernel ends with; bytes stay as they are."""
        if not isinstance(text, bytes):
            text = str(text)
            text = (text if text.endswith("\n") or not text else text + "\n").encode()
        self.files[path] = text

    def folder(self, path, files):
        for name, text in files.items():
            self.file(f"{path}/{name}", text)

    def link(self, path, target):
        """target: as readlink gives it."""
        self.links[path] = target

    def link_to(self, path, place):
        """place: below the same root, as path is; the link is relative, as sysfs makes them."""
        self.link(path, os.path.relpath(place, os.path.dirname(path)))

    def pick(self, key, low, high):
        drawn = hashlib.blake2b(f"{self.name} {key}".encode(), digest_size=8).digest()
        return low + int.from_bytes(drawn) * (high - low) // (1 << 64)

    def write(self, where):
        for path, data in self.files.items():
            full = os.path.join(where, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as f:
                f.write(data)
        for path, target in self.links.items():
            full = os.path.join(where, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            os.symlink(target, full)


def cpu_list(cpus):
    """0-3,8: the kernel's %*pbl."""
    out, cpus = [], sorted(cpus)
    while cpus:
        n = 1
        while n < len(cpus) and cpus[n] == cpus[0] + n:
            n += 1
        out.append(str(cpus[0]) if n == 1 else f"{cpus[0]}-{cpus[n - 1]}")
        cpus = cpus[n:]
    return ",".join(out)


def cpu_mask(cpus, total):
    """ffffffff,00000000: the kernel's %*pb, 32 bits a word."""
    bits = sum(1 << c for c in cpus)
    words = max(1, (total + 31) // 32)
    first = (total - 1) % 32 // 4 + 1
    text = [f"{bits >> 32 * w & 0xffffffff:0{first if w == words - 1 else 8}x}" for w in reversed(range(words))]
    return ",".join(text)
