# SPDX-License-Identifier: Apache-2.0
"""A fifth set of jobs, of programs that are installed everywhere: shells, awk, make, xargs, tar, gzip, xz, sort, sqlite3, git, and small ones in C,
Python, Perl and Node. Their causes were written down before the files of rules were opened by the one who then mended them, who had seen a part of docs/verdicts.md
(of rules about idle time, and of kinds of errors). Half of them (by a hash of the name) are read while rules are mended (`--half fifth`); the others
(`--half reserve`) are judged once, at the end."""
import hashlib
from dataclasses import dataclass

from cases import Case
from kept import ALONE, BYTES, CROWD, DISK, FILES, FLUSH, IDLE, KERNEL, NO_MEMORY, QUOTA, SERVER, STORM, TURNS, UNEVEN
from second import MISSING


@dataclass
class Fifth(Case):
    @property
    def half(self):
        return "fifth" if hashlib.sha256(self.name.encode()).digest()[0] % 2 else "reserve"


CORES = "one core,few cores"
TIME = {"s": (6, 8)}
HALF_TIME = {"s": (4, 5)}
POLLS = [r"\bpoll|asks?\b.*(again|without a pause)|busy.?(wait|loop)|\bspin|times a second"]
GROWS = [r"\bleak|memory (grew|grows|increas)|grew steadily"]
FAULTS = [r"page faults?", r"(allocat|memory).*(again|given back|return)"]
TEXT = "seq -f 'chr1 gattaca gaattac %.0f' {} >table"

