# SPDX-License-Identifier: Apache-2.0
"""oldlibc.py CC OUT: the C library that programs of a release are linked with: glibc as its version 2.17 was, or musl 1.2.0. Writes stand-ins for
libc, libm, libpthread, libdl and the loader to OUT that have no code: each symbol of CC's own C library, in its newest version that is old enough, and no other symbols."""
import os
import re
import subprocess
import sys

OLDEST = (2, 17)
# musl's symbols have no versions. What came after 1.2.0:
LATER = {"_Fork", "gettid", "preadv2", "pthread_getname_np", "pwritev2", "qsort_r", "reallocarray", "renameat2", "statx"}


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def number(version):
    found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in found.groups()) if found else (9,)


def symbols(library, pattern):
    """Of a library: (name, version, how the assembler declares it)."""
    for size, kind, name, version in re.findall(rf" (\d+) (FUNC|OBJECT|IFUNC|NOTYPE) .* (\w+){pattern}$", run("readelf", "--dyn-syms", "-W", library), re.M):
        yield name, version, f".type {name}, %{'object' if kind == 'OBJECT' else 'function'}\n.size {name}, {size}\n"


def glibc(library):
    newest = {}
    for name, version, declared in symbols(library, r"@@?(GLIBC_[\d.]+)"):
        if number(version)[:2] <= OLDEST and number(version) > number(newest.get(name, ("GLIBC_0.0",))[0]):
            newest[name] = version, declared
    return newest


def musl(library):
    return {name: (version, declared) for name, version, declared in symbols(library, "()") if name not in LATER}


def write(cc, out, place, soname, found):
    source, script = f"{out}/{place}.s", f"{out}/{place}.map"
    with open(source, "w", encoding="ascii") as f:
        f.write(".text\n" + "".join(f".globl {name}\n{found[name][1]}{name}: .byte 0\n" for name in sorted(found)))
    with open(script, "w", encoding="ascii") as f:
        for version in sorted({version for version, _ in found.values()}, key=number):
            names = " ".join(f"{name};" for name in sorted(found) if found[name][0] == version)
            f.write(f"{version} {{ global: {names} }};\n")
    run(*cc, "-shared", "-nostdlib", f"-Wl,-soname,{soname},--version-script,{script}", "-o", f"{out}/{place}.so", source)


def main():
    cc, out = sys.argv[1].split(), sys.argv[2]
    os.makedirs(out, exist_ok=True)

    def own(name):
        return run(*cc, "-print-file-name=" + name).strip()

    if "musl" in sys.argv[1]:
        library = re.search(r"^(/.*/libc\.so)$", run(*cc, "-shared", "-Wl,--trace", "-x", "c", "/dev/null", "-o", f"{out}/empty"), re.M)[1]
        machine = "aarch64" if "AArch64" in run("readelf", "-h", library) else "x86_64"
        write(cc, out, "libc", f"libc.musl-{machine}.so.1", musl(library))
        return
    loader = next(name for name in ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1") if "/" in own(name)) # it has aarch64's __stack_chk_guard
    write(cc, out, "libloader", loader, glibc(own(loader)))
    libc = glibc(own("libc.so.6"))
    threads = {name for name in libc if re.match(r"(__)?pthread_|sem_", name)} # where 2.17 has them
    loading = libc.keys() & {"dladdr", "dlclose", "dlerror", "dlopen", "dlsym"}
    write(cc, out, "libpthread", "libpthread.so.0", {name: libc[name] for name in threads})
    write(cc, out, "libdl", "libdl.so.2", {name: libc[name] for name in loading})
    write(cc, out, "libc", "libc.so.6", {name: libc[name] for name in libc.keys() - threads - loading})
    write(cc, out, "libm", "libm.so.6", glibc(own("libm.so.6")))


if __name__ == "__main__":
    main()
