# SPDX-License-Identifier: Apache-2.0
"""A second set of jobs written unseen: drawn from what users of clusters ask for help with, by someone who had read neither the rules, nor what
Sonde prints, nor the rows of the other sets. They are judged as `--half second`. Each was run without Sonde first; its comment says what showed
its cause then. Shares and counts are given rather than times, for others used the machine."""
from dataclasses import dataclass

from cases import Case
from kept import ALONE, CROWD, DISK, FILES, FLUSH, FULL, IDLE, KERNEL, NO_MEMORY, OUT_OF_MEMORY, QUOTA, REFUSED, SERVER, STORM, TURNS, UNEVEN


@dataclass
class Second(Case):
    @property
    def half(self):
        return "second"


# Accepted words that several rows share.
MISSING = [r"no such file|ENOENT|not found|missing|does(n't| not) exist|could not be (found|opened)|cannot open"]
DENIED = [r"permission|EACCES|EPERM|denied|not (allowed|permitted)|may not (be )?writ|not writable"]
STORES = [r"(storage|disk|file system|I/O|device)\b.*(wait|slow|latency|busy|block|bound|limit|saturat)|wait\w* (for|on) (the )?(storage|disk|I/O|reads?)",
          r"(time|spent|wait\w*|block\w*).*\b(reading|reads|storage|disk|I/O)\b"]
LOW = [r"\bnice\b|niced|\bpriority"]
STARTS = [r"\b(start|launch)\w*\b.*(python|interpreter|process|program|command)|(python|interpreter)\w*\b.*\bstart", r"\bimport(s|ing)?\b"]

