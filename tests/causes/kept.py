# SPDX-License-Identifier: Apache-2.0
"""Jobs whose true cause is known, written by someone who had read neither the rules nor what Sonde prints, and kept apart from those who mend rules.
They are judged as `--half unseen`. Each was run without Sonde first, on two cores beside a load of 10 to 30, and ended in less than 25 s with nothing
left behind. The comment of each says what showed its cause then: exit codes, CPU time and faults of wait4, states and switches in /proc, strace, perf,
control groups. Times under strace or beside a load are given as counts or shares, for they differ."""
from dataclasses import dataclass

from cases import Case


@dataclass
class Unseen(Case):
    @property
    def half(self):
        return "unseen"


# Accepted words for causes that several rows share.
ALONE = [r"\b(one|1|single) (of (the |its |your )?\d+ )?(cores?|CPUs?)\b", r"single.?(core|thread|process)", r"\bserial|sequential", r"one after (the other|another)",
         r"\b(not|nothing|hardly anything|never|little)\b( \w+)? in parallel", r"one (\w+ )?(thread|process|task|worker|program|command)\b( at a time| alone| (work|was|did|kept|ran|used))"]
CROWD = [r"oversubscri|over-?commit", r"too many (\w+ )?(threads|processes|workers|tasks)", r"more (\w+ )*(threads|processes|tasks|workers).* than .*(cores?|CPUs?)",
         r"\d+ .*(threads|processes|tasks|workers).*\b(on|for|share\w*|compet\w*|queued?|wait\w*)\b.*\b(cores?|CPUs?)"]
TURNS = [r"\block(s|ed|ing)?\b|\bflock|mutex|futex|\bGIL\b|contention|contended|critical section", r"\b(take|took|taking) turns|wait\w* (for|on) (each other|one another)"]
UNEVEN = [r"imbalance|uneven|unequal|unbalanced|straggl|skew", r"one (task|process|thread|worker|rank).*(long|last|rest|end|most)", r"(end|tail|last \d+).*(one|1|single|serial)"]
IDLE = [r"\bidle\b|slept|sleep", r"did nothing|no work|hardly any work|nothing (ran|used)|almost nothing", r"\bwait(s|ed|ing)?\b|paused?\b"]
KERNEL = [r"(system|kernel).*(time|calls?)|in the kernel|system calls|syscalls"]
STORM = [r"short(-lived)? processes|process storm|fork", r"[\d,]+ (\w+ )*(processes|starts|commands|programs)\b.*(second|/s|start|each|short)",
         r"process(es)? (a|per) second|(start|launch|creat)(s|ed|ing)? (of )?(\w+ )?(process|command|program)|processes (were )?(started|created)"]
QUOTA = [r"throttl|\bquota|CPU limit|limit of .*(cores?|CPU)|(cgroup|control group|container).*CPU"]
FLUSH = [r"fsync|fdatasync|dsync|flush|\bsync\w*", r"(storage|disk|file system|I/O).*(wait|slow|latency|busy|block|bound|limit)|wait\w* (for|on) (the )?(storage|disk|I/O|writes?)"]
BYTES = [r"(small|tiny|short|little) (reads?|writes?|calls|I/O|pieces)|unbuffered", r"(reads?|writes?|calls?|written|I/O)\b.* of (only )?(about )?\d+ (B|bytes?)\b|byte by byte|a byte at a time"]
FILES = [r"metadata|rename|mkdir|rmdir|director(y|ies)", r"(creat|renam|remov|delet|unlink)\w*.*(files?|director)|(files?|director\w*).*(creat|renam|remov|delet|unlink)"]
FULL = [r"no space|ENOSPC|out of (disk )?space|(disk|device|file system|tmpfs|directory).*\bfull|full (disk|device|file system|tmpfs)"]
OUT_OF_MEMORY = [r"out of memory|\bOOM|memory limit|limit (of|on|for) (the )?memory|memory.*(limit|killed|full|exhaust)|too (much|little) memory"]
REFUSED = [r"refused|ECONNREFUSED|(cannot|could not|failed to|fail\w*) (to )?connect|connection.*(fail|reject)|(no|nobody|nothing) (server|listen|answer)\w*"]
SERVER = [r"network|socket|connection|server|\brepl(y|ies)|response|answer|request|localhost|loopback|\bpeer|\bTCP"]

# Wrong blame that IDEAS does not know, or that stands beside a true word.
NO_MEMORY = [r"^(?!.*\b(no|not|never|without|nor)\b).*(out of memory|\bOOM|memory limit)"]
DISK = [r"(disk|storage) (is|was|were)? ?(slow|busy|saturat)"]
HUNG = [r"deadlock|hung|hang"]

