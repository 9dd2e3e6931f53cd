# SPDX-License-Identifier: Apache-2.0
"""Jobs whose true cause is known, drawn from what goes wrong on clusters and laptops and not from Sonde's rules.

A row: name, the cause in one sentence, how it is run, and `says`: what a fair reader accepts as naming this cause, in any words. `fine` lists
ideas that are also true of the job. Any other idea of IDEAS that stands before the cause, or instead of it, is a wrong blame. The half
of a row follows from its name, so that it never moves. {fields} of `run` are drawn from a seed within `draw`.
"""
import hashlib
from dataclasses import dataclass, field

# What a verdict may blame: used to recognize wrong blame.
IDEAS = {
    "others": r"(?<!after the )\bothers?('s?)?\b.*\b(cores?|CPUs?|machine|node)\b|\b(cores?|CPUs?)\b.*\b(taken|took)\b|neighbou?r|\bsteal|stolen|hypervisor|other (jobs|processes|programs|users)",
    "throttled": r"throttl|quota|CPU limit",
    "one core": r"\bone of( the)? \d+ cores|\b(one|single|1) core\b|single.thread|in parallel|\bserial|sequential|one (thread|process|task)",
    "few cores": r"cores? (were|was|stood|stayed|remained) (idle|unused)|of \d+ cores|unused cores|cores? in use",
    "idle": r"\bidle|slept|sleep|did nothing|\bwait(s|ed|ing)?\b",
    "oversubscribed": r"oversubscri|too many (threads|processes)|more (threads|processes|tasks)|(threads|processes) (for|on|shared?) \d+ cores",
    "imbalance": r"imbalance|uneven|straggl|unequal",
    "memory": r"out of memory|\bOOM|memory limit|MemoryError|limit of memory|\bmemory\b",
    "swap": r"\bswap|thrash|reclaim",
    "storage": r"storage|\bdisk|fsync|\bI/O|small (reads|writes)",
    "full": r"no space|ENOSPC|(disk|file system|device).*\bfull",
    "network": r"network|socket|connection|\bDNS",
    "lock": r"\block(s|ed)?\b|mutex|futex|\bGIL\b|contention|deadlock",
    "kernel": r"kernel|system (time|calls?)|page faults?|context switch",
    "storm": r"short(-lived)? process|process(es)? (a|per) second|process starts?|starting process|processes started",
    "affinity": r"affinity|pinned|allowed (cores|CPUs)|taskset",
    "failed": r"\bfailed|exit(ed)? (code|status|with)|killed by|crash|signal|\bSIG[A-Z]+",
    "gpu": r"\bGPU",
    "numa": r"\bNUMA|remote memory|bandwidth",
    "asked too much": r"asked for|requested|reserved",
}

# Accepted words for causes that several rows share.
MANY = [r"oversubscri", r"too many (threads|processes|workers)", r"more (\w+ )?(threads|processes|tasks|workers).* than .*(cores?|CPUs?)",
        r"\d+ .*(threads|processes|tasks|workers).*\b(on|for|shared?|queued?|wait\w*)\b.*\b(cores?|CPUs?)",
        r"own (threads|processes).*(wait|queue|compet)"]
ONE = [r"\b(one|1|single) (of (the |its )?\d+ )?(cores?|CPUs?)\b", r"single.(core|thread)", r"nothing ran in parallel|not (run )?in parallel",
       r"\bserial\b|sequential", r"one (thread|process|task|worker) (at a time|alone|did|ran|worked|kept|used)"]
LOCK = [r"\block\b|\blocks\b|mutex|futex|\bGIL\b|contention|contended|critical section"]
TAIL = [r"straggl", r"imbalance|uneven|unequal", r"one (task|process|thread|worker).*(long|last|rest|end)", r"(end|tail|last \d+).*(one|1|single|serial)",
        r"(one|1|single|serial).*(at the end|tail|for the last|\d+(\.\d+)? ?s\b)"]
