# SPDX-License-Identifier: Apache-2.0
"""wheel.py TREE OUT VERSION EPOCH TAGS [LIBRARY]: makes the Python wheel of a release in the folder OUT, of what release/tree.py made: the package
with libsonde beside its modules, `sonde` for the bin of the environment, the helpers for its libexec. LIBRARY takes the place of TREE's libsonde.
The bytes depend only on contents."""
import base64
import hashlib
import os
import re
import sys
import time
import zipfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = "libsonde.so.0"
SHARED = ("libexec", "share/man/man1/sonde", "share/bash-completion/completions/sonde", "share/zsh", "share/fish/vendor_completions.d/sonde",
          "share/sonde/")
MODULES = "share/sonde/modulefiles/" # an environment is none


def files_below(folder):
    """Every file, links followed: a wheel has none."""
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            if "__pycache__" not in path:
                yield os.path.relpath(path, folder), path


def is_script(path):
    return os.access(path, os.X_OK)


def contents(tree, library, name, version):
    """name in the wheel: file."""
    data, info = f"{name}-{version}.data", f"{name}-{version}.dist-info"
    found = {f"sonde/{below}": path for below, path in files_below(f"{TOP}/python/sonde")}
    found[f"sonde/{LIBRARY}"] = library
    found[f"{data}/scripts/sonde"] = f"{tree}/bin/sonde"
    for below, path in files_below(tree):
        if below.startswith(SHARED) and not below.startswith(MODULES):
            found[f"{data}/data/{below}"] = path
        elif below.startswith("share/doc/sonde/licences/"):
            found[f"{info}/licenses/{below.removeprefix('share/doc/sonde/licences/')}"] = path
    found[f"{info}/licenses/LICENSE"] = f"{TOP}/LICENSE"
    found[f"{info}/sboms/sonde.spdx.json"] = f"{tree}/share/doc/sonde/sbom.spdx.json"
    return found, info


def project():
    """pyproject.toml's own lines of these names; Python has no reader of TOML before 3.11."""
    with open(f"{TOP}/python/pyproject.toml", encoding="utf-8") as f:
        text = f.read()
    extras = re.findall(r"^(\w+) = \[(.*)\]$", re.search(r"^\[project\.optional-dependencies\]\n(.*?)^\[", text, re.M | re.S)[1], re.M)
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', text, re.M)), {name: re.findall(r'"([^"]+)"', needs) for name, needs in extras}


def metadata(row, extras, version):
    lines = ["Metadata-Version: 2.1", f"Name: {row['name']}", f"Version: {version}", f"Summary: {row['description']}", "License: Apache-2.0",
             f"Requires-Python: {row['requires-python']}", "Description-Content-Type: text/markdown"]
    for extra, needs in extras.items():
        lines += [f"Provides-Extra: {extra}"] + [f"Requires-Dist: {need}; extra == '{extra}'" for need in needs]
    with open(f"{TOP}/python/README.md", encoding="utf-8") as f:
        return "\n".join(lines) + "\n\n" + f.read()


def write(out, files, texts, info, epoch):
    record = []

    def add(name, data, mode):
        entry = zipfile.ZipInfo(name, time.gmtime(max(epoch, 315532800))[:6])
        entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
        wheel.writestr(entry, data, compresslevel=9)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")

    with zipfile.ZipFile(out, "w") as wheel:
        for name, path in files.items():
            with open(path, "rb") as f:
                add(name, f.read(), 0o755 if is_script(path) else 0o644)
        for name, text in texts.items():
            add(f"{info}/{name}", text.encode(), 0o644)
        add(f"{info}/RECORD", ("".join(record) + f"{info}/RECORD,,\n").encode(), 0o644)


def main():
    tree, out, version, epoch, tags, *library = sys.argv[1:]
    row, extras = project()
    name = row["name"].replace("-", "_")
    files, info = contents(tree, library[0] if library else f"{tree}/lib/{LIBRARY}", name, version)
    wheel = "Wheel-Version: 1.0\nGenerator: sonde\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    write(f"{out}/{name}-{version}-py3-none-{tags}.whl", files, {"METADATA": metadata(row, extras, version), "WHEEL": wheel}, info, int(epoch))


if __name__ == "__main__":
    main()
