# SPDX-License-Identifier: Apache-2.0
"""A tenth set: fifty jobs of users of clusters, of machine learning, of data and of CI, written by one who had read neither the rules nor the documents of the verdicts.

The same rows as in ninth.py, with narrower words: `says` wants the noun without which the sentence does not help. Ten are healthy: whatever is blamed there is false.
Programs are in programs/tenth.*, tenth_mpi.c. Half of each kind, drawn once, is kept apart (`reserved10`).
"""
import random
from dataclasses import dataclass

from cases import Case


@dataclass
class Tenth(Case):
    truth: str = ""
    falsely: str = ""

    @property
    def half(self):
        return HALF[self.name]


ONE = [r"\b(one|1|single) (of (the |its )?\d+ )?(cores?|CPUs?)\b", r"single.thread", r"nothing ran in parallel|not in parallel|\bserial(ly)?\b", r"\bone (thread|process)\b"]
MANY = [r"oversubscri|too many (threads|processes|workers|ranks)", r"more (\w+ )?(threads|processes|tasks|workers|ranks).* than .*(cores?|CPUs?)",
        r"\d+ (\w+ )*(threads|processes|tasks|workers).*\b(on|for|share[ds]?|compet\w+)\b.*\b(cores?|CPUs?)"]
STARTS = [r"short(-lived)? processes|process(es)? (starts|per second|a second)|start(s|ed|ing) (of )?(new |short |many )?(processes|programs|commands)",
          r"(processes|programs|commands)\b.*\bstarted|\bstarted [\d,]+ times|[\d,]+ (processes|starts|commands)"]
FSYNC = [r"f(data)?sync|\bflush|\bcommit"]
SMALL = [r"small (reads|writes|reads and writes)|(reads?|writes?|calls) of (about )?\d+(\.\d+)? (B|bytes)\b"]
LOCK = [r"\block(s|ed)?\b|mutex|futex|\bGIL\b"]
QUOTA = [r"throttl|\bquota|CPU limit|limit of [\d.]+ (cores|CPUs)"]
TAIL = [r"imbalance|uneven|straggl|\bone (task|process|worker|thread)\b.*(long|last|alone|end)|(at the end|tail)\b.*\b(one|1)\b|last \d[\d.]* ?s\b"] + ONE
IDLE = [r"\bidle\b|slept|sleep(s|ing)?\b|did nothing|\bwait(s|ed|ing)\b|hardly any work"]
FULL = [r"no space|ENOSPC|(disk|device|file ?system|tmpfs)\b.*\bfull"]
OOM = [r"out of memory|\bOOM\b|memory limit|limit of (the )?memory|memory.*(control group|cgroup|\blimit)|(limit|killed|control group).*memory"]
STORAGE = [r"(wait\w*|limited|held|bound|slow\w*|throttl\w*).*\b(storage|disk|device|I/O)\b|\b(storage|disk|device|I/O)\b.*(wait|limit|slow|throttl|busy|bound)"]
FILES = [r"(creat|renam|remov|delet|open)\w*.*\bfiles?\b|\bfiles?\b.*(creat|renam|remov|delet|opened)|metadata|small files"]
FAILED = [r"exit(ed)? (code|status|with)|\bfail(ed|ure)\b"]
NET = [r"network|socket|connection|\bTCP\b|127\.0\.0\.1|\bserver\b|\breply|replies|\bpeer\b|\bHTTP\b"]
RANKS = [r"\branks?\b.*(wait|imbalance|uneven|late|slow)|(wait|imbalance|uneven)\w*.*\branks?\b|\bMPI\b.*wait|wait\w*.*\bMPI|MPI_\w+"]
PIN = [r"affinity|pinned|taskset|bound to|allowed (only |to use )?.*(core|CPU)|may use (only )?(one|1)\b"]