FIFTH = [
    # Failures.
    Fifth("mean-of-none", "the mean of no values divides by zero", "{py} {src}/fifth.py mean_of_none {s}", [r"ZeroDivision|division by zero"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY + DISK, draw=TIME),
    Fifth("descriptors-never-closed", "the program opens a file in each step and never closes one", "sh:ulimit -n 1024; exec {bin}/fifth opens {s}", [r"open files|EMFILE|descriptors"], kind="failed", fine="failed," + CORES,
          wrong=NO_MEMORY, draw=TIME),
    Fifth("grep-finds-nothing", "set -e ends the script, because grep finds nothing", "sh:set -e; {py} {src}/fifth.py work {s}; grep converged /etc/hostname; echo done", [r"\bgrep\b|exit(ed)? (code|status|with) 1"], kind="failed",
          fine="failed," + CORES, wrong=NO_MEMORY, draw=TIME),
    Fifth("database-is-taken", "another process of the job keeps the database locked", "sh:(echo 'begin exclusive;'; sleep 60) | sqlite3 taken.db & sleep 1; {py} {src}/fifth.py work {s}; sqlite3 taken.db 'create table t (a)'; r=$?; kill %1; exit $r",
          [r"database.*locked|\block"], kind="failed", fine="failed,idle,lock," + CORES, wrong=NO_MEMORY, draw=TIME, needs="sqlite3"),
    Fifth("folder-of-last-year", "a script changes to a folder that is not there", "sh:set -e; perl -e 'my $e = time + {s}; while (time < $e) {{ $n += sqrt $_ for 1 .. 9999 }}'; cd results/2025; ls", MISSING + [r"results/2025|can't cd"],
          kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=TIME),
    Fifth("alarm-of-perl", "the program set an alarm and had no handler when it came", "perl -e 'alarm {s}; while (1) {{ $n += sqrt $_ for 1 .. 9999 }}'", [r"SIGALRM|alarm"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY,
          draw=TIME),
    Fifth("promise-rejected", "a promise of Node is rejected and nobody handles it", "node {src}/fifth.js rejects {s}", [r"upstream|503|reject"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=TIME, needs="node"),
    Fifth("archive-cut-short", "an archive was cut short", "sh:set -e; {py} {src}/fifth.py work {s}; gzip -dc part.gz >part", [r"unexpected end|truncated|damaged|corrupt|cut"], kind="failed", fine="failed," + CORES, wrong=NO_MEMORY, draw=TIME,
          before="seq 900000 | gzip | head -c 100000 >part.gz"),

    # Waiting.
    Fifth("until-a-file-is-there", "a loop of the shell sleeps until a file is there", "sh:(sleep {s}; touch ready) & until [ -e ready ]; do sleep 0.2; done", IDLE + POLLS, kind="waits", fine="idle,storm," + CORES, wrong=DISK, draw=TIME),
    Fifth("node-looks-each-20-ms", "Node looks by a timer whether a file is there", "node {src}/fifth.js looks {s}", IDLE + POLLS, kind="waits", fine="idle," + CORES, wrong=DISK, draw=TIME, needs="node"),
    Fifth("child-that-sleeps", "Python waits for a child that sleeps", "{py} {src}/fifth.py child {s}", IDLE, kind="waits", fine="idle," + CORES, wrong=DISK, draw=TIME),
    Fifth("service-of-700-ms", "a service answers each request after 0.7 s", "{py} {src}/fifth.py service {s}", SERVER + IDLE, kind="waits", fine="idle,network," + CORES, wrong=DISK, draw=TIME),
    Fifth("one-commit-a-row", "Python commits each row to SQLite", "{py} {src}/fifth.py rows {s}", FLUSH + [r"commit"], kind="waits", fine="storage,idle,kernel," + CORES, draw=TIME),

    # Kernel and processes.
    Fifth("asks-the-pipe", "a program asks a pipe for data without a pause", "{bin}/fifth asks {s}", KERNEL + POLLS, fine="kernel," + CORES, draw=TIME),
    Fifth("stat-of-one-file", "a program asks for the state of a file over and over", "{bin}/fifth stats {s}", KERNEL + FILES, fine="kernel," + CORES, draw=TIME),
    Fifth("takes-and-gives-memory", "each step takes fresh memory and gives it back", "{bin}/fifth takes {s}", FAULTS + KERNEL, fine="kernel,memory," + CORES, draw=TIME),
    Fifth("progress-of-each-step", "Python writes a short line for each step and flushes it", "{py} {src}/fifth.py progress {s}", KERNEL + BYTES, fine="kernel,storage," + CORES, draw=TIME),
    Fifth("pieces-of-16-bytes", "Node reads 16 bytes at a time", "node {src}/fifth.js pieces {s}", KERNEL + BYTES, fine="kernel," + CORES, draw=TIME, needs="node"),
    Fifth("expr-counts", "a shell counts with expr", "sh:e=$(($(date +%s) + {s})); i=0; while [ $(date +%s) -lt $e ]; do i=$(expr $i + 1); done", STORM + KERNEL, fine="storm,kernel," + CORES, draw=TIME),
    Fifth("awk-for-each-line", "a shell starts awk for each line", "sh:seq 100000 | timeout {s} sh -c 'while read n; do echo $n | awk \"{{ print \\$1 * 2 }}\"; done' >doubled; true", STORM + KERNEL, fine="storm,kernel," + CORES, draw=TIME),
    Fifth("gzip-for-each-file", "xargs starts gzip for each of many small files", "sh:ls | grep ^f | timeout {s} xargs -n1 gzip -kf; true", STORM + FILES + KERNEL, fine="storm,kernel,storage," + CORES, draw=TIME,
          before="for i in $(seq 20000); do echo $i >f$i; done"),
    Fifth("git-log-in-a-loop", "a script calls git for each name", "bash -c 'git init -q r; cd r; e=$((SECONDS + {s})); while [ $SECONDS -lt $e ]; do git rev-parse --git-dir >/dev/null; done'", STORM + KERNEL, fine="storm,kernel," + CORES,
          draw=TIME, needs="git"),

    # Cores.
    Fifth("threads-of-python", "threads of Python compute, and one at a time may", "{py} {src}/fifth.py threads {s}", ALONE + TURNS, fine="lock,idle," + CORES, draw=TIME, alone=True),
    Fifth("books-under-a-lock", "threads compute only while they hold the one lock", "{bin}/fifth locked {s}", ALONE + TURNS, fine="lock,idle," + CORES, draw=TIME, alone=True),
    Fifth("one-large-share", "of four shares one is far larger", "{py} {src}/fifth.py uneven {s}", ALONE + UNEVEN, fine="idle,imbalance," + CORES, draw=TIME, alone=True),
    Fifth("tar-to-gzip", "tar writes to gzip -9, which has one thread", "sh:for i in 1 2 3; do tar c table | gzip -9 >table.tar.gz; done", ALONE, fine=CORES, before=TEXT.format(3000000), alone=True),
    Fifth("xz-with-one-thread", "xz has one thread", "sh:xz -T1 -6 -c table >table.xz", ALONE, fine=CORES, before=TEXT.format(1500000), alone=True, needs="xz"),
    Fifth("sort-with-one-thread", "sort is told to use one thread", "sh:for i in 1 2; do sort --parallel=1 -k4 table >sorted; done", ALONE, fine="storage,memory," + CORES, before=TEXT.format(1500000), alone=True),
    Fifth("make-without-j", "make builds one independent target after the other", "make -s -f {src}/fifth.mk SRC={src} SECONDS={s}", ALONE, fine=CORES, draw={"s": [2]}, alone=True),
    Fifth("xargs-p-40", "xargs runs forty computing processes at a time", "sh:seq 40 | xargs -P40 -I@ awk -v seconds={s} -f {src}/fifth.awk", CROWD, fine="oversubscribed,few cores", draw=TIME, alone=True),
    Fifth("gzip-in-a-quota", "a quota of a fifth of a core holds back gzip", "sh:timeout {s} gzip -9 -c table >table.gz; true", QUOTA, fine="throttled,idle," + CORES, around="quota:0.2", draw=TIME, before=TEXT.format(3000000), alone=True,
          needs="cgroup"),
    Fifth("remembers-all-keys", "a dictionary keeps every key", "{py} {src}/fifth.py remembers {s}", GROWS, fine="memory,idle,kernel," + CORES, draw=TIME),

    # Mixtures.
    Fifth("sorts-then-sleeps", "sort has one thread, then the job sleeps", "sh:for i in 1 2; do sort --parallel=1 -k4 table >sorted; done; sleep {s}", ALONE, IDLE, fine="idle,storage,memory," + CORES, before=TEXT.format(1000000), draw=TIME,
          alone=True),
    Fifth("storm-then-missing", "a shell counts with expr, then a file is not there", "sh:set -e; e=$(($(date +%s) + {s})); i=0; while [ $(date +%s) -lt $e ]; do i=$(expr $i + 1); done; cat steps/last.txt", MISSING + [r"steps/last"],
          STORM + KERNEL, kind="failed", fine="failed,storm,kernel," + CORES, wrong=NO_MEMORY, draw=TIME),
    Fifth("commits-then-xz", "each row is committed, then xz has one thread", "sh:{py} {src}/fifth.py rows {s}; xz -T1 -6 -c table >table.xz", FLUSH, ALONE, fine="storage,idle,kernel," + CORES, before=TEXT.format(600000), draw=HALF_TIME,
          alone=True, needs="xz"),

    # Healthy.
    Fifth("healthy-many-digests", "nothing: a pool of Python with even shares", "{py} {src}/fifth.py even {s}", [], kind="healthy", draw=TIME, alone=True),
    Fifth("healthy-awks", "nothing: one awk for each core", "sh:seq {cores} | xargs -P{cores} -I@ awk -v seconds={s} -f {src}/fifth.awk", [], kind="healthy", draw=TIME, alone=True),
    Fifth("healthy-make-j", "nothing: make -j runs even targets on all cores", "make -s -j{cores} -f {src}/fifth.mk SRC={src} SECONDS={s}", [], kind="healthy", draw={"s": [3, 4]}, alone=True),
    Fifth("healthy-workers", "nothing: a worker of Node for each core", "node {src}/fifth.js workers {s} {cores}", [], kind="healthy", draw=TIME, alone=True, needs="node"),
    Fifth("healthy-gzips", "nothing: xargs -P compresses large files on all cores", "sh:ls large* | xargs -P{cores} -n1 gzip -9kf", [], kind="healthy", before="for i in 1 2 3 4; do seq 4000000 >large$i; done", alone=True),
]
