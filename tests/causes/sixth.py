# SPDX-License-Identifier: Apache-2.0
"""A sixth set, written before the rules were read again: mistakes of data pipelines, builds and scripts, as support sees them. Half of the jobs (by a
hash of the name) are read while rules are mended (`--half sixth`); the others (`--half beside`) are judged once, at the end. Each was run without
Sonde first; the comment says what showed its cause then."""
import hashlib
from dataclasses import dataclass

from cases import Case
from fourth import CORES, GROWS, LONG, SHORT
from kept import ALONE, BYTES, CROWD, DISK, FILES, FLUSH, FULL, HUNG, IDLE, KERNEL, NO_MEMORY, QUOTA, REFUSED, SERVER, STORM, TURNS, UNEVEN


@dataclass
class Sixth(Case):
    @property
    def half(self):
        return "sixth" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "beside"


SH = "bash {src}/sixth.sh "
PY = "{py} {src}/sixth.py "
JS = "node {src}/sixth.js "
C = "{bin}/sixth "
SMALL = [r"small (reads?|writes?|calls|messages?|pieces|requests?)"]

SIXTH = [
    # Failures.
    # json.decoder.JSONDecodeError, exit code 1.
    Sixth("truncated-json", "the input ends in the middle of a JSON document", PY + "json {s}", [r"JSON|Expecting|delimiter|Unterminated"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY + DISK, draw=SHORT),
    # gzip: unexpected end of file, exit code 1.
    Sixth("download-broke-off", "a compressed file ends too early", SH + "short_gzip {s}", [r"unexpected end of file|\bgzip\b.*(end|corrupt|damaged|truncat)|truncat"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY,
          draw=SHORT),
    # tar: Cannot open: No such file or directory, exit code 2.
    Sixth("archive-elsewhere", "tar is given an archive that is not there", SH + "no_archive {s}", [r"No such file|not found|missing|cannot open"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY + FULL, draw=SHORT),
    # PermissionError: [Errno 13], exit code 1; run as nobody.
    Sixth("results-are-anothers", "the directory of the results belongs to another user", "setpriv --reuid=65534 --regid=65534 --clear-groups {py} {src}/sixth.py forbidden {s}", [r"permission|EACCES|not permitted|denied"],
          kind="failed", fine="failed," + CORES, wrong=NO_MEMORY + FULL, before="chmod 755 . && mkdir results", draw=SHORT, needs="root"),
    # OSError: [Errno 98] Address already in use, exit code 1.
    Sixth("port-is-taken", "the port of the job's server is already used", PY + "port {s}", [r"address already in use|EADDRINUSE|\bport\b.*(use|taken|busy)"], kind="failed", fine="failed,network," + CORES, wrong=NO_MEMORY, draw=SHORT),
    # subprocess.CalledProcessError of a child that ended with 3.
    Sixth("child-fails-in-python", "a command that Python starts fails with code 3", PY + "child {s}", [r"CalledProcessError|exit (code|status) 3|returned non-zero|code 3"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY,
          draw=SHORT),
    # RangeError: Invalid array length, exit code 1.
    Sixth("node-array-length", "Node makes an array of a negative length", JS + "range {s}", [r"RangeError|invalid array length"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=SHORT, needs="node"),
    # awk: division by zero, exit code 2.
    Sixth("awk-divides-by-zero", "awk divides by a column that is zero", SH + "division {s}", [r"division by zero|divi[ds]"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=SHORT),
    # sqlite3: UNIQUE constraint failed, exit code 1 or 19.
    Sixth("key-twice", "a row of this key is in the database already", SH + "unique {s}", [r"UNIQUE|constraint"], kind="failed", fine="failed,storage," + CORES, wrong=NO_MEMORY + FULL, draw=SHORT, needs="sqlite3"),
    # SIGFPE of an integer division.
    Sixth("integer-division", "C divides an integer by zero", C + "divide {s}", [r"SIGFPE|floating.point|arithmetic|divi[ds]"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=SHORT),
    # assert: SIGABRT.
    Sixth("rows-are-none", "an assertion of C does not hold", C + "assertion {s}", [r"assert"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=SHORT),
    # connect: ECONNREFUSED after ten attempts.
    Sixth("database-is-down", "nothing listens at the database's port, and the client gives up after some attempts", PY + "down {s}", REFUSED, kind="failed", fine="failed,network,idle," + CORES, wrong=NO_MEMORY, draw=SHORT),

    # Waiting.
    # The parent is in wait4, its child in nanosleep of backoff.
    Sixth("retries-with-backoff", "a client tries again and again, each time after a longer pause", PY + "backoff {s}", IDLE + REFUSED, kind="waits", fine="idle,network," + CORES, wrong=DISK, draw=LONG),
    # The shell is in wait4; the children sleep: polling each second.
    Sixth("polls-for-a-file", "a script looks each sixth of a second whether a file is there", SH + "polls {s}", IDLE, kind="waits", fine="idle,storm,failed," + CORES, wrong=DISK, draw=LONG),
    # A producer puts one item a second; workers wait in futex.
    Sixth("slow-producer", "workers wait for a producer that gives one piece each half second", PY + "producer {s}", IDLE + TURNS, kind="waits", fine="idle,lock," + CORES, wrong=DISK, draw=LONG),
    # A pipe's reader sleeps between lines; the writer blocks in write.
    Sixth("reader-pauses", "the writer waits for a reader that pauses after each line", SH + "reader {s}", IDLE, kind="waits", fine="idle," + CORES, wrong=DISK, draw=LONG),
    # A server that handles one request at a time with a pause of 300 ms; eight clients wait.
    Sixth("one-request-at-a-time", "eight clients wait for a server that answers one at a time, after a pause", PY + "one_server {s}", IDLE + SERVER, kind="waits", fine="idle,network,lock," + CORES, wrong=DISK, draw=LONG),
    # Both sides fill their pipes and block in write; timeout ends it.
    Sixth("pipes-are-full", "parent and child write to each other's full pipes, until a time limit", "timeout {s} " + C + "full_pipes", IDLE + HUNG + [r"\bpipe"], kind="waits", fine="idle,failed," + CORES, wrong=DISK, draw=LONG),

    # Kernel.
    # mmap and munmap for each item; page faults; 80 % system.
    Sixth("map-for-each-item", "each item gets pages from the kernel and gives them back", C + "maps {s}", KERNEL + [r"page faults?|\bmmap|munmap|madvise"], fine="kernel,memory," + CORES, draw=LONG),
    # stat of 50 paths that do not exist for each step.
    Sixth("searches-the-path", "each step looks for its file in fifty directories", C + "search {s}", KERNEL + FILES, fine="kernel,storage," + CORES, draw=LONG),
    # write of one line, fflush after each.
    Sixth("flushes-each-number", "each number is written by a call of its own", C + "numbers {s}", KERNEL + BYTES, fine="kernel,storage," + CORES, draw=LONG),
    # expr and cut for each line.
    Sixth("cut-and-expr", "a shell starts cut and expr for each line", SH + "expr {s}", STORM, fine="storm,kernel," + CORES, draw=LONG),
    # find -exec for each file.
    Sixth("find-exec", "find starts a command for each of thousands of files", SH + "find_exec {n}", STORM, fine="storm,kernel," + CORES, before="mkdir many; cd many; seq 700 | xargs touch", draw={"n": (2, 3)}),
    # fsync after each insert (autocommit).
    Sixth("insert-by-insert", "SQLite commits each row", SH + "inserts {s}", FLUSH + [r"commit"], kind="waits", fine="storage,idle,kernel," + CORES, draw=LONG, needs="sqlite3"),
    # threads create and join all the time.
    Sixth("thread-a-piece", "each small item gets a thread of its own", C + "threads {s}", KERNEL + [r"thread(s)?\b.*(start|creat|second|each)|(start|creat)\w* .*threads?"] + ALONE, fine="kernel,lock,oversubscribed," + CORES, draw=LONG),
    # one byte through a pipe between two processes; context switches.
    Sixth("ping-pong", "two processes hand one byte to each other", C + "pingpong {s}", KERNEL + SMALL + BYTES + TURNS + ALONE + [r"context switch|switches"], fine="kernel,idle," + CORES, draw=LONG),

    # Cores.
    Sixth("xz-alone", "xz compresses with one thread", SH + "xz {s}", ALONE, fine=CORES, draw=LONG, alone=True),
    Sixth("sort-alone", "awk sums and sort --parallel=1 sorts", SH + "sort {s}", ALONE, fine="storage," + CORES, draw=LONG, alone=True),
    Sixth("recursive-make", "make calls make for each directory, with -j1", SH + "make {s}", ALONE, fine="storm," + CORES, draw={"s": [2, 3]}, alone=True),
    # multiprocessing.Pool(24) on two cores.
    Sixth("pool-of-login-node", "a pool has as many workers as another machine has cores", PY + "pool {s} {n}", CROWD, fine="oversubscribed,few cores", draw={"s": (7, 9), "n": (18, 26)}, alone=True),
    # worker_threads: one gets 80 % of the work.
    Sixth("uneven-shares", "one of the workers has nearly all of the work", JS + "uneven {cores} {s}", ALONE + UNEVEN, fine="imbalance," + CORES, draw=LONG, alone=True, needs="node"),
    # thread locks around all its work (C).
    Sixth("one-big-lock", "threads of C compute with one lock held", C + "biglock {s} 4", ALONE + TURNS, fine="lock,idle,kernel," + CORES, draw=LONG, alone=True),
    Sixth("quota-openssl", "a quota of a third of a core holds back openssl speed", "timeout {s} openssl speed -seconds 30 -multi {cores} sha256", QUOTA, kind="failed", fine="failed,throttled,idle,oversubscribed," + CORES,
          around="quota:0.3", draw=LONG, alone=True, needs="cgroup openssl"),
    Sixth("dictionary-grows", "a dictionary keeps every line", PY + "keeps {s}", GROWS, fine="memory," + CORES, draw=LONG),

    # Mixtures.
    Sixth("sleeps-then-divides", "the job sleeps, then C divides by zero", "sh:sleep {s}; exec " + C + "divide 1", [r"SIGFPE|floating.point|arithmetic|divi[ds]"], IDLE, kind="failed", fine="failed,idle," + CORES, draw=SHORT),
    Sixth("crowd-then-json", "too many workers, then broken JSON", "sh:" + PY + "pool {s} 20; exec " + PY + "json 0", [r"JSON|Expecting|delimiter|Unterminated"], CROWD, kind="failed", fine="failed,oversubscribed," + CORES,
          draw=SHORT, alone=True),
    Sixth("storm-then-alone", "a shell starts cut for each line, then xz compresses alone", "sh:" + SH + "expr {s}; exec " + SH + "xz {s}", STORM, ALONE, fine="storm,kernel," + CORES, draw=SHORT, alone=True),
    Sixth("full-after-work", "one process computes, then SQLite fills the file system", "sh:cd {small} && exec bash {src}/sixth.sh fill 60", FULL, ALONE, kind="failed", fine="failed,storage,kernel," + CORES, alone=True,
          around="tmpfs:3", needs="root sqlite3"),

    # Healthy.
    Sixth("healthy-even-tasks", "nothing: xargs -P keeps all cores at work", SH + "even {cores} {n}", [], kind="healthy", draw={"n": (3, 4)}, alone=True),
    Sixth("healthy-like-workers", "nothing: worker threads of Node have even shares", JS + "even {cores} {s}", [], kind="healthy", draw=LONG, alone=True, needs="node"),
    Sixth("healthy-zstd-threads", "nothing: zstd compresses with all cores", SH + "zstd {cores} {s}", [], kind="healthy", draw=LONG, alone=True, needs="zstd"),
    Sixth("healthy-stages", "nothing: two processes of a pipe have equal work", C + "stages {s}", [], kind="healthy", draw=LONG, alone=True),
    Sixth("healthy-pool-spawn", "nothing: a pool of Python started by spawn", PY + "even {cores} {s}", [], kind="healthy", draw=LONG, alone=True),
    Sixth("healthy-pinned-single", "nothing: one core was given and awk uses it", SH + "sort_one {s}", [], kind="healthy", around="taskset:1", draw=LONG, alone=True),
]
