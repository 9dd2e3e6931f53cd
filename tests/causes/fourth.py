# SPDX-License-Identifier: Apache-2.0
"""A fourth set of jobs, written before the rules were read by the one who then mended them, from causes that the sets before do not have. Half of
them (by a hash of the name) are read while rules are mended (`--half fourth`); the others (`--half aside`) are judged once, at the end. Each was run
without Sonde first; the comment says what showed its cause then."""
import hashlib
from dataclasses import dataclass

from cases import Case
from kept import ALONE, BYTES, CROWD, DISK, FILES, FLUSH, FULL, HUNG, IDLE, KERNEL, NO_MEMORY, QUOTA, SERVER, STORM, TURNS, UNEVEN
from second import LOW


@dataclass
class Fourth(Case):
    @property
    def half(self):
        return "fourth" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "aside"


GO = "GOCACHE=$PWD/.cache GOFLAGS=-mod=mod go build -o fourth {src}/fourth.go"
JAVA = "javac -d . {src}/Fourth.java"
SHORT = {"s": (6, 9)}
LONG = {"s": (8, 11)}
CORES = "one core,few cores"
GROWS = [r"\bleak|memory (grew|grows|increas)|grew steadily"]

FOURTH = [
    # Failures.
    # KeyError: 'temperature', exit code 1.
    Fourth("other-column", "a table has no column of the name that is asked for", "{py} {src}/fourth.py column {s}", [r"KeyError|'temperature'"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY + DISK,
           draw=SHORT),
    # UnicodeDecodeError: byte 0xf6, exit code 1.
    Fourth("latin-letters", "a file is no UTF-8", "{py} {src}/fourth.py letters {s}", [r"Unicode|utf-?8|decode|codec"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY + DISK, draw=SHORT),
    # open gives ENAMETOOLONG, exit code 1.
    Fourth("name-of-all-parameters", "the name of the result's file is longer than a name may be", "{py} {src}/fourth.py long_name {s}", [r"name too long|ENAMETOOLONG|long(er)? .*name"], kind="failed",
           fine="failed," + CORES, wrong=NO_MEMORY + FULL, draw=SHORT),
    # ArrayIndexOutOfBoundsException, exit code 1.
    Fourth("java-cell-outside", "Java writes past the end of an array", "java -cp . Fourth cell {s}", [r"out of bounds|OutOfBounds"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, before=JAVA, draw=SHORT,
           needs="javac"),
    # NoClassDefFoundError: Helper, exit code 1.
    Fourth("java-class-path", "a class is not in Java's class path", "java -cp . Fourth class {s}", [r"NoClassDefFound|ClassNotFound|class ?path|\bclass\b.*(missing|not found)"], kind="failed", fine="failed," + CORES,
           wrong=NO_MEMORY, before=JAVA + " && rm Helper.class", draw=SHORT, needs="javac"),
    # panic: assignment to entry in nil map, exit code 2.
    Fourth("go-nil-map", "Go writes to a map that was never made", "./fourth nil {s}", [r"nil map|\bpanic"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, before=GO, draw=SHORT, needs="go"),
    # Can't locate PDL/LinearAlgebra.pm in @INC, exit code 2.
    Fourth("perl-module", "a module of Perl is not installed", "perl {src}/fourth.pl module {s}", [r"can't locate|@INC|PDL|module.*(missing|not (found|installed))"], kind="failed", fine="failed," + CORES,
           wrong=NO_MEMORY, draw=SHORT),
    # die's message, exit code 255 or an errno's.
    Fourth("residual-is-nan", "the solver gives up: its residual is no number", "perl {src}/fourth.pl nan {s}", [r"\bNaN\b"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY + DISK, draw=SHORT),
    # Error: Cannot find module 'left-trim', exit code 1.
    Fourth("node-module", "a module of Node is not installed", "node {src}/fourth.js module {s}", [r"cannot find module|left-trim|MODULE_NOT_FOUND"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=SHORT,
           needs="node"),
    # ld: undefined reference to `dgemm_'; make ends with 2.
    Fourth("link-without-blas", "the linker lacks a library", "make -s -f {src}/fourth.mk link SRC={src} SECONDS={s}", [r"undefined reference|dgemm|\bld\b|link"], kind="failed", fine="failed," + CORES,
           wrong=NO_MEMORY, draw=SHORT),
    # "stack smashing detected", SIGABRT.
    Fourth("name-longer-than-room", "a text is longer than its room on the stack, and the C library aborts", "./smash greet {s} {name}", [r"stack smashing|SIGABRT|abort|buffer overflow"], kind="failed", fine="failed," + CORES,
           wrong=NO_MEMORY, before="cc -O2 -pthread -D_GNU_SOURCE -U_FORTIFY_SOURCE -fstack-protector-all -w -o smash {src}/fourth.c",
           draw={"s": (6, 9), "name": ["Ludwigshafen-am-Rhein-2026", "Garmisch-Partenkirchen-2026"]}),
    # RESULT_DIR: unbound variable, exit code 1.
    Fourth("variable-not-set", "a script uses a variable that nobody set", "bash {src}/fourth.sh variable {s}", [r"unbound|RESULT_DIR|not set|unset"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=SHORT),
    # PIPESTATUS 141 0; pipefail makes it the script's.
    Fourth("reader-went-away", "head has read enough, and pipefail makes the writer's SIGPIPE the end of the job", "bash {src}/fourth.sh pipe {s}", [r"SIGPIPE|broken pipe|\b141\b.*pipe|pipe\b.*\b141\b|reader"],
           kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=SHORT),
    # std::out_of_range, SIGABRT.
    Fourth("cpp-column-17", "C++ throws out_of_range and nobody catches it", "./row {s}", [r"out_of_range|exception|terminate called|range_check"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY,
           before="g++ -O2 -o row {src}/fourth.cpp", draw=SHORT),
    # called `Option::unwrap()` on a `None` value, exit code 101.
    Fourth("rust-none", "Rust panics: a sample is not in its list", "./none {s}", [r"panic|unwrap|\bNone\b"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, before="rustc -O -o none {src}/fourth.rs", draw=SHORT,
           needs="rustc"),
    # database disk image is malformed (11).
    Fourth("database-overwritten", "an SQLite database was overwritten in part", "sh:perl {src}/fourth.pl work {s}; exec sqlite3 results.db 'select sum(length(v)) from t'", [r"malformed|corrupt|damaged"], kind="failed",
           fine="failed," + CORES, wrong=NO_MEMORY + FULL, draw=SHORT, needs="sqlite3",
           before="sqlite3 results.db \"create table t(v); with recursive n(i) as (select 1 union all select i + 1 from n where i < 9000) insert into t select hex(randomblob(200)) from n\""
                  " && dd if=/dev/urandom of=results.db bs=4096 seek=1 count=300 conv=notrunc 2>/dev/null"),

    # Waiting.
    # jstack: main in CountDownLatch.await; no CPU time after the first second; timeout ends it.
    Fourth("latch-without-end", "Java waits for a latch that nobody counts down, until a time limit", "timeout {s} java -cp . Fourth latch 1", IDLE + HUNG, kind="waits", fine="failed,idle,lock," + CORES, wrong=DISK,
           before=JAVA, draw=LONG, needs="javac"),
    # tail in inotify's or a timer's sleep, no CPU time; timeout ends it.
    Fourth("tail-follows", "tail -f waits for lines that nobody writes any more", "sh:echo finished >run.log; timeout {s} tail -f run.log >copy; echo on", IDLE + HUNG, kind="waits",
           fine="idle,failed," + CORES, wrong=DISK, draw=LONG),
    # Each sleeps half a second with the lock; the others are in futex.
    Fourth("sleeps-with-the-lock", "threads sleep in turn while they hold the lock of all", "{py} {src}/fourth.py holds {s}", IDLE + TURNS, kind="waits", fine="idle,lock," + CORES, wrong=DISK, draw=LONG),
    # Two of three recv end after 1.5 s with a timeout; no CPU time.
    Fourth("datagrams-get-lost", "two of three answers of a sensor are lost, and each is waited for", "{py} {src}/fourth.py lost {s}", IDLE + SERVER, kind="waits", fine="idle,network," + CORES, wrong=DISK, draw=LONG),
    # One msync for each record, state D or S in the file system's journal.
    Fourth("records-of-a-map", "each record of a mapped file is forced to storage", "{bin}/fourth table {s}", FLUSH + [r"msync"], kind="waits", fine="storage,idle," + CORES, draw=LONG),
    # fsync of each object and reference; three processes a commit.
    Fourth("commit-for-each-file", "git makes a commit for each small file", "bash {src}/fourth.sh commits {s}", STORM + FLUSH, fine="storm,kernel,storage," + CORES, draw=LONG, needs="git"),

    # Kernel.
    # perf: all time in the kernel's random generator, 16 bytes a read.
    Fourth("keys-from-urandom", "random keys are read one by one from /dev/urandom", "{bin}/fourth keys {s}", KERNEL + BYTES, fine="kernel," + CORES, draw=LONG),
    # strace of bash: read(0, "c", 1) for each byte.
    Fourth("lines-by-bash", "Bash's read takes a pipe byte by byte", "bash {src}/fourth.sh lines {s}", KERNEL + BYTES, fine="kernel," + CORES, draw=LONG),
    # read and write of a byte each; all time in the kernel.
    Fourth("dd-with-blocks-of-a-byte", "dd copies with blocks of one byte", "sh:timeout {s} dd bs=1 if=/dev/zero of=copy; true", KERNEL + BYTES, fine="kernel," + CORES, draw=LONG),
    # write(1, "12\n") twice a line; more than half of the CPU time is the kernel's.
    Fourth("java-prints-lines", "Java prints short lines, each by a call of its own", "sh:java -cp . Fourth prints {s} >lines", KERNEL + BYTES, fine="kernel," + CORES, before=JAVA, draw=LONG, needs="javac"),
    # openat, write, close for each line.
    Fourth("log-opened-for-each-line", "Go opens and closes its log for each line", "./fourth logs {s}", KERNEL + FILES + BYTES + [r"open\w*\b.*(file|clos|second)"], fine="kernel,storage," + CORES, before=GO, draw=LONG,
           needs="go"),
    # getdents64 of 20,000 names in each step.
    Fourth("whole-directory-each-step", "each step looks through a directory of 20,000 files", "perl {src}/fourth.pl lists {s}", KERNEL + FILES, fine="kernel,storage," + CORES,
           before="mkdir many; cd many; seq 20000 | xargs touch", draw=LONG),
    # ps opens the files of all processes; dozens a second.
    Fourth("ps-in-a-loop", "a script runs ps again and again without a pause", "bash {src}/fourth.sh processes {s}", STORM + KERNEL, fine="storm,kernel," + CORES, draw=LONG, needs="ps"),
    # Two processes of Node, each blocked half of the time; thousands of switches a second.
    Fourth("one-message-at-a-time", "Node and its child exchange small messages, one always waits for the other", "node {src}/fourth.js messages {s}",
           KERNEL + SERVER + [r"messages?|switch|small (reads|writes)|pipe", r"\b(take|took|taking) turns|wait\w* (for|on) (each other|one another)"] + ALONE, fine="kernel,network,idle," + CORES, draw=LONG, needs="node"),
    # The same files are read and written a dozen times.
    Fourth("tree-copied-again", "a tree of small files is copied for each task", "bash -c 'end=$((SECONDS + {s})); while [ $SECONDS -lt $end ]; do rm -rf work; cp -r tree work; done'",
           FILES + KERNEL + [r"\bcop(y|ie)"], fine="kernel,storage,storm," + CORES, before="mkdir tree; for d in $(seq 60); do mkdir tree/$d; (cd tree/$d; seq 100 | xargs touch); done", draw=LONG),

    # Cores.
    # One thread hashes, six are in futex.
    Fourth("one-feeder", "one thread makes the work, and the others wait for it", "{py} {src}/fourth.py feeder {s}", ALONE + UNEVEN, fine="idle,lock,imbalance," + CORES, draw=LONG, alone=True),
    # Eight goroutines, one core of CPU time.
    Fourth("semaphore-of-one", "a semaphore lets one of eight workers of Go in", "./fourth one {s}", ALONE + TURNS, fine="lock,idle," + CORES, before=GO, draw=LONG, alone=True, needs="go"),
    # Six programs, one after the other, under make -j.
    Fourth("chain-of-targets", "make -j may run all at once, but each target needs the one before", "make -s -j{cores} -f {src}/fourth.mk chain SRC={src} SECONDS={s}", ALONE, fine=CORES, draw={"s": [1, 2]}, alone=True),
    # In each batch all but one end after 0.2 s.
    Fourth("batches-wait-for-the-slowest", "tasks run in batches, and each batch waits for its slowest", "perl {src}/fourth.pl batches {cores} {n}", ALONE + UNEVEN + IDLE, fine="idle,imbalance," + CORES, draw={"n": (5, 6)},
           alone=True),
    # 16 threads are ready on two cores.
    Fourth("gomaxprocs-too-high", "GOMAXPROCS is far above the cores", "./fourth many {s} {n}", CROWD, fine="oversubscribed,few cores", before=GO, draw={"s": (8, 11), "n": (14, 20)}, alone=True, needs="go"),
    # One thread has nearly all CPU time.
    Fourth("json-in-one-loop", "Node turns documents into JSON and back in its one loop", "node {src}/fourth.js documents {s}", ALONE, fine=CORES, draw=LONG, alone=True, needs="node"),
    Fourth("coroutines-that-compute", "tasks of asyncio compute, and so use one core", "{py} {src}/fourth.py coroutines {s}", ALONE, fine=CORES, draw=LONG, alone=True),
    Fourth("pool-of-one-thread", "Java's executor has one thread", "java -cp . Fourth futures {s}", ALONE, fine=CORES, before=JAVA, draw=LONG, alone=True, needs="javac"),
    Fourth("java-told-of-one-core", "Java is told that there is one processor", "java -XX:ActiveProcessorCount=1 -cp . Fourth stream {s}", ALONE, fine=CORES, before=JAVA, draw={"s": (14, 18)}, alone=True, needs="javac"),
    # -Xlog:gc: a Full GC after each step, most of the time; threads of the collector have the CPU time.
    Fourth("collection-after-each-step", "Java is asked for a full collection after each small step", "java -Xmx600m -cp . Fourth collects {s}", [r"garbage|collect|\bGC\b"], fine="kernel,memory,lock,idle," + CORES, before=JAVA, draw=LONG,
           alone=True, needs="javac"),
    # throttled_time of the group.
    Fourth("make-in-a-quota", "a quota of a fifth of a core holds back make -j", "make -s -j{cores} -f {src}/fourth.mk parts SRC={src} SECONDS={s}", QUOTA, fine="throttled,idle,oversubscribed," + CORES, around="quota:0.2",
           draw={"s": (3, 4)}, alone=True, needs="cgroup"),
    # nice 15 in /proc/PID/stat, while others are ready.
    Fourth("lowers-its-own-priority", "the program lowers its own priority while others want the cores", "{py} {src}/fourth.py lowers {cores} {s}", LOW, fine="others,oversubscribed", outside=2, draw=LONG, alone=True),
    # RSS grows to the end.
    Fourth("answers-are-kept", "Go keeps every answer", "./fourth keeps {s}", GROWS, fine="memory," + CORES, before=GO, draw=LONG, needs="go"),

    # Mixtures.
    Fourth("lines-then-sleeps", "Bash reads a pipe byte by byte, then the job sleeps", "sh:bash {src}/fourth.sh lines {s}; sleep {s}", KERNEL + BYTES, IDLE, fine="kernel,idle," + CORES, draw=LONG),
    Fourth("crowd-then-index", "GOMAXPROCS is far above the cores, then Go reads past the end of a slice", "./fourth many {s} 16 end", [r"out of range|\bpanic|index"], CROWD, kind="failed", fine="failed,oversubscribed," + CORES, before=GO,
           draw=SHORT, alone=True, needs="go"),
    Fourth("quota-then-other-column", "a quota of a tenth of a core, then a table lacks a column", "sh:node {src}/fourth.js work {s}; exec {py} {src}/fourth.py column 1", [r"KeyError|'temperature'"], QUOTA, kind="failed",
           fine="failed,throttled,idle," + CORES, around="quota:0.1", draw=LONG, alone=True, needs="cgroup node"),
    Fourth("remembers-then-reads-past", "Node remembers every request, then reads a field of a missing one", "node {src}/fourth.js remembers {s}", [r"TypeError|undefined|cannot read"], GROWS, kind="failed", fine="failed,memory,idle," + CORES,
           draw=LONG, needs="node"),
    Fourth("map-then-late-answer", "each record of a map is forced to storage, then a server answers late", "sh:{bin}/fourth table {s}; exec {py} {src}/fourth.py answer_late {s}", FLUSH + [r"msync"], SERVER + IDLE, kind="waits",
           fine="storage,idle,network," + CORES, draw=SHORT),
    Fourth("one-core-then-full", "one process computes alone, then the file system is full", "sh:lua {src}/third.lua {s}; exec cat table >{small}/table", FULL, ALONE, kind="failed", fine="failed,storage," + CORES, around="tmpfs:10",
           before="head -c 20000000 /dev/zero >table", draw=LONG, alone=True, needs="root lua"),

    # Healthy.
    Fourth("healthy-fork-join", "nothing: Java's fork and join on all cores", "java -cp . Fourth halves {s}", [], kind="healthy", before=JAVA, draw=LONG, alone=True, needs="javac"),
    Fourth("healthy-channel", "nothing: a worker of Go for each core takes pieces from a channel", "./fourth channel {s}", [], kind="healthy", before=GO, draw=LONG, alone=True, needs="go"),
    Fourth("healthy-even-steps", "nothing: threads of C meet after even steps", "{bin}/fourth even {s} {cores}", [], kind="healthy", draw=LONG, alone=True),
    Fourth("healthy-make-parts", "nothing: make -j runs even parts on all cores", "make -s -j{cores} -f {src}/fourth.mk parts SRC={src} SECONDS={s}", [], kind="healthy", draw={"s": (3, 4)}, alone=True),
    Fourth("healthy-node-derives", "nothing: Node's own threads derive keys on all cores", "node {src}/fourth.js derives {cores} {s}", [], kind="healthy", draw=LONG, alone=True, needs="node"),
    Fourth("healthy-rounds", "nothing: Perl forks a child for each core, round after round", "perl {src}/fourth.pl rounds {cores} {s}", [], kind="healthy", draw=LONG, alone=True),
    Fourth("healthy-fortran", "nothing: OpenMP of Fortran with even shares", "./even {s}", [], kind="healthy", before="gfortran -O2 -fopenmp -o even {src}/fourth.f90", draw=LONG, alone=True, needs="gfortran"),
    Fourth("healthy-hash-threads", "nothing: threads of Python hash large blocks, without the interpreter's lock", "{py} {src}/fourth.py digests {cores} {s}", [], kind="healthy", draw=LONG, alone=True),
    # Judged once with its output to /dev/null, where grep ends at the first match: that was a storm of processes, and Sonde said so.
    Fourth("healthy-grep", "nothing: grep looks through cached files on all cores", "sh:for i in 1 2; do ls part* | xargs -P{cores} -n4 grep -cE '([a-z])([a-z]).*\\2\\1.*7[0-9]*3$'; done >counts", [], kind="healthy",
           before="seq -f 'chr1 gattaca gaattac %.0f' 6000000 | split -l 60000 -a 3 - part", alone=True),
    Fourth("healthy-one-of-one", "nothing: a program of one thread was given one core", "node {src}/fourth.js work {s}", [], kind="healthy", around="taskset:1", draw=LONG, alone=True, needs="node"),
]
