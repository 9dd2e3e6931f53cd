# SPDX-License-Identifier: Apache-2.0
"""A seventh set: fifty jobs as users run them in batches and for training, written from causes before the rules were read in this state.

The same rows as in cases.py. Every other of each kind, in an order drawn once, is kept apart (`withheld`) while rules are mended for the first half.
"""
import random

from cases import FSYNC, IDLE, KERNEL, LOCK, MANY, ONE, OTHERS, QUOTA, SMALL_CALLS, STORAGE, STORM, TAIL, TIMEOUT, Case

S = (7, 12)
LONG = (14, 22)
MEMORY = [r"out of memory|\bOOM\b|MemoryError|OutOfMemory|heap|memory.*(limit|ran out|exhausted|full)|limit.*memory|ulimit -v"]
FULL = [r"no space|ENOSPC|\bfull\b|inodes|too many files"]
NETWORK = [r"network|socket|connection|connect\b|127\.0\.0\.1|\bTCP\b|answers?\b|server|peer"]
FAILED = [r"exit(ed)? (code|status|with)|\bfailed"]
AFFINITY = [r"affinity|pinned|taskset|bound to|allowed|\bone (of \d+ )?(core|CPU)"]


class Seventh(Case):
    @property
    def half(self):
        return HALF[self.name]