NO_DISK = [r"(wait\w*|slow\w*|held up) (for|on|by) (the )?(storage|disk)|slow (storage|disk)"]
NO_MEMORY = [r"out of memory|\bOOM\b|memory leak|swapp"]
NO_MANY = [r"oversubscri|too many (threads|processes|workers)"]
NO_NET = [r"\bnetwork\b"]
NO_ONE = [r"only (one|1) of \d+ cores|used one of|nothing ran in parallel"]
NO_STORM = [r"short(-lived)? processes|process starts"]
COMPUTE = NO_DISK + NO_MEMORY + NO_NET
OMPI = "mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 ./ranks"
MPICH = "mpirun.mpich -n 2 ./ranks"
OMPICC, MPICHCC = "mpicc.openmpi -O2 -o ranks {src}/tenth_mpi.c", "mpicc.mpich -O2 -o ranks {src}/tenth_mpi.c"
MPI = {"needs": "mpicc.openmpi mpirun.openmpi", "before": OMPICC, "alone": True}
MPI2 = {"needs": "mpicc.mpich mpirun.mpich", "before": MPICHCC, "alone": True}
JS, PL, PY = "node {src}/tenth.js", "perl {src}/tenth.pl", "{py} {src}/tenth.py"
FEW = "few cores,one core,idle"

