# SPDX-License-Identifier: Apache-2.0
"""A ninth set: fifty jobs as the support staff of a cluster sees them, written by one who had read neither the rules, the documents of the verdicts nor any earlier result.

The same rows as in cases.py, and three things more: `truth` tells a person who reads the verdicts what happened and what the user should do, `falsely` what a verdict
would have to say to be false, and `proof` how the cause was shown without Sonde. Some rows need root, for a control group, a mount or another user. Programs are in
programs/ninth.*, ninth_mpi.c and Ninth.java. Every other of each kind, in an order drawn once, is kept apart (`reserved`) while rules are mended for the first half.
"""
import random
from dataclasses import dataclass

from cases import FSYNC, IDLE, KERNEL, LOCK, MANY, ONE, QUOTA, SMALL_CALLS, STORAGE, STORM, TAIL, TIMEOUT, Case

FAILED = [r"exit(ed)? (code|status|with)|\bfailed|\bfailure"]
STARTS = STORM + [r"(started|ran|run) [\d,]+ times|[\d,]+ (starts|runs|times)|start-?up (time|cost)|start(s|ed|ing)?\b.*(anew|each|every|shell|process|interpreter)"]
NETWORK = [r"network|socket|connection|connect\b|127\.0\.0\.1|\bTCP\b|loopback|answers?\b|server\b|service\b|peer|round.trip|reply|replies|remote"]
AFFINITY = [r"affinity|pinned|taskset|bound to|\bbind|allowed|(same|only|just|single|one) (of (the )?\d+ )?(core|CPU)"]
FULL = [r"no space|ENOSPC|out of (disk )?space|(disk|device|file system|filesystem|tmpfs|directory).*\bfull|\bfull\b.*(disk|device|file system|filesystem|tmpfs)"]
HEAP = [r"\bheap\b|out of memory|max-old-space|\bOOM\b|memory.*(limit|ran out|exhausted|full)|(limit|ran out).*memory|garbage|\bGC\b"]
LIMITED = [r"out of memory|\bOOM\b|memory.*(limit|cgroup|control group|ran out|exhausted|full)|(limit|ran out|cgroup|control group).*memory|page cache"]
OFTEN = [r"open(s|ed|ing)?\b.*(clos|times|per second|each|again|files?)|files?.*(creat|opened|renam|remov|delet|metadata)|(creat|renam|remov|delet|unlink)\w*.*files?|metadata|small files|many files"]
ANEW = [r"read.*(again|anew|repeated|times)|same file|re-?read|pars(es?|ed|ing)\b|JSON"]
SPINS = [r"\bspin|busy.?(wait|loop)|poll(s|ed|ing)?\b|non-?block|EAGAIN|without (a )?(pause|sleep)"]
MPI_WAITS = [r"\bMPI\b.*(wait|spin|time|block|barrier|recv|receive|collective|allreduce)|(wait|spin|block)\w*.*\b(MPI|ranks?|barrier|allreduce|collective|message|receive)", r"barrier|allreduce|MPI_\w+"]
COSTLY = [r"interpret|\bpython|byte.?code|pure.?python"]
STAGE = [r"bottleneck|slow(est)? (stage|part|step)|(stage|pipe(line)?)\b.*(slow|wait|busy|bound|limit|held)|(wait|held)\w*.*\bpipe"]

DISK_BLAMED = [r"(wait\w*|slow\w*|held up) (for|on|by) (the )?(storage|disk)|slow (storage|disk)|(storage|disk) (is|was) (slow|busy|saturated|the bottleneck)"]
SWAP_BLAMED = [r"\bswapp(ed|ing)|thrash"]
CROWD_BLAMED = [r"oversubscri|too many (threads|processes|workers)"]
MEMORY_BLAMED = [r"ran out of memory|out of memory|\bOOM\b|memory leak|leaks? memory"]
STORM_BLAMED = [r"short(-lived)? processes|process starts|starting processes"]
S = (8, 13)


@dataclass
class Ninth(Case):
    truth: str = ""
    falsely: str = ""
    proof: str = ""

    @property
    def half(self):
        return HALF[self.name]


OPENMPI = "mpirun.openmpi --allow-run-as-root --oversubscribe -n 2"