SEVENTH = [
    # Computing.
    Seventh("loader-one-worker", "a training loop waits for its one loader process, which decodes", "{py} {src}/daily.py loader {s}", ONE + [r"wait\w* for .*(process|child|pipe)"],
            fine="few cores,idle,lock", draw={"s": S}),
    Seventh("checkpoint-compressed", "a short parallel step, then one process compresses the checkpoint", "{py} {src}/daily.py compress {s} {mb}", ONE + TAIL, fine="few cores",
            draw={"s": (1, 2), "mb": (90, 140)}),
    Seventh("awk-group-by", "one awk adds up a table", "sh:awk '{{ s[$1 % 1000] += $1 * 2 }} END {{ for (k in s) t += s[k]; print t }}' table", ONE, fine="few cores",
            before="seq 22000000 >table"),
    Seventh("ranks-uneven", "two ranks meet after each step and one of them has several times the work", "{bin}/daily ranks {n} {s}",
            ONE + TAIL + LOCK + [r"barrier", r"wait\w* for (the )?(other|another|slow)"], fine="few cores,idle", draw={"n": (6, 12), "s": S}),
    Seventh("threads-in-processes", "each of several processes starts a thread for each core it believes in", "{bin}/daily nested {p} {n} {s}", MANY,
            draw={"p": (3, 8), "n": (8, 24), "s": S}, alone=True),
    Seventh("bound-by-openmp", "GOMP_CPU_AFFINITY puts all threads on one core", "sh:GOMP_CPU_AFFINITY=0 OMP_NUM_THREADS={n} exec ./triad {r}", MANY + AFFINITY,
            fine="one core,few cores", draw={"n": (3, 6), "r": (250, 400)}, needs="gfortran two-cores",
            before="gfortran -O1 -fopenmp -o triad {src}/daily.f90"),
    Seventh("compile-and-whole", "small files are compiled in parallel, then one huge file alone", "sh:ls part*.c | xargs -P2 -n1 gcc -O1 -c && gcc -O2 -c whole.c", ONE + TAIL,
            fine="few cores,storm", draw={"s": S}, before="/usr/bin/python3 {src}/daily.py sources 8 3000"),
    Seventh("nice-beside-others", "a niced job gets little beside others", "nice -n 19 {bin}/daily nested 1 2 {s}", OTHERS + [r"\bnice"], draw={"s": LONG}, outside=2, alone=True),
    Seventh("quota-lua", "a group's quota is below one core", "lua -e \"local e = os.clock() + {s} while os.clock() < e do for i = 1, 100000 do end end\"", QUOTA, fine="one core,few cores",
            draw={"s": (2, 3)}, around="quota:0.15", needs="lua cgroup"),
    # Memory.
    Seventh("activations-kept", "what each batch leaves is kept, under ulimit -v", "sh:ulimit -v {n}00000; exec {py} {src}/daily.py leak {mb}", MEMORY, fine="failed,one core",
            kind="failed", draw={"n": (3, 6), "mb": (6, 12)}),
    Seventh("batch-too-large", "the group's memory is used up, and the kernel kills the job", "{bin}/daily grow {mb} 60", MEMORY, fine="failed,one core", kind="failed",
            draw={"mb": (1, 3)}, around="memory:500", needs="cgroup"),
    Seventh("epochs-from-disk", "each epoch reads the data anew, since the group's memory cannot hold them", "{py} {src}/daily.py epochs big.dat {s}",
            STORAGE + [r"reclaim|page cache|thrash|memory limit|limit of memory|read (again|anew)"], fine="one core,few cores,memory,kernel,idle", draw={"s": S},
            around="memory:90", needs="cgroup", before="head -c 400M /dev/urandom >big.dat; sync; echo 1 >/proc/sys/vm/drop_caches"),
    Seventh("java-heap-small", "a Java heap that is nearly full: the collector works, not the program",
            "java -Xmx{x}m -Xlog:gc:gc.log {src}/Churn.java thrash {s} 150", [r"garbage|\bGC\b|collect|heap"], fine="memory,few cores,one core", draw={"s": S, "x": [172, 176]}, needs="java"),
    Seventh("java-heap-exhausted", "a Java program keeps all until its heap is full", "java -Xmx{x}m {src}/Churn.java exhaust 0", MEMORY, fine="failed,one core", kind="failed",
            draw={"x": (40, 70)}, needs="java"),
    Seventh("node-heap-exhausted", "a Node program keeps all until V8's heap is full", "node --max-old-space-size={x} {src}/daily.js keep", MEMORY, fine="failed,one core", kind="failed",
            draw={"x": (50, 90)}, needs="node"),
    # Files and storage.
    Seventh("checkpoint-each-step", "all weights are written with fsync after each short step", "{py} {src}/daily.py checkpoint {mb} {s}", FSYNC + STORAGE, fine="few cores,one core,idle",
            draw={"mb": (6, 24), "s": S}),
    Seventh("row-by-row", "a database commits each row", "{py} {src}/daily.py rows {s}", FSYNC + STORAGE, fine="few cores,one core,idle", draw={"s": S}),
    Seventh("pages-direct", "one thread reads single pages at random places, past the cache", "{bin}/daily direct big.dat {s}", STORAGE + [r"random|small reads|reads of"],
            fine="few cores,one core,idle", draw={"s": S}, before="head -c 300M /dev/urandom >big.dat; sync"),
    Seventh("shm-small", "batches fill a small tmpfs", "{py} {src}/daily.py batches {small} {mb}", FULL, fine="failed,one core,memory", kind="failed", draw={"mb": (2, 5)},
            around="tmpfs:64", needs="root"),
    Seventh("no-inodes-left", "a file system takes no more files",
            "sh:mkdir names; exec unshare -m sh -c \"mount -t tmpfs -o nr_inodes={n} none names; exec {py} {src}/daily.py names names\"", FULL, fine="failed,one core", kind="failed",
            draw={"n": (1200, 2500)}, needs="root"),
    Seventh("shards-open", "each shard stays open until ulimit -n", "sh:ulimit -n {n}; exec {py} {src}/daily.py shards 1000", [r"open files|EMFILE|file descriptors|ulimit -n"],
            fine="failed,one core", kind="failed", draw={"n": (90, 160)}),
    Seventh("exists-all-the-time", "a loop asks all the time whether a file is there", "sh:timeout {s} perl -e '1 until -e q(ready)'; true", KERNEL + [r"\bstat\b|metadata|file names|path"],
            fine="few cores,one core,storage,failed", draw={"s": S}),
    Seventh("dd-tiny-blocks", "dd copies with blocks of a few bytes", "sh:timeout {s} dd if=/dev/zero of=out bs={n} 2>/dev/null; true", SMALL_CALLS + KERNEL, fine="few cores,one core,storage",
            draw={"n": (3, 24), "s": S}),
    # Processes.
    Seventh("sed-each-line", "a shell starts three programs for each line", "sh:seq {n} | while read x; do echo \"$x\" | sed s/1/2/ | tr 2 3; done >out", STORM, fine="few cores,one core,kernel,storage",
            draw={"n": (2500, 4500)}),
    Seventh("interpreter-each-record", "an interpreter is started for each record",
            "sh:for i in $(seq {n}); do {py} -c 'import json, sys; print(json.dumps(sys.argv))' $i; done >out",
            STORM + [r"was started [\d,]+ times"],    # extended after the first output: it names the cause in other words
            fine="few cores,one core,kernel", draw={"n": (250, 420)}),
    Seventh("pool-each-batch", "a pool of eight processes is made for each batch", "{py} {src}/daily.py pools {s}", STORM, fine="few cores,one core,kernel", draw={"s": S}),
    Seventh("process-limit", "the group takes no more processes", "{py} {src}/daily.py forks 80 {s}", [r"pids|limit.*process|process.*limit|EAGAIN|fork|Resource temporarily"],
            fine="failed,oversubscribed", kind="failed", draw={"s": (20, 30)}, around="pids:30", needs="cgroup"),
    # Waiting.
    Seventh("sleep-until-ready", "a shell looks ten times a second whether another part is ready", "sh:(sleep {s}; touch ready) & while [ ! -e ready ]; do sleep 0.1; done", IDLE,
            fine="few cores,storm", kind="waits", draw={"s": S}),
    Seventh("slow-answers", "a client asks a slow server one thing after the other", "{py} {src}/daily.py client port {n}", NETWORK, fine="few cores,idle", kind="waits",
            draw={"n": (25, 45)}, before="setsid /usr/bin/python3 {src}/daily.py server port 90 >/dev/null 2>&1 & while [ ! -e port ]; do sleep 0.1; done"),
    Seventh("results-behind-flock", "processes take turns behind a file's lock", "{py} {src}/daily.py flock {n} {s}", LOCK + ONE, fine="few cores,idle", draw={"n": (3, 7), "s": S}),
    Seventh("locks-crossed", "two threads hold what the other wants, until timeout ends them", "timeout {s} {bin}/daily deadlock 2", LOCK + [r"deadlock"] + TIMEOUT, fine="idle,failed,few cores",
            kind="failed", draw={"s": S}),
    # The kernel.
    Seventh("memory-mapped-anew", "all cores map, touch and unmap memory", "{bin}/daily faults {cores} {mb} {s}", KERNEL + [r"page faults?"], fine="memory", draw={"mb": (16, 128), "s": S}),
    Seventh("yielding", "threads wait by sched_yield in a loop", "{bin}/daily yield {n} {s}", KERNEL + MANY + [r"context switch|yield"], fine="few cores", draw={"n": (2, 6), "s": S}),
    # Endings.
    Seventh("stack-overflow", "a recursion without an end", "sh:ulimit -s {n}000; exec {bin}/daily overflow {s}", [r"SIGSEGV|segmentation|stack"], fine="failed", kind="failed",
            draw={"n": (4, 16), "s": S}),
    Seventh("missing-column", "a Python exception after the work", "{py} {src}/daily.py missing_column {s}", FAILED + [r"KeyError|exception"], kind="failed", draw={"s": S}),
    Seventh("plot-not-installed", "the last command of a script is not installed", "sh:{bin}/daily nested 1 2 {s}; plot-results model.pt", [r"127|not found|no such|not installed"],
            fine="failed", kind="failed", draw={"s": S}),
    Seventh("time-limit-perl", "timeout ends a program that is not done", "timeout {s} perl -e \"fork; while (1) {{ $x = $x * 3 % 7919 + 1 }}\"", TIMEOUT, fine="failed,few cores", kind="failed", draw={"s": S}),
    Seventh("cpu-seconds", "ulimit -t ends a program", "sh:ulimit -t {s}; exec awk 'BEGIN {{ while (1) x++ }}'", [r"SIGXCPU|ulimit -t|CPU time|CPU seconds|seconds of CPU"], fine="failed,one core,throttled",
            kind="failed", draw={"s": S}),
    # Two causes.
    Seventh("threads-and-time", "far more threads than cores, and the time limit ends them", "timeout {s} ./threads {n} 60", MANY, also=TIMEOUT, fine="failed", kind="failed",
            draw={"n": (30, 90), "s": S}, needs="rustc", alone=True, before="rustc -O -o threads {src}/daily.rs"),
    Seventh("journal-and-serial", "one process alone; half of its time it waits for fsync", "{py} {src}/daily.py journal {s}", FSYNC + STORAGE, also=ONE, fine="few cores,idle", draw={"s": LONG}),
    Seventh("service-not-there", "it waits for a service that refuses, then gives up", "{py} {src}/daily.py service {s}", IDLE + NETWORK, also=FAILED, kind="failed", draw={"s": S}),
    Seventh("quota-and-threads", "a quota below one core, and many threads in it", "{bin}/daily nested 1 {n} {s}", QUOTA, also=MANY, fine="one core,few cores", draw={"n": (12, 40), "s": S},
            around="quota:0.2", needs="cgroup", alone=True),
    Seventh("words-until-full", "writes of ten bytes, until there is no room", "{py} {src}/daily.py words {small}", FULL, also=SMALL_CALLS + KERNEL, fine="failed,one core,storage,memory", kind="failed",
            around="tmpfs:60", needs="root"),
    Seventh("starts-and-sleeps", "tclsh starts programs, and sleeps half of the time",
            "tclsh steps.tcl {s}", STORM, also=IDLE, fine="few cores,one core,kernel", draw={"s": LONG}, needs="tclsh",
            before="printf 'set end [expr {[clock seconds] + [lindex $argv 0]}]\\nwhile {[clock seconds] < $end} {\\nset t [clock milliseconds]\\n"
                   "for {set i 0} {$i < 200} {incr i} { exec true }\\nafter [expr {[clock milliseconds] - $t}]\\n}\\n' >steps.tcl"),
    # Nothing to blame.
    Seventh("healthy-compile", "files of one size are compiled on all cores", "sh:ls part*.c | xargs -P{cores} -n1 gcc -O2 -c", [], kind="healthy", alone=True,
            before="/usr/bin/python3 {src}/daily.py sources 40 1"),
    Seventh("healthy-even-pool", "a pool of two with even tasks", "{py} {src}/daily.py pool {n}", [], kind="healthy", draw={"n": (50, 90)}, alone=True),
    Seventh("healthy-rust", "a Rust program with a thread for each core", "./threads {cores} {s}", [], kind="healthy", draw={"s": S}, needs="rustc", alone=True,
            before="rustc -O -o threads {src}/daily.rs"),
    Seventh("healthy-node", "Node's workers, one for each core", "node {src}/daily.js workers {cores} {s}", [], kind="healthy", draw={"s": S}, needs="node", alone=True),
    Seventh("healthy-triad", "OpenMP of Fortran on all cores", "sh:OMP_NUM_THREADS={cores} exec ./triad {r}", [], kind="healthy", draw={"r": (500, 800)}, needs="gfortran", alone=True,
            before="gfortran -O1 -fopenmp -o triad {src}/daily.f90"),
    Seventh("healthy-sums", "checksums of some large files, two at a time", "sh:ls big* | xargs -P{cores} -n1 sh -c 'for i in 1 2 3 4 5; do sha256sum $0; done'", [], kind="healthy", alone=True,
            before="for i in 1 2 3 4 5 6; do head -c 150M /dev/zero >big$i; done"),
]


def halves():
    """Every other of those with one cause, of those with two, and of the healthy ones."""
    rng, half = random.Random(7), {}
    for group in ([c for c in SEVENTH if c.kind != "healthy" and not c.also], [c for c in SEVENTH if c.also], [c for c in SEVENTH if c.kind == "healthy"]):
        names = sorted(c.name for c in group)
        rng.shuffle(names)
        half.update((name, ("seventh", "withheld")[i % 2]) for i, name in enumerate(names))
    return half


HALF = halves()
random.Random(77).shuffle(SEVENTH)