SECOND = [
    # Jobs that fail.
    # sort says "cannot read: genome.fa.fai: No such file or directory" and the script ends with 2 after six seconds of arithmetic.
    Second("index-never-built", "the index of a reference is missing", "sh {src}/second.sh align", MISSING, kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY + DISK),
    # sh says "cannot create results.txt: Permission denied", exit code 2; the directory has mode 700 and is root's.
    Second("results-of-another", "the directory for results belongs to another user",
           "setpriv --reuid={uid} --regid={uid} --clear-groups sh -c 'i=0; while [ $i -lt {n} ]; do i=$((i + 1)); done; echo ok >results.txt'", DENIED,
           kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY + FULL, draw={"uid": (61000, 61999), "n": (3000000, 4000000)}, needs="root setpriv"),
    # sort says "write failed: ...: No space left on device", exit code 2, at a resident size of 21 MiB.
    Second("sort-scratch-full", "the place for sort's temporary files is full", "sh:sort -S 6M -T {small} -k2n numbers.txt >sorted.txt", FULL, kind="failed",
           fine="failed,one core,few cores,storage", wrong=NO_MEMORY, around="tmpfs:50", needs="root",
           before="awk 'BEGIN { for (i = 0; i < 6000000; i++) print i, int(rand() * 1e9), \"GATTACA\" }' >numbers.txt"),
    # gzip says "unexpected end of file" and is the one of four that fails; pipefail makes it the script's exit code 1.
    Second("damaged-archive", "a compressed input is cut short", "bash -o pipefail {src}/second.sh archive",
           [r"unexpected end|corrupt|truncat|damaged|crc|invalid (compressed|data|input)|cut (off|short)", r"gzip\b.*(fail|exit|error|status|code)|(fail|exit|error)\w*.*\bgzip"],
           kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY + DISK, needs="bash", before="seq 1 9000000 | gzip -1 | head -c 16000000 >reads.fastq.gz"),
    # ModuleNotFoundError, exit code 1, after the arithmetic.
    Second("module-not-there", "a Python module is not installed", "{py} {src}/second.py imports {s}",
           [r"ModuleNotFound|ImportError|no module|import\w* .*(fail|not)|module\b.*(missing|not (found|installed|there))"], kind="failed", fine="failed,one core,few cores",
           wrong=NO_MEMORY, draw={"s": (6, 9)}),
    # SIGABRT (wait status 6); standard error has the line of the assertion.
    Second("energy-check", "an assertion of the program does not hold", "{bin}/second energy {s}", [r"assert|abort|SIGABRT|signal 6\b"], kind="failed", fine="failed,one core,few cores",
           wrong=NO_MEMORY, draw={"s": (6, 9)}),
    # Exit code 124 at the limit to the tenth of a second; one process runs until then.
    Second("search-too-long", "timeout(1) ends a search that needs longer", "timeout {s} perl {src}/second.pl search 90",
           [r"time ?out|timed out|time limit|\b124\b|limit of time|too long"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY, draw={"s": (8, 11)}),
    # OSError 98, Address already in use, of bind; exit code 1.
    Second("port-taken", "the port of a service is still in use", "{py} {src}/second.py port {s}", [r"address.*in use|EADDRINUSE|\bport\b.*(use|taken|busy|occupied|bound)|\bbind\b"],
           kind="failed", fine="failed,one core,few cores,network", wrong=NO_MEMORY + REFUSED, draw={"s": (5, 8)}),
    # Exit code 2 and a backtrace of libgfortran; without -fcheck=bounds timeout has to end it.
    Second("one-cell-too-far", "a Fortran program reads past the end of its array", "./relax",
           [r"bound|out of range|index\b|runtime error|past the end|subscript", r"(exit(ed)?|status|code|ended)\b.*\b2\b"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY,
           needs="gfortran", before="gfortran -O1 -fcheck=bounds -o relax {src}/second.f90"),
    # Exit code 24 (EMFILE); "Too many open files" at barcode 208, where ulimit -n is reached.
    Second("file-for-each-barcode", "more files are open at once than ulimit -n allows", "sh:ulimit -n {n}; exec perl {src}/second.pl demultiplex 2000",
           [r"too many open files|EMFILE|ulimit -n|NOFILE|open files|(file )?descriptors?|limit .*\bfiles\b"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY + FULL,
           draw={"n": (180, 260)}),
    # Wait status 9; strace shows kill(own pid, SIGKILL); peak memory of 21 MiB, and no control group.
    Second("clean-up-ends-itself", "the job kills itself with SIGKILL; no memory limit is involved", "perl {src}/second.pl cleanup {s}",
           [r"SIGKILL|signal 9\b|killed|kill\b"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY, draw={"s": (6, 9)}),
    # sqlite3.OperationalError: database is locked, after the timeout; both processes sleep for 96 % of the time.
    Second("database-locked", "another process holds the lock of an SQLite database for longer than the writer waits", "{py} {src}/second.py locked {s}", TURNS, kind="failed",
           fine="failed,idle,one core,few cores", wrong=NO_MEMORY + DISK, draw={"s": (6, 9)}),
    # Exit code 124; three threads in state S, none runs after the first quarter of the time.
    Second("two-locks", "two threads take two locks in opposite orders and wait for ever, until a time limit ends the job", "timeout {s} {py} {src}/second.py deadlock 0.5",
           [r"deadlock|hung|hang|stuck", r"time ?out|timed out|time limit|\b124\b"] + TURNS + IDLE, kind="failed", fine="failed,idle,one core,few cores", wrong=NO_MEMORY + DISK,
           draw={"s": (9, 12)}),
    # Jobs that wait.
    # R in 17 % of the looks at /proc, all in the last quarter; 0.5 s of CPU time.
    Second("input-late", "the job sleeps until a file of the stage before is there", "sh {src}/second.sh wait-for-input {s}", IDLE, kind="waits", fine="idle,few cores,one core",
           wrong=DISK, draw={"s": (9, 12)}),
    # 0.1 s of CPU time in 10 s; 78 % of a strace are recvfrom, of 0.3 s each.
    Second("slow-service", "requests to a slow service, one after the other", "{py} {src}/second.py asks {n} 0.3", SERVER + IDLE + ALONE, kind="waits", fine="idle,network,few cores,one core",
           wrong=DISK, draw={"n": (30, 40)}),
    # No CPU time; the first program is in anon_pipe_write, the second in hrtimer_nanosleep.
    Second("slow-reader", "the last program of a pipe takes its lines slowly and holds up the first", "sh:perl {src}/second.pl source {n} | perl {src}/second.pl sink 0.05",
           [r"\bpipe"] + IDLE, kind="waits", fine="idle,few cores,one core", wrong=DISK, draw={"n": (200, 260)}),
    # Exactly one process runs in each eighth of the time, four and a half sleep; CPU time is six times the share.
    Second("one-lock", "all tasks want the same lock for all that they do, so one works at a time", "sh {src}/second.sh turns {bin}/second {s}", TURNS + ALONE,
           fine="idle,few cores,one core,lock", wrong=DISK, draw={"s": (2, 3)}, alone=True),
    # Storage.
    # strace of 2,000 files: 2,100 openat that create, 2,100 writes, 2,098 unlinkat; 96 % of the CPU time is the kernel's.
    Second("thumbnails", "an archive of very many small files is unpacked and deleted", "sh:for i in $(seq {n}); do tar -xf thumbnails.tar; rm -r thumbnails; done",
           FILES + KERNEL + [r"(small|many|[\d,]+) (\w+ )?files"], fine="one core,few cores,kernel,storage", draw={"n": (4, 5)}, before="/usr/bin/python3 {src}/second.py pack 20000"),
    # Four fdatasync for each row, 79 % of the time under strace -w; six voluntary switches for each row.
    Second("commit-for-each-row", "each inserted row is a transaction of its own that waits for storage", "sh:sqlite3 runs.db <rows.sql", FLUSH + [r"commit|transaction"], kind="waits",
           fine="storage,idle,one core,few cores", needs="sqlite3",
           before="(echo 'CREATE TABLE runs (n, loss);'; seq 1 4000 | sed 's/.*/INSERT INTO runs VALUES (&, 0.&);/') >rows.sql"),
    # 97 MiB in reads of 4 KiB; more than one voluntary switch for each; 99.9 % of a strace are pread64. State D in half of the looks.
    Second("records-at-random", "single records are read all over a file, past the page cache", "{bin}/second lookups big.dat {s}",
           STORES + [r"random|(small|tiny|short) reads|reads?\b.* of (only )?(about )?(\d+ (B|bytes)|4(\.\d+)? Ki?B)"], kind="waits", fine="storage,idle,one core,few cores", draw={"s": (8, 11)},
           before="head -c 400M /dev/urandom >big.dat"),
    # OSError 28, No space left on device; the directory is empty, df says 94 %, and /proc/PID/fd has 14 deleted files.
    Second("files-without-a-name", "deleted files that are still open fill a small file system", "{py} {src}/second.py scratch {small} 4", FULL, kind="failed",
           fine="failed,one core,few cores,storage", wrong=NO_MEMORY, around="tmpfs:60", needs="root"),
    # 59 % of the CPU time is the kernel's; of a strace 210,000 calls of newfstatat.
    Second("looks-at-every-file", "the state of thousands of files is asked for again and again", "{py} {src}/second.py looks {n} 9", KERNEL + [r"metadata|\bl?stat\w*\b|director(y|ies)"],
           fine="one core,few cores,kernel", draw={"n": (3000, 5000)}),
    # 16.5 GB read for a file of 0.5 GB; state D in 63 % of the looks, and 1.7 s of CPU time in 25 s.
    Second("every-epoch-from-disk", "the same file is read from storage again for every epoch", "sh:for e in $(seq {n}); do dd if=train.bin of=/dev/null bs=1M iflag=direct; done",
           STORES + [r"\b(same|again|repeated(ly)?|re-?reads?)\b.*\b(files?|data|reads?|read)\b|\bread\b.*\b(again|times|repeatedly)\b"], kind="waits", fine="storage,idle,one core,few cores",
           draw={"n": (30, 34)}, before="head -c 500M /dev/urandom >train.bin"),
    # Memory.
    # java.lang.OutOfMemoryError: Java heap space, exit code 1; the machine has memory left.
    Second("cache-without-an-end", "Java's heap is full of answers that are never removed", "java -Xmx{mb}m {src}/Second.java remember",
           [r"OutOfMemoryError|\bheap\b|-Xmx|out of memory|\bOOM|leak|memory (ran|was|is) (out|full|exhausted)|(ran|run) out of"], kind="failed", fine="failed,memory,idle,one core,few cores",
           draw={"mb": (110, 140)}, needs="javac"),
    # oom_kill 1 and failcnt 47 in the group, wait status 9, peak of 359 MiB.
    Second("table-twice-as-long", "a table doubles until the memory limit of the job ends it", "{py} {src}/second.py doubles 10", OUT_OF_MEMORY, kind="failed",
           fine="failed,memory,one core,few cores,swap", around="memory:350", needs="cgroup"),
    # 871 major faults with read-ahead, 6.5 GB read of a file of 0.5 GB, failcnt 1.7 million, no OOM kill.
    Second("file-larger-than-group", "a mapped file does not fit into the memory limit, so its pages are read from storage again and again", "{bin}/second visits genome.bin {s}",
           STORES + [r"page faults?|faults|thrash|reclaim|page cache|memory limit|limit of memory|(evict|re-?read)", r"memory\b.*(limit|full|pressure)"], kind="waits",
           fine="storage,memory,swap,idle,one core,few cores,kernel", draw={"s": (9, 12)}, around="memory:100", needs="cgroup",
           before="head -c 500M /dev/urandom >genome.bin; sync genome.bin; dd if=genome.bin iflag=nocache count=0"),
    # 89 % of the CPU time is the kernel's, 1.3 million minor faults at a peak of 89 MiB.
    Second("buffer-for-each-frame", "a large buffer is mapped, touched and given back for each frame", "{bin}/second frames {mb} {s}", KERNEL + [r"page faults?|faults|allocat|\bmmap|munmap|malloc"],
           fine="kernel,one core,few cores,memory", draw={"mb": (48, 96), "s": (8, 11)}),
    # Cores.
    # One thread runs in each eighth of the time; CPU time is that of a single process.
    Second("logs-packed-by-one", "gzip packs everything on one core", "sh:gzip -9 <log.txt >log.gz", ALONE, fine="one core,few cores", alone=True,
           before="seq 1 3000000 | awk '{ print NR, \"GET /data/part\" int($1 / 7), $1 % 977 }' | head -c 45M >log.txt"),
    # 14 threads are ready or run at once on two cores, 690,000 voluntary switches, 72,000 calls of futex find nothing to wait for.
    Second("loops-too-small", "many more OpenMP threads than cores meet after every few microseconds", "{bin}/second tiny-loops {n} {s}",
           CROWD + TURNS + [r"barrier|synchroni[sz]|context switch"] + KERNEL, fine="oversubscribed,kernel,lock,few cores", draw={"n": (20, 30), "s": (8, 11)}, alone=True),
    # Both processes are always ready, and only core 0 is ever seen in field 39 of /proc/PID/stat.
    Second("bound-to-the-first", "both workers bind themselves to the same core", "{bin}/second bound {n} {s}",
           [r"affinity|pinned|\bbound\b|bind(s|ing)?\b|allowed|taskset|same (core|CPU)|sched_setaffinity"] + ALONE + CROWD,
           fine="affinity,one core,few cores,oversubscribed", draw={"n": (2, 3), "s": (4, 5)}, alone=True),
    # Three processes are ready in nearly all looks on two cores; 0.6 s of CPU time of the nice one take all of the job's 16 s.
    Second("nice-beside-its-own", "the step that matters is nice, and the job's own background work has all cores", "sh:{bin}/second products {s} & nice -n 19 {bin}/second cpu 0.6; wait",
           LOW + CROWD + [r"wait\w* for (a |the )?(core|CPU|processor)", r"\bown\b.*(processes|threads|work)|background"], fine="oversubscribed,few cores,one core,imbalance", alone=True,
           draw={"s": (10, 13)}),
    # Two processes are always ready and 2.5 s of CPU time take 12 s; cfs_quota_us is 33,000 of 100,000. Beside a load it does not bind: void then.
    Second("two-packers-third-of-a-core", "the job's quota of a third of a core holds back two compressions", "sh:bzip2 -9k a.txt & bzip2 -9k b.txt; wait", QUOTA, fine="throttled,one core,few cores",
           around="quota:0.33", needs="cgroup bzip2", alone=True, before="seq 1 3000000 >a.txt; seq 4000000 7000000 >b.txt"),
    # Two threads always run, one of which does nothing but sched_yield: 99 % of a strace.
    Second("asks-for-the-next-item", "a thread spins, with sched_yield, until the next item is there", "{bin}/second yields {n}",
           KERNEL + [r"\bspin|sched_yield|yield|busy.?wait|poll(s|ed|ing)?\b"], fine="kernel,one core,few cores,lock", draw={"n": (32, 40)}, alone=True),
    # Each step computes for 0.5 s in rank 0 and for 0.08 s in rank 1, by the clock; rank 1 spins in MPI_Allreduce for the rest, so both run always.
    Second("small-part-and-large-part", "one of two ranks has six times the work, and the other waits for it at every step", "mpirun --allow-run-as-root --oversubscribe -n 2 ./parts {n}",
           UNEVEN + [r"\bMPI\b.*(wait|time|spent|in)|wait\w*.*\b(MPI|ranks?|collective|Allreduce|barrier)", r"ranks? .*\b(more|less|wait)"],
           fine="imbalance,idle,few cores,one core,kernel", draw={"n": (18, 24)}, needs="mpicc mpirun", alone=True, before="mpicc -O2 -o parts {src}/second_mpi.c"),
    # Processes.
    # 120 clone and 60 execve for 30 names; 290 minor faults for each name.
    Second("names-cut-by-commands", "a shell starts three commands for every name", "sh {src}/second.sh rename {n}", STORM, fine="storm,kernel,one core,few cores", draw={"n": (2200, 2800)}),
    # One execve of Python for each line, 0.03 s of CPU time each; python3 -c pass takes as long.
    Second("python-for-each-line", "a Python starts for every line and does next to nothing", "sh {src}/second.sh starts {n}", STORM + STARTS, fine="storm,kernel,one core,few cores",
           draw={"n": (250, 320)}),
    # Waste.
    # Two processes run in the first quarter, none in the last three.
    Second("monitor-never-ends", "after its work the job waits for a monitor in the background that never ends", "sh {src}/second.sh forgotten", IDLE, kind="waits",
           fine="idle,few cores,one core", wrong=DISK, alone=True),
    # A strace has one answer of the whole file for each round, by sendto and recvfrom; 93 % of the CPU time is the kernel's.
    Second("same-model-again", "the same large file is fetched from a server again and again", "{py} {src}/second.py downloads {n} {mb}",
           [r"download|fetch|receiv|transfer|network|socket|loopback|localhost|server|\bTCP"], fine="network,kernel,one core,few cores,storage", draw={"n": (40, 50), "mb": (60, 80)}),
    # Two causes each.
    # ConnectionRefusedError, exit code 1; 0.1 s of CPU time in 10 s.
    Second("refused-after-retries", "a database refuses all connections, and the job sleeps between its attempts", "{py} {src}/second.py retries {n}", REFUSED, also=IDLE, kind="failed",
           fine="failed,idle,network,one core,few cores", wrong=NO_MEMORY + DISK, draw={"n": (6, 8)}),
    # 1.7 processes run at once in the first half and one in the last quarter; 543,000 minor faults.
    Second("many-small-one-long", "a storm of commands, then tasks of which one runs alone at the end", "sh {src}/second.sh many-then-one {n} {bin}/second", STORM, also=UNEVEN + ALONE,
           fine="storm,imbalance,one core,few cores,kernel", draw={"n": (1500, 1900)}, alone=True),
    # Sixteen threads are always ready on two cores, and 3 s of CPU time take 11 s; throttled_time grows, little beside a load: void then.
    Second("sixteen-in-a-small-quota", "sixteen threads compute under a quota of a third of a core", "{bin}/second shares 16 {s}", QUOTA, also=CROWD,
           fine="throttled,oversubscribed,few cores,one core", draw={"s": (3, 4)}, around="quota:0.3", needs="cgroup", alone=True),
    # Under strace -w with 12 rows each fdatasync took 15 % of the time beside the starts; now 40 rows each, state D in 7 % of the looks beside a load of 400.
    Second("python-and-commit-for-each", "a Python starts for every few rows, and each row waits for storage", "sh {src}/second.sh rows {n} {src}/second.py", STORM + STARTS,
           also=FLUSH + [r"commit|transaction"], fine="storm,storage,kernel,one core,few cores,idle", draw={"n": (32, 40)}),
    # One process runs in the first three quarters and none in the last.
    Second("packs-then-waits", "gzip packs on one core, then the job sleeps until a transfer is over", "sh {src}/second.sh stage-out log.txt", ALONE, also=IDLE,
           fine="one core,few cores,idle", alone=True, before="seq 1 6000000 >log.txt"),
    # 80,000 files made and removed, 85 % of the CPU time is the kernel's; then oom_kill 1, wait status 9.
    Second("small-files-then-no-memory", "very many small files are unpacked, then a table outgrows the memory limit",
           "sh:for i in 1 2 3 4; do tar -xf thumbnails.tar; rm -r thumbnails; done; exec {py} {src}/second.py doubles 10", OUT_OF_MEMORY,
           also=FILES + KERNEL + [r"(small|many|[\d,]+) (\w+ )?files"], kind="failed", fine="failed,memory,one core,few cores,kernel,storage,swap", around="memory:350", needs="cgroup",
           before="/usr/bin/python3 {src}/second.py pack 20000"),
    # Healthy jobs.
    # Both workers run in each eighth of the time; 2 % of the CPU time is the kernel's.
    Second("healthy-chunks", "nothing: equal chunks on as many workers as there are cores", "{py} {src}/second.py pool {n}", [], kind="healthy", draw={"n": (28, 36)}, alone=True),
    # Both threads run in each eighth of the time.
    Second("healthy-products", "nothing: products of matrices on all cores", "{bin}/second products {s}", [], kind="healthy", draw={"s": (9, 14)}, alone=True),
    # Two threads are ready in each eighth of the time; 1 % of the CPU time is the kernel's.
    Second("healthy-xz", "nothing: xz packs on all cores", "sh:xz -T{cores} -3 --block-size=4MiB <log.txt >log.xz", [], kind="healthy", needs="xz", alone=True,
           before="seq 1 60000000 | head -c 80M >log.txt"),
    # Both children run in each eighth of the time.
    Second("healthy-digests", "nothing: openssl computes on all cores", "openssl speed -multi {cores} -seconds {s} -bytes 8192 sha512", [], kind="healthy", draw={"s": (9, 14)},
           needs="openssl", alone=True),
    # Two or more threads are ready in each eighth of the time; the heap is not full.
    Second("healthy-primes", "nothing: Java counts primes on all cores", "java {src}/Second.java primes {s}", [], kind="healthy", draw={"s": (10, 14)}, needs="javac", alone=True),
    # Both workers run in each eighth of the time; 32 MiB written, state D in 1 % of the looks.
    Second("healthy-simulation", "nothing: two workers on two cores write a checkpoint now and then", "perl {src}/second.pl simulate {s}", [], kind="healthy", draw={"s": (9, 14)},
           needs="two-cores", alone=True),
]