NINTH = [
    # Cores: too few, shared, limited, too many wanted.
    Ninth("threads-under-the-gil", "threads of Python compute under the interpreter's lock, so one core is used", "{py} {src}/ninth.py threads {t} {n}", ONE + LOCK + [r"interpreter lock"],
          fine="few cores,one core,idle,lock,kernel,oversubscribed", draw={"t": (3, 6), "n": (120, 160)}, wrong=DISK_BLAMED + SWAP_BLAMED + STORM_BLAMED,
          truth="Several threads of pure Python take turns at the interpreter's lock (GIL): one core's work. Use processes.",
          falsely="storage, memory, too many threads as the thing to mend, process starts", proof="4 threads took 2.1 s of wall time for what one does in 2.3 s; CPU time 1.4 s in both"),
    Ninth("ranks-on-the-same-core", "both ranks of Open MPI run on the same core, to which the launcher was bound", f"sh:taskset -c 1 {OPENMPI} --bind-to none ./ranks even {{n}}", MANY + AFFINITY,
          fine="few cores,one core,idle,kernel", draw={"n": (70, 100)}, needs="mpicc.openmpi mpirun.openmpi taskset two-cores", alone=True, before="mpicc.openmpi -O2 -o ranks {src}/ninth_mpi.c",
          wrong=DISK_BLAMED + SWAP_BLAMED + STORM_BLAMED, truth="mpirun was started under taskset, both ranks inherited one core and share it; the other core is idle. Mend the binding.",
          falsely="load imbalance of the ranks' work, storage, memory, the network", proof="rusage: 9.3 s of CPU time, all on the one core of taskset; with 2 cores each rank has half of it"),
    Ninth("quota-below-two-threads", "a CPU quota of 0.7 cores holds back a program of two threads", "sh:OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 exec {bin}/ninth relax {n}", QUOTA, around="quota:0.7",
          fine="few cores,one core,idle,throttled", draw={"n": (32000, 48000)}, needs="cgroup", alone=True, wrong=DISK_BLAMED + SWAP_BLAMED + STORM_BLAMED,
          truth="The control group allows 0.7 cores; both threads could run all the time and are stopped by the quota. Ask for more cores or use one thread.",
          falsely="a serial program, locks, storage, other jobs on the machine", proof="cpu.stat: throttled for 4.5 s of 9.7 s; 0.70 cores by rusage"),
    Ninth("each-of-four-takes-all-cores", "xargs runs four OpenMP programs at once, and each takes a thread for each core and spins at its barriers",
          "sh:seq {p} | OMP_NUM_THREADS={cores} OMP_WAIT_POLICY=active xargs -P{p} -I@ {bin}/ninth relax {n}", MANY + SPINS, fine="kernel,idle", draw={"p": (4, 5), "n": (500, 700)}, alone=True,
          wrong=DISK_BLAMED + SWAP_BLAMED, truth="Four or five programs at a time, each with as many threads as cores: most time goes to spinning at barriers for threads that have no core. One program at a time, or one thread each.",
          falsely="one core only, storage, memory, a lock", proof="the same work took 0.20 s of CPU time with a thread each, 2.9 s with 2 threads one program at a time, 8.2 s with four at a time"),

    # Locks and turns.
    Ninth("one-table-one-mutex", "threads of C++ do next to nothing outside one mutex", "./table {t} {n}000000", LOCK + ONE, fine="few cores,one core,idle,kernel,lock,oversubscribed", draw={"t": (3, 6), "n": (4200, 5200)},
          alone=True, before="g++ -O2 -pthread -o table {src}/ninth.cpp", wrong=DISK_BLAMED + SWAP_BLAMED + STORM_BLAMED,
          truth="All threads count in one table under one mutex; most calls are futex, and one thread alone would be faster. A table for each thread, added up at the end.",
          falsely="storage, memory, a lack of cores, process starts", proof="/proc/PID/task: those that do not run are in futex_do_wait; 4 threads need the CPU time and the wall time of one"),
    Ninth("writers-of-one-sqlite-file", "processes compute within a write transaction on one SQLite file, so they do it in turn", "{py} {src}/ninth.py writers {n} {r}", LOCK + ONE + [r"wait\w*.*(turn|each other|one another|database|SQLite)|\bSQLite|database"],
          fine="few cores,one core,idle,lock,storage", draw={"n": (3, 5), "r": (34, 40)}, wrong=DISK_BLAMED + SWAP_BLAMED + CROWD_BLAMED + MEMORY_BLAMED,
          truth="Each process holds the write lock of the database while it computes; the others sleep and try again. Compute first, then open the transaction.",
          falsely="slow storage (nothing is forced to disk), too many processes for the cores, memory", proof="rusage: 9.7 s of CPU time are those of 148 transactions of 65 ms, which exclude one another (BEGIN IMMEDIATE)"),
    Ninth("transaction-left-open", "a session of PostgreSQL keeps a row locked while it does nothing, and the other session waits for it", "sh:exec sh {src}/ninth.sh {s}",
          LOCK + IDLE + [r"transaction|postgres|psql|row"], fine="idle,few cores,one core,lock,network,storm", kind="waits", draw={"s": (9, 15)}, needs="root postgres psql setpriv",
          before="chmod 711 .; mkdir pg; chown nobody:nogroup pg; setpriv --reuid=nobody --regid=nogroup --clear-groups $(ls /usr/lib/postgresql/*/bin/initdb | tail -1) -D pg -A trust >initdb.log",
          wrong=DISK_BLAMED + SWAP_BLAMED + CROWD_BLAMED + MEMORY_BLAMED, truth="One client sleeps inside an open transaction that has updated a row; the other's UPDATE waits for that row's lock. Hardly any CPU is used.",
          falsely="a slow query, storage, computing on one core, too few cores", proof="pg_stat_activity: the UPDATE waits for Lock transactionid, the other session is idle in transaction; 0.2 s of CPU time in 14.5 s"),

    # Memory.
    Ninth("old-space-too-small", "Node keeps all records, until its heap limit ends it", "node --max-old-space-size={mb} {src}/ninth.js keep", HEAP, fine="failed,one core,few cores,memory", kind="failed",
          draw={"mb": (110, 140)}, needs="node", wrong=DISK_BLAMED + STORM_BLAMED, truth="The Map grows without end to the heap limit of --max-old-space-size; V8 aborts ('heap out of memory', SIGABRT).",
          falsely="a crash by a bad pointer, the kernel's OOM killer, a time limit, storage", proof="--trace-gc: 6.2 s of 8.7 s in collections, then 'heap out of memory' and SIGABRT"),
    Ninth("heap-nearly-full", "Java's heap is nearly full of what is in use, so it collects garbage nearly all the time", "java -Xmx{mb}m -XX:+UseSerialGC -cp . Ninth 700000 {n}", [r"garbage|\bGC\b|\bheap\b|-Xmx|collect(s|ed|ing|ion|or)\b"],
          fine="one core,few cores,memory", draw={"mb": [84], "n": (170, 210)}, needs="javac", before="javac -d . {src}/Ninth.java", wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED,
          truth="The live data take nearly all of -Xmx, so each little garbage brings a full collection. A larger -Xmx makes the job several times as fast.",
          falsely="one core as the only cause said with confidence, storage, a leak that will fail, process starts", proof="-Xlog:gc: 84 full collections are 12.6 s of 15.3 s; with -Xmx900m it takes an eighth of the CPU time"),
    Ninth("grows-past-its-group", "Python keeps each block that it makes, until the memory limit of its control group kills it", "{py} {src}/ninth.py grows {mb}", LIMITED, fine="failed,one core,few cores,memory", around="memory:300", kind="failed",
          draw={"mb": (3, 4)}, needs="cgroup", wrong=DISK_BLAMED + STORM_BLAMED, truth="Memory rises steadily to the limit of 300 MB of the control group; the kernel kills the process (SIGKILL).",
          falsely="killed by a user or a time limit, a crash by a bug, storage", proof="resident memory 309 MB at the end, SIGKILL under a limit of 300 MB"),
    Ninth("index-past-the-page-cache", "random reads of a file that is far larger than what the memory limit leaves for the page cache, so nearly each read goes to the disk", "{bin}/ninth look-up index {s}",
          STORAGE + LIMITED + [r"(reads|read from) .*(disk|storage)|random reads|(disk|storage).*reads?"], fine="few cores,one core,idle,storage,memory,kernel", around="memory:120", draw={"s": S}, needs="cgroup",
          before="dd if=/dev/urandom of=index bs=1M count=800 oflag=direct status=none", wrong=STORM_BLAMED + CROWD_BLAMED + [r"memory leak"],
          truth="Each 4 KiB read waits for the disk, since the index (800 MB) does not fit the page cache under a limit of 120 MB. More memory, or read in order.",
          falsely="computing on one core, a lock, a leak, the network", proof="strace -c -w: 99.9 % of the wall time in pread64; 6447 reads of the disk in 4 s, 0.15 s of CPU time"),

    # Files.
    Ninth("file-for-each-reading", "Perl makes, renames, reads and removes a small file for each reading", "perl {src}/ninth.pl files {s}", KERNEL + OFTEN + SMALL_CALLS, fine="few cores,one core,kernel,storage", draw={"s": S},
          wrong=STORM_BLAMED + CROWD_BLAMED + SWAP_BLAMED + MEMORY_BLAMED, truth="Nearly all time is the kernel's, in creating, renaming and removing thousands of small files. Keep the readings in one file or a database.",
          falsely="computing on one core as the only cause, memory, process starts, waiting for a slow disk", proof="rusage: 4.1 s of 4.2 s in the kernel"),
    Ninth("appends-by-opening", "R's cat() opens, appends to and closes a file for each number", "Rscript {src}/ninth.R append {n}", KERNEL + OFTEN + SMALL_CALLS + ONE + [r"system calls|writes?\b.*(each|of \d+ B)"],
          fine="few cores,one core,kernel,storage", draw={"n": (380, 520)}, needs="Rscript", wrong=STORM_BLAMED + CROWD_BLAMED + SWAP_BLAMED + MEMORY_BLAMED,
          truth="One thread opens, writes some ten bytes and closes, hundreds of thousands of times. Open once (file(..., 'w')) or collect the lines.",
          falsely="waiting for a slow disk, memory, process starts, too many threads", proof="100,000 lines: 2.3 s of CPU time, 0.9 s with a connection that stays open; strace -c: seventeen system calls for each line"),
    Ninth("settings-for-each-record", "Node reads and parses the same file of settings synchronously for each record", "node {src}/ninth.js settings {n}", ONE + ANEW + KERNEL + SMALL_CALLS, fine="few cores,one core,kernel,storage", draw={"n": (1800, 2400)}, needs="node",
          before="python3 -c \"import json; json.dump({'limits': [{'name': 'limit %d' % i, 'value': i % 17, 'unit': 'm/s'} for i in range(20000)]}, open('settings.json', 'w'))\"",
          wrong=DISK_BLAMED + STORM_BLAMED + CROWD_BLAMED + SWAP_BLAMED, truth="One thread reads a file of a megabyte that never changes and parses its JSON, over and over. Read it once.",
          falsely="slow storage (the file is cached), memory, network, process starts", proof="5.5 ms of CPU time for each record, which needs one number; one thread"),
    Ninth("read-byte-by-byte-from-a-pipe", "the shell's read takes one byte at a time from a pipe", "sh:seq 100000000 {n}000000 | while read -r x; do :; done", SMALL_CALLS + KERNEL + [r"bytes? (each|at a time)|\b1.(B|byte)|byte by byte|tiny reads|small reads"],
          fine="few cores,one core,kernel", draw={"n": [104, 105]}, wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + MEMORY_BLAMED,
          truth="The shell calls read() for each byte, since it may not read ahead on a pipe: millions of system calls of one byte. Use awk, or a program that reads blocks.",
          falsely="a slow producer in front of the pipe, the disk, process starts, memory", proof="strace -c: 200,015 calls of read for 20,000 lines of ten bytes; two thirds of the CPU time is the kernel's"),

    # The network of one machine.
    Ninth("service-answers-slowly", "a client asks a service for each sample and waits 0.3 s for each answer", "{py} {src}/ninth.py slow-service {n}", NETWORK + IDLE, fine="idle,few cores,one core,network", kind="waits", draw={"n": (30, 42)},
          wrong=DISK_BLAMED + CROWD_BLAMED + SWAP_BLAMED + MEMORY_BLAMED, truth="Nearly all time is spent waiting for answers over HTTP, one after the other; next to no CPU. Ask in parallel or for many at once.",
          falsely="computing on one core, storage, a lock, too few cores", proof="the server sleeps 0.3 s in each answer, which is all but some ms of it"),
    Ninth("one-byte-there-and-back", "two processes send one byte back and forth over TCP, each waits for the other", "{bin}/ninth back-and-forth {s}", NETWORK + SMALL_CALLS + KERNEL + [r"context switch|small messages|wait\w* for (each other|one another|the other)"],
          fine="few cores,one core,kernel,idle,network", draw={"s": S}, alone=True, wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + MEMORY_BLAMED,
          truth="Messages of one byte with a wait for each answer: latency, system calls and context switches, no computing. Send more at once.",
          falsely="that it computes well, storage, memory, process starts", proof="rusage: 7.6 s of 8.0 s in the kernel, 570,000 answers"),
    Ninth("license-server-not-there", "nobody listens on the port of the license server; the job tries each second, then gives up", "{py} {src}/ninth.py refused {n}", NETWORK + IDLE + FAILED + [r"refused|ECONNREFUSED|license"], fine="idle,failed,network,few cores", kind="failed", draw={"n": (8, 14)},
          wrong=DISK_BLAMED + CROWD_BLAMED + SWAP_BLAMED + MEMORY_BLAMED, truth="Connection refused, each second, until the job exits with code 1; it slept in between.",
          falsely="computing, storage, memory, a time limit", proof="rusage: 0.1 s of CPU time in 13.6 s, ECONNREFUSED each second, exit code 1"),

    # Processes that are started.
    Ninth("rscript-for-each-sample", "R is started anew for each sample, and starting it is nearly all the work", "sh:for i in $(seq {n}); do Rscript -e \"cat(sum(sqrt(seq_len($i))))\"; done", STARTS, fine="few cores,one core,kernel,storage", draw={"n": (70, 90)}, needs="Rscript",
          wrong=SWAP_BLAMED + CROWD_BLAMED + MEMORY_BLAMED, truth="Nearly all time is R's start, some 0.25 s for each of a few dozen samples whose own work is nothing. One R for all samples.",
          falsely="slow storage, memory, uneven tasks, waiting", proof="Rscript -e 1 takes 0.146 s of CPU time; 90 samples took 11.8 s, so 0.131 s each; system.time of a sample: 0"),
    Ninth("awk-asks-date-for-each-line", "awk starts a shell and date for each line", "sh:seq {n} | awk '{{ \"date +%s.%N\" | getline now; close(\"date +%s.%N\"); print now, $0 }}' >stamped", STARTS, fine="few cores,one core,kernel,idle", draw={"n": (4500, 6500)},
          wrong=DISK_BLAMED + SWAP_BLAMED + CROWD_BLAMED + MEMORY_BLAMED, truth="Thousands of sh and date processes a second or less each; awk itself does next to nothing. Use strftime or ask once.",
          falsely="slow storage, memory, a slow awk program, waiting", proof="rusage: 10.6 s of CPU time for 6041 lines; 0.004 s for as many without date"),
    Ninth("helpers-until-the-limit", "a helper process is started for each item and never ended, until the limit of processes", "{py} {src}/ninth.py helpers", FAILED + [r"fork|EAGAIN|temporarily unavailable|(limit|too many|maximum|number) .*(process|task|pid)|(process|task|pid)\w*.*(limit|maximum)|pids"], around="pids:{n}".replace("{n}", "70"),
          fine="failed,one core,few cores,storm,oversubscribed,idle", kind="failed", needs="root", wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED,
          truth="After some sixty helpers fork() fails with EAGAIN, as the control group allows 70 tasks; the job exits with code 1.",
          falsely="memory, a crash by a bad pointer, storage, a time limit", proof="BlockingIOError (EAGAIN) of fork at a pids.max of 70, exit code 1"),

    # One core where two could work; a slow part; an uneven division.
    Ninth("membership-in-a-list", "Python looks for each value in a list of all earlier ones, in one thread", "{py} {src}/ninth.py seen {n}", ONE + COSTLY, fine="few cores,one core,idle", draw={"n": (75000, 95000)}, wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED,
          truth="Quadratic: `in` on a list. One thread computes all the time. Use a set.", falsely="storage, memory, waiting, locks", proof="rusage: one thread, 8.5 s of CPU time; time grows with the square (20,000 values: 0.5 s)"),
    Ninth("pattern-that-backtracks", "one thread of Perl tries all ways to match a nested pattern", "perl {src}/ninth.pl nested {n} {l}", ONE + [r"regular expression|regex|pattern|backtrack|\bperl\b"], fine="few cores,one core,idle", draw={"n": [22], "l": (50, 65)},
          wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED, truth="A regular expression with a repeat within a repeat backtracks; one thread computes all the time. Rewrite the pattern.",
          falsely="storage, memory, waiting, locks", proof="CPU time doubles with each letter: 0.15, 0.29 and 0.64 s of three lines of 20, 21 and 22"),
    Ninth("table-grown-by-rbind", "R copies all earlier rows to append one, in one thread", "Rscript {src}/ninth.R rows {n}", ONE + [r"\bcop(y|ies|ied)|rbind|\bR\b.*(interpret|code)|garbage|alloc"], fine="few cores,one core,memory,kernel", draw={"n": (18000, 21000)}, needs="Rscript",
          wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + CROWD_BLAMED, truth="rbind in a loop: each row copies the table. One thread computes all the time. Make a list, and bind it once.",
          falsely="storage, out of memory, waiting, locks", proof="6000 rows: 1.8 s of CPU time, 0.1 s when bound once"),
    Ninth("debug-log-of-each-step", "Python formats and writes a line of debugging for each step, in one thread", "{py} {src}/ninth.py debugged {n}", ONE + COSTLY + SMALL_CALLS + KERNEL + [r"\blog(s|ged|ging)?\b|small writes"], fine="few cores,one core,kernel,storage", draw={"n": (1100000, 1400000)},
          wrong=STORM_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED + DISK_BLAMED, truth="The level is DEBUG: formatting and writing the log takes more than nine tenths of the time of the one thread. Log less.",
          falsely="waiting for a slow disk, memory, locks, too many threads", proof="100,000 steps: 0.8 s of CPU time, 0.02 s without the log"),
    Ninth("tar-behind-one-bzip2", "one bzip2 at the end of a pipe packs all, and tar waits for it", "sh:tar cf - data | bzip2 -9 >data.tar.bz2", ONE + STAGE + [r"bzip2|compress"], fine="few cores,one core,idle,kernel", draw={},
          before="mkdir data; for i in $(seq 34); do seq $((i * 1000000)) $((i * 1000000 + 1100000)) >data/$i; done", wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED,
          truth="bzip2 has one thread and is busy all the time; tar waits at the pipe. Use a compressor with threads.", falsely="slow storage, memory, tar as the slow part, too many processes", proof="tar alone: 0.003 s of CPU time, with bzip2 0.28 s"),
    Ninth("sorts-with-a-tiny-buffer", "sort has a buffer far smaller than its input and merges hundreds of temporary files, in one thread", "sh:sort -S 20K --parallel=1 -T . input >sorted", ONE + SMALL_CALLS + KERNEL + [r"temporary|\bsort\b|merg|buffer|(writ|read)\w*.*(times|again|anew)|-S\b"],
          fine="few cores,one core,kernel,storage", draw={}, before="seq 9900000 | awk '{ print ($1 * 7919) % 9999991, $1 }' >input", wrong=STORM_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED,
          truth="-S 20K makes thousands of temporary files and merges them in many passes; with the usual buffer it takes a fraction of the time. One thread.", falsely="too many threads, out of memory, process starts", proof="600,000 lines: 0.60 s of CPU time, 0.20 s with -S 100M; one thread"),
    Ninth("linker-optimizes-alone", "compilers leave all optimization to the linker, which does it in one process at the end", "make -f {src}/ninth.mk -s -j{cores}", ONE + TAIL + [r"\blto1?\b|link(er|ing)?\b|lto-wrapper"], fine="few cores,one core", draw={}, needs="make", alone=True,
          before="python3 {src}/ninth.py sources 10", wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + CROWD_BLAMED, truth="The compilers run on both cores for a few seconds, then lto1 works alone for the rest, on one core. -flto=auto, or no LTO.",
          falsely="storage, memory, too many compilers, process starts", proof="time: compiling takes 0.15 s for each part, linking 1.1 s for each"),
    Ninth("reads-alone-then-pool", "one process reads the table for most of the time before the pool has work", "{py} {src}/ninth.py load-then-pool {n} 30", ONE + TAIL + COSTLY + [r"one process (read|work|comput|ran|alone)"], fine="few cores,one core,idle", draw={"n": (600000, 700000)}, alone=True,
          before="python3 -c \"open('table', 'w').writelines('%d,%d.5,%d,%d,%d,%d,%d,%d\\n' % (i, i, i * 3, i % 7, i * 11, i % 13, i, i) for i in range(750000))\"", wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + CROWD_BLAMED,
          truth="A serial phase: one process parses text for about three quarters of the time; then two workers use both cores. Read in the workers.", falsely="slow storage (the table is cached), too many workers, uneven workers", proof="by rate: 60 million steps of 70 ns on two cores take some 2 s of the pool; 10.2 s of CPU time in all"),
    Ninth("last-rows-are-the-longest", "a static schedule gives equal numbers of rows to two threads, but the last rows are far longer", "sh:OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive exec {bin}/ninth triangle 2000 {n}", TAIL + ONE + [r"schedule|(far|much) (more|longer)|one thread.*more"], fine="few cores,one core,idle,imbalance", draw={"n": (9, 12)}, alone=True,
          wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + CROWD_BLAMED, truth="One thread has seven eighths of the work of each loop, the other sleeps at the barrier. schedule(dynamic).", falsely="storage, memory, too many threads, a lock", proof="/proc/PID/task: CPU time of the two threads 17 and 79 ticks at one look; by the sums of squares 1 to 7"),
    Ninth("rank-with-a-fifth-of-the-work", "one of two ranks of MPICH has a fifth of the work and spins in MPI_Allreduce for the other", "mpirun.mpich -n 2 ./ranks uneven {n}", TAIL + MPI_WAITS + SPINS, fine="idle,few cores,one core,imbalance,kernel", draw={"n": (80, 110)}, needs="mpicc.mpich mpirun.mpich", alone=True,
          before="mpicc.mpich -O2 -o ranks {src}/ninth_mpi.c", wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + CROWD_BLAMED, truth="Both cores look busy, but rank 0 has a fifth of rank 1's work in each round and waits for it in MPI_Allreduce, spinning. Divide the work evenly.",
          falsely="nothing wrong (both cores are busy), storage, memory, too many ranks", proof="gdb: looks at one rank find PMPI_Allreduce; CPU time of both is the same (1.19 and 1.14 s), as that one spins; 4 to 20 million steps by the source"),
    Ninth("asks-without-a-pause", "Perl asks a pipe again and again for what another process writes late", "perl {src}/ninth.pl asks {s}", SPINS + KERNEL + ONE + IDLE + [r"again and again"], fine="few cores,one core,kernel,idle", draw={"s": S}, wrong=DISK_BLAMED + STORM_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED,
          truth="It waits for another process, which sleeps, and burns a core with millions of read() that give EAGAIN. Block, or use select.", falsely="that it computes, storage, memory, a slow disk", proof="31 million calls of read in 8 s, one core by rusage, nothing else done"),

    # Failures and hangs.
    Ninth("script-not-executable", "after the work, the script for the results has no permission to be executed", "sh:{py} {src}/ninth.py steps {n} && ./publish.sh", FAILED + [r"permission|not executable|\b126\b|EACCES|denied"], fine="failed,one core,few cores", kind="failed", draw={"n": (90, 120)},
          before="printf '#!/bin/sh\\necho published\\n' >publish.sh; chmod 644 publish.sh", wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED, truth="./publish.sh: Permission denied, exit code 126; the steps before it were well. chmod +x.",
          falsely="memory, a time limit, a signal, a full disk, that the computing failed", proof="exit code 126, Permission denied"),
    Ninth("library-not-found", "after the work, the next program lacks a shared library", "sh:{py} {src}/ninth.py steps {n} && ./mesher", FAILED + [r"librar|\.so\b|\b127\b|shared object|not found|cannot open"], fine="failed,one core,few cores", kind="failed", draw={"n": (90, 120)},
          before="echo 'int mesh(void) { return 0; }' >mesh.c; gcc -shared -fPIC -o libmesh.so.3 mesh.c; echo 'int mesh(void); int main(void) { return mesh(); }' >main.c; gcc -o mesher main.c ./libmesh.so.3; rm libmesh.so.3",
          wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED, truth="error while loading shared libraries: libmesh.so.3, exit code 127; load the module that has it.", falsely="memory, a time limit, a signal, a full disk", proof="exit code 127, error while loading shared libraries"),
    Ninth("cpu-time-is-used-up", "ulimit -t, as on a login node, ends Python by SIGXCPU", "sh:ulimit -S -t {t}; exec {py} {src}/ninth.py steps 100000", [r"CPU.?time|SIGXCPU|CPU limit|ulimit|signal 24|RLIMIT"], fine="failed,one core,few cores", kind="failed", draw={"t": (8, 12)},
          wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED, truth="The limit of CPU time (ulimit -t, 8 to 12 s) was reached; the kernel sent SIGXCPU.", falsely="memory, a crash by a bad pointer, killed by a user, a time limit of the job as a whole", proof="ended by signal 24 after 9 to 10 s of CPU time under ulimit -t 10"),
    Ninth("failure-hidden-by-a-pipe", "the first part of a pipe fails with a traceback, and the job ends well as its last part does", "sh:{py} {src}/ninth.py table {n} | sort -n >sorted", FAILED + [r"KeyError|traceback|exception|\berror\b|exit code 1|pipefail"], fine="failed,one core,few cores,idle,storage", kind="failed",
          draw={"n": (2600000, 3400000)}, wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED, truth="Python died with a KeyError (exit code 1), but the exit code of a pipe is that of sort, 0: the result is not complete. That one core was used is true too, but matters less.",
          falsely="that all went well, memory, a time limit, storage", proof="KeyError in the output, exit code 0 of the pipe"),
    Ninth("waits-before-it-reads", "a parent waits for a child that waits for its full pipe to be read, until timeout ends both", "timeout {s} {py} {src}/ninth.py unread-pipe", TIMEOUT + IDLE + [r"\bpipe|deadlock|\bhang|\bhung|stuck"], fine="idle,failed,few cores,lock", kind="failed", draw={"s": (9, 15)},
          wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED, truth="A deadlock: the child blocks in write() to a full pipe, the parent in wait(); nothing ran until timeout ended it (exit code 124). communicate().", falsely="computing that took too long, storage, memory", proof="rusage: 0.0 s of CPU time in 15 s, exit code 124"),
    Ninth("message-that-is-never-sent", "a rank of Open MPI receives what no rank sends, and the ranks spin until timeout ends them", f"timeout {{s}} {OPENMPI} ./ranks unmatched 40", TIMEOUT + MPI_WAITS + SPINS + [r"deadlock|\bhang|\bhung|stuck"], fine="failed,idle", kind="failed", draw={"s": (13, 18)},
          needs="mpicc.openmpi mpirun.openmpi", alone=True, before="mpicc.openmpi -O2 -o ranks {src}/ninth_mpi.c", wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED,
          truth="Rank 0 waits in MPI_Recv and rank 1 in MPI_Barrier, both spin at full CPU; timeout ended the job (exit code 124). The busy cores did no work after the first seconds.", falsely="that it computed and needed more time, storage, memory, imbalance alone", proof="gdb: one rank in PMPI_Recv, the other in PMPI_Barrier, both running; exit code 124"),

    # Two causes.
    Ninth("commits-then-waits-for-a-list", "SQLite forces each row to storage for half of the time, then the job waits for a fifo until timeout ends it", "timeout {t} {py} {src}/ninth.py commits-then-waits {s}", FSYNC + STORAGE, also=TIMEOUT + IDLE, fine="idle,failed,few cores,one core,storage,kernel", kind="failed",
          draw={"s": (8, 10), "t": (17, 20)}, wrong=SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED, truth="First a transaction for each row, with a flush to disk each; then open() of a fifo that nobody writes, asleep until timeout (exit code 124).", falsely="computing, memory, process starts, too many processes", proof="strace -c -w of a short run (3 s of rows): 2.5 s in fdatasync, the rest in the open of the fifo; exit code 124"),
    Ninth("alone-then-null-pointer", "an OpenMP program is told to use one thread, and crashes at the end by a null pointer", "sh:OMP_NUM_THREADS=1 exec {bin}/ninth last-row {n}", [r"SIGSEGV|segmentation|signal 11|crash|core dumped|\b139\b|null pointer|invalid (memory )?address"], also=ONE + [r"OMP_NUM_THREADS"],
          fine="failed,few cores,one core,idle", kind="failed", draw={"n": (55000, 75000)}, wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED, truth="It crashed (SIGSEGV) when it was done; until then one core of two was used as OMP_NUM_THREADS=1.", falsely="out of memory, a time limit, storage", proof="a run of the same program ends by signal 11 (139 of the shell); Threads: 1 in /proc/PID/status until then"),
    Ninth("cut-for-each-line-then-full", "a shell loop starts cut for each line, until the small tmpfs is full", "sh:pad=$(printf %0150d 0); seq 900000 | while read -r line; do echo \"$line,$pad,$line\" | cut -d, -f2,3 >>{small}/ids || exit 1; done", FULL, also=STARTS, around="tmpfs:1",
          fine="failed,few cores,one core,kernel,idle,storage", kind="failed", needs="root", draw={}, wrong=SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED + DISK_BLAMED, truth="Thousands of processes for what the shell can do itself; and the file system of 1 MB is full (No space left on device), exit code 1.", falsely="memory, a slow disk, a signal", proof="a process for each line of some 170 B until 1 MB is full; 'write error: No space left on device', exit code 1"),
    Ninth("orbit-then-sleep", "R computes on one core for half of the time, and sleeps for the other half", "Rscript {src}/ninth.R pauses {n} {s}", ONE, also=IDLE, fine="few cores,one core,idle", draw={"n": (420, 500), "s": (8, 10)}, needs="Rscript", wrong=DISK_BLAMED + SWAP_BLAMED + MEMORY_BLAMED + CROWD_BLAMED,
          truth="One thread computes for some 8 s, then Sys.sleep: nothing runs for as long again.", falsely="storage, memory, locks, too few cores", proof="rusage: 8.6 s of CPU time of one thread, and 9 s of Sys.sleep by the command"),

    # Healthy.
    Ninth("healthy-openmpi", "nothing: two even ranks of Open MPI compute and meet each tenth of a second or so", f"{OPENMPI} ./ranks even {{n}}", [], kind="healthy", draw={"n": (110, 140)}, needs="mpicc.openmpi mpirun.openmpi", alone=True, before="mpicc.openmpi -O2 -o ranks {src}/ninth_mpi.c", truth="Even ranks on both cores.", falsely="any fault", proof="CPU time of the ranks after 8 s beside much load 0.51 and 0.65 s; even by the source"),
    Ninth("healthy-ninja", "nothing: ninja compiles even C files, two at a time", "ninja -j{cores}", [], kind="healthy", draw={}, needs="ninja", alone=True, truth="Even compilers on both cores.", falsely="any fault", proof="not measured alone: ten sources of one size, two at a time",
          before="python3 {src}/ninth.py sources 10; rm main.c; (echo 'rule cc'; echo '  command = gcc -O2 -c -o $out $in'; for i in $(seq 0 9); do echo \"build part$i.o: cc part$i.c\"; done) >build.ninja"),
    Ninth("healthy-worker-threads", "nothing: a worker thread of Node for each core computes the same", "node {src}/ninth.js even {cores} {n}", [], kind="healthy", draw={"n": (5000, 7000)}, needs="node", alone=True, truth="Even threads on both cores.", falsely="any fault", proof="not measured alone: even by the source"),
    Ninth("healthy-two-sqlite", "nothing: an sqlite3 for each core counts in memory", "sh:for i in $(seq {cores}); do sqlite3 :memory: 'WITH RECURSIVE c(x, y) AS (SELECT 1, 7 UNION ALL SELECT x + 1, (y * 16807) % 2147483647 FROM c LIMIT {n}000000) SELECT count(*), max(y) FROM c' & done; wait", [], kind="healthy",
          draw={"n": (52, 64)}, needs="sqlite3", alone=True, truth="Even processes on both cores.", falsely="any fault", proof="not measured alone: two processes of one command"),
    Ninth("healthy-zstd", "nothing: zstd packs with a thread for each core", "sh:zstd -q -T{cores} -{n} -o data.zst data", [], kind="healthy", draw={"n": [16]}, needs="zstd", alone=True, before="seq 60000000 78000000 >data", truth="Even threads on both cores.", falsely="any fault", proof="not measured alone: even jobs of one input by -T"),
    Ninth("healthy-mclapply", "nothing: two even R processes, three rounds of them", "Rscript {src}/ninth.R even {n}", [], kind="healthy", draw={"n": (140, 180)}, needs="Rscript", alone=True, truth="Even processes on both cores.", falsely="any fault", proof="not measured alone: even by the source, three rounds"),
    Ninth("healthy-two-perls", "nothing: a process of Perl for each core makes lines and searches them", "perl {src}/ninth.pl even {cores} {n}", [], kind="healthy", draw={"n": (26000, 32000)}, alone=True, truth="Even processes on both cores.", falsely="any fault", proof="not measured alone: even by the source"),
    Ninth("healthy-primes", "nothing: two threads of Rust look for primes", "./primes {n}", [], kind="healthy", draw={"n": (30000, 36000)}, needs="rustc two-cores", alone=True, before="rustc -O -o primes {src}/ninth.rs", truth="Even threads on both cores.", falsely="any fault", proof="every other number goes to each thread; 0.26 s of wall time for 0.51 s of CPU time"),
]


def halves():
    """Every other of those with one cause, then of those with two, then of the healthy ones; it is counted on from one to the next, so that both halves have 25."""
    rng, order = random.Random(9), []
    for group in ([c for c in NINTH if c.kind != "healthy" and not c.also], [c for c in NINTH if c.also], [c for c in NINTH if c.kind == "healthy"]):
        names = sorted(c.name for c in group)
        rng.shuffle(names)
        order += names
    return {name: ("ninth", "reserved")[i % 2] for i, name in enumerate(order)}


HALF = halves()
random.Random(99).shuffle(NINTH)