TENTH = [
    # One core, or a part on one.
    Tenth("solver-in-one-thread", "a C solver computes in one thread", "{bin}/tenth serial {s}", ONE, fine=FEW, draw={"s": (7, 9)}, wrong=COMPUTE + NO_MANY + NO_STORM,
          truth="Compute-bound in one thread; the second core has nothing of this job.", falsely="storage, memory, network, too many threads"),
    Tenth("awk-joins-by-hand", "awk joins two tables with nested loops in one process",
          "sh:awk 'BEGIN {{ for (i = 0; i < {n}000; i++) for (j = 0; j < 1000; j++) if ((i * 7) % 1009 == (j * 3) % 1013) k++; print k }}'", ONE, fine=FEW, draw={"n": (35, 50)},
          wrong=COMPUTE + NO_MANY + NO_STORM, truth="One awk process computes for the whole time.", falsely="storage, memory, network, process starts"),
    Tenth("pattern-backtracks", "a regular expression of Python backtracks", f"{PY} addresses {{n}} 24", ONE + [r"regular expression|\bregex|sre_|\bre\b"], fine=FEW, draw={"n": (6, 8)},
          wrong=COMPUTE + NO_MANY + NO_STORM, truth="re.match takes exponential time, in one thread.", falsely="storage, memory, network"),
    Tenth("bundler-in-the-event-loop", "node works on modules one by one in its event loop", f"{JS} bundle {{s}}", ONE + [r"event loop|main thread"], fine=FEW, draw={"s": (7, 9)}, wrong=COMPUTE + NO_MANY + NO_STORM,
          truth="The event loop of node is blocked by computing; one core.", falsely="storage, memory, network, garbage collection"),
    Tenth("make-without-a-j", "make builds its targets one after another", "sh:make -f {src}/tenth.mk BIN={bin} EACH=1 N={n}", ONE + [r"-j\b"], fine=FEW, draw={"n": (7, 9)}, wrong=COMPUTE + NO_MANY + NO_STORM,
          truth="make has no -j: one recipe at a time.", falsely="storage, memory, short processes (there are eight)"),
    Tenth("threads-in-python", "threads of Python take turns at the GIL", f"{PY} gil {{t}} 2", LOCK + ONE, fine=FEW, draw={"t": (3, 5)}, wrong=COMPUTE + NO_STORM,
          truth="Threads of pure Python share one core because of the GIL.", falsely="storage, memory, network"),
    Tenth("fold-that-is-longest", "one fold of a cross validation takes far longer than the others", f"{PY} folds 1 {{s}}", TAIL, fine=FEW, draw={"s": (9, 11)}, alone=True, wrong=COMPUTE + NO_MANY + NO_STORM,
          truth="Three folds are done in 2 s, the fourth runs alone for the rest.", falsely="storage, memory, network"),
    Tenth("archive-through-xz", "tar waits for xz, which uses one core", "sh:head -c {n}000000 /dev/urandom >data; tar cf - data | xz -9 -T1 >data.tar.xz", ONE + [r"\bxz\b"], fine=FEW + ",kernel", draw={"n": (12, 16)},
          wrong=NO_DISK + NO_MEMORY + NO_NET + NO_MANY, truth="xz compresses in one thread and everything waits for it.", falsely="storage, memory, network"),
    Tenth("loop-of-steps", "a shell runs its computing steps one after another", "sh:for step in 1 2 3 4; do {bin}/tenth serial {s}; done", ONE, fine=FEW, draw={"s": (2, 3)}, wrong=COMPUTE + NO_MANY + NO_STORM,
          truth="Four commands of one thread, one after another.", falsely="storage, memory, process starts"),

    # Too many.
    Tenth("openmp-of-the-login-node", "OMP_NUM_THREADS of a larger machine: threads meet in barriers", "{bin}/tenth barriers {n} 12", MANY, fine="kernel,lock,idle", draw={"n": (24, 40)}, alone=True, wrong=COMPUTE,
          truth="24 to 40 threads of OpenMP on 2 cores wait for each other at barriers.", falsely="storage, memory, network, imbalance of work as the only cause"),
    Tenth("workers-for-another-machine", "a pool of 16 processes computes on 2 cores", f"{PY} pool {{n}} 1", MANY, draw={"n": (14, 20)}, alone=True, wrong=COMPUTE, fine="kernel",
          truth="Far more computing processes than cores.", falsely="storage, memory, network"),
    Tenth("make-j-without-a-number", "make -j starts all recipes at once", "sh:make -j -f {src}/tenth.mk BIN={bin} EACH=1 N={n}", MANY, draw={"n": (16, 24)}, alone=True, wrong=COMPUTE, fine="kernel",
          truth="All recipes run at once on 2 cores.", falsely="storage, memory, network"),

    # Limits on cores.
    Tenth("both-threads-on-core-0", "two threads are bound to one core", "taskset -c 0 {bin}/tenth threads 2 {s}", PIN + MANY, fine=FEW, draw={"s": (4, 5)}, needs="two-cores", wrong=COMPUTE + NO_STORM,
          truth="taskset gives both threads core 0.", falsely="storage, memory, a serial program"),
    Tenth("half-a-core-of-quota", "a CPU quota of half a core", "{bin}/tenth threads 2 {s}", QUOTA, fine=FEW + ",throttled", draw={"s": (3, 4)}, around="quota:0.5", needs="cgroup", alone=True, wrong=COMPUTE + NO_STORM,
          truth="The control group's quota stops the job.", falsely="storage, memory, serial program"),

    # MPI.
    Tenth("rank-with-most-cells", "rank 1 has eight times the work of rank 0", f"sh:{OMPI} uneven {{s}}", RANKS + [r"imbalance|uneven"], fine=FEW + ",imbalance,lock,kernel", draw={"s": (8, 10)}, **MPI,
          wrong=COMPUTE + NO_MANY, truth="Rank 0 waits in MPI_Allreduce for rank 1.", falsely="the network, storage, memory"),
    Tenth("message-that-comes-late", "rank 0 waits for a message that rank 1 sends late", f"sh:{MPICH} late {{s}}", RANKS + [r"\bmessage"], fine=FEW + ",kernel", draw={"s": (10, 13)}, **MPI2,
          wrong=COMPUTE + NO_MANY, truth="Rank 0 spins in MPI_Recv; rank 1 sleeps.", falsely="the network, storage, compute-bound"),
    Tenth("allreduce-of-one-number", "ranks do nothing but small collectives", f"sh:{MPICH} chatty {{s}}", [r"MPI_?\w*.*(time|%|share|most|small|messages|collective)|allreduce|collective|messages"], fine=FEW + ",kernel,lock,idle",
          draw={"s": (10, 12)}, **MPI2, wrong=NO_DISK + NO_MEMORY, truth="All the time goes to MPI_Allreduce of 8 bytes.", falsely="storage, memory, serial"),

    # Storage and small work.
    Tenth("ledger-on-disk-each-line", "each record is flushed to disk", "{bin}/tenth records {s}", FSYNC, fine=FEW + ",storage,kernel", draw={"s": (10, 13)}, wrong=NO_MEMORY + NO_NET + NO_MANY,
          truth="fsync after each record.", falsely="network, memory, lock"),
    Tenth("commit-after-each-row", "sqlite commits after each row", f"{PY} commits {{s}}", FSYNC, fine=FEW + ",storage,kernel", draw={"s": (10, 13)}, wrong=NO_MEMORY + NO_NET + NO_MANY,
          truth="A transaction for each row: fdatasync and a journal file each.", falsely="network, memory, lock"),
    Tenth("trace-of-eight-bytes", "a trace is written 8 bytes at a time", f"{PY} unbuffered {{n}}", SMALL, fine=FEW + ",kernel,storage", draw={"n": (8, 10)}, wrong=NO_DISK + NO_MEMORY + NO_NET + NO_MANY,
          truth="Millions of write() of 8 B without a buffer.", falsely="slow disk, memory, network"),
    Tenth("endl-in-each-line", "std::endl flushes each line of a table", "sh:./endl {n}", SMALL, fine=FEW + ",kernel,storage", draw={"n": (6000, 8000)}, before="g++ -O2 -o endl {src}/tenth.cpp", needs="g++",
          wrong=NO_DISK + NO_MEMORY + NO_NET + NO_MANY, truth="A write() of about 15 B for each line.", falsely="slow disk, memory, network, fsync"),
    Tenth("a-program-for-each-line", "a shell loop starts expr and cut for each line", "sh:i=0; while [ $i -lt {n} ]; do i=$(expr $i + 1); echo \"$i,x,y\" | cut -d, -f2 >/dev/null; done", STARTS, fine=FEW + ",kernel",
          draw={"n": (1800, 2400)}, wrong=COMPUTE + NO_MANY, truth="Thousands of short processes.", falsely="storage, memory, network"),
    Tenth("python-for-each-sample", "a script starts Python for each sample", "sh:for i in $(seq {n}); do {py} -c \"import json; print(json.dumps($i))\"; done", STARTS + [r"start-?up|import"], fine=FEW + ",kernel",
          draw={"n": (120, 160)}, wrong=COMPUTE + NO_MANY, truth="The start of the interpreter costs more than the work.", falsely="storage, memory, network"),
    Tenth("spool-of-small-files", "a file is made, renamed and removed for each event", f"{PL} files {{n}}", FILES, fine=FEW + ",kernel,storage", draw={"n": (140, 180)}, wrong=NO_MEMORY + NO_NET + NO_MANY,
          truth="Open, rename and unlink for each event.", falsely="network, memory, lock"),
    Tenth("buffer-anew-each-frame", "64 MB are mapped, touched and given back for each frame", "{bin}/tenth buffers {n}", [r"page.?faults?|mmap|munmap|\bmapp(ed|ing)|alloc"], fine=FEW + ",kernel,memory", draw={"n": (220, 280)},
          wrong=NO_DISK + NO_NET + NO_MANY + NO_MEMORY, truth="Page faults of memory that is mapped anew.", falsely="storage, network, out of memory"),
    Tenth("config-parsed-each-step", "the same JSON file is read and parsed in each step", f"{PY} config_each_step {{n}}", ONE + [r"JSON|same file|again"], fine=FEW, draw={"n": (500, 600)}, wrong=NO_DISK + NO_MEMORY + NO_NET + NO_MANY,
          truth="Parsing the same file each step, on one core.", falsely="slow disk, memory, network"),
    Tenth("volume-of-4-MB-a-second", "a limit of 4 MB/s on reads from the disk", "sh:cat big >copy", STORAGE, fine=FEW + ",storage", before="head -c 60000000 /dev/urandom >big; sync big; dd if=big iflag=nocache count=0 status=none",
          around="blkio:4", needs="cgroup root", wrong=NO_MEMORY + NO_NET + NO_MANY, truth="Reads from a slow device.", falsely="network, memory, compute"),

    # Waits.
    Tenth("features-from-a-slow-service", "a client asks a slow HTTP service for one feature after another", f"{PY} slow_service {{n}} 0.4", NET, kind="waits", fine=FEW, draw={"n": (24, 32)}, wrong=NO_DISK + NO_MEMORY + NO_MANY,
          truth="The client waits for replies of 127.0.0.1; the server sleeps 0.4 s in each.", falsely="storage, memory, compute, bandwidth"),
    Tenth("runs-that-take-turns", "three processes want one lock file, which each holds while it sleeps", f"{PL} turns {{n}}", [r"\bflock|lock file|file lock|\block\b.*run\.lock|run\.lock|\block(s|ed)?\b"], kind="waits", fine=FEW,
          draw={"n": (4, 5)}, wrong=NO_DISK + NO_MEMORY + NO_MANY + NO_NET, truth="They wait for flock of run.lock one after another.", falsely="storage, memory, network"),
    Tenth("queue-asked-without-a-pause", "a loop asks a queue without a pause", f"{PY} poll_queue {{s}}", [r"poll|\bspin|busy.?(wait|loop)|without (a )?pause|again and again|(stat|access)\w*.*(times|calls)|\d+ (stat|system calls)"], fine=FEW + ",kernel,one core",
          draw={"s": (9, 12)}, wrong=NO_DISK + NO_MEMORY + NO_NET + NO_MANY, truth="get_nowait and stat in a busy loop until something comes.", falsely="disk, memory, network, useful computing"),
    Tenth("mutex-around-everything", "threads of C hold one mutex for all of their work", "{bin}/tenth locked {t} 2", LOCK, fine=FEW + ",kernel", draw={"t": (4, 6)}, wrong=COMPUTE + NO_MANY + NO_STORM,
          truth="One mutex serializes the threads.", falsely="storage, memory, network, too many threads"),

    # Failures.
    Tenth("handles-run-out", "the limit of open files is reached", "sh:ulimit -n 200; exec {bin}/tenth handles", [r"open files|EMFILE|file descriptors|ulimit -n|RLIMIT_NOFILE"], kind="failed", fine=FEW + ",failed",
          wrong=COMPUTE + FULL, truth="open() fails with EMFILE at 200 files; exit code 3.", falsely="storage, memory, disk full"),
    Tenth("address-space-runs-out", "ulimit -v is reached", "sh:ulimit -v 900000; exec {bin}/tenth arrays", [r"memory.*(limit|ulimit|refused|ENOMEM|address)|address space|ulimit -v|RLIMIT_AS|ENOMEM|Cannot allocate"], kind="failed", fine=FEW + ",failed,memory",
          wrong=NO_DISK + NO_NET + NO_MANY, truth="malloc fails under ulimit -v; exit code 5.", falsely="the machine ran out of memory, OOM killer"),

    # Two causes.
    Tenth("serial-then-crowd", "a serial part, then far more processes than cores", f"sh:{{bin}}/tenth serial {{s}}; {PY} pool {{n}} 0.7", ONE, also=MANY, fine=FEW + ",oversubscribed", draw={"s": (7, 9), "n": (16, 20)}, alone=True,
          wrong=COMPUTE, truth="One thread for half of the time, then 16 and more processes on 2 cores.", falsely="storage, memory, network"),
    Tenth("table-then-memory-limit", "a serial part, then the memory limit of the control group kills the job", f"{PY} hoard 400 5", OOM, also=ONE + [r"one core"], kind="failed", fine=FEW + ",memory,failed", around="memory:150", needs="cgroup",
          wrong=NO_DISK + NO_NET + NO_MANY, truth="OOM kill at 150 MB; before that 5 s of one thread.", falsely="the machine ran out of memory, storage, network"),
    Tenth("service-then-error", "slow replies of a service, then an exception", f"{PY} slow_service_then_error {{n}} 0.4", FAILED + [r"KeyError|exception|traceback"], also=NET, kind="failed", fine=FEW + ",failed", draw={"n": (20, 28)},
          wrong=NO_DISK + NO_MEMORY + NO_MANY, truth="KeyError, exit code 1; time went to waiting for the service.", falsely="storage, memory, a network that failed"),
    Tenth("licence-then-nothing", "computing on one core, then a wait for a licence", f"{PY} licence {{w}} 5", IDLE, also=ONE, fine=FEW, draw={"w": (9, 12)}, wrong=COMPUTE + NO_MANY, truth="5 s of one core, then sleep for twice that.", falsely="storage, memory, network"),
    Tenth("scratch-is-full", "compression in one thread, then the scratch file system is full", "sh:head -c 9000000 /dev/urandom | xz -9 >{small}/a.xz; cat {small}/a.xz {small}/a.xz >{small}/b", FULL, also=ONE + [r"\bxz\b"], kind="failed",
          fine=FEW + ",full,failed,kernel", around="tmpfs:16", needs="root", wrong=NO_MEMORY + NO_NET + NO_MANY, truth="cat fails with ENOSPC in small/; xz took the time.", falsely="slow disk, network, memory"),
    Tenth("rank-that-aborts", "ranks are uneven and rank 1 aborts with 7", f"sh:{OMPI} abort {{s}}", [r"exit(ed)? (code|status|with)|\bfail|MPI_Abort|abort"], also=RANKS + [r"imbalance|uneven"], kind="failed", fine=FEW + ",failed,kernel,lock,imbalance",
          draw={"s": (7, 9)}, **MPI, wrong=COMPUTE + NO_MANY, truth="MPI_Abort(7) of rank 1; before that rank 0 waited for it.", falsely="network, storage, memory"),
    Tenth("threads-then-wild-pointer", "a program that uses both cores dies of a wild pointer", "{bin}/tenth wild {s}", [r"SIGSEGV|segmentation|signal 11|invalid (memory|address)"], kind="failed", fine=FEW + ",failed,memory", draw={"s": (4, 5)}, alone=True,
          wrong=NO_DISK + NO_MEMORY + NO_NET + NO_MANY + NO_ONE, truth="SIGSEGV.", falsely="memory shortage, storage, one core"),

    # Healthy.
    Tenth("well-two-threads", "both cores compute", "{bin}/tenth threads 2 {s}", [], kind="healthy", draw={"s": (7, 9)}, alone=True, truth="As good as it gets.", falsely="anything"),
    Tenth("well-two-workers", "two processes of node share the work", f"{JS} workers {{s}}", [], kind="healthy", draw={"s": (7, 9)}, alone=True, truth="Both cores are used.", falsely="anything"),
    Tenth("well-even-ranks", "two ranks with the same work", f"sh:{OMPI} even {{s}}", [], kind="healthy", draw={"s": (7, 9)}, **MPI, truth="Even ranks, a collective each second.", falsely="anything"),
    Tenth("well-make-j2", "make -j2 builds eight targets", "sh:make -j2 -f {src}/tenth.mk BIN={bin} EACH=2 N={n}", [], kind="healthy", draw={"n": [8, 10]}, alone=True, truth="Both cores are used.", falsely="anything"),
    Tenth("well-short-listing", "a directory is listed", "ls -lR /usr/share/doc", [], kind="healthy", truth="Less than a second.", falsely="anything"),
    Tenth("well-one-compilation", "one small program is compiled", "sh:printf 'int main(void) {{ return 0; }}' >a.c; gcc -o a a.c && ./a", [], kind="healthy", truth="A tenth of a second.", falsely="anything"),
    Tenth("well-wanted-sleep", "a cron job that sleeps, as its author wants", "sleep {s}", [], kind="healthy", draw={"s": (6, 9)}, truth="sleep is what was asked for.", falsely="anything that calls this a fault"),
    Tenth("well-light-copy", "20 MB are copied and counted, with pauses that are wanted", "sh:head -c 20000000 /dev/zero >a; sleep 2; cp a b; sleep 2; cmp a b; sleep 1", [], kind="healthy", truth="Nothing to mend.", falsely="anything"),
    Tenth("well-pool-of-two", "a pool of two processes of Python with even work", f"{PY} pool 2 {{s}}", [], kind="healthy", draw={"s": (7, 9)}, alone=True, truth="Both cores are used.", falsely="anything"),
    Tenth("well-hashes-in-parallel", "eight files are hashed two at a time",
          "sh:for i in 1 2 3 4 5 6 7 8; do head -c 150000000 /dev/zero >f$i; done; ls f* | xargs -P2 -n1 sha512sum; ls f* | xargs -P2 -n1 sha512sum; ls f* | xargs -P2 -n1 sha512sum", [], kind="healthy",
          alone=True, truth="Both cores hash.", falsely="anything"),
]


def halves():
    """Half of those with one cause, of those with two, and of the healthy ones."""
    rng, order = random.Random(10), []
    for group in ([c for c in TENTH if c.kind != "healthy" and not c.also], [c for c in TENTH if c.also], [c for c in TENTH if c.kind == "healthy"]):
        names = sorted(c.name for c in group)
        rng.shuffle(names)
        order += names
    return {name: ("tenth", "reserved10")[i % 2] for i, name in enumerate(order)}


HALF = halves()
random.Random(101).shuffle(TENTH)
