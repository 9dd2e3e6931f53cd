# SPDX-License-Identifier: Apache-2.0
"""A third set of jobs, written from causes alone before the rules were read, other than those of the sets before. Half of them (by a hash of the name) are read while
rules are mended (`--half third`); the others (`--half apart`) are judged once, at the end. Each was run without Sonde first; the comment says what
showed its cause then. Rows that nothing but a profile of functions can name say so."""
import hashlib
from dataclasses import dataclass

from cases import Case
from kept import ALONE, CROWD, DISK, FILES, FLUSH, IDLE, KERNEL, NO_MEMORY, QUOTA, SERVER, STORM, TURNS, UNEVEN
from second import MISSING, STORES


@dataclass
class Third(Case):
    @property
    def half(self):
        return "third" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "apart"


# Accepted words that several rows share.
FAR = STORES + [r"file system\b.*(slow|wait|far|remote|answer|fuse|network)|(slow|remote|network|FUSE)\b.*file system|\bfuse\b|wait\w* .*\bfar\b"]
COPIES = [r"(wr(ote|itten|ites?|iting)|copie[sd]|cop(y|ying))\b.*\b[\d.]+ ?[GM]i?B|[\d.]+ ?[GM]i?B\b.*(wr(ote|itten)|read|copied)|\brewr\w+|write calls|read calls"]

