# SPDX-License-Identifier: Apache-2.0
"""An eighth set: fifty jobs whose causes were written down by one who had read neither the rules nor the documents of the verdicts, only an earlier set and its runner.

The same rows as in cases.py, and two things more: `falsely` says in a sentence what a verdict would have to say to be false, and `{cores}`, as elsewhere, is what the
machine has. No row needs root: file systems of their own are mounted in a user namespace. Programs are in programs/eighth.* and Eighth.java.
Every other of each kind, in an order drawn once, is kept apart (`spared`) while rules are mended for the first half.
"""
import random
from dataclasses import dataclass

from cases import FSYNC, IDLE, KERNEL, LOCK, MANY, ONE, SMALL_CALLS, STORAGE, STORM, TAIL, TIMEOUT, Case

S = (7, 12)
MEMORY = [r"out of memory|\bOOM\b|bad_alloc|heap (is|was) (full|exhausted)|memory.*(limit|ran out|exhausted|full)|(limit|ran out).*memory|address space|ulimit -v"]
GROWS = [r"memory.*(gr[eo]w|rose|rising|increas|climb)|(gr[eo]w|rose|rising|increas|climb)\w*.*memory|\bleak"]
FULL = [r"no space|ENOSPC|out of (disk )?space|(disk|device|file system|tmpfs|directory).*\bfull|\bfull\b.*(disk|device|file system|tmpfs)"]
NETWORK = [r"network|socket|connection|connect\b|127\.0\.0\.1|\bTCP\b|loopback|answers?\b|server|peer|round trip"]
LATE = [r"Nagle|delayed ack|\b4\d ms"]
FAILED = [r"exit(ed)? (code|status|with)|\bfailed"]
AFFINITY = [r"affinity|pinned|taskset|bound to|\bbind|allowed|\bone (of (the )?\d+ )?(core|CPU)"]
FAULTS = [r"page faults?|fault(s|ed)? in|fresh (pages|memory)|memory.*(mapped|given back|from the kernel)"]
ANEW = [r"read.*(again|anew|repeated|times)|same file|re-?read"]
STARTS = STORM + [r"(started|ran|run) [\d,]+ times|[\d,]+ (starts|runs|times)"]


@dataclass
class Eighth(Case):
    falsely: str = ""

    @property
    def half(self):
        return HALF[self.name]


WORK = "{bin}/eighth stencil {s}"

