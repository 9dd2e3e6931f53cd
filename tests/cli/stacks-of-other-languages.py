# SPDX-License-Identifier: Apache-2.0
"""Programs in C++, Rust, Go and Fortran, built with optimization and without frame pointers: each of five parts has the share of samples that it has of
the time by the program's own clock, and stacks reach their outermost frame. Languages of which the compiler is missing are named."""
# limit: 300
import os
import pwd
import shutil
import subprocess
import sys

from stacks import Stacks

SONDE, TOP, BUILD = (os.environ[name] for name in ("SONDE", "TOP", "BUILD"))
PARTS = TOP + "/tests/programs/parts/parts"
SECONDS = os.environ.get("LONG") and "20" or "4"
if not os.access(BUILD + "/libexec/sonde/sonde-unwind", os.X_OK):
    print("the helper sonde-unwind was not built")
    sys.exit(77)
HOME = pwd.getpwuid(os.getuid()).pw_dir  # where compilers have their own files
PLACES = os.pathsep.join([os.environ["PATH"], HOME + "/.cargo/bin", "/usr/local/go/bin"])
COMPILERS = {
    "cc": ["c++", "-O2", "-fomit-frame-pointer", "-o"],
    "rs": ["rustc", "-O", "-C", "force-frame-pointers=no", "-o"],
    "go": ["go", "build", "-o"],
    "f90": ["gfortran", "-O2", "-fno-inline", "-fomit-frame-pointer", "-o"],
}


def record(name):
    subprocess.run([SONDE, "run", "--stacks=199", "-q", "-o", name, "--", "./parts-" + name, SECONDS], check=True, stdout=open(name + ".out", "w"), timeout=120)
    found = Stacks(name)
    if "forbidden" in str(found.metadata.get("source.stacks")):
        print(found.metadata["source.stacks"])
        sys.exit(77)
    return found


missing = []
for language, (compiler, *options) in COMPILERS.items():
    compiler = shutil.which(compiler, path=PLACES)
    if not compiler:
        missing.append(language)
        continue
    subprocess.run([compiler, *options, "parts-" + language, f"{PARTS}.{language}"], check=True, env={**os.environ, "HOME": HOME})
    seen = record(language)
    parts = {name: float(seconds) for name, seconds in map(str.split, open(language + ".out"))}
    whole = sum(s.weight for s in seen.samples if not seen.path(s.node)[0].startswith("(")) / seen.total()
    print(f"{language}: {seen.total()} samples, {100 * whole:.1f} % whole")
    for name, seconds in parts.items():
        wanted, share = seconds / sum(parts.values()), seen.share(name)
        print(f"    {name} {100 * wanted:.2f} % {100 * share:.2f} %")
        assert abs(wanted - share) <= 0.02, (language, name, wanted, share)
    assert whole >= 0.98, (language, seen.ends())
if missing:
    print("no compiler for", ", ".join(missing))
    sys.exit(77)
