# SPDX-License-Identifier: Apache-2.0
"""An eleventh set: fifty jobs in fourteen languages and tools, written by one who had read neither the rules nor the documents of the verdicts.

The same rows as in tenth.py: `says` wants the noun without which the sentence does not help, `truth` is what a knowing engineer would say first, and `falsely` what would
mislead. Ten are healthy: whatever is blamed there is false. Programs are in programs/eleventh.*, Eleventh.java, eleventh_mpi.c. Half of each kind, drawn once, is kept
apart (`reserved11`). Those that need numpy run where the Python of CAUSES_PYTHON has it.
"""
import random
from dataclasses import dataclass

from tenth import COMPUTE, FAILED, FEW, FILES, FSYNC, FULL, IDLE, LOCK, MANY, NET, NO_DISK, NO_MANY, NO_MEMORY, NO_STORM, ONE, OOM, RANKS, SMALL, STARTS, STORAGE, TAIL
from tenth import Tenth


@dataclass
class Eleventh(Tenth):
    @property
    def half(self):
        return HALF[self.name]


SPIN = [r"\bspin|busy.wait|\block\b"]
FAULTS = [r"page faults?|\bfaults\b|\bmmap|munmap|mapp(ed|ing)|gives? (memory )?back|kernel"]
GROWS = [r"memory\b.*\b(grew|grow\w*|rose|leak\w*)|leak|grew\b.*\bmemory|(heap|memory)\b.*\b(limit|full|end)"]
NO_FILE = [r"no such file|ENOENT|not there|missing|not found|does not exist"]
KILLED = [r"killed|signal 9|SIGKILL"]
CRASH = [r"signal|SIGSEGV|segmentation|crash"]
HUNG = [r"timeout|124|hung|\bhang|deadlock"] + IDLE
SLOW_END = [r"\bpipe\b|consumer|reader|slow(er)? (end|side)"] + IDLE
AGAIN = [r"\bagain\b|re-?read|(\d+|several|many) times|same file"]

PY, JS, PL, C = "{py} {src}/eleventh.py", "node {src}/eleventh.js port", "perl {src}/eleventh.pl", "{bin}/eleventh"
SERVER = "setsid /usr/bin/python3 {src}/eleventh.py serve 0.22 140 port </dev/null >/dev/null 2>&1 & sleep 2"
RANKS_OF = {"needs": "mpicc.openmpi mpirun.openmpi", "before": "mpicc.openmpi -O2 -o ranks {src}/eleventh_mpi.c", "alone": True}
OMPI = "mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 ./ranks"
GO = {"needs": "go", "before": "go build -o go {src}/eleventh.go"}
JAVA = {"needs": "javac", "before": "javac -d . {src}/Eleventh.java"}
LOG = """/usr/bin/python3 -c 'import random; r = random.Random(4); print("\\n".join(f"10.{r.randrange(9)}.{r.randrange(90)}.{r.randrange(250)} - - [2026] \\"GET /page{r.randrange(400)}/x?y={i} HTTP/1.1\\" 200 {i}" for i in range(900000)))' >access.log"""
TEXTS = """/usr/bin/python3 -c 'import random; r = random.Random(5); print("\\n".join(f"{i},{r.random()},word{r.randrange(99999)}" for i in range(600000)))' >rows.txt"""
SOURCES = r"""for i in $(seq N); do { echo '#include <map>'; echo '#include <regex>'; echo '#include <string>'; echo "std::map<std::string, int> m$i; bool f$i(const std::string &s) { return std::regex_search(s, std::regex(\"a+$i\")); }"; } >part$i.cpp; done"""

