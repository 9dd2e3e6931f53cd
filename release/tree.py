# SPDX-License-Identifier: Apache-2.0
"""tree.py BUILD STAGED OUT VERSION EPOCH: makes OUT, what a user unpacks, of what `make install` put into STAGED: the programs stripped, the
helpers that are not static with their libraries and the loader, examples, documents, licences and the bill of materials."""
import json
import os
import re
import shutil
import subprocess
import sys

import parts

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Of another processor: the folder with its libraries, what precedes the names of its tools, the folder of Debian's libraries.
SYSROOT, CROSS, TRIPLET = os.environ.get("SYSROOT", ""), os.environ.get("CROSS", ""), os.environ["TRIPLET"]
FONTS = [f"{SYSROOT}/usr/share/fonts/truetype/dejavu/{name}.ttf" for name in ("DejaVuSans", "DejaVuSans-Bold")]
UPLOT = f"{TOP}/src/report/page/web/node_modules/uplot"
# What is not found by asking the loader: it is loaded on demand.
ON_DEMAND = ["libpq.so.5"]
# What cairo is linked with and Sonde never asks for, as it draws on no screen: libraries of the same names have the functions' names alone.
SCREEN = re.compile(r"lib(X|xcb)")
FONTS_CONF = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<!-- This machine's fonts, and those that come with Sonde. -->
<fontconfig>
<dir prefix="relative">fonts</dir>
<dir>/usr/share/fonts</dir>
<dir>/usr/local/share/fonts</dir>
<dir prefix="xdg">fonts</dir>
<cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def library(name):
    for folder in (f"{SYSROOT}/lib/{TRIPLET}", f"{SYSROOT}/usr/lib/{TRIPLET}", f"{SYSROOT}/lib", f"{SYSROOT}/lib64"):
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    raise SystemExit(f"release: {name} is not installed")


def needed(program, found):
    """Adds what the loader will look for: the libraries of a program or a library, theirs, and the loader itself."""
    text = run("readelf", "-W", "-d", "-l", program)
    for name in re.findall(r"\(NEEDED\).*\[(.+)\]", text) + [os.path.basename(path) for path in re.findall(r"interpreter: (\S+)\]", text)]:
        path = library(name)
        if path not in found and not SCREEN.match(name):
            found.add(path)
            needed(path, found)


def without_screen(lib):
    """In lib, for each library of the screen that one there needs: a library of that name with what is asked of it."""
    asked = set()
    for path in (f"{lib}/{name}" for name in sorted(os.listdir(lib)) if ".so" in name):
        for name in filter(SCREEN.match, re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-W", "-d", path))):
            asked |= {(name, symbol) for symbol in symbols(path, "--undefined-only") & symbols(library(name), "--defined-only")}
    for name in sorted({name for name, _ in asked}):
        text = "".join(f"void {symbol}(void) {{ __builtin_trap(); }}\n" for _, symbol in sorted(asked) if _ == name)
        subprocess.run([f"{CROSS}gcc", "-shared", "-nostdlib", "-fPIC", "-Os", "-Wl,--build-id=none", f"-Wl,-soname,{name}", "-xc", "-",
                        "-o", f"{lib}/{name}"], input=text, check=True, text=True)


def symbols(path, which):
    return set(re.findall(r"^\S* *\w (\w+)", run(f"{CROSS}nm", "-D", which, path), re.M))


def is_elf(path):
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


def strip(out):
    for folder, _, files in os.walk(out):
        for path in (os.path.join(folder, name) for name in files):
            if path.endswith(".a"):
                run(f"{CROSS}strip", "-D", "--strip-debug", path)
            elif not os.path.islink(path) and is_elf(path):
                run(f"{CROSS}strip", "-s", path)


def bundle(build, out, helpers):
    """The helpers that need libraries go to lib/, and the program that starts them takes their place. Returns what was copied."""
    home = f"{out}/libexec/sonde"
    os.makedirs(f"{home}/lib/fonts")
    shutil.copy2(f"{build}/start", f"{home}/sonde-start")
    copied = set()
    for name in (f"sonde-{helper}" for helper in helpers):
        shutil.move(f"{home}/{name}", f"{home}/lib/{name}")
        os.symlink("sonde-start", f"{home}/{name}")
        needed(f"{home}/lib/{name}", copied)
    for path in map(library, ON_DEMAND):
        copied.add(path)
        needed(path, copied)
    for path in copied:
        name = os.path.basename(path)
        shutil.copyfile(path, f"{home}/lib/{'ld.so' if name.startswith('ld-linux') else name}")
    without_screen(f"{home}/lib")
    os.chmod(f"{home}/lib/ld.so", 0o755)
    os.symlink("../sonde-nothing", f"{home}/lib/sonde-nothing") # the benchmark of starts looks for it beside the program
    for path in FONTS:
        shutil.copyfile(path, f"{home}/lib/fonts/{os.path.basename(path)}")
    with open(f"{home}/lib/fonts.conf", "w", encoding="utf-8") as f:
        f.write(FONTS_CONF)
    return sorted(copied) + FONTS


def relocatable(out):
    """Files that name the prefix name it as seen from themselves."""
    for below, prefix in (("lib/pkgconfig/sonde.pc", "${pcfiledir}/../.."),):
        with open(f"{out}/{below}", "r+", encoding="utf-8") as f:
            text = f.read().replace("/opt/sonde", prefix)
            f.seek(0)
            f.truncate()
            f.write(text)
    for kind in ("lua", "tcl"):
        folder = f"{out}/share/sonde/modulefiles/{kind}/sonde"
        for name in os.listdir(folder):
            with open(f"{folder}/{name}", "r+", encoding="utf-8") as f:
                text = f.read()
                f.seek(0)
                f.truncate()
                f.write(from_own_place(kind, text))


def from_own_place(kind, text):
    """A module file lies six folders below the prefix."""
    if kind == "lua":
        return re.sub(r'"/opt/sonde/([^"]*)"', r'pathJoin(myFileName():match("^(.*)/share/sonde/modulefiles/"), "\1")', text)
    where = "[file normalize [file join [file dirname $ModulesCurrentModulefile] ../../../../..]]"
    return re.sub(r"/opt/sonde/(\S+)", rf"{where}/\1", text)


def documents(out, copied, version, epoch):
    share = f"{out}/share"
    folder = f"{share}/doc/sonde"
    shutil.copytree(f"{TOP}/examples", f"{share}/sonde/examples", ignore=shutil.ignore_patterns("*.in", "__pycache__"))
    shutil.copytree(f"{TOP}/docs", f"{folder}/docs")
    for name in ("README.md", "CHANGELOG.md", "LICENSE"):
        shutil.copyfile(f"{TOP}/{name}", f"{folder}/{name}")
    shutil.copyfile(f"{TOP}/LICENSE", f"{out}/LICENSE")
    inside = parts.packages(copied)
    parts.licences(inside, f"{folder}/licences", UPLOT)
    with open(f"{folder}/sbom.spdx.json", "w", encoding="utf-8") as f:
        json.dump(parts.bill(inside, version, UPLOT, TRIPLET.split('-')[0], epoch), f, indent=1)
        f.write("\n")


def main():
    build, staged, out, version, epoch, *helpers = sys.argv[1:]
    shutil.copytree(staged, out, symlinks=True)
    copied = bundle(build, out, helpers)
    strip(out)
    relocatable(out)
    documents(out, copied, version, int(epoch))


if __name__ == "__main__":
    main()