EIGHTH = [
    # The network of one machine.
    Eighth("head-and-body-apart", "each request is two small writes without TCP_NODELAY, so the second waits some 40 ms for a delayed acknowledgement",
           "{py} {src}/eighth.py nagle {s}", NETWORK + LATE, fine="few cores,idle,network", kind="waits", draw={"s": S}, falsely="slow computing, storage, a lock; too few cores"),
    Eighth("connection-for-each-request", "a connection over loopback is made and dropped for each small request", "{py} {src}/eighth.py connections {s}",
           NETWORK + KERNEL, fine="few cores,one core,idle,kernel", draw={"s": S}, falsely="storage, memory, process starts, too many processes"),
    Eighth("datagram-for-each-number", "each number is sent as a datagram of eight bytes", "{bin}/eighth datagrams {s}", KERNEL + NETWORK + SMALL_CALLS + [r"datagram|\bUDP|small messages?"],
           fine="few cores,one core,kernel", draw={"s": S}, falsely="storage, process starts; that both processes compute well"),
    Eighth("counters-in-a-manager", "workers count in a dictionary of a manager process, and each count waits for its answer", "{py} {src}/eighth.py manager {n} {s}",
           NETWORK + SMALL_CALLS + [r"wait\w* (for|on) .*(process|child|worker|pipe|another)|context switch|one (process|thread).*(busy|most|serves)|bottleneck"],
           fine="few cores,one core,kernel,idle,lock,oversubscribed", draw={"n": (4, 6), "s": S}, falsely="storage, memory, process starts, a quota"),

    # Pipes, small pieces, files.
    Eighth("prints-unbuffered", "python -u prints each short number at once into a pipe", "sh:{py} -u {src}/eighth.py lines {s} | cat >out", SMALL_CALLS + KERNEL + [r"unbuffered|short (lines|writes)|bytes? (each|at a time)"],
           fine="few cores,one core,kernel", draw={"s": S}, falsely="slow storage, waiting for the disk, process starts"),
    Eighth("line-by-sed", "sed reads the whole table anew for each line that is wanted", "sh:for i in $(seq {n}); do sed -n \"$((i * 70001 % 4000000))p\" table; done >out",
           ANEW + STARTS + ONE, fine="few cores,kernel", draw={"n": (70, 110)}, before="seq 4000000 >table", falsely="slow storage (the table is cached), memory, too many processes at once"),
    Eighth("snapshots-of-links", "a tree of 4000 files is hard-linked and removed again and again", "sh:timeout {s} sh -c 'while :; do cp -al tree snap; rm -rf snap; done'; true",
           KERNEL + [r"metadata|hard links?|\blinks?\b|unlink|director|(creat|remov|delet)\w*.*files?|files?.*(creat|remov|delet)"], fine="few cores,one core,kernel,storage,failed", draw={"s": S},
           before="for d in $(seq 40); do mkdir -p tree/$d; for f in $(seq 100); do echo $f >tree/$d/$f; done; done", falsely="computing on one core as the only cause, memory, process starts"),
    Eighth("journal-of-node", "Node forces each entry of a journal to storage", "node {src}/eighth.js synced {s}", FSYNC + STORAGE, fine="few cores,one core,idle,storage", draw={"s": S}, needs="node",
           falsely="Node's loop or garbage, memory, the network"),
    Eighth("buffer-for-each-step", "Python gets a fresh buffer in each step and gives it back", "{py} {src}/eighth.py buffers {mb} {s}", FAULTS + KERNEL, fine="few cores,one core,kernel", draw={"mb": (48, 200), "s": S},
           falsely="a leak or too little memory, swap, storage"),
    Eighth("barrier-by-signals", "a write barrier: each page is protected, and the first write to it raises a signal", "{bin}/eighth barrier {s}", KERNEL + [r"page faults?|SIGSEGV|signals?\b|mprotect|protect"],
           fine="few cores,one core,kernel", draw={"s": S}, falsely="that the job crashed or failed, storage, a leak"),

    # Many processes.
    Eighth("backticks-for-each-record", "Perl starts a program for each record and reads its line", "perl -e 'my $e = time + {s}; my $n = 0; while (time < $e) {{ $n += length `uname -n` }} print $n'", STARTS,
           fine="few cores,one core,kernel,idle", draw={"s": S}, falsely="slow storage, memory, sleep"),
    Eighth("targets-of-next-to-nothing", "make starts a shell for each of thousands of tiny targets", "make -f {src}/eighth.mk -s -j{cores} N={n}", STARTS, fine="few cores,one core,kernel,storage,oversubscribed",
           draw={"n": (9000, 12000)}, needs="make", falsely="uneven tasks, too many compilers, memory"),
    Eighth("left-under-strace", "the program runs under strace, which stops it at each system call", "sh:timeout {s} strace -f -o trace perl -e '1 until -e q(ready)'; true",
           KERNEL + [r"strace|ptrace|traced?\b|context switch|system calls"], fine="few cores,one core,kernel,storage,failed,idle", draw={"s": S}, needs="strace", falsely="storage as the cause, memory, locks"),

    # Threads and cores.
    Eighth("xz-of-a-larger-machine", "xz is told to use far more threads than there are cores", "sh:seq {n}000000 | xz -T{t} --block-size=1MiB -4 >out.xz", MANY, draw={"n": (11, 15), "t": (14, 24)},
           alone=True, falsely="one core, storage, a slow producer in front of the pipe"),
    Eighth("pool-of-libuv-too-large", "UV_THREADPOOL_SIZE is far above the cores", "sh:UV_THREADPOOL_SIZE={n} exec node {src}/eighth.js derive {n} {s}", MANY, draw={"n": (24, 80), "s": S}, needs="node", alone=True,
           falsely="one core, Node's single loop, locks, memory"),
    Eighth("binding-is-inherited", "the parent binds itself to a core, and its workers inherit that", "{py} {src}/eighth.py bound {n} {s}", MANY + AFFINITY, fine="one core,few cores", draw={"n": (2, 5), "s": S},
           needs="two-cores", falsely="that other jobs took the cores, a lock, the interpreter's lock"),
    Eighth("one-arena-for-all", "all threads get their memory from one arena and meet at its lock", "sh:MALLOC_ARENA_MAX=1 exec {bin}/eighth arena {n} {s}", LOCK, fine="few cores,kernel,oversubscribed,idle",
           draw={"n": (3, 6), "s": S}, falsely="a leak or too little memory, storage, uneven work"),
    Eighth("chunk-of-all-long-tasks", "the chunk size gives all long tasks to one of two workers", "{py} {src}/eighth.py chunks {s}", TAIL + ONE, fine="few cores,idle", draw={"s": S},
           falsely="a lock, storage, too many processes"),
    Eighth("turn-is-a-directory", "workers of the shell take turns: a directory is the lock, and each looks again after 0.1 s", "sh {src}/eighth.sh {n} {s}", LOCK + ONE + [r"turns?\b"], fine="few cores,idle,storm",
           draw={"n": (3, 5), "s": S}, falsely="storage, too many processes for the cores, memory"),

    # One core.
    Eighth("built-for-debugging", "a model built with -O0 and the address sanitizer, with one thread", "./model stencil {s}", ONE + [r"sanitizer|debug|unoptimi[sz]ed|-O0"], fine="few cores", draw={"s": S},
           before="gcc -O0 -g -fsanitize=address,undefined -pthread -fopenmp -D_GNU_SOURCE -o model {src}/eighth.c", falsely="memory, page faults, the kernel, locks"),
    Eighth("lua-joins-strings", "Lua joins a string by a number at a time, so all of it is copied each time, into memory that is fresh from the kernel for about half of the time", "lua -e \"local s, e, i = '', os.time() + {s}, 0 while os.time() < e do i = i + 1; s = s .. i .. ',' if #s > 90000 then s = '' end end print(#s)\"",
           ONE + FAULTS + KERNEL + [r"garbage|copie|copying|concat"], fine="few cores,memory,kernel", draw={"s": S}, needs="lua", falsely="a leak or too little memory, storage, a lock"),
    Eighth("collects-after-each-item", "Python is asked for a full collection after each item", "{py} {src}/eighth.py collects {s}", ONE + [r"garbage|\bGC\b|collect"], fine="few cores", draw={"s": S},
           falsely="a leak or too little memory, swap, storage"),
    Eighth("rows-in-the-interpreter", "the csv module reads a table row by row in one process", "{py} {src}/eighth.py table {s}", ONE, fine="few cores", draw={"s": S},
           before="seq 400000 | awk 'BEGIN {{ print \"a,b,c\" }} {{ print $1 \",\" $1 / 7 \",\" $1 % 11 }}' >table.csv".replace("{{", "{").replace("}}", "}"), falsely="storage (the table is cached), small reads, memory"),

    # Memory, waiting.
    Eighth("awk-keeps-all-keys", "awk keeps each line of a long table as a key", "sh:seq {n}000000 | awk '{{ seen[\"row \" $1 \" of the table\"]++ }} END {{ print length(seen) }}'", GROWS, fine="few cores,one core,memory",
           draw={"n": (4, 5)}, falsely="storage, small reads, too many processes, swap"),
    Eighth("asks-each-millisecond", "a script looks each millisecond for a file that another part makes late", "sh:(sleep {s}; touch ready) & exec perl -e 'select undef, undef, undef, 0.001 until -e q(ready)'", IDLE,
           fine="few cores", kind="waits", draw={"s": S}, falsely="storage, file names as the cause, one core computing"),

    # Endings.
    Eighth("own-tmpfs-is-full", "compressed parts fill the job's own small tmpfs",
           "sh:mkdir small; exec unshare -rm sh -c \"mount -t tmpfs -o size={n}m none small; set -e; i=0; while [ \\$i -lt 400 ]; do i=\\$((i + 1)); head -c 2M /dev/urandom | gzip -1 >small/part\\$i; done\"",
           FULL, fine="failed,one core,few cores,storm,kernel,memory", kind="failed", draw={"n": (240, 300)}, falsely="a memory limit, a slow disk, a signal"),
    Eighth("sort-past-the-limit-of-a-file", "sort's result is larger than ulimit -f allows", "sh:ulimit -f {n}000; seq {m}000000 | LC_ALL=C sort --parallel=1 -S 20M -T . -g -r -o out", [r"XFSZ|file.?size|size of (a |the )?file|ulimit -f|file too large|EFBIG"],
           fine="failed,one core,few cores,full,storage", kind="failed", draw={"n": (40, 60), "m": (7, 9)}, falsely="a full disk, memory, a time limit"),
    Eighth("states-until-bad-alloc", "a C++ program keeps every state, until ulimit -v", "sh:ulimit -v {n}00000; exec ./grow keep", MEMORY, fine="failed,one core,few cores,memory", kind="failed", draw={"n": (8, 12)},
           before="g++ -O1 -pthread -o grow {src}/eighth.cpp", falsely="a crash by a bad pointer, the kernel's OOM killer, a time limit"),
    Eighth("database-of-parameters-missing", "after the work, the database of parameters is not there", "sh:" + WORK + " && sqlite3 -readonly params.db 'select * from runs'", [r"no such|not (found|there)|missing|unable to open"] + FAILED,
           fine="few cores,one core", kind="failed", draw={"s": S}, needs="sqlite3", falsely="a lock of the database, a full disk, memory, a signal"),
    Eighth("lua-index-of-nil", "after the work, Lua indexes a field that is nil", "lua -e \"local e = os.time() + {s} while os.time() < e do for i = 1, 100000 do end end local model = {{}} print(model.weights[1])\"",
           FAILED + [r"nil value|attempt to index"], fine="few cores,one core", kind="failed", draw={"s": S}, needs="lua", falsely="a signal, memory, a time limit"),
    Eighth("signal-before-the-wait", "a condition is signalled before anyone waits, and the waiter sleeps until timeout ends it", "timeout {s} {bin}/eighth lost", TIMEOUT + IDLE + LOCK, fine="few cores,failed,idle", kind="failed", draw={"s": S},
           falsely="slow computing, one core as the cause, storage, memory"),
    Eighth("worker-of-pool-killed", "one worker of a pool is killed by SIGKILL, and the pool breaks", "{py} {src}/eighth.py killed {s}", [r"SIGKILL|signal 9|\bkilled\b|BrokenProcessPool|137"], fine="failed", kind="failed", draw={"s": S},
           wrong=[r"^(?!.*\b(no|not|never|without|nor|may|might|or|if)\b).*(out of memory|\bOOM|memory limit)"], falsely="that memory ran out (nothing of it), a time limit"),
    Eighth("results-are-read-only", "after the work, the results' file system is read-only",
           "sh:mkdir results; exec unshare -rm sh -c \"mount -t tmpfs -o ro none results; " + WORK + " && date >results/when\"", [r"read-only|EROFS"] + FAILED, fine="few cores,one core", kind="failed", draw={"s": S},
           falsely="a full file system, a signal, memory"),
    Eighth("argument-list-too-long", "after the work, a command gets more arguments than the kernel takes", "sh:" + WORK + "; /bin/ls -d $(seq {n}000) >names", [r"argument list|E2BIG|too long|\b126\b"] + FAILED, fine="few cores,one core",
           kind="failed", draw={"s": S, "n": (500, 700)}, falsely="a command that is not there, memory, limits of processes"),
    Eighth("index-lock-left-behind", "after the work, git finds the lock of its index, left behind by one that died", "sh:" + WORK + " && cd data && git add .", [r"\b128\b|index\.lock|lock file|File exists"] + FAILED, fine="few cores,one core,lock",
           kind="failed", draw={"s": S}, before="git init -q data; echo 1 >data/part1; touch data/.git/index.lock", falsely="contention of threads, waiting, memory, a signal"),
    Eighth("threads-past-the-address-space", "a thread is started and kept for each item, until ulimit -v leaves no room for a stack", "sh:ulimit -v {n}00000; exec {py} {src}/eighth.py threads 0",
           MEMORY + [r"start new thread|threads? (could|can) ?not|(no|too many) (more |further )?threads|EAGAIN|Resource temporarily|limit.*threads|threads.*limit"], fine="failed,one core,few cores,memory,oversubscribed", kind="failed",
           draw={"n": (8, 13)}, falsely="a memory limit of a control group, a crash, a time limit, that threads compete for the cores"),

    # Two causes: which costs more stands first.
    Eighth("crowd-then-argument-list", "xz with far more threads than cores, then a command with too many arguments fails", "sh:seq {n}000000 | xz -T{t} --block-size=1MiB -4 >out.xz; /bin/ls -d $(seq 600000) >names",
           MANY, also=FAILED + [r"argument list|E2BIG|\b126\b"], kind="failed", draw={"n": (10, 12), "t": (14, 24)}, alone=True, falsely="one core, memory, a full disk"),
    Eighth("synced-then-deflates", "Node forces each entry to storage for two thirds of the time, then deflates with one thread", "node {src}/eighth.js synced-then-deflates {s} {t}", FSYNC + STORAGE, also=ONE,
           fine="few cores,idle,storage,one core", draw={"s": (8, 11), "t": (4, 5)}, needs="node", falsely="memory, the network, locks"),
    Eighth("backticks-then-sleeps", "Perl starts programs, then sleeps for the last third or more", "perl -e 'my $e = time + {s}; my $n = 0; while (time < $e) {{ $n += length `uname -n` }} sleep {t}'", STARTS, also=IDLE,
           fine="few cores,one core,kernel", draw={"s": (7, 9), "t": (5, 6)}, falsely="storage, a lock, memory"),
    Eighth("late-acknowledged-then-alone", "requests wait for delayed acknowledgements, then one process computes for half as long", "{py} {src}/eighth.py late_then_alone {s} {t}", NETWORK + LATE, also=ONE,
           fine="few cores,idle,network", draw={"s": (9, 12), "t": (5, 6)}, falsely="storage, a lock, memory"),
    Eighth("chunk-of-all-and-time-limit", "one of two workers has all long tasks, and the time limit ends it", "timeout {s} {py} {src}/eighth.py chunks 60", TAIL + ONE, also=TIMEOUT, fine="few cores,idle,failed", kind="failed", draw={"s": S},
           falsely="memory, a crash, a lock, storage"),

    # Nothing to blame.
    Eighth("healthy-bzip2", "nothing: bzip2 packs files of one size, one for each core at a time", "sh:ls part* | xargs -P{cores} -n1 bzip2 -k", [], kind="healthy", alone=True,
           before="for i in 1 2 3 4 5 6; do head -c 24M /dev/urandom | base64 >part$i; done", falsely="any fault"),
    Eighth("healthy-tclsh", "nothing: a tclsh for each core", "sh:for i in $(seq {cores}); do tclsh {src}/eighth.tcl {s} & done; wait", [], kind="healthy", draw={"s": S}, needs="tclsh", alone=True, falsely="any fault"),
    Eighth("healthy-bc", "nothing: bc computes the same number of digits on each core", "sh:for i in $(seq {cores}); do echo 'scale={n}; a(1)' | bc -lq >pi$i & done; wait", [], kind="healthy", draw={"n": (3600, 4200)}, needs="bc", alone=True,
           falsely="any fault"),
    Eighth("healthy-matrices", "nothing: a thread of C++ for each core multiplies small matrices", "./grow matrices {cores} {s}", [], kind="healthy", draw={"s": S}, alone=True,
           before="g++ -O2 -pthread -o grow {src}/eighth.cpp", falsely="any fault"),
    Eighth("healthy-tasks", "nothing: tasks of OpenMP, coarse enough, on all cores", "sh:OMP_NUM_THREADS={cores} exec {bin}/eighth tasks {s}", [], kind="healthy", draw={"s": S}, alone=True, falsely="any fault"),
    Eighth("healthy-checkpoints", "nothing: even workers write 3 MB each two seconds", "{py} {src}/eighth.py checkpoints {cores} {s}", [], kind="healthy", draw={"s": S}, alone=True, falsely="any fault, storage above all"),
    Eighth("healthy-shared-memory", "nothing: even workers on shared memory, which meet once", "{py} {src}/eighth.py shared {cores} {s}", [], kind="healthy", draw={"s": S}, alone=True, falsely="any fault"),
    Eighth("healthy-queue-ahead", "nothing: all pieces wait in a queue, and a worker for each core takes the next", "{py} {src}/eighth.py ahead {cores} {n}", [], kind="healthy", draw={"n": (160, 260)}, alone=True, falsely="any fault"),
    Eighth("healthy-futures", "nothing: CompletableFuture runs an even piece on each core", "java -cp . Eighth {cores} {s}", [], kind="healthy", draw={"s": S}, needs="java", alone=True,
           before="javac -d . {src}/Eighth.java", falsely="any fault"),
]


def halves():
    """Every other of those with one cause, then of those with two, then of the healthy ones; it is counted on from one to the next, so that both halves have 25."""
    rng, order = random.Random(8), []
    for group in ([c for c in EIGHTH if c.kind != "healthy" and not c.also], [c for c in EIGHTH if c.also], [c for c in EIGHTH if c.kind == "healthy"]):
        names = sorted(c.name for c in group)
        rng.shuffle(names)
        order += names
    return {name: ("eighth", "spared")[i % 2] for i, name in enumerate(order)}


HALF = halves()
random.Random(88).shuffle(EIGHTH)