ELEVENTH = [
    # One core does the work.
    Eleventh("textbook-matrices", "C++ multiplies matrices in three loops, in one thread", "./matrices {n}", ONE, fine=FEW, draw={"n": (1900, 2000)},
             before="g++ -O2 -o matrices {src}/eleventh.cpp", wrong=COMPUTE + NO_MANY, truth="One thread computes, one core of two is unused.", falsely="waiting, storage"),
    Eleventh("log-report-in-perl", "Perl matches each line of a log in one process", f"{PL} report {{n}}", ONE, fine=FEW, draw={"n": (9, 11)}, before=LOG, wrong=NO_DISK + NO_MANY,
             truth="One process of Perl computes.", falsely="storage: the log is in the cache"),
    Eleventh("join-without-index", "sqlite3 joins two tables that have no index", "sh:sqlite3 :memory: \"create table a(x); create table b(y, z); insert into a select value from generate_series(1, {n}); "
             "insert into b select value * 3, value from generate_series(1, {n}); select count(*) from a cross join b where b.y + 0 = a.x + 0;\"", ONE, fine=FEW, draw={"n": (12000, 14000)},
             wrong=NO_DISK + NO_MANY, truth="sqlite3 computes in one thread.", falsely="storage, locks"),
    Eleventh("array-element-by-element", "a Python loop goes through a numpy array element by element", f"{PY} relax 700 {{n}}", ONE + [r"interpreter|bytecode"], fine=FEW, draw={"n": (28, 34)},
             needs="numpy", wrong=COMPUTE + NO_MANY, truth="One thread interprets Python.", falsely="memory, storage"),
    Eleventh("backup-through-xz", "a backup is compressed by one xz, which the pipe waits for", "sh:tar c data | xz -6 >backup.tar.xz", ONE + [r"\bxz\b.*compress|compress.*\bxz\b"], fine=FEW,
             before="mkdir data; head -c 16000000 /dev/urandom >data/a; base64 data/a >data/b; rm data/a", wrong=NO_DISK + NO_MANY, truth="xz compresses in one thread (-T0 would use all cores).",
             falsely="slow storage, tar waits"),
    Eleventh("solver-after-solver", "a script starts one solver, waits for it, starts the next", f"{PY} solvers {{n}} 1.3", ONE + [r"one after (another|the other)|one at a time"], fine=FEW,
             draw={"n": (6, 8)}, wrong=COMPUTE + NO_MANY, truth="Children run one after the other on one core.", falsely="idle: the parent only waits for its child"),
    Eleventh("filter-per-word", "a script searches the same large file once for each word", "sh:for w in $(seq 100 {n}); do grep -c \"w.*rd$w[0-9]*7$\" rows.txt; done >counts", ONE + AGAIN + STARTS, fine=FEW,
             draw={"n": (400, 450)}, before=TEXTS, wrong=NO_DISK + NO_MANY, truth="One grep after the other reads the same file on one core.", falsely="storage"),
    Eleventh("table-read-by-each-scenario", "an R script parses the same table again for each scenario", "Rscript {src}/eleventh.R {n}", ONE + AGAIN, fine=FEW, draw={"n": (5, 7)}, needs="Rscript",
             before=TEXTS + "; { echo a,b,c; cat rows.txt; } >measured.csv", wrong=NO_DISK + NO_MANY,
             truth="R parses one file again and again in one thread.", falsely="storage"),
    # A part is serial, or one worker has most.
    Eleventh("parts-then-one-merge", "two workers make parts, one process merges for longer", f"{PY} merge {{s}}", ONE, fine=FEW, draw={"s": (7, 9)}, alone=True, wrong=COMPUTE + NO_MANY,
             truth="A serial part, the merge, takes most of the time.", falsely="oversubscription"),
    Eleventh("one-heavy-chunk", "one of four chunks takes most of the time", f"{PY} chunk {{s}}", TAIL, fine=FEW, draw={"s": (9, 12)}, alone=True, wrong=COMPUTE + NO_MANY,
             truth="Uneven shares: one worker computes, the other waits for work.", falsely="the pipe or lock of the pool"),
    Eleventh("ranks-behind-one-reader", "rank 0 prepares each round alone, the other waits in MPI_Bcast", f"{OMPI} reader {{n}}", RANKS + ONE, fine=FEW, draw={"n": (9, 12)}, wrong=COMPUTE + NO_MANY,
             truth="One rank works while the other waits (spins) in MPI.", falsely="good use of both cores", **RANKS_OF),
    # Too many, and locks.
    Eleventh("libraries-threads-in-workers", "each of four workers starts four threads of BLAS", "sh:OPENBLAS_NUM_THREADS=4 exec {py} {src}/eleventh.py blas 4 900 {n}", MANY, fine="kernel,lock",
             draw={"n": (40, 50)}, needs="numpy", alone=True, wrong=NO_DISK, truth="Workers times threads: eight computing threads (the library takes at most two each here) share two cores.", falsely="idle, storage"),
    Eleventh("home-made-spinning-lock", "four threads spin at one lock that they made themselves", f"{C} spinning 4 {{s}}", SPIN + MANY, fine="kernel", draw={"s": (8, 10)}, alone=True, wrong=COMPUTE,
             truth="Threads spin at a lock: the cores look busy, one at most does work.", falsely="good use of cores"),
    Eleventh("one-map-for-all-goroutines", "eight goroutines of Go share a map behind one lock that is always held", "./go words {n}", LOCK + ONE, fine=FEW, draw={"n": (4000, 5000)}, wrong=COMPUTE + NO_MANY,
             truth="A lock lets one goroutine work at a time: one core of two.", falsely="oversubscription", **GO),
    Eleventh("queue-at-a-lock-file", "four scripts compute behind one flock", "sh:for i in 1 2 3 4; do (for k in 1 2 3; do flock lock /usr/bin/python3 {src}/eleventh.py solve {s}; done) & done; wait",
             LOCK + ONE, fine=FEW + ",idle", draw={"s": (1, 1)}, needs="flock", wrong=COMPUTE + NO_MANY, truth="Processes wait for a file lock, one works at a time.", falsely="oversubscription"),
    # Waits.
    Eleventh("upload-with-a-rate-limit", "awk makes lines faster than the uploader may take them", f"sh:awk 'BEGIN {{{{ for (i = 0; i < {{n}}; i++) print i, i * 7919 % 10007, \"reading\" }}}}' | {PY} upload 3000",
             SLOW_END, fine="idle,one core", kind="waits", draw={"n": (36000, 45000)}, wrong=COMPUTE, truth="The reader of the pipe sleeps: nothing computes.", falsely="storage, one core is too few"),
    Eleventh("poll-for-a-result", "a script looks for a result twenty times a second until it is there", "sh:(sleep {s}; echo ok >result) & until [ -e result ]; do sleep 0.05; done; cat result",
             IDLE + [r"\bpoll"] + STARTS, fine="idle", kind="waits", draw={"s": (10, 14)}, wrong=COMPUTE, truth="It sleeps and polls (a process for each look).", falsely="computing"),
    Eleventh("page-after-page", "node asks a server that thinks long, one page at a time", JS + " {n}", NET + [r"epoll"], fine="idle", kind="waits", draw={"n": (45, 60)}, needs="node", before=SERVER,
             wrong=NO_DISK + NO_MEMORY, truth="It waits for replies of a server.", falsely="storage, sleep"),
    Eleventh("hang-until-the-timeout", "two threads of Python hold each a lock and want the other's; timeout ends them", "timeout {s} {py} {src}/eleventh.py hang", HUNG + FAILED, fine="idle,one core,lock", kind="failed",
             draw={"s": (11, 14)}, wrong=COMPUTE, truth="A hang at locks, ended by timeout (124).", falsely="storage, computing"),
    # Failures.
    Eleventh("weights-not-there", "after some work a file is wanted that is not there", f"{PY} late {{s}}", NO_FILE + FAILED, fine=FEW, kind="failed", draw={"s": (6, 8)}, wrong=COMPUTE,
             truth="It failed: weights/final.json is missing, exit code 1.", falsely="one core first"),
    Eleventh("broken-archive", "the archive is cut short; only wc's success is seen", "sh:gzip -dc cut.gz | tee raw | wc -l; sort raw | uniq -c | sort -n | tail -1", FAILED, fine=FEW, kind="failed",
             before=TEXTS + "; for i in $(seq 10); do cat rows.txt; done | gzip -1 | head -c 90000000 >cut.gz", wrong=NO_DISK + NO_MANY, truth="gzip failed though the job ended with 0.",
             falsely="nothing of the failure"),
    Eleventh("worker-that-was-killed", "one of two workers is killed by signal 9, the pool breaks", f"{PY} lost", KILLED + FAILED, fine=FEW, kind="failed", alone=True, wrong=COMPUTE,
             truth="A worker was killed by SIGKILL, so the job failed.", falsely="out of memory as a fact"),
    Eleventh("tables-beyond-ulimit", "ulimit -v stops a Python program that makes tables", "sh:ulimit -v 900000; exec {py} {src}/eleventh.py grid 2000", OOM + FAILED + [r"address space|ulimit|ENOMEM|cannot allocate|RLIMIT"],
             fine=FEW, kind="failed", wrong=NO_DISK + NO_MANY, truth="The limit of address space (ulimit -v) was reached.", falsely="one core first, the machine's memory"),
    Eleventh("scratch-runs-full", "output goes to a file system of 40 MB that is full", "{bin}/eleventh output {small}/frames {n}", FULL, fine=FEW, kind="failed", draw={"n": (90, 100)}, around="tmpfs:40", needs="root",
             wrong=NO_MEMORY + NO_MANY, truth="No space left on the file system of the output.", falsely="slow storage"),
    Eleventh("crash-that-nobody-sees", "one of twelve items crashes, the script goes on and ends with 0", "sh:for i in 1 2 3 4 5 6 7 8 9 10 11 12; do {bin}/eleventh item $i 0.7 || true; done >items", CRASH + FAILED,
             fine=FEW, kind="failed", wrong=COMPUTE + NO_MANY, truth="One process died of SIGSEGV though the job ended with 0.", falsely="only: one core"),
    # Files and storage.
    Eleventh("ledger-flushed-each-time", "C flushes a ledger after each record", f"{C} ledger {{n}}", FSYNC, fine="storage,idle", draw={"n": (30000, 36000)}, wrong=NO_MEMORY + NO_MANY, truth="It waits for fdatasync after each record.",
             falsely="small writes only"),
    Eleventh("write-for-each-field", "Perl writes each field by a call of its own", f"{PL} fields {{n}}", SMALL, fine=FEW + ",kernel", draw={"n": (1200000, 1500000)}, wrong=NO_DISK + NO_MEMORY,
             truth="Millions of writes of a few bytes: system calls.", falsely="slow storage"),
    Eleventh("many-small-files-unpacked", "an archive of many small files is unpacked, searched and removed, twice", "sh:for i in 1 2; do tar xf tree.tar; grep -rl 77 tree >/dev/null; rm -r tree; done", FILES,
             fine=FEW + ",kernel", before="mkdir tree; /usr/bin/python3 -c 'import os\nfor i in range(7000):\n  d = f\"tree/{i % 150}\"; os.makedirs(d, exist_ok=True); open(f\"{d}/{i}\", \"w\").write(str(i) * 40)'; tar cf tree.tar tree; rm -r tree",
             wrong=NO_MEMORY + NO_MANY, truth="Many small files are made, opened and removed: metadata.", falsely="computing"),
    Eleventh("keys-looked-up-on-disk", "C looks keys up at random in a file that is in no cache", f"{C} lookups keys {{s}}", STORAGE + [r"random|small reads|reads of"], fine="idle,kernel", draw={"s": (8, 10)},
             before="head -c 700000000 /dev/urandom >keys; sync keys", wrong=NO_MEMORY + NO_MANY, truth="It waits for random reads of 4 KiB from storage.", falsely="computing"),
    # Process starts and memory.
    Eleventh("sums-by-expr", "a shell script computes each sum with expr and cut", "sh:s=0; i=0; while [ $i -lt {n} ]; do s=$(expr $s + $(echo \"a:$i:b\" | cut -d: -f2)); i=$((i + 1)); done; echo $s", STARTS,
             fine=FEW + ",kernel", draw={"n": (2500, 3000)}, wrong=NO_DISK + NO_MEMORY, truth="Thousands of short processes.", falsely="one core of computing only"),
    Eleventh("interpreter-for-each-file", "a script starts Python with many imports for each small file",
             "sh:for i in $(seq {n}); do echo $i >in$i; {py} -c \"import asyncio, decimal, email.message, http.server, json, sqlite3, unittest, xml.dom.minidom, sys; print(int(open('in$i').read()) * 2)\" >out$i; done",
             STARTS + [r"import|start.?up"], fine=FEW, draw={"n": (45, 60)}, wrong=NO_DISK + NO_MEMORY, truth="Each start of Python imports for 0.2 s: start-up costs all.", falsely="storage"),
    Eleventh("work-area-mapped-each-step", "C maps and unmaps a work area in each step", f"{C} areas {{s}}", FAULTS, fine=FEW, draw={"s": (8, 10)}, wrong=NO_DISK + NO_MANY + [r"leak"], truth="The kernel's work: page faults of memory that is given back each step.",
             falsely="a leak, one core of computing only"),
    # Two causes.
    Eleventh("database-opened-for-each-row", "a script starts sqlite3 for each row, and each commits", "sh:sqlite3 t.db 'create table t(x)'; for i in $(seq {n}); do sqlite3 t.db \"insert into t values($i)\"; done", STARTS, FSYNC,
             fine=FEW + ",storage,idle", draw={"n": (700, 900)}, wrong=NO_MEMORY + NO_MANY, truth="A process for each row, and a commit (fsync) for each.", falsely="computing"),
    Eleventh("compute-then-fetch", "Python computes on one core, then fetches record after record from a slow server", f"sh:{PY} solve 6; {PY} fetch port {{n}}", ONE, NET, fine=FEW + ",idle", draw={"n": (28, 32)}, before=SERVER,
             wrong=NO_DISK + NO_MEMORY + NO_MANY, truth="Half one core, half waiting for a server's replies.", falsely="storage"),
    Eleventh("leak-until-killed", "each step keeps 4 MB until the control group's limit kills it", f"{PY} leak 400", OOM, GROWS + KILLED, fine=FEW, kind="failed", around="memory:450", needs="cgroup", wrong=NO_DISK + NO_MANY,
             truth="Memory grew steadily to the limit of the control group, and the kernel killed it.", falsely="one core first"),
    Eleventh("each-sample-flushed", "Python saves each sample as a file of its own, flushed", f"{PY} samples {{n}}", FSYNC, FILES, fine=FEW + ",storage,idle", draw={"n": (14000, 17000)}, wrong=NO_MEMORY + NO_MANY,
             truth="fsync of many small files.", falsely="computing"),
    Eleventh("service-never-there", "a service refuses each try; pauses grow; then it gives up", f"{PY} retry {{n}}", FAILED + [r"refused"], IDLE, fine="idle", kind="failed", draw={"n": (6, 7)}, wrong=COMPUTE[:2],
             truth="Refused connections, sleeping between tries, exit code 1.", falsely="storage, computing"),
    Eleventh("rows-beyond-the-heap", "Java keeps all rows until its heap is full and collects more and more", "java -Xmx192m -cp . Eleventh rows 5000000", FAILED, GROWS + [r"garbage|\bGC\b|collect|OutOfMemory"], fine=FEW + ",oversubscribed",
             kind="failed", wrong=NO_DISK, truth="The heap (-Xmx192m) is too small: garbage collection, then OutOfMemoryError, exit code 1.", falsely="one core only", **JAVA),
    Eleventh("last-worker-fails", "the one long task of a pool fails at its end", f"{PY} uneven 0", FAILED, TAIL, fine=FEW, kind="failed", alone=True, wrong=COMPUTE + NO_MANY, truth="It failed (exit code 1), after one worker had computed alone for long.",
             falsely="storage"),
    Eleventh("answers-kept-for-ever", "a cache in Python grows by each answer, in one thread", f"{PY} cache {{n}}", GROWS, ONE, fine=FEW, draw={"n": (5500000, 6500000)}, wrong=NO_DISK + NO_MANY, truth="Memory grows with each step, on one core.", falsely="storage"),
    # Nothing to blame.
    Eleventh("sound-make", "make -j2 compiles C++ files", "make -s -j2 -f {src}/eleventh.mk", [], kind="healthy", alone=True, before=SOURCES.replace("N", "5"), truth="Both cores compile.", falsely="anything"),
    Eleventh("sound-rust", "two threads of Rust take turns at ranges", "./primes {n}", [], kind="healthy", alone=True, draw={"n": (1500, 1800)}, needs="rustc", before="rustc -O -o primes {src}/eleventh.rs", truth="Both cores compute.", falsely="anything"),
    Eleventh("sound-ranks", "two ranks of MPI share the work evenly", f"{OMPI} even {{n}}", [], kind="healthy", draw={"n": (28, 36)}, truth="Both cores compute.", falsely="anything", **RANKS_OF),
    Eleventh("sound-blas", "numpy multiplies matrices with two threads", "sh:OPENBLAS_NUM_THREADS=2 exec {py} {src}/eleventh.py products 2000 {n}", [], kind="healthy", alone=True, draw={"n": (32, 40)}, needs="numpy", truth="Both cores compute.", falsely="anything"),
    Eleventh("sound-zstd", "zstd compresses with two threads", "zstd -q -T2 -15 -o packed data", [], kind="healthy", alone=True, needs="zstd", before="head -c 90000000 /dev/urandom | base64 >data", truth="Both cores compress.", falsely="anything"),
    Eleventh("sound-go", "two goroutines sort parts", "./go parts {n}", [], kind="healthy", alone=True, draw={"n": (300, 350)}, truth="Both cores sort.", falsely="anything", **GO),
    Eleventh("sound-java", "Java searches with a parallel stream", "java -cp . Eleventh stream {n}", [], kind="healthy", alone=True, draw={"n": (22000000, 26000000)}, truth="Both cores compute.", falsely="anything", **JAVA),
    Eleventh("sound-heat", "OpenMP with two threads computes heat on a plate", "sh:OMP_NUM_THREADS=2 exec {bin}/eleventh heat {n}", [], kind="healthy", alone=True, draw={"n": (6000, 7000)}, truth="Both cores compute.", falsely="anything"),
    Eleventh("sound-indexes", "two sqlite3 build an index each, each in one transaction",
             "sh:for d in 1 2; do sqlite3 $d.db 'begin; create table t(x, y); insert into t select value, (value * 7919) % 1000003 from generate_series(1, {n}); create index i on t(y, x); commit' & done; wait", [], kind="healthy", alone=True,
             draw={"n": (7000000, 8000000)}, truth="Both cores compute, written once.", falsely="anything"),
    Eleventh("sound-pool", "a pool of two works at even chunks", f"{PY} pool {{n}}", [], kind="healthy", alone=True, draw={"n": (60, 72)}, truth="Both cores compute.", falsely="anything"),
]


def halves():
    """Half of those with one cause, of those with two, and of the healthy ones."""
    rng, order = random.Random(11), []
    for group in ([c for c in ELEVENTH if c.kind != "healthy" and not c.also], [c for c in ELEVENTH if c.also], [c for c in ELEVENTH if c.kind == "healthy"]):
        names = sorted(c.name for c in group)
        rng.shuffle(names)
        order += names
    return {name: ("half11", "reserved11")[i % 2] for i, name in enumerate(order)}


HALF = halves()
random.Random(111).shuffle(ELEVENTH)
