# SPDX-License-Identifier: Apache-2.0
"""tidy.py FLAG...: clang-tidy reads each file of src with these flags of the compiler, and what it says are faults. A file that it found
clean is not read again until the file, what it includes, the checks, the flags or clang-tidy change: build/tidy/ has a stamp of each, and
tests/tidy.clean those of the files that were clean when it was last written, by KEEP=1 tests/run.sh lint/tidy. With LONG it reads all."""
import concurrent.futures
import functools
import hashlib
import os
import subprocess
import sys

import source

BUILD = os.environ["BUILD"]
FILES_A_RUN = 4
CLEAN = f"{source.TOP}/tests/tidy.clean"


@functools.lru_cache(maxsize=None)
def checksum(path):
    with open(os.path.join(source.TOP, path), "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def included(path):
    """What path was compiled from, itself among it, as the compiler wrote it down; nothing if it was not compiled here."""
    try:
        with open(f"{BUILD}/obj/{path[len('src/'):-len('.c')]}.d", encoding="utf-8") as f:
            rule = f.read().replace("\\\n", " ").split("\n")[0]
    except FileNotFoundError:
        return []
    return sorted(word for word in rule.split(":", 1)[1].split() if not os.path.isabs(word))


def stamp(path, common):
    """A name that changes with all that clang-tidy reads but the system's headers; None if that is not known."""
    needed = included(path)
    try:
        sums = [checksum(name) for name in needed]
    except FileNotFoundError:
        return None
    if path not in needed:
        return None
    return hashlib.sha256(chr(10).join([common, *needed, *sums]).encode()).hexdigest()[:16]


def known():
    """The stamps of clean files."""
    clean = set(os.listdir(f"{BUILD}/tidy"))
    if os.path.exists(CLEAN):
        with open(CLEAN, encoding="utf-8") as f:
            clean.update(f.read().split())
    return clean


def tidy(paths, flags):
    """The faults of these files."""
    done = subprocess.run(["clang-tidy", "--quiet", *paths, "--", *flags], capture_output=True, text=True, errors="replace",
                          cwd=source.TOP, check=False)
    faults = [line for line in done.stdout.splitlines() if "error:" in line]
    if done.returncode and not faults:
        faults.append(f"clang-tidy fails on {' '.join(paths)}: {done.stderr[-500:]}")
    return faults


def main(flags):
    said = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout
    # Not the processor of this machine, which it says too: elsewhere every file would be read again.
    version = next(line.strip() for line in said.splitlines() if " version " in line)
    common = "\n".join([version, checksum(".clang-tidy"), *flags])
    os.makedirs(f"{BUILD}/tidy", exist_ok=True)
    stamps = {path: stamp(path, common) for path in source.files(".c") if path.startswith("src/")}
    clean = known()
    paths = [path for path, name in stamps.items() if os.environ.get("LONG") or name not in clean]
    groups = [paths[i:i + FILES_A_RUN] for i in range(0, len(paths), FILES_A_RUN)]
    faults = []
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as lanes:
        for group, found in zip(groups, lanes.map(lambda group: tidy(group, flags), groups)):
            faults += found
            for name in (stamps[path] for path in group if not found and stamps[path]):
                with open(f"{BUILD}/tidy/{name}", "w", encoding="utf-8"):
                    pass
    if os.environ.get("KEEP") and not faults:
        with open(CLEAN, "w", encoding="utf-8") as f:
            f.writelines(f"{name}\n" for name in sorted(filter(None, stamps.values())))
    print(f"read {len(paths)} of {len(stamps)} files")
    source.report(sorted(set(faults)))


main(sys.argv[1:])