# Extended after the first outputs, as all such lines are that are marked so: it names the cause in other words.
IDLE = [r"\bidle\b", r"slept|sleep", r"did nothing|no work|nothing ran", r"\bwait(s|ed|ing)?\b",
        r"hardly any work|nothing used"]   # extended
KERNEL = [r"(system|kernel).*(time|calls?)|in the kernel|system calls"]
STORM = [r"short(-lived)? processes", r"[\d,]+ (\w+ )*(processes|starts|commands|programs|forks?)\b.*(second|/s|started|each|short)",
         r"process(es)? (a|per) second|starts? of processes|starting (\w+ )?process|processes (were )?started"]
QUOTA = [r"throttl", r"\bquota", r"CPU limit|limit of .*(cores?|CPU)"]
OTHERS = [r"\bothers?('s?)?\b.*\b(cores?|CPUs?|machine|node)\b", r"other (jobs|processes|programs|users|work)", r"(cores?|CPUs?)\b.*\b(taken|took)\b",
          r"waited for (a )?(core|CPU)"]
SMALL_CALLS = [r"small reads and writes|(reads|writes|calls).* of \d+ B( each)?\b"]   # extended
FSYNC = [r"fsync|flush|sync(ed|s|ing)?\b", r"(storage|disk).*(wait|slow|latency|busy|block)|wait\w* (for|on) (the )?(storage|disk|I/O)"]
STORAGE = [r"(storage|disk|\bI/O|file system).*(wait|slow|latency|busy|block|bound|limit|saturat)|wait\w* (for|on) (the )?(storage|disk|I/O)"]
TIMEOUT = [r"time ?out|timed out|time limit"]


@dataclass
class Case:
    name: str
    cause: str
    run: str                    # "sh: ..." runs in a shell, anything else is split into arguments
    says: list                  # any of these in one verdict names the cause
    also: list = field(default_factory=list)    # of a mixture: the second cause
    fine: str = ""              # ideas that are also true, separated by commas
    kind: str = "slow"          # slow, failed, waits (wants no core), healthy
    draw: dict = field(default_factory=dict)
    needs: str = ""             # words that judge.py knows how to look for
    around: str = ""            # what the whole recording runs in
    outside: int = 0            # busy loops a core outside the job
    alone: bool = False         # wants all cores to itself
    wrong: list = field(default_factory=list)   # what is wrong blame even where it stands beside a true word
    before: str = ""            # a shell makes input by this before the recording begins

    @property
    def half(self):
        return "open" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "kept"


S = (5, 8)
CORES = "{cores}"

