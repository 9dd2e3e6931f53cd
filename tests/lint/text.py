# SPDX-License-Identifier: Apache-2.0
"""Licence lines, what stands at the top of the tree, and words that must not be in it: unfinished work, halves of a
merge, paths of one machine, download addresses. Each folder of fixtures has a line that says where it comes from. A file of src that documents or comments name is there."""
import re

import source

SPDX = "SPDX-License-Identifier: Apache-2.0"
UNFINISHED = re.compile(r"\b(TO" + "DO|FIX" + r"ME|X" + r"XX)\b|not " + "implemented", re.I)
MACHINE = re.compile(r"/(home|root|work|workspace|Users)/\w")
MERGE = re.compile(r"^(<{7}|={7}|>{7})( |$)")
TOP = set(""".ci .clang-format .clang-tidy .gitignore CHANGELOG.md LICENSE Makefile README.md bench dev docs events examples
    include maps models phases pipelines classes python release rules site src tests""".split())
NAMED = re.compile(r"(?<![\w/.-])(?:src/)?([a-z_0-9]+)/[A-Za-z_0-9/.-]+\.(?:c|h|def|S)\b")
ADDRESS = re.compile(r'"resolved"|registry\.\w+\.\w+|https?://[^"]*\.tgz')


def faults_of(path, text):
    if path.endswith((".c", ".h", ".py", ".sh", ".js", ".css", ".S", ".def")) or path in ("dev", ".ci/run", "Makefile"):
        if SPDX not in "\n".join(text.split("\n", 3)[:3]):
            yield 1, f"no line with {SPDX}"
    for number, line in enumerate(text.splitlines(), 1):
        if UNFINISHED.search(line):
            yield number, "unfinished work belongs in an issue"
        if MERGE.match(line):
            yield number, "half of a merge"
        if MACHINE.search(line):
            yield number, "a path of one machine"
        if path.endswith(("package-lock.json", ".npmrc")) and ADDRESS.search(line):
            yield number, "a lock file names no download address"


def gone(paths):
    """Documents and comments name files of src by their rooms: those that are not there."""
    there, rooms = set(paths), {path.split("/")[1] for path in paths if path.startswith("src/") and path.count("/") > 1}
    for path in paths:
        if not (path.startswith(("docs/", "src/")) and path.endswith((".md", ".c", ".h", ".def", ".py"))):
            continue
        for number, line in enumerate(source.read(path).splitlines(), 1):
            for match in NAMED.finditer(line):
                name, room = match.group(0), match.group(1)
                if (name.startswith("src/") or room in rooms) and not re.search(r"\bthing|_thing|NAME|pfmlib", name) and \
                        not there & {name, "src/" + name, "tests/" + name, "include/" + name}:
                    yield f"{path}:{number}: {name} is not there"


def fixtures():
    """What tests/fixtures has and its README.md does not name, or the reverse."""
    there = {path.split("/")[2] for path in source.files() if path.startswith("tests/fixtures/")} - {"README.md"}
    rows = [line.split("|")[1] for line in source.read("tests/fixtures/README.md").splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    return [f"tests/fixtures/README.md:1: says nothing of {name}, or of what is not there" for name in sorted(there ^ named)]


def main():
    faults = fixtures() + list(gone(source.files())) if source.files("tests/run.sh") else []
    for path in source.files():
        if path.split("/")[0] not in TOP:
            faults.append(f"{path}:1: does not belong to the top of the tree")
        if "/fixtures/" in path or "/corpus/" in path or path.endswith((".png", ".sonde", ".tail", ".gz")):
            continue
        faults += [f"{path}:{number}: {what}" for number, what in faults_of(path, source.read(path))]
    source.report(faults)


main()