UNSEEN = [
    # Limits.
    # A group of 160 MiB: its failcnt rises, the kernel sends SIGKILL to one worker (exit code -9), the job ends with 1.
    Unseen("pool-in-small-group", "one worker of a pool outgrows the memory limit of the control group and is killed", "{py} {src}/unseen.py grow {mb} {n}", OUT_OF_MEMORY,
           kind="failed", fine="failed,memory,one core,few cores,imbalance,swap", draw={"mb": (6, 9), "n": (2, 3)}, around="memory:160", needs="cgroup"),
    # SIGSEGV; minor faults follow ulimit -s: 595 at 2 MiB, 341 at 1 MiB.
    Unseen("deep-recursion", "a recursion without an end overflows the stack", "{bin}/unseen recurse {s}", [r"\bstack|recurs"], kind="failed", fine="failed,one core,few cores",
           wrong=NO_MEMORY, draw={"s": (5, 8)}),
    # SIGXFSZ; the file is as long as ulimit -f.
    Unseen("result-too-long", "the result reaches ulimit -f, the limit of a file's size", "sh:ulimit -f {blocks}; exec perl {src}/unseen.pl results out.txt",
           [r"file.?size|SIGXFSZ|EFBIG|ulimit -f|size of (a |the )?files?|file.* too (large|big|long)|too (large|big|long) a file|limit .*\bfiles?\b"],
           kind="failed", fine="failed,one core,few cores", wrong=FULL + DISK, draw={"blocks": (2200, 3200)}),
    # fork gives EAGAIN at the limit (BlockingIOError, exit code 1).
    Unseen("helpers-of-a-user", "a user's limit of processes (ulimit -u) lets no more helpers start",
           "setpriv --reuid={uid} --regid={uid} --clear-groups bash -c 'ulimit -u {n}; exec {py} -c \"import os, time\ntry:\n    for i in range(99):\n"
           "        if os.fork() == 0:\n            time.sleep(1); os._exit(0)\n        end = time.time() + 0.6\n        while i < 15 and time.time() < end: pass\n"
           "except OSError:\n    time.sleep(1); raise\"'",
           [r"ulimit -u|nproc|limit.*(processes|threads|tasks)|(process|thread|task)(es|s)?.*limit|EAGAIN|(cannot|can't|could not|unable to|failed to|no more) (\w+ )?(fork|start|creat)",
            r"\bfork\b.*(fail|refus|denied)|temporarily unavailable|too many processes"],
           kind="failed", fine="failed,idle,one core,few cores,storm", wrong=NO_MEMORY, draw={"uid": (41000, 42000), "n": (8, 14)}, needs="root setpriv"),
    # open gives ENOSPC at the last inode, while no file holds a byte; exit code 28.
    Unseen("many-results", "the file system has no inode left for one more small file",
           "unshare -m sh -c 'mkdir few; mount -t tmpfs -o size=64m,nr_inodes={n} none few && exec perl {src}/unseen.pl shards few'", FULL + [r"inodes?\b|too many files"],
           kind="failed", fine="failed,one core,few cores,storage", draw={"n": (250, 400)}, needs="root"),

    # Things that are missing or wrong.
    # Exit code 127 and the loader's message; the library was removed before.
    Unseen("solver-lost-its-library", "a shared library that the last program needs is not there",
           "sh:echo 'int mesh(void) {{ return 0; }}' >mesh.c; echo 'int mesh(void); int main(void) {{ return mesh(); }}' >solver.c; cc -shared -fPIC -o libmesh{n}.so mesh.c; "
           "cc -o solver solver.c ./libmesh{n}.so; perl {src}/unseen.pl work {s}; rm libmesh{n}.so; exec ./solver",
           [r"shared (library|object)|\blibrar(y|ies)|libmesh|\bloader\b|dynamic link"], kind="failed", fine="failed,one core,few cores", draw={"n": (2, 9), "s": (5, 7)}),
    # execve gives ENOEXEC, exit code 126.
    Unseen("model-from-elsewhere", "a program was built for another processor (ARM)",
           "sh:cp /bin/true model; printf '\\267' | dd of=model bs=1 seek=18 conv=notrunc 2>/dev/null; perl {src}/unseen.pl work {s}; exec bash -c ./model",
           [r"exec format|ENOEXEC|architecture|\b(another|other|different|foreign|wrong) (kind of )?(machine|CPU|processor|platform|binary|format|instruction)",
            r"(not|no) (an? )?(\w+ )?executable|cannot (be )?(execute|run)|aarch64|\bARM"], kind="failed", fine="failed,one core,few cores", draw={"s": (5, 7)}),
    # open gives EACCES, exit code 13.
    Unseen("result-directory-of-root", "the result's directory belongs to root, and the job runs as somebody else",
           "sh:mkdir -m 755 results; exec setpriv --reuid={uid} --regid={uid} --clear-groups perl -MTime::HiRes=time -e '$e = time + {s}; $x = sqrt($x + 7) while time < $e; "
           "open O, \">results/out\" or die \"results/out: $!\\n\"'",
           [r"permission|EACCES|EPERM|not (allowed|permitted)|access (was |is )?(denied|refused|rights)|no (write )?access"], kind="failed", fine="failed,one core,few cores", wrong=FULL,
           draw={"uid": (41000, 42000), "s": (5, 7)}, needs="root setpriv"),
    # open gives ENOENT, exit code 2, two of three steps had ended with 0.
    Unseen("third-step-has-no-input", "the third step of a script reads a file that nobody wrote",
           "bash -ec 'perl {src}/unseen.pl work {s} >measured-1.csv; perl {src}/unseen.pl work 2 >measured-2.csv; awk 1 measured-{n}.csv >all.csv'",
           [r"no such file|ENOENT|(file|input|measured\S*) .*(missing|not found|not exist|absent|not there|lack)|missing (\w+ )?(file|input)|(not|never) found|does not exist"],
           kind="failed", fine="failed,one core,few cores", wrong=FULL, draw={"n": (3, 9), "s": (3, 5)}),
    # Exit codes: the one task gives 3 and the others 0 when run alone; xargs gives 123.
    Unseen("one-part-of-twelve", "one of twelve tasks of xargs fails with exit code 3", "sh:seq 12 | xargs -P{cores} -I@ perl {src}/unseen.pl part @ {n} 1",
           [r"(exit\w*|code|status)\D{0,20}\b3\b", r"\b(one|1) (of (the )?\d+ )?(\w+ )?(task|process|command|part|child|run)\w*.*(fail|exit)", r"\b1 of \d+ (\w+ )?(failed|exited)"],
           kind="failed", fine="failed", draw={"n": (3, 11)}),

    # Signals.
    # Ended by signal 10 at the second that was drawn, and by nobody but the script.
    Unseen("warning-signal-of-batch", "the warning signal SIGUSR1, which the program does not handle, ends it", "sh:(sleep {s}; kill -USR1 $$) & exec {py} {src}/unseen.py work 60",
           [r"USR1|user.defined signal|signal 10\b"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY + HUNG, draw={"s": (6, 10)}),
    # Exit code 137 at the second that was drawn; VmHWM of some megabytes.
    Unseen("watchdog-of-script", "the script's own watchdog kills the worker", "bash -c '{py} {src}/unseen.py work 60 & worker=$!; (sleep {s}; kill -9 $worker) & wait $worker'",
           [r"SIGKILL|\bkilled|kill -9|signal 9\b|\b137\b"], kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY, draw={"s": (6, 10)}),

    # Waiting.
    # connect gives ECONNREFUSED each time (strace -c: all connects are errors), CPU time under 2 %.
    Unseen("licence-server-is-down", "nobody listens at the licence server's port; the job tries again until it gives up", "{py} {src}/unseen.py connect {port} {n} {t}",
           REFUSED, kind="waits", fine="failed,idle,network,few cores,one core", wrong=HUNG, draw={"port": (1, 9), "n": (6, 9), "t": (9, 12)}),
    # curl exit code 6 each time; /etc/resolv.conf in the namespace names a server that is not there.
    Unseen("mirror-has-no-name", "the host's name cannot be resolved, and the download is tried again",
           "unshare -m bash -c 'echo nameserver 127.0.0.{n} >r; mount --bind r /etc/resolv.conf; for i in 1 2 3 4 5; do curl -s -o x http://mirror.example/x && exit; sleep 1.{n}; done; exit 6'",
           [r"\bDNS\b|\bname.?(server|resol|service|look)|resol[uv]|unknown host|host ?names?|getaddrinfo"], kind="waits", fine="failed,idle,network,few cores,one core",
           wrong=HUNG, draw={"n": (2, 9)}, needs="root curl"),
    # Three, two, then one flock in locks_lock_inode_wait (wchan), one perl in R; wall time is the sum of the parts.
    Unseen("steps-share-one-lock", "four tasks that could run side by side take turns under one lock file", "sh:for i in 1 2 3 4; do flock .lock perl {src}/unseen.pl work {s} & done; wait",
           TURNS, fine="one core,few cores,idle", wrong=DISK, draw={"s": (2, 3)}),
    # sqlite3 says 'database is locked' (5) after its timeout; CPU time under 2 %.
    Unseen("table-is-taken", "another program holds SQLite's lock longer than the job's patience",
           "sh:sqlite3 r.db 'create table t(a)'; (echo 'begin exclusive;'; sleep {long}; echo 'commit;') | sqlite3 r.db & sleep 1; sqlite3 -cmd '.timeout {ms}' r.db 'insert into t values(1)'; "
           "code=$?; wait; exit $code", [r"\block(s|ed|ing)?\b|SQLITE_BUSY|database.*(busy|held|taken)"], kind="waits", fine="failed,idle,few cores,one core", wrong=DISK,
           draw={"long": (8, 10), "ms": (4000, 6000)}, needs="sqlite3"),
    # The child in anon_pipe_read (wchan) until timeout's 124; its descriptors 0 and 4 are the two ends of one pipe (/proc/PID/fd).
    Unseen("end-of-file-never-comes", "a child holds the write end of its own input pipe, so it never sees the end", "timeout {s} {py} {src}/unseen.py unfinished {n}",
           [r"\bpipes?\b|end of (file|input)|\bEOF\b|\bstdin\b|standard input|its input"], kind="waits", fine="failed,idle,few cores,one core", wrong=DISK,
           draw={"s": (7, 11), "n": (300, 900)}),
    # Both threads in futex_do_wait (wchan) until timeout's 124, CPU time only in the first seconds.
    Unseen("locks-in-two-orders", "two threads take two mutexes in opposite orders and wait for each other", "timeout {s} {bin}/unseen embrace {a}",
           TURNS + [r"deadlock|threads?.*(stuck|block)"], kind="waits", fine="failed,idle,few cores,one core", wrong=DISK, draw={"s": (9, 13), "a": (1, 2)}),
    # State T in /proc between SIGSTOP and SIGCONT, CPU time only outside of that.
    Unseen("somebody-stopped-it", "the worker is stopped by a signal for most of the time, until somebody lets it go on",
           "sh:perl {src}/unseen.pl work {b} & worker=$!; sleep 1; kill -STOP $worker; sleep {s}; kill -CONT $worker; wait", [r"\bstop(s|ped)?\b|suspend|SIGSTOP|SIGTSTP|SIGCONT|paused"],
           kind="waits", fine="idle,one core,few cores", wrong=DISK + HUNG, draw={"b": (2, 3), "s": (6, 9)}),
    # The child is gone (SIGSEGV) while the parent is in poll (wchan) until its own time-out; exit code 1.
    Unseen("worker-died-parent-waits", "a child crashes with SIGSEGV and its parent waits on for its result", "{py} {src}/unseen.py lost {a} {b}",
           [r"SIGSEGV|segmentation|segfault|signal 11\b|zombie|defunct|(child|worker|process).*(crash|died|dead|killed|gone)"], kind="waits", fine="failed,idle,one core,few cores",
           wrong=NO_MEMORY + DISK, draw={"a": (2, 3), "b": (5, 8)}),
    # The client in wait_woken (its socket), the server in hrtimer_nanosleep (wchan); CPU time under 2 %.
    Unseen("rows-one-by-one", "each row is asked for separately of a server that takes a second to answer", "{py} {src}/unseen.py rows {n}", SERVER,
           kind="waits", fine="idle,one core,few cores,network", wrong=DISK + HUNG, draw={"n": (8, 12)}),
    # CPU time is that of the middle; no process uses any before and after.
    Unseen("sleeps-at-both-ends", "the job sleeps before and after a short piece of work", "sh:sleep {a}; perl {src}/unseen.pl work 2; sleep {b}", IDLE, kind="waits", fine="idle,one core,few cores",
           wrong=DISK + HUNG, draw={"a": (4, 6), "b": (4, 6)}),
    # strace -c: clock_nanosleep only; CPU time under 2 %, hundreds of voluntary switches a second.
    Unseen("naps", "a loop sleeps some milliseconds after each small step", "{bin}/unseen naps {ms} {s}", IDLE + [r"\btimers?\b|wake.?ups?|woke"], kind="waits", fine="idle,one core,few cores",
           wrong=DISK + HUNG, draw={"ms": (3, 9), "s": (6, 10)}),
    # Exit code 17 from the step alone and from the script; one process after another, 0.5 s apart.
    Unseen("tries-again-and-again", "the same step fails with exit code 17 each time a script tries it again",
           "bash -c 'for try in $(seq {n}); do perl -e \"1 for 1 .. 2e7; exit 17\" && exit 0; sleep 0.5; done; exit 17'",
           [r"\d+ (times|tries|attempts|\w*starts)|repeated|retr(y|ies)|\bagain\b|(every|each|all) (\d+ )?(try|tries|attempts?|processes)|(exit\w*|code|status)\D{0,20}\b17\b"], kind="failed",
           fine="failed,idle,one core,few cores", draw={"n": (6, 8)}),

    # Cores that are there and not used well.
    # One thread in all, in R all the time; without the variable two.
    Unseen("threads-set-to-one", "OMP_NUM_THREADS=1 was left in the script of a parallel program", "sh:export OMP_NUM_THREADS=1; exec {bin}/unseen even {s}",
           ALONE + [r"OMP_NUM_THREADS"], fine="one core,few cores", draw={"s": (6, 10)}),
    # Cpus_allowed_list of each worker is 0, and all are in R all the time.
    Unseen("workers-bind-themselves", "workers bind themselves to the same core", "{py} {src}/unseen.py bound {n} {s}", CROWD + [r"affinity|pinn|\bbound\b|\bbind|taskset|allowed|same core"],
           fine="one core,few cores,affinity", draw={"n": (2, 5), "s": (6, 10)}, needs="two-cores"),
    # xz alone in R until the last two seconds (/proc), then two of perl.
    Unseen("unpack-then-solve", "one thread unpacks for long before the parallel part can begin",
           "bash -c 'end=$((SECONDS+{s})); while [ $SECONDS -lt $end ]; do xz -dc raw.xz >raw; done; exec perl {src}/unseen.pl children {cores} 2'", ALONE + [r"\bxz\b|(un|de)(pack|compress)"],
           fine="one core,few cores,kernel,storage", before="seq 1 3000000 | xz -1 >raw.xz", draw={"s": (7, 11)}),
    # One of two threads is asleep from a third of the time on.
    Unseen("triangle-static", "fixed shares of a triangular loop leave the first threads without work", "{bin}/unseen triangle {s}", ALONE + UNEVEN, fine="one core,few cores,idle",
           draw={"s": (9, 13)}, alone=True),
    # Both ranks in R all the time; perf: nearly half of the samples lie in MPI's libraries.
    Unseen("ranks-wait-for-the-first", "rank 0 of an MPI program has most of the work, and the others spin until it is done",
           "mpirun --allow-run-as-root -n {cores} ./ranks {s} {share}",
           UNEVEN + [r"spin|busy.?wait|barrier|\bpoll|\byield", r"wait\w*.*(MPI|rank|collective|broadcast)|(MPI|ranks?).*wait"], fine="one core,few cores,idle,kernel",
           draw={"s": (7, 11), "share": (5, 20)}, before="mpicc -O2 -D_GNU_SOURCE -o ranks {src}/ranks.c", needs="two-cores mpicc mpirun", alone=True),
    # Both threads in R all the time; perf: half of the samples lie in libgomp's barrier.
    Unseen("helpers-spin", "one OpenMP thread works between barriers while the others spin there (OMP_WAIT_POLICY=active)",
           "sh:OMP_WAIT_POLICY=active OMP_NUM_THREADS={cores} exec {bin}/unseen master {s}",
           ALONE + UNEVEN + [r"spin|busy.?wait|OMP_WAIT_POLICY|\byield|barrier|libgomp", r"wait\w* (at|in|for|on) .*(barrier|thread|master|other)"], fine="lock,idle,kernel,one core,few cores",
           draw={"s": (6, 10)}, needs="two-cores", alone=True),
    # Both threads in R all the time, at a tenth of the cores beside two loops.
    Unseen("idle-class", "the job runs in the class SCHED_IDLE, and others take the cores", "chrt --idle 0 {bin}/unseen even {s}",
           [r"\bothers?('s?)?\b.*\b(cores?|CPUs?|machine|node)\b|other (jobs|processes|programs|users|work)|(cores?|CPUs?)\b.*\b(taken|took)|wait\w* for (a )?(core|CPU)",
            r"SCHED_IDLE|priorit|scheduling (class|policy)|\bnice"], draw={"s": (7, 10)}, fine="idle,few cores", outside=1, needs="chrt", alone=True),
    # 47 threads in R in the mean (/proc).
    Unseen("pools-in-a-pool", "several processes each start as many threads as if they were alone",
           "sh:seq {n} | OMP_NUM_THREADS={m} OMP_WAIT_POLICY=passive xargs -P{n} -I@ {bin}/unseen even {s}", CROWD, fine="kernel,lock", draw={"n": (5, 8), "m": (6, 12), "s": (6, 9)}, alone=True),

    # The kernel and the machine.
    # Both in R; the same counts cost a fifth of the CPU time where the counters are 128 bytes apart (wait4).
    Unseen("neighbouring-counters", "threads count in variables that share a cache line", "{bin}/unseen sharing {cores} {s}",
           [r"false.?shar|cache|memory.*(latency|stall|bound|traffic)|stall|instructions (per|a) (cycle|clock)|\bIPC\b|shared (data|memory|variables)|atomic"], fine="numa,memory,lock",
           draw={"s": (6, 10)}, needs="two-cores", alone=True),
    # Both in R; the same sum by rows costs a fourth of the CPU time (wait4).
    Unseen("columns-first", "a matrix that is stored by rows is added up by columns, so each number is fetched from memory", "{bin}/unseen columns {n} {s}",
           [r"cache|memory.?(access|latency|bandwidth|bound|stall|traffic)|(bound|limited|slowed) by (the )?memory|bandwidth|stall|\bTLB|instructions (per|a) (cycle|clock)|\bIPC\b|strid"],
           fine="numa,memory", draw={"n": (700, 1100), "s": (6, 10)}, alone=True),
    # 400,000 minor faults a second of CPU time, nine tenths of that system time (wait4).
    Unseen("fresh-pages", "a buffer is mapped and given back in each step, so that each page is faulted in again", "{bin}/unseen pages {mb} {s}",
           KERNEL + [r"page.?faults?|\bm(un)?map|allocat|faulted"], fine="one core,few cores,memory,kernel", wrong=DISK, draw={"mb": (16, 96), "s": (6, 10)}),
    # strace -c -f: clone3 for each item, thousands of them, in one process; two thirds of the CPU time is system time.
    Unseen("thread-for-each-item", "a thread is started for each small item", "{bin}/unseen items {s}",
           KERNEL + [r"threads? .*(creat|start|short|second|/s\b)|(creat|start|short)\w*(-lived)? (of )?(\w+ )?threads|\bclone"], fine="one core,few cores,kernel,storm,lock,idle",
           wrong=DISK, draw={"s": (6, 10)}),
    # strace -c: clone takes 16 ms each; hundreds of thousands of minor faults, nine tenths of the CPU time is system time (wait4).
    Unseen("snapshots-by-fork", "a process of a gigabyte forks for each snapshot and pays for the copied page tables and pages", "{bin}/unseen snapshots {mb} {s}",
           KERNEL + STORM + [r"copy.on.write|page.?tables?|page.?faults?"], fine="one core,few cores,memory,kernel,storm,idle", wrong=DISK, draw={"mb": (600, 1200), "s": (6, 9)}),
    # strace -c: 99 % read, of one byte each (rchar over syscr in /proc/PID/io), half of the CPU time is system time.
    Unseen("byte-by-byte", "Perl reads a file by single bytes", "perl {src}/unseen.pl bytes in.dat {s}", BYTES + KERNEL, fine="one core,few cores,kernel,storage", wrong=DISK,
           before="head -c 3000000 /dev/urandom >in.dat", draw={"s": (6, 10)}),
    # /proc/PID/io: more than a million writes of some 40 bytes, half of the CPU time is system time.
    Unseen("debug-log-left-on", "debug messages are written to stderr, unbuffered, in each small step", "{bin}/unseen trace {s}",
           BYTES + KERNEL + [r"\blog(s|ged|ging)?\b|stderr|standard error|messages|(much|heavy|excessive) output"], fine="one core,few cores,kernel,storage", wrong=DISK, draw={"s": (6, 10)}),
    # strace -c: nearly all time of dd is write; dd in D in folio_wait_bit (wchan); thousands of voluntary switches, CPU time under 5 %.
    Unseen("each-block-to-disk", "dd waits until each small block has reached the disk", "sh:timeout {s} dd if=/dev/zero of=out.dat bs={k}k count=999999 oflag=dsync; true", FLUSH,
           fine="failed,idle,kernel,one core,few cores,storage", draw={"k": (1, 8), "s": (6, 10)}),
    # strace -c -f: newfstatat a hundred thousand times, all errors but some; always in R.
    Unseen("looks-for-flag", "a loop asks without a pause whether a file is there", "{py} {src}/unseen.py flag {s}",
           KERNEL + [r"\bpoll|busy.?(wait|loop)|spin|same (file|path)|\bstat\b|look(ed|s|ing)? (up|for|at)|\basks?\b.*file|not (there|found|exist)|missing file|ENOENT"],
           fine="one core,few cores,kernel,storage", wrong=DISK, draw={"s": (7, 11)}),
    # A gigabyte written (/proc/PID/io) beside a load of 18; hardly any user time.
    Unseen("copy-to-and-fro", "a large file is copied again and again", "bash -c 'end=$((SECONDS+{s})); while [ $SECONDS -lt $end ]; do cp big.dat copy.dat; cp copy.dat third.dat; done'",
           KERNEL + FLUSH + [r"cop(y|ied|ies|ying)|\bcp\b|\bI/O\b|(read|wrote|written|writes?|reads?).*\b([GM]i?B)|page cache"], fine="one core,few cores,kernel,storage,idle,memory",
           before="head -c 200000000 /dev/urandom >big.dat", draw={"s": (6, 9)}),
    # read_bytes of 7.6 GB for a file of 0.3 GB, failcnt of the group 5,829; without the group the same loop reads nothing from disk.
    Unseen("file-larger-than-the-group", "the memory limit leaves no room to keep a file that is read again and again", "{py} {src}/unseen.py reread {s}",
           [r"reclaim|\bcached?\b|thrash|re-?read|evict|refault|memory limit|limit.*memory|memory.*(limit|pressure|full)", r"read.*\b(again|times|repeated)"] + FLUSH,
           fine="one core,few cores,kernel,storage,idle,memory", before="head -c 300000000 /dev/urandom >big.dat; sync; dd if=big.dat iflag=nocache count=0 2>/dev/null", draw={"s": (7, 10)},
           around="memory:100", needs="cgroup"),
    # strace -c: sendto and recvfrom of one byte, tens of thousands, as many voluntary switches as bytes.
    Unseen("one-word-messages", "client and server exchange single bytes over TCP, and one always waits for the other", "{py} {src}/unseen.py words {s}",
           KERNEL + BYTES + SERVER + [r"round.?trips?|ping|messages?|packets|context switch|latency"], fine="one core,few cores,kernel,idle", wrong=DISK, draw={"s": (6, 10)}),
    # -Xlog:gc: full collections of 0.3 s one after another, each from 219 to 202 of 230 MiB; nine tenths of the CPU time is the GC threads'.
    Unseen("heap-is-nearly-full", "the live data nearly fill Java's heap, and the collector takes most of the time",
           "java -Xmx{mb}m -XX:+UseParallelGC -cp . Unseen replace {live} {s}", [r"garbage|\bGC\b|\bheap\b|collector|collections?\b"], fine="memory,kernel,one core,few cores",
           draw={"mb": [240], "live": (196, 204), "s": (7, 10)}, before="javac -d . {src}/Unseen.java", needs="javac"),
    # Counted: three JVMs a second beside a load of 20, which do nothing but begin.
    Unseen("java-for-each-record", "a new Java virtual machine is started for each record",
           "bash -c 'end=$((SECONDS+{s})); while [ $SECONDS -lt $end ]; do java -Xshare:auto -version >/dev/null 2>&1; done'",
           STORM + [r"\bJVMs?\b|java.*(start|launch|times|runs)|(start|launch)\w* .*java|start-?up"], fine="one core,few cores,kernel,idle", draw={"s": (6, 10)}, needs="javac"),
    # CPU time by command (/proc): nine tenths are cc1's.
    Unseen("builds-for-every-parameter", "the program is compiled anew for each parameter, and runs for a moment only",
           "bash -c 'export CCACHE_DISABLE=1; end=$((SECONDS+{s})); i=0; while [ $SECONDS -lt $end ]; do i=$((i+1)); cc -O2 -DSTEP=$i -o sweep sweep.c && ./sweep; done'",
           [r"compil|\bcc1\b|\bgcc\b|\bcc\b|\bbuil(d|t)"], fine="one core,few cores,kernel,storm",
           before="{ echo 'int main(void) { return 0; }'; for i in $(seq 400); do echo \"int f$i(int a) { for (int i = 0; i < a; i++) a = a * $i ^ i % (STEP + $i); return a; }\"; done; } >sweep.c",
           draw={"s": (7, 10)}),

    # Mixtures: `also` is the second cause, and both are to be named first.
    # xz alone in R, then dd in D in folio_wait_bit, with thousands of voluntary switches.
    Unseen("unpack-then-sync", "one thread unpacks for half of the time, then small blocks are written to disk one by one",
           "bash -c 'end=$((SECONDS+{s})); while [ $SECONDS -lt $end ]; do xz -dc raw.xz >raw; done; timeout {t} dd if=/dev/zero of=out.dat bs=4k count=999999 oflag=dsync; true'",
           ALONE + [r"\bxz\b|(un|de)(pack|compress)"], FLUSH, fine="one core,few cores,kernel,storage,idle", before="seq 1 3000000 | xz -1 >raw.xz", draw={"s": (5, 7), "t": (5, 7)}),
    # Some threads in futex at any time while others run, then one in nanosleep and no CPU time.
    Unseen("threads-then-sleep", "Python threads take turns under the interpreter's lock, then the job sleeps", "{py} {src}/unseen.py then_sleep {n} {s} {t}", ALONE + TURNS, IDLE,
           fine="one core,few cores,lock,idle", draw={"n": (3, 8), "s": (5, 7), "t": (5, 7)}),
    # SIGBUS; one thread in R until then.
    Unseen("map-of-a-cut-file", "one thread computes alone, then the file that it has mapped is shorter than before", "{bin}/unseen cut {s}", [r"SIGBUS|bus error|signal 7\b|truncat|shrank|shorter"],
           ALONE, kind="failed", fine="failed,one core,few cores", wrong=NO_MEMORY + FULL, draw={"s": (9, 12)}),
    # Counted: 50 starts a second beside a load of 20; then curl's exit code 7 and no CPU time.
    Unseen("starts-then-refusals", "a shell starts two programs for each line, then nobody answers at the port it reports to",
           "bash -c 'end=$((SECONDS+{s})); while [ $SECONDS -lt $end ]; do echo a/b/$SECONDS.txt | cut -d/ -f3 | tr a-z A-Z; done >names; "
           "for i in $(seq {n}); do curl -s http://127.0.0.1:{port}/done && exit; sleep 1; done; exit 7'", STORM, REFUSED + IDLE, fine="failed,one core,few cores,kernel,idle,network",
           draw={"s": (5, 7), "n": (5, 7), "port": (2, 9)}, needs="curl"),
    # 32 processes in R, then one.
    Unseen("crowd-then-one", "far more computing processes than cores, then a serial part as long",
           "sh:perl {src}/unseen.pl children {n} {s}; exec perl {src}/unseen.pl work {t}", CROWD, ALONE + UNEVEN, fine="one core,few cores", draw={"n": (20, 40), "s": (5, 7), "t": (6, 8)}, alone=True),
    # throttled_time of the group in the first part, no CPU time in the second.
    Unseen("quota-then-sleep", "a CPU quota of a tenth of a core holds back the work, then the job sleeps", "sh:perl {src}/unseen.pl work {s}; sleep {t}", QUOTA, IDLE, fine="one core,few cores,idle",
           draw={"s": (6, 8), "t": (5, 7)}, around="quota:0.1", needs="cgroup"),
    # One of two threads asleep from a third of the first part on, then a client in poll and a server in nanosleep.
    Unseen("triangle-then-server", "fixed shares of a triangular loop, then rows asked one by one of a slow server", "sh:{bin}/unseen triangle {s}; exec {py} {src}/unseen.py rows {n}", ALONE + UNEVEN,
           SERVER + IDLE, fine="one core,few cores,idle,network", draw={"s": (6, 8), "n": (5, 7)}, alone=True),
    # strace -c: nearly all time is mkdir, rename and rmdir, thousands of each; then sleep, and no CPU time.
    Unseen("tree-then-flag", "directories are made, renamed and removed, then the job looks once a second for a file that comes late",
           "sh:(sleep {t}; touch ready) & perl {src}/unseen.pl tree {s}; until [ -f ready ]; do sleep 1; done; wait", FILES + KERNEL, IDLE, fine="one core,few cores,kernel,storage,idle",
           draw={"s": (5, 7), "t": (12, 14)}),

    # Healthy: nothing is to be blamed. Each had 1.8 to 2.2 threads in R in the mean (/proc; start and end included), none in D, and ended with 0.
    Unseen("healthy-built-here", "threads as many as cores, of a program that the job builds first", "sh:cc -O2 -pthread -D_GNU_SOURCE -o here {src}/cpu.c && exec ./here threads {cores} {s}", [],
           kind="healthy", draw={"s": (7, 11)}, alone=True),
    Unseen("healthy-perl-children", "Perl forks as many children as cores, with equal shares", "perl {src}/unseen.pl children {cores} {s}", [], kind="healthy", draw={"s": (7, 11)}, alone=True),
    Unseen("healthy-pack-per-core", "xz packs a small file again and again on each core",
           "bash -c 'for c in $(seq {cores}); do while [ $SECONDS -lt {s} ]; do xz -3 -T1 -c data >part$c.xz; done & done; wait'", [], kind="healthy",
           before="seq 1 250000 >data", draw={"s": (7, 11)}, alone=True),
    Unseen("healthy-openmp-dynamic", "OpenMP gives small pieces to threads that are free", "{bin}/unseen even {s}", [], kind="healthy", draw={"s": (7, 11)}, alone=True),
    Unseen("healthy-python-pool", "a pool of Python processes works through small equal pieces", "{py} {src}/unseen.py pool {cores} {s}", [], kind="healthy", draw={"s": (7, 11)}, alone=True),
    Unseen("healthy-java-streams", "Java's parallel streams use all cores", "java -cp . Unseen streams {s}", [], kind="healthy",
           before="javac -d . {src}/Unseen.java", draw={"s": (8, 11)}, needs="javac", alone=True),
    Unseen("healthy-ranks", "MPI ranks, one for each core, with equal work between their meetings",
           "mpirun --allow-run-as-root -n {cores} ./ranks {s} 100", [], kind="healthy", before="mpicc -O2 -D_GNU_SOURCE -o ranks {src}/ranks.c",
           draw={"s": (6, 9)}, needs="mpicc mpirun", alone=True),
    Unseen("healthy-openssl", "openssl measures hashes with a process for each core", "openssl speed -multi {cores} -seconds {s} -bytes 8192 sha256", [], kind="healthy", draw={"s": (6, 9)},
           needs="openssl", alone=True),
    Unseen("healthy-sqlite-in-memory", "a query in memory for each core",
           "bash -c 'for i in $(seq {cores}); do while [ $SECONDS -lt {s} ]; do sqlite3 :memory: \"with recursive n(i, x) as (values(0, 1) union all "
           "select i + 1, (x * 48271) % 2147483647 from n where i < 700000) select sum(x) from n\"; done & done; wait'", [], kind="healthy", draw={"s": (7, 11)}, needs="sqlite3", alone=True),
    Unseen("healthy-awk-and-merge", "awk counts a part on each core, and a short merge follows",
           "bash -c 'for i in $(seq {cores}); do while [ $SECONDS -lt {s} ]; do awk \"BEGIN {{ srand($i); for (i = 0; i < 1500000; i++) c[int(rand() * 5000)]++; for (k in c) print k, c[k] }}\" "
           ">count$i; done & done; wait; exec sort -n count* >all'", [], kind="healthy", draw={"s": (7, 11)}, alone=True),
]