CASES = [
    # More threads or processes than cores.
    Case("threads-many", "far more computing threads than cores", "{bin}/cpu threads {n} {s}", MANY, draw={"n": (40, 300), "s": S}, alone=True),
    Case("processes-many-python", "far more computing processes than cores", "{py} {src}/jobs.py procs {n} {s}", MANY, draw={"n": (16, 60), "s": S}, alone=True),
    Case("processes-many-shell", "a shell starts far more background loops than cores",
         "sh:for i in $(seq {n}); do timeout {s} sh -c 'while :; do :; done' & done; wait; true", MANY, draw={"n": (12, 60), "s": S}, alone=True),
    Case("openmp-oversubscribed", "OMP_NUM_THREADS is far above the cores, threads meet in barriers", "sh:OMP_NUM_THREADS={n} exec {bin}/omp {s}", MANY,
         fine="kernel,lock", draw={"n": (12, 48), "s": S}, alone=True),
    Case("java-pool-too-large", "a Java pool with far more computing threads than cores", "java -cp {bin} Jobs threads {n} {s}", MANY,
         draw={"n": (50, 200), "s": S}, needs="java", alone=True),
    Case("pinned-to-one-core", "several threads are pinned to one core by the job itself", "taskset -c 0 {bin}/cpu threads {n} {s}",
         MANY + [r"affinity|pinned|taskset|bound to|allowed"], fine="one core,few cores", draw={"n": (3, 8), "s": S}),
    Case("python-pinned-pool", "a pool of processes is pinned to one core", "taskset -c 1 {py} {src}/jobs.py procs {n} {s}",
         MANY + [r"affinity|pinned|taskset|bound to|allowed"], fine="one core,few cores", draw={"n": (2, 6), "s": S}, needs="two-cores"),

    # One core of several.
    Case("serial-c", "one thread computes, the other cores have nothing to do", "{bin}/cpu threads 1 {s}", ONE, fine="few cores", draw={"s": S}),
    Case("serial-python", "a Python loop in one thread", "{py} {src}/jobs.py serial {s}", ONE, fine="few cores", draw={"s": S}),
    Case("serial-go", "GOMAXPROCS=1 lets many goroutines use one core", "sh:GOMAXPROCS=1 exec {bin}/goroutines {n} {s}", ONE, fine="few cores",
         draw={"n": (4, 64), "s": S}, needs="go"),
    Case("one-after-another", "a script runs computing commands one after another", "sh:for i in 1 2 3 4; do {bin}/cpu threads 1 {s}; done", ONE, fine="few cores",
         draw={"s": (1, 2)}),
    Case("gil", "Python threads hold the interpreter's lock in turn", "{py} {src}/jobs.py gil {n} {s}", ONE + LOCK, fine="few cores,kernel",
         draw={"n": (4, 12), "s": S}),
    Case("lock-held", "threads take turns under one mutex", "{bin}/cpu lock {n} {s}", ONE + LOCK, fine="few cores,kernel,idle", draw={"n": (4, 16), "s": S}),
    Case("lock-convoy", "threads meet at a mutex for every small step", "{bin}/cpu convoy {n} {s}", LOCK + [r"context switch"] + KERNEL, fine="few cores,kernel,one core",
         draw={"n": (8, 32), "s": S}, alone=True),
    Case("amdahl", "a parallel second, then a long serial part", "{bin}/cpu phases 1 {s} {cores}", ONE, fine="few cores", draw={"s": (8, 14)}),
    Case("serial-head", "a long serial start before the parallel part", "{bin}/cpu head {s} 2 {cores}", ONE, fine="few cores", draw={"s": (6, 10)}),
    Case("xargs-one-long", "xargs -P has one long task at the end", "sh:printf '%s\\n' 1 1 1 {long} | xargs -P{cores} -n1 {bin}/cpu threads 1", ONE + TAIL, fine="few cores,idle",
         draw={"long": (9, 14)}),
    Case("pool-uneven", "workers of a pool have very uneven shares", "{py} {src}/jobs.py uneven {a} {b}", ONE + TAIL, fine="few cores,idle",
         draw={"a": (1, 2), "b": (8, 12)}),
    Case("pipe-gzip", "a pipe waits for its one slow stage, gzip -9", "sh:timeout {s} cat /dev/urandom | gzip -9 >/dev/null; true", ONE + [r"gzip"], fine="few cores,kernel",
         draw={"s": S}),
    Case("pickle", "a pool spends its time on sending objects, not on work", "{py} {src}/jobs.py pickle {mb} {s}",
         [r"pipe", r"pickl|serializ|sending", r"main process|parent"] + ONE, fine="few cores,kernel", draw={"mb": (4, 16), "s": S}),
    Case("spin-for-worker", "a thread spins in sched_yield until another has worked", "{bin}/cpu yield {cores} {s}",
         [r"spin|busy.wait|yield|poll"] + KERNEL, draw={"s": S}, fine="few cores,one core", alone=True),

    # Quota, priority, others.
    Case("quota-serial", "a CPU quota of a tenth of a core holds back one thread", "{bin}/cpu threads 1 {s}", QUOTA, draw={"s": S}, around="quota:0.1", needs="cgroup"),
    Case("quota-parallel", "a CPU quota holds back threads that fit the cores", "{bin}/cpu threads {cores} {s}", QUOTA, draw={"s": S}, around="quota:0.12", needs="cgroup"),
    Case("quota-python", "a CPU quota holds back a pool of Python processes", "{py} {src}/jobs.py procs {cores} {s}", QUOTA, draw={"s": S}, around="quota:0.12", needs="cgroup"),
    Case("quota-beside-others", "a quota holds the job back more than the others beside it", "{bin}/cpu threads 2 {s}", QUOTA, draw={"s": S}, around="quota:0.1",
         outside=1, needs="cgroup", alone=True),
    Case("others-busy", "other processes of the machine take most of the cores", "{bin}/cpu threads {cores} {s}", OTHERS, draw={"s": S}, outside=4, alone=True),
    Case("niced", "the job runs with nice 19 beside others", "nice -n 19 {bin}/cpu threads {cores} {s}", OTHERS + [r"\bnice\b|priority"], draw={"s": S}, outside=1, alone=True),

    # Limits and failures.
    Case("limit-memory-python", "ulimit -v ends a Python program with MemoryError", "sh:ulimit -v {kb}; exec {py} {src}/jobs.py eat {s}",
         [r"ulimit -v|address space|virtual memory|limit.*memory|memory.*limit|MemoryError"], kind="failed", fine="failed,one core,memory",
         draw={"kb": (300000, 900000), "s": (2, 4)}),
    Case("limit-memory-c", "ulimit -v makes malloc fail and the program aborts", "sh:ulimit -v {kb}; exec {bin}/mem eat {s}",
         [r"ulimit -v|address space|virtual memory|limit.*memory|memory.*limit"], kind="failed", fine="failed,one core,memory",
         draw={"kb": (300000, 900000), "s": (2, 4)}),
    Case("limit-cpu-time", "ulimit -t ends the program", "sh:ulimit -t {s}; exec {bin}/cpu threads 1 60", [r"ulimit -t|CPU.time limit|limit.*CPU (time|seconds)|CPU time.*limit"],
         kind="failed", fine="failed,one core,few cores", draw={"s": (3, 4)}),
    Case("limit-open-files", "ulimit -n ends a program that opens many files", "sh:ulimit -n {n}; exec {py} {src}/jobs.py open {s}",
         [r"open files|file descriptors|ulimit -n|EMFILE|descriptors"], kind="failed", fine="failed,one core", draw={"n": (40, 300), "s": (2, 4)}),
    Case("limit-processes", "ulimit -u lets no further process start",
         "sh:setpriv --reuid=54321 --clear-groups bash -c 'ulimit -u {n}; exec {py} {src}/jobs.py forks {s}'",
         [r"ulimit -u|process(es)? limit|limit.*processes|cannot (fork|start)|EAGAIN"], kind="failed", fine="failed,one core", needs="root",
         draw={"n": (10, 40), "s": (2, 4)}),
    Case("limit-stack", "recursion beyond ulimit -s", "sh:ulimit -s {kb}; exec {bin}/mem recurse {s}", [r"stack"], kind="failed", fine="failed,one core",
         draw={"kb": (512, 4096), "s": (2, 4)}),
    Case("limit-file-size", "a file grows beyond ulimit -f", "sh:ulimit -f {blocks}; exec {bin}/files exceed out.dat {s}", [r"file.?size|ulimit -f|file (was |is |grew )?(too|beyond)|size of (a |its )?file"],
         kind="failed", fine="failed,one core", draw={"blocks": (2000, 20000), "s": (2, 4)}),
    Case("oom-killed", "the kernel kills the job at its cgroup's memory limit", "{bin}/mem grow {rate} 30", [r"\bOOM|out of memory|memory limit|limit of (its )?memory"],
         kind="failed", fine="failed,one core,memory,swap", draw={"rate": (40, 60)}, around="memory:200", needs="cgroup"),
    Case("oom-killed-child", "the kernel kills a worker of a script at the memory limit", "sh:{bin}/mem grow {rate} 30; echo merge; {bin}/cpu threads 1 2; exit 3",
         [r"\bOOM|out of memory|memory limit|limit of (its )?memory"], kind="failed", fine="failed,one core,memory,swap", draw={"rate": (40, 60)}, around="memory:150",
         needs="cgroup"),
    Case("java-heap", "Java's heap is full", "java -Xmx{mb}m -cp {bin} Jobs heap 3", [r"OutOfMemory|\bheap\b|Java.*memory|memory.*Java"], kind="failed",
         fine="failed,one core,memory", draw={"mb": (32, 128)}, needs="java"),
    Case("node-heap", "Node's heap is full and it aborts", "node --max-old-space-size={mb} {src}/heap.js 3", [r"\bheap\b|out of memory|memory"], kind="failed",
         fine="failed,one core,memory", draw={"mb": (40, 120)}, needs="node"),
    Case("disk-full-c", "the file system of the output is full", "{bin}/files fill {small} {s}", [r"no space|ENOSPC|\bfull\b"], kind="failed", fine="failed,one core,storage",
         draw={"s": (2, 4)}, around="tmpfs:24", needs="root"),
    Case("disk-full-python", "Python's output does not fit the file system", "{py} {src}/jobs.py fill {small} {s}", [r"no space|ENOSPC|\bfull\b"], kind="failed",
         fine="failed,one core,storage", draw={"s": (2, 4)}, around="tmpfs:24", needs="root"),
    Case("command-not-found", "a script calls a command that does not exist", "sh:{bin}/cpu threads {cores} {s}; bwa-mem2 index ref.fa", [r"not found|no such command"],
         kind="failed", fine="failed", draw={"s": (3, 5)}, alone=True),
    Case("not-executable", "a script calls a file that is not executable", "sh:{bin}/cpu threads {cores} {s}; echo true >step2; ./step2",
         [r"not executable|cannot be executed|could not be executed|permission"], kind="failed", fine="failed", draw={"s": (3, 5)}, alone=True),
    Case("sigbus", "a mapped file was truncated by somebody", "{bin}/mem truncated {s}", [r"bus error|truncated|shrank|shorter|mapped"], kind="failed", fine="failed,one core",
         draw={"s": (2, 4)}),
    Case("segfault-in-script", "a program within a script dies of a bad pointer", "sh:{bin}/cpu threads {cores} 2; {bin}/waits crash segv {s}; exit $?",
         [r"segmentation|invalid memory|pointer|memory (that|which|it)"], kind="failed", fine="failed,one core", draw={"s": (2, 3)}),
    Case("assertion", "an assertion ends the program", "{bin}/waits crash abort {s}", [r"\babort|assert"], kind="failed", fine="failed,one core", draw={"s": (3, 5)}),
    Case("illegal-instruction", "a program built for another processor", "{bin}/waits crash ill {s}", [r"illegal instruction|instruction.*(CPU|processor)|(CPU|processor).*instruction"], kind="failed", fine="failed,one core",
         draw={"s": (3, 5)}),
    Case("python-exception", "a Python exception after good work", "{py} {src}/jobs.py raise {s}", [r"exit(ed)? (code|status|with).*\b1\b|exception|traceback|\bfailed\b"], kind="failed",
         fine="failed,one core", draw={"s": (3, 5)}),
    Case("missing-input", "a make rule lacks its input", "make -f {src}/missing.mk BIN={bin} SECONDS={s}", [r"exit(ed)? (code|status|with).*\b2\b|\bfailed\b"], kind="failed",
         fine="failed,one core", draw={"s": (3, 5)}),
    Case("terminated", "somebody ends the job with SIGTERM", "sh:(sleep {s}; kill -TERM $$) & exec {bin}/cpu threads {cores} 40", [r"SIGTERM|terminated"], kind="failed",
         fine="failed", draw={"s": (3, 6)}, alone=True),
    Case("leak", "memory grows steadily to the end", "{bin}/mem grow {rate} {s}", [r"leak", r"memory.*\b(gr(o|e)w\w*|ris\w*|rose|increas\w*)", r"gr(o|e)w\w*.*memory"],
         fine="one core,few cores", draw={"rate": (60, 120), "s": (8, 12)}),

    # Storms.
    Case("storm-shell", "a shell loop starts thousands of short commands", "sh:end=$(($(date +%s) + {s})); while [ $(date +%s) -lt $end ]; do /bin/true; expr 1 + 1 >/dev/null; done",
         STORM, fine="one core,few cores,kernel", draw={"s": S}),
    Case("storm-python", "Python starts a command for every item", "{py} {src}/jobs.py storm {s}", STORM, fine="one core,few cores,kernel", draw={"s": S}),
    Case("storm-fork", "a program forks as fast as it can", "{bin}/procs spawn {cores} {s}", STORM, fine="few cores,kernel", draw={"s": S}, alone=True),
    Case("storm-files", "files are created, examined and removed in a loop", "{bin}/files storm {s}", KERNEL + [r"(small |many |thousands of )?files? (created|opened|creat|open)|metadata|unlink"],
         fine="one core,few cores,storage", draw={"s": S}),
    Case("storm-files-perl", "a Perl loop opens and removes small files", "perl {src}/files.pl {s}", KERNEL + [r"(small |many |thousands of )?files? (created|opened|creat|open)|metadata|unlink"],
         fine="one core,few cores,storage", draw={"s": S}),
    Case("storm-faults", "memory is mapped, touched and given back in a loop", "{bin}/mem faults {mb} {s}", [r"page.?faults?|faults", r"kernel|system time"], fine="one core,few cores",
         draw={"mb": (8, 64), "s": S}),
    Case("storm-pingpong", "two processes exchange single bytes over pipes", "{bin}/procs pingpong {s}", [r"context switch|switch(es|ed)|wake"] + KERNEL + [r"pipe"] + SMALL_CALLS,
         fine="one core,few cores,idle", draw={"s": S}),
    Case("storm-writes", "a program writes single bytes", "{bin}/files tiny {s}", [r"(small|tiny|short|1.byte) writes?|writes? of|write calls"] + KERNEL + SMALL_CALLS, fine="one core,few cores,storage",
         draw={"s": S}),
    Case("storm-log", "a Perl program logs every step to standard error", "perl {src}/log.pl {s}", [r"(small|tiny|short) writes?|writes? of|write calls"] + KERNEL + SMALL_CALLS,
         fine="one core,few cores,storage", draw={"s": S}),
    Case("storm-threads", "a thread is made and joined for every item", "{bin}/procs threads {s}", [r"threads? (\w+ )*(created|started|starts|a second|per second)|short(-lived)? threads"] + KERNEL,
         fine="one core,few cores", draw={"s": S}),
    Case("fork-of-large", "a large process forks for every item", "{bin}/mem bigfork {mb} {s}", STORM + [r"fork"] + KERNEL + [r"page.?faults?"], fine="one core,few cores",
         draw={"mb": (300, 900), "s": S}),
    Case("zombies", "ended children are never waited for", "{bin}/procs zombies {n} {s}", [r"zombie|not (been )?(waited|reaped|collected)|defunct"] + STORM,
         fine="idle,one core,few cores", draw={"n": (800, 3000), "s": (4, 6)}),

    # Waiting.
    Case("sleeps", "the job sleeps", "sh:sleep {s}; echo done", IDLE, fine="few cores,one core", kind="waits", draw={"s": S}),
    Case("polling", "a script polls for a file that comes late", "sh:(sleep {s}; touch ready) & while ! test -e ready; do sleep 0.1; done", IDLE + [r"poll"] , fine="few cores,one core",
         kind="waits", draw={"s": S}),
    Case("deadlock", "two threads hold each other's mutex until timeout ends them", "timeout {s} {bin}/waits deadlock", [r"deadlock|\block\b|mutex|futex"], also=TIMEOUT,
         fine="failed,idle,one core,few cores", kind="waits", draw={"s": S}),
    Case("queue-hang", "a Python worker waits for a queue that nobody fills", "timeout {s} {py} {src}/jobs.py hang", IDLE + [r"\block\b|semaphore|futex"], also=TIMEOUT,
         fine="failed,idle,few cores,lock", kind="waits", draw={"s": S}),
    Case("fifo", "a reader waits for a FIFO that nobody writes", "sh:mkfifo f; timeout {s} cat f", [r"FIFO|pipe"], also=TIMEOUT, fine="failed,idle,few cores", kind="waits", draw={"s": S}),
    Case("server-silent", "a client waits for a server that does not answer", "{py} {src}/jobs.py client {s}", [r"network|socket|connection|127\.0\.0\.1|port"],
         fine="failed,idle,few cores", kind="waits", draw={"s": S}),
    Case("server-silent-c", "a C client waits for a server until timeout ends it", "timeout {s} {bin}/waits socket", [r"network|socket|connection|127\.0\.0\.1|port"], also=TIMEOUT,
         fine="failed,idle,few cores", kind="waits", draw={"s": S}),
    Case("dns", "the name server does not answer", "{py} {src}/jobs.py resolve", [r"network|socket|\bDNS|name server|resolv|:53\b"] , fine="failed,idle,few cores", kind="waits",
         around="dns", needs="root"),
    Case("stdin", "the program waits for input that does not come", "timeout {s} {bin}/waits input", [r"standard input|stdin|terminal|\binput\b|\bpipe\b"], also=TIMEOUT,
         fine="failed,idle,few cores", kind="waits", draw={"s": S}),
    Case("file-lock", "a process waits for a file lock that another holds", "{bin}/waits flock {s}", [r"\block\b|flock"] , fine="idle,few cores", kind="waits", draw={"s": S}),
    Case("idle-tail", "the work is done, a forgotten background process keeps the job", "sh:sleep {tail} & {bin}/cpu threads {cores} 2; wait",
         [r"idle.*(end|last|tail)|(end|last|tail).*(idle|wait|nothing)|\bidle\b|\bwait"], fine="few cores", draw={"tail": (10, 14)}),
    Case("idle-head", "the job waits long before it starts to work", "sh:sleep {s}; {bin}/cpu threads {cores} 2",
         IDLE, fine="few cores", draw={"s": (7, 11)}),
    Case("idle-hole", "the job stops in the middle to wait for a licence", "sh:{bin}/cpu threads {cores} 2; sleep {s}; {bin}/cpu threads {cores} 2", IDLE, fine="few cores",
         draw={"s": (6, 10)}),

    # Storage.
    Case("fsync-c", "every small record is forced to the disk", "{bin}/files fsync {bytes} {s}", FSYNC, fine="idle,few cores,storage,one core", draw={"bytes": (100, 4000), "s": S}),
    Case("fsync-sqlite", "a database commits every row", "{py} {src}/jobs.py sqlite {s}", FSYNC, fine="idle,few cores,storage,one core", draw={"s": S}),
    Case("random-reads", "small random reads of a large file that is not cached", "{bin}/files random {mb} {s}", STORAGE + [r"(small|random|4.?k\w*).*reads?"],
         fine="idle,few cores,storage,one core", draw={"mb": (128, 512), "s": S}),
    Case("slow-storage", "the storage gives a few MB a second", "dd if=big.dat of=/dev/null bs=1M iflag=direct", STORAGE + [r"throttl.*(storage|disk|I/O)|reads?\b.*slow"],
         fine="idle,few cores,storage,one core", kind="waits", around="blkio:4:{mb}", draw={"mb": (20, 32)}, needs="cgroup"),
    Case("imports", "a Python program imports thousands of small modules from cold files", "{py} {src}/jobs.py imports {n}",
         [r"start|import|small files|files opened|opened|many files"] + STORAGE + ONE, fine="few cores,kernel,storage", draw={"n": (8000, 14000)}),
    Case("cache-thrash", "a mapped file does not fit the memory limit and is read again and again", "{bin}/mem mapped {mb} {s}",
         [r"major|page.?faults?|thrash|reclaim|re-?read|page cache|refault", r"memory (limit|pressure)"] + STORAGE, fine="idle,few cores,storage,one core,memory,swap",
         draw={"mb": (250, 400), "s": S}, around="memory:100", needs="cgroup"),

    # Mixtures of two.
    Case("threads-many-and-full", "too many threads, then the disk is full", "sh:{bin}/cpu threads {n} {s} && {bin}/files fill {small} 0", [r"no space|ENOSPC|\bfull\b"], also=MANY,
         kind="failed", fine="failed,storage", draw={"n": (40, 120), "s": (5, 6)}, around="tmpfs:16", needs="root", alone=True),
    Case("quota-and-many", "too many threads within a quota", "{bin}/cpu threads {n} {s}", QUOTA, also=MANY, draw={"n": (20, 60), "s": S}, around="quota:0.15", needs="cgroup"),
    Case("fsync-and-tail", "commits of every row, then a forgotten child", "sh:sleep 12 & {bin}/files fsync 500 6; wait", IDLE, also=FSYNC, fine="few cores,storage,one core"),
    Case("storm-and-serial", "a storm of commands, then a long serial part", "sh:timeout 5 sh -c 'while :; do /bin/true; done'; {bin}/cpu threads 1 6", ONE, also=STORM, fine="few cores,kernel"),
    Case("leak-and-oom", "a leak that runs into the memory limit", "{py} {src}/jobs.py leak {mb}", [r"\bOOM|out of memory|memory limit"],
         also=[r"leak", r"memory.*\b(gr(o|e)w\w*|ris\w*|rose|increas\w*)", r"gr(o|e)w\w*.*memory", r"memory limit"], kind="failed", fine="failed,one core,memory,swap",
         draw={"mb": (20, 40)}, around="memory:250", needs="cgroup"),

    # Nothing is wrong.
    Case("healthy-make", "make -j compiles on all cores", "make -s -j{cores} -f {src}/compile.mk FILES={n}", [], kind="healthy", draw={"n": (12, 20)}, alone=True),
    Case("healthy-threads", "as many threads as cores compute", "{bin}/cpu threads {cores} {s}", [], kind="healthy", draw={"s": S}, alone=True),
    Case("healthy-one-core", "a serial job in a reservation of one core", "{bin}/cpu threads 1 {s}", [], kind="healthy", draw={"s": S}, around="taskset:0"),
    Case("healthy-pool", "a balanced Python pool", "{py} {src}/jobs.py procs {cores} {s}", [], kind="healthy", draw={"s": S}, alone=True),
    Case("healthy-memory", "a steady working set with all cores busy", "{bin}/mem hold {mb} {cores} {s}", [], kind="healthy", draw={"mb": (100, 600), "s": S}, alone=True),
    Case("healthy-xargs", "xargs -P with even tasks", "sh:seq {n} | xargs -P{cores} -n1 sh -c '{bin}/cpu threads 1 1'", [], kind="healthy", draw={"n": [8, 10, 12]}, alone=True),
    Case("healthy-java", "a Java pool of as many threads as cores", "java -cp {bin} Jobs threads {cores} {s}", [], kind="healthy", draw={"s": S}, needs="java", alone=True),
    Case("healthy-nested-shells", "scripts within scripts run a balanced job", "sh:sh -c 'sh -c \"{bin}/cpu threads {cores} {s}\"; true'; true", [], kind="healthy",
         draw={"s": S}, alone=True),
]
