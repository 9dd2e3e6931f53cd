# SPDX-License-Identifier: Apache-2.0
"""Files of at most 600 lines, functions of at most 60 lines and 6 parameters (style asks for 5), folders of src of at most 60 files, but
for sizes.allow, which may only shrink: an entry that is larger than needed is a fault as well."""
import collections
import re

import source

LIMITS = {"file": 600, "function": 60, "parameters": 6, "folder": 60}


def parameters_of(signature):
    inner = signature[signature.index("(") + 1:signature.rindex(")")].strip()
    depth, count = 0, 1
    for c in inner:
        depth += {"(": 1, ")": -1}.get(c, 0)
        count += c == "," and depth == 0
    return 0 if inner in ("", "void") else count


def functions(path):
    """(name, lines, parameters): a body opens with { and closes with } in the first column."""
    lines = source.code(source.read(path)).splitlines()
    start = 0
    for number, line in enumerate(lines):
        if line.startswith("{"):
            first = number - 1
            while first > 0 and re.match(r"[\s}]", lines[first] or "x"):
                first -= 1
            start = number
            signature = " ".join(lines[first:number])
        elif line.startswith("}") and start and "(" in signature:
            name = re.search(r"(\w+)\s*\(", signature)
            yield name.group(1), number - start + 1, parameters_of(signature)
            start = 0


def measured():
    folders = collections.Counter(path.rpartition("/")[0] for path in source.files() if path.startswith("src/"))
    yield from ((f"{path} folder", "folder", n) for path, n in folders.items())
    for path in source.files(".c", ".h", ".js", ".py", ".sh"):
        if "/fixtures/" in path:
            continue
        yield f"{path} file", "file", source.read(path).count("\n")
        if path.endswith(".c"):
            for name, length, parameters in functions(path):
                yield f"{path} {name}", "function", length
                yield f"{path} {name} parameters", "parameters", parameters


def main():
    allowed = {}
    for line in source.read("tests/lint/sizes.allow").splitlines():
        if line and not line.startswith("#"):
            what, size = line.rsplit(" ", 1)
            allowed[what] = int(size)
    faults = []
    for what, kind, size in measured():
        limit = allowed.pop(what, None)
        if limit is None and size > LIMITS[kind]:
            faults.append(f"{what}: {size}, the limit is {LIMITS[kind]}")
        elif limit is not None and size > limit:
            faults.append(f"{what}: {size}, sizes.allow says {limit}")
        elif limit is not None and size < limit:
            needed = f"say {size}" if size > LIMITS[kind] else "take the line out"
            faults.append(f"{what}: {size}, sizes.allow says {limit}: {needed}")
    faults += [f"{what}: in sizes.allow, but there is no such thing" for what in allowed]
    source.report(faults)


main()
