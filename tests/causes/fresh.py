# SPDX-License-Identifier: Apache-2.0
"""More jobs whose true cause is known, in other languages and sizes. They were written when the rules were mended, and judged before anything
was mended for them: what these score is what a job that nobody thought of may expect."""
from dataclasses import dataclass

from cases import Case


@dataclass
class Fresh(Case):
    @property
    def half(self):
        return "fresh"


FRESH = [
    Fresh("perl-children", "Perl forks ten times as many computing children as there are cores",
          "perl {src}/fresh.pl children {n} {s}", [r"oversubscri|too many (threads|processes|workers)|more (\w+ )?(threads|processes|tasks|workers).* than .*cores?",
                                                   r"\d+ .*(threads|processes|tasks).*\b(on|for|shared?)\b.*\bcores?\b"], draw={"n": (20, 30), "s": (5, 7)}, alone=True),
    Fresh("open-files-of-script", "the script's ulimit -n is reached by Python after some seconds",
          "sh:ulimit -n {n}; exec {py} {src}/fresh.py files {s}", [r"open files|ulimit -n|file descriptors"], fine="failed,one core,idle",
          kind="failed", draw={"n": (64, 200), "s": (3, 5)}),
    Fresh("java-heap", "Java's heap (-Xmx) is full: OutOfMemoryError", "java -Xmx{mb}m {src}/Fill.java {s}", [r"\bheap\b|OutOfMemory"],
          fine="failed,one core,memory", kind="failed", draw={"mb": (96, 160), "s": (3, 4)}, needs="java"),
    Fresh("node-tiny-files", "Node creates, looks up and deletes tiny files one by one", "node {src}/fresh.js files {s}",
          [r"(create|look|delete|stat|unlink|small|many|tiny).*files?|files?.*(create|look|delete|stat|unlink)", r"(system|kernel).*(time|calls?)|in the kernel"],
          fine="one core,few cores,storage", draw={"s": (5, 7)}, needs="node"),
    Fresh("awk-serial", "one awk computes alone", "sh:timeout {s} awk 'BEGIN {{ for (;;) x = sin(x) + 1 }}'; true",
          [r"\b(one|1|single) (of (the |its )?\d+ )?(cores?|CPUs?)\b|single.(core|thread)|(not|nothing|hardly anything) (ran |run )?in parallel|serial"], fine="few cores",
          draw={"s": (5, 7)}),
    Fresh("bash-expr", "a Bash loop calls expr for every number", "bash -c 'end=$((SECONDS+{s})); i=0; while [ $SECONDS -lt $end ]; do i=$(expr $i + 1); done'",
          [r"short(-lived)? processes|process storm|processes (were )?started|starting (\w+ )?process"], fine="one core,few cores,kernel", draw={"s": (5, 7)}),
    Fresh("sqlite-commits", "SQLite commits every row to disk", "{py} {src}/fresh.py commits rows.db {s}",
          [r"fsync|flush|\bsync\w*", r"(storage|disk).*(wait|slow|latency|busy)|wait\w* (for|on) (the )?(storage|disk|I/O)"],
          fine="idle,few cores,one core,storage,kernel", draw={"s": (5, 7)}),
    Fresh("server-is-silent", "an HTTP server accepts and never answers, until timeout", "timeout {s} {py} {src}/fresh.py ask",
          [r"network|socket|connection"], [r"time ?out|timed out"], fine="failed,idle,few cores", kind="waits", draw={"s": (5, 7)}),
    Fresh("perl-segfault-in-pipe", "the first stage of a pipe crashes, and the shell says only that it failed",
          "bash -c 'set -o pipefail; perl {src}/fresh.pl crash {s} | cat >/dev/null'", [r"SIGSEGV|segmentation|segfault"],
          fine="failed,one core", kind="failed", draw={"s": (3, 5)}),
    Fresh("compile-one-by-one", "make compiles independent files without -j", "sh:CCACHE_DISABLE=1 exec make -f {src}/compile.mk FILES={n} -j1",
          [r"\b(one|1|single) (of (the |its )?\d+ )?(cores?|CPUs?)\b|single.(core|thread)|(not|nothing|hardly anything) (ran |run )?in parallel|serial"],
          fine="few cores", draw={"n": (6, 9)}),
    Fresh("healthy-node-workers", "worker threads of Node, as many as cores", "node {src}/fresh.js workers {cores} {s}", [], kind="healthy",
          draw={"s": (5, 7)}, needs="node", alone=True),
    Fresh("healthy-checksums", "two checksums of cached files, side by side", "sh:for i in 1 2; do sha512sum zeros & sha512sum zeros; wait; done >/dev/null", [],
          kind="healthy", alone=True),
]