THIRD = [
    # Failures.
    # SIGFPE (wait status 8).
    Third("divides-by-zero", "an integer is divided by zero", "{bin}/third divide {s}.5", [r"SIGFPE|divi(sion|ded?)|arithmetic|floating.?point exception"], kind="failed",
          fine="failed,one core,few cores", wrong=NO_MEMORY, draw={"s": (6, 9)}),
    # SIGABRT, and glibc prints "free(): double free detected".
    Third("freed-twice", "a block of memory is freed twice, and the C library aborts", "{bin}/third twice {s}.5", [r"double free|freed|heap.*(corrupt|damag)|SIGABRT|abort"], kind="failed",
          fine="failed,one core,few cores,memory", wrong=NO_MEMORY, draw={"s": (6, 9)}),
    # RecursionError, exit code 1.
    Third("recursion-in-python", "a recursion without an end: RecursionError", "{py} {src}/third.py recursion {s}", [r"recursion"], kind="failed", fine="failed,one core,few cores",
          wrong=NO_MEMORY, draw={"s": (6, 9)}),
    # JSONDecodeError: Expecting value, exit code 1.
    Third("broken-configuration", "a configuration file is no valid JSON", "{py} {src}/third.py bad_configuration {s}",
          [r"JSON|Expecting value|pars(e|ing)|syntax|decode|invalid (input|syntax|configuration)"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY + DISK, draw={"s": (6, 9)}),
    # open gives EROFS, exit code 1.
    Third("results-read-only", "the file system for results is mounted read-only",
          "unshare -m sh -c 'mount -t tmpfs -o ro none out; perl {src}/third.pl work {s}; echo 1 >out/result'", [r"read-?only|EROFS"], kind="failed", fine="failed,one core,few cores",
          before="mkdir out", draw={"s": (6, 9)}, needs="root"),
    # Wait status 15 of the job itself.
    Third("terminated-from-outside", "somebody sends SIGTERM to the job", "sh:(sleep {s}; kill -TERM $$) & exec perl {src}/third.pl work 60", [r"SIGTERM|terminat|signal 15\b|\b143\b"], kind="failed",
          fine="failed,one core,few cores", wrong=NO_MEMORY, draw={"s": (6, 9)}),
    # OSError: undefined symbol, exit code 1.
    Third("library-of-another-version", "a plug-in needs a symbol that no library has", "{py} {src}/third.py symbol {s}",
          [r"undefined symbol|symbol\b.*(lookup|undefined|missing|not found)|\bsymbols?\b"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY,
          before="printf 'int solve_v2(void);\\nint f(void){ return solve_v2(); }\\nint (*g)(void) = solve_v2;\\n' >p.c; cc -shared -fPIC -o libplugin.so p.c",
          draw={"s": (6, 9)}),
    # fatal error: all goroutines are asleep - deadlock!, exit code 2.
    Third("go-deadlock", "a goroutine waits for a channel that nobody sends on, and the runtime ends the program", "./third stuck {s}", [r"deadlock|goroutines?.*(asleep|wait)|\bchannel\b"],
          kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY, before="GOCACHE=$PWD/.cache GOFLAGS=-mod=mod go build -o third {src}/third.go", draw={"s": (6, 9)}, needs="go"),
    # StackOverflowError, exit code 1.
    Third("java-too-deep", "Java's stack overflows", "java -cp . Third deep {s}", [r"\bstack|recurs"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY,
          before="javac -d . {src}/Third.java", draw={"s": (6, 9)}, needs="javac"),
    # Exit code 1 and the error's text.
    Third("rejected-in-node", "a promise of Node is rejected and nobody handles it", "node {src}/third.js rejects {s}", [r"checkpoint 17|unhandled|reject"], kind="failed",
          fine="failed,one core,few cores", wrong=NO_MEMORY, draw={"s": (6, 9)}, needs="node"),
    # execve gives E2BIG; exit code 126.
    Third("list-too-long", "more names are given to a command than an argument list may have", "sh:perl {src}/third.pl work {s}; exec ls $(seq 1 {n}00000) >/dev/null",
          [r"argument list|E2BIG|too many arguments|list too long"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY, draw={"s": (6, 9), "n": (4, 6)}),
    # fork gives EAGAIN; pids.events rises.
    Third("no-more-pids", "the control group allows no more processes", "{py} {src}/third.py forks {s}",
          [r"\bpids\b|limit.*(processes|threads|tasks)|(process|thread|task)(es|s)?.*limit|EAGAIN|(cannot|can't|could not|no more|unable to) (\w+ )?(fork|start)|temporarily unavailable"], kind="failed",
          fine="failed,one core,few cores,idle,storm", wrong=NO_MEMORY, around="pids:20", draw={"s": (5, 7)}, needs="cgroup"),
    # Waiting.
    # 25 answers a second, all processes asleep in the meantime: 40 ms each.
    Third("two-sends-for-each-request", "each request goes out in two small parts, and the second waits 40 ms for an acknowledgement (Nagle)", "{py} {src}/third.py small_messages {n}", SERVER + IDLE,
          kind="waits", fine="idle,network,few cores,one core", wrong=DISK, draw={"n": (170, 220)}),
    # HTTP Error 503 in the end; sleeps of 0.3, 0.6 ... seconds.
    Third("service-unavailable", "a service answers 503, and the job sleeps longer after each attempt until it gives up", "{py} {src}/third.py backoff 6", IDLE + [r"\b503\b|unavailable"], kind="waits",
          fine="failed,idle,network,few cores,one core", wrong=DISK),
    # Four threads in recv, no CPU time.
    Third("pool-of-threads-waits", "four threads wait for the answers of a slow service", "{py} {src}/third.py queue_of_one {s}", SERVER + IDLE, kind="waits", fine="idle,network,few cores,one core",
          wrong=DISK, draw={"s": (8, 10)}),
    # 40 items a second, each of some tens of us.
    Third("rate-limit-left-in", "a pause of 25 ms after each item", "{py} {src}/third.py paces {s}", IDLE + [r"\bpause|timer|rate"], kind="waits", fine="idle,few cores,one core", wrong=DISK,
          draw={"s": (8, 10)}),
    # mkdir fails and sleep follows, until the background ends.
    Third("lock-directory", "a script looks twice a second whether another has removed its lock directory", "sh:mkdir run.lock; (sleep {s}; rmdir run.lock) & until mkdir run.lock 2>/dev/null; do sleep 0.5; done; wait",
          IDLE + TURNS, kind="waits", fine="idle,few cores,one core,lock", wrong=DISK, draw={"s": (8, 10)}),
    # State D or S in request_wait_answer, 30 ms a file.
    Third("files-on-a-slow-server", "files are read one after the other from a slow file system", "{py} {src}/third.py reads_far {s}", FAR, kind="waits", fine="storage,idle,few cores,one core,network",
          around="fuse:0.01", draw={"s": (8, 10)}, needs="root", before="mkdir seed; for i in $(seq 200); do echo $i >seed/$i; done"),
    # strace: hundreds of openat, each of 10 ms.
    Third("imports-from-a-slow-server", "Python imports some hundred modules from a slow file system", "{py} {src}/third.py imports_far", FAR + [r"\bimport(s|ing)?\b|cold start|start-?up"], kind="waits",
          fine="storage,idle,few cores,one core,network", around="fuse:0.006", needs="root", before="mkdir seed; for i in $(seq 240); do echo \"v = $i\" >seed/m$i.py; done"),
    # An fdatasync for each line, state D.
    Third("node-syncs-each-event", "each event is forced to storage before the next", "node {src}/third.js syncs {s}", FLUSH, kind="waits", fine="storage,idle,few cores,one core", draw={"s": (8, 10)}, needs="node"),
    # State D most of the time, writes of 4 KiB.
    Third("direct-small-writes", "small blocks are written past the page cache, one by one", "sh:timeout {s} dd if=/dev/zero of=out.dat bs=4k oflag=direct count=9999999; true",
          STORES + FLUSH + [r"(small|tiny) writes|writes?\b.* of (only )?4"], kind="waits", fine="storage,idle,few cores,one core,kernel", draw={"s": (8, 10)}),
    # One process computes, the other sleeps in its barrier.
    Third("barrier-and-uneven-steps", "two processes meet after each step, and one has six times the work", "{py} {src}/third.py barrier_steps {n}", UNEVEN + ALONE, fine="idle,one core,few cores,lock",
          draw={"n": (16, 20)}, alone=True),
    # Kernel.
    # Half of the CPU time is the kernel's; 50,000 signals a second.
    Third("timer-too-fast", "a timer interrupts the program every 20 us by a signal", "{bin}/third interrupted {s}", KERNEL + [r"\bsignals?\b.*(second|/s)|timer|interrupt"], fine="one core,few cores,kernel",
          draw={"s": (8, 10)}),
    # 99 % of a strace are pselect6; all CPU time is one thread's, most of it in the kernel or the interpreter.
    Third("select-without-a-pause", "a program asks a socket without a pause whether data are there", "{py} {src}/third.py asks_without_pause {s}",
          KERNEL + [r"\bpoll(s|ed|ing)?\b|\bspin|busy.?wait|select"], fine="one core,few cores,kernel", draw={"s": (8, 10)}),
    # The file is 20 MiB and gigabytes are written; nearly all CPU time is the kernel's.
    Third("state-written-again", "the whole state is written to a file again after each small step", "perl {src}/third.pl rewrite {mb} {s}", KERNEL + COPIES + FLUSH, fine="one core,few cores,kernel,storage,idle",
          draw={"mb": (18, 24), "s": (8, 10)}),
    # cc1 as often as files, 12 at a time.
    Third("make-with-too-many", "make -j starts far more compilers than there are cores", "sh:CCACHE_DISABLE=1 exec make -f {src}/compile.mk FILES={n} -j{n}", CROWD, fine="one core,few cores",
          before="for i in $(seq 20); do for k in $(seq 150); do echo \"int f$k(int a, int b) { for (int i = 0; i < b; i++) a = a * $k ^ (i % ($k + 7)) / 3; return a; }\"; done >part$i.c; done",
          draw={"n": (16, 20)}, alone=True),
    # Eight threads ready on two cores; nearly all of their time is spent to get the lock.
    Third("spin-lock-of-many", "eight threads spin for one lock on two cores", "{bin}/third spins 8 {s}", CROWD + TURNS + [r"\bspin"], fine="oversubscribed,lock,few cores", draw={"s": (8, 10)}, alone=True),
    # 200 starts a second.
    Third("node-command-for-each-line", "Node starts a program for every line", "node {src}/third.js commands {s}", STORM, fine="storm,kernel,one core,few cores", draw={"s": (8, 10)}, needs="node"),
    # Thousands of threads a second, hardly any work.
    Third("java-thread-for-each-item", "Java starts a thread for each item", "java -cp . Third threads {s}",
          [r"threads?\b.*(start|creat|second)|(start|creat)\w*\b.*threads?"] + KERNEL, fine="storm,kernel,one core,few cores", before="javac -d . {src}/Third.java", draw={"s": (8, 10)}, needs="javac"),
    # Reads of a hole: the kernel's time.
    Third("copies-a-hole", "a sparse file of many gigabytes is read in full", "sh:for i in 1 2; do cat holes >/dev/null; done", KERNEL + COPIES, fine="one core,few cores,kernel,storage",
          before="truncate -s 4G holes"),
    # Cores.
    # One process, all CPU time.
    Third("regex-backtracks", "a regular expression tries all ways to cut a line (the function needs a profile; that one core is used does not)", "{py} {src}/third.py backtracking {s}",
          ALONE + [r"regex|regular expression|\bre\b"], fine="one core,few cores", draw={"s": (8, 10)}, alone=True),
    # One process, all CPU time.
    Third("quadratic-search", "a list is searched from its beginning for each word", "perl {src}/third.pl quadratic {s}", ALONE, fine="one core,few cores", draw={"s": (8, 10)}, alone=True),
    # Two threads run for the first seconds, one for the rest.
    Third("merge-by-one", "chunks are sorted in parallel, and one thread merges them", "{bin}/third merge {n}", ALONE + UNEVEN, fine="one core,few cores,imbalance", draw={"n": (7, 9)}, alone=True),
    # Bytes written are many times the input; one core.
    Third("sort-spills", "sort has a tiny buffer and writes temporary files again and again", "sh:sort --parallel=1 -S 200k --batch-size=2 numbers >sorted",
          [r"temporar|spill|TMPDIR|/tmp"] + COPIES + KERNEL + ALONE, fine="one core,few cores,kernel,storage,storm", before="awk 'BEGIN { for (i = 0; i < 3000000; i++) print int(rand() * 1e9) }' >numbers"),
    # Six threads, one running at any time.
    Third("java-synchronized", "all threads of Java want one monitor for all that they do", "java -cp . Third synchronized {s}", TURNS + ALONE, fine="one core,few cores,lock,idle",
          before="javac -d . {src}/Third.java", draw={"s": (8, 10)}, alone=True, needs="javac"),
    # One process at a time, a second each.
    Third("gzip-one-by-one", "a loop packs twenty files one after the other", "sh:for f in part*; do gzip -9 -c $f >$f.gz; done", ALONE, fine="one core,few cores",
          before="seq 1 3000000 | split -l 150000 - part; for f in part*; do cat $f $f $f $f $f $f >x; mv x $f; done", alone=True),
    # CPU time is that of one; the archive is unpacked a dozen times.
    Third("archive-unpacked-again", "the same archive is unpacked for each query, by one process", "{py} {src}/third.py reads_archive {s}", ALONE + [r"again|repeated"], fine="one core,few cores",
          before="seq 1 1500000 | gzip >table.gz", draw={"s": (8, 10)}, alone=True),
    # 20,000 openat and newfstatat; one process.
    Third("zip-of-small-files", "Python packs very many small files, one by one", "{py} {src}/third.py pack {n}", FILES + KERNEL + ALONE + [r"(small|many|[\d,]+) (\w+ )?files"],
          fine="one core,few cores,kernel,storage", before="/usr/bin/python3 {src}/third.py make_small 60000", draw={"n": (50000, 60000)}, alone=True),
    # Cpus_allowed_list has one CPU, two threads are ready.
    Third("cpuset-of-one", "a control group allows one of the cores, and two threads share it", "{bin}/third threads 2 {s}", CROWD + [r"cpuset|affinity|allowed|pinned"] + ALONE,
          fine="oversubscribed,affinity,one core,few cores", around="cpuset:0", draw={"s": (8, 10)}, needs="cgroup", alone=True),
    # throttled_time of the group.
    Third("java-in-a-small-quota", "a quota of a tenth of a core holds back Java", "java -cp . Third even {s}", QUOTA, fine="throttled,one core,few cores,idle,oversubscribed", around="quota:0.1",
          before="javac -d . {src}/Third.java", draw={"s": (7, 9)}, alone=True, needs="cgroup javac"),
    # Mixtures.
    # No CPU time in the first part, one process in the second.
    Third("service-late-then-one-core", "a service is late by some seconds, then one process computes", "{py} {src}/third.py backoff 8 5.0 {s}.0", IDLE, ALONE, fine="idle,network,one core,few cores",
          draw={"s": (8, 10)}, alone=True),
    # 24 processes are ready; then ModuleNotFoundError.
    Third("crowd-then-missing-module", "far more processes than cores, then a module that is not installed", "sh:perl {src}/third.pl children 24 {s}; exec {py} -c 'import torchlight'",
          MISSING + [r"ModuleNotFound|no module"], CROWD, kind="failed", fine="failed,oversubscribed,one core,few cores", draw={"s": (7, 9)}, alone=True),
    # RSS grows to the end of the work; then nothing runs.
    Third("remembers-then-sleeps", "Node's cache grows without an end, then the job sleeps", "node {src}/third.js remembers {s} {t}", [r"\bleak|memory (grew|grows|increas)|grew steadily"], IDLE,
          fine="memory,idle,one core,few cores", draw={"s": (9, 11), "t": (6, 8)}, needs="node"),
    # State D or S in request_wait_answer, then one gzip.
    Third("slow-files-then-gzip", "files are read from a slow file system, then one gzip packs", "sh:{py} {src}/third.py reads_far {s}; gzip -9 <data >data.gz", FAR, ALONE,
          fine="storage,idle,few cores,one core,network", around="fuse:0.01", draw={"s": (7, 8)}, needs="root", alone=True,
          before="mkdir seed; for i in $(seq 200); do echo $i >seed/$i; done; seq 1 6000000 >data"),
    # throttled_time and hundreds of starts.
    Third("starts-in-a-quota", "a shell starts a program for each item, under a quota of a tenth of a core", "bash -c 'end=$((SECONDS+{s})); while [ $SECONDS -lt $end ]; do basename a/b/c; done >/dev/null'",
          QUOTA, STORM, fine="throttled,storm,kernel,one core,few cores", around="quota:0.1", draw={"s": (9, 11)}, needs="cgroup", alone=True),
    # Healthy.
    Third("healthy-go", "nothing: a goroutine for each core", "./third even {s}", [], kind="healthy", before="GOCACHE=$PWD/.cache GOFLAGS=-mod=mod go build -o third {src}/third.go", draw={"s": (8, 10)},
          needs="go", alone=True),
    Third("healthy-lua", "nothing: a Lua for each core", "sh:for c in $(seq {cores}); do lua {src}/third.lua {s} & done; wait", [], kind="healthy", draw={"s": (8, 10)}, needs="lua", alone=True),
    Third("healthy-async", "nothing: tasks of C++, as many as cores", "./async {n}", [], kind="healthy", before="g++ -O2 -pthread -o async {src}/third.cpp", draw={"n": (14, 18)}, alone=True),
    Third("healthy-node-processes", "nothing: a process of Node for each core", "node {src}/third.js processes {cores} {s}", [], kind="healthy", draw={"s": (8, 10)}, needs="node", alone=True),
    Third("healthy-zstd", "nothing: zstd packs on all cores", "sh:zstd -q -12 -T{cores} -B1M <log >log.zst", [], kind="healthy", before="seq 1 12000000 >log", needs="zstd", alone=True),
    Third("healthy-in-cpuset", "nothing: one thread in a control group of one core", "{bin}/third threads 1 {s}", [], kind="healthy", around="cpuset:1", draw={"s": (8, 10)}, needs="cgroup", alone=True),
]
