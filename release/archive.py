# SPDX-License-Identifier: Apache-2.0
"""archive.py TREE NAME EPOCH OUT.tar[.gz|.zst]: packs TREE as the folder NAME. The bytes depend only on names, modes and contents."""
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile


def entries(tree):
    """Every folder and file below tree, each folder before what is in it, in the order of bytes."""
    found = []
    for folder, folders, files in os.walk(tree):
        found += [os.path.join(folder, name) for name in folders + files]
    return sorted(os.path.relpath(path, tree) for path in found)


def mode_of(path):
    return 0o755 if os.path.isdir(path) or os.access(path, os.X_OK) else 0o644


def add(tar, tree, below, name, epoch):
    path = os.path.join(tree, below)
    entry = tarfile.TarInfo(os.path.normpath(os.path.join(name, below)))
    entry.mtime, entry.mode = epoch, mode_of(path)
    if os.path.islink(path):
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, os.readlink(path), 0o777
        tar.addfile(entry)
    elif os.path.isdir(path):
        entry.type = tarfile.DIRTYPE
        tar.addfile(entry)
    else:
        entry.size = os.path.getsize(path)
        with open(path, "rb") as f:
            tar.addfile(entry, f)


def packed(tree, name, epoch):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for below in ["."] + entries(tree):
            add(tar, tree, below, name, epoch)
    return out.getvalue()


def compressed(data, out):
    if out.endswith(".gz") and shutil.which("libdeflate-gzip"): # 4 % smaller
        return subprocess.run(["libdeflate-gzip", "-12", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout
    if out.endswith(".gz"):
        return gzip.compress(data, 9, mtime=0)
    if out.endswith(".zst"):
        return subprocess.run(["zstd", "-19", "-c", "-q", "--single-thread"], input=data, stdout=subprocess.PIPE, check=True).stdout
    return data


def write(tree, name, epoch, *outs):
    data = packed(tree, name, epoch)
    for out in outs:
        with open(out, "wb") as f:
            f.write(compressed(data, out))


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
