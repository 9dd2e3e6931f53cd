# SPDX-License-Identifier: Apache-2.0
"""Jobs on which verdicts were known to be silent or wrong, written by who then mended the rules: they show that a gap is closed, and are no measure of how good verdicts are."""
from dataclasses import dataclass

from cases import OTHERS, S, Case


@dataclass
class Gap(Case):
    @property
    def half(self):
        return "gaps"


GAPS = [
    Gap("short-steps-beside-others", "make runs very many short commands while others have the cores", "make -s -j{cores} -f {src}/short.mk STEPS={n}", OTHERS, fine="kernel,storm,one core",
         draw={"n": (60, 100)}, outside=3, alone=True),
    Gap("gil-on-a-full-machine", "Python threads hold the interpreter's lock in turn, and others have nearly all of the cores", "{py} {src}/jobs.py gil {n} {s}", [r"\bGIL\b|\block\b"],
         fine="few cores,one core", draw={"n": (4, 8), "s": (18, 24)}, outside=10, alone=True),
    Gap("go-mutex-on-a-full-machine", "goroutines share a map behind one lock, and others have nearly all of the cores", "./go words {n}", [r"\blocks?\b|mutex"],
         fine="few cores,one core", draw={"n": (900, 1200)}, outside=10, alone=True, needs="go", before="go build -o go {src}/eleventh.go"),
    Gap("fine-ranks-beside-many-others", "two even ranks of MPI wait for each other's turn on cores that others have",
         "mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 ./ranks even {n}", OTHERS, fine="few cores", draw={"n": (40, 60)}, outside=10, alone=True,
         needs="mpicc.openmpi mpirun.openmpi", before="mpicc.openmpi -O2 -o ranks {src}/ninth_mpi.c", wrong=[r"communication-bound|fewer and larger messages"]),
    Gap("script-goes-on-after-crash", "a step of a script crashes, the script goes on and ends well",
         "sh:for i in 1 2 3 4 5 6; do {py} -c 'import os, sys, time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass\nif sys.argv[1] == \"{n}\": os.abort()' $i; done; true",
         [r"SIGABRT|abort|crash"], fine="failed,one core,few cores", draw={"n": (2, 5)}),
    Gap("rust-debug-build", "a Rust program was built without optimization", "./debug {s}", [r"optimi[sz]|--release|debug build|-O\b"], fine="one core,few cores", draw={"s": S}, needs="rustc",
         before="rustc -g -o debug {src}/debug.rs"),
    Gap("loop-starts-python-with-imports", "a loop starts Python for each item, which imports more than it works",
         "sh:for i in $(seq {n}); do {py} -c 'import asyncio, decimal, email.mime.text, http.client, json, logging.handlers, sqlite3, unittest, xml.dom.minidom; print(sum(range(10000)))'; done >out",
         [r"\b\d+ times\b|start(s|ed|ing)?\b.*(python|interpreter|process)|import"], fine="one core,few cores,storm", draw={"n": (40, 60)}),
    Gap("make-compiles-one-by-one", "make compiles one file after another on idle cores", "make -s -f {src}/compile.mk FILES={n}", [r"\bmake -j"], fine="one core,few cores", draw={"n": (12, 16)}, alone=True,
         before="for i in $(seq 16); do for k in $(seq 150); do echo \"int f$k(int a, int b) { for (int i = 0; i < b; i++) a = a * $k ^ (i % ($k + 7)) / 3; return a; }\"; done >part$i.c; done"),
]
