# SPDX-License-Identifier: Apache-2.0
"""How good verdicts are: runs jobs whose true cause is known (cases.py) under Sonde, reads what a user reads, and scores each.

    judge.py [--half open|kept|fresh|unseen|second|third|apart|fourth|aside|fifth|reserve|sixth|beside|seventh|withheld|eighth|spared|ninth|reserved|tenth|reserved10|half11|reserved11|gaps|all] [--seed N] [--busy] [--only NAME,...] [--jobs N] [--json FILE] [--read FILE]
    judge.py --markdown LABEL=FILE.json...     a document of earlier results
    (those of kept.py, second.py, third.py, fourth.py, fifth.py, sixth.py, seventh.py, eighth.py, ninth.py, tenth.py, eleventh.py and gaps.py are run only where they are asked for: all means the others)

first   the first verdict names the true cause (of a mixture: both causes are named, and first)
later   it is named after something else that is true, or only half of a mixture is named
silent  it is not named, and nothing wrong is said
false   a wrong blame stands before it, or instead of it; of a healthy job: any blame
void    the cause did not come about (a quota that others left no room to reach): counts nowhere
What other processes took of the cores is measured here, and may be said where it is so. SONDE and BUILD in the environment say what is
judged and where programs are built, CAUSES_PYTHON which Python runs jobs (that of the system, if it is not set).
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from cases import CASES, IDEAS
from eighth import EIGHTH
from eleventh import ELEVENTH
from fifth import FIFTH
from fourth import FOURTH
from fresh import FRESH
from gaps import GAPS
from kept import UNSEEN
from ninth import NINTH
from second import SECOND
from seventh import SEVENTH
from sixth import SIXTH
from tenth import TENTH
from third import THIRD

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.realpath(os.path.join(HERE, "..", ".."))
BUILD = os.path.realpath(os.environ.get("BUILD", os.path.join(TOP, "build")))
SONDE = os.environ.get("SONDE", os.path.join(BUILD, "sonde"))
PROGRAMS = os.path.join(HERE, "programs")
BIN = os.path.join(BUILD, "causes")
PYTHON = os.environ.get("CAUSES_PYTHON", "/usr/bin/python3")
CORES = len(os.sched_getaffinity(0))
SCORES = ("first", "later", "silent", "false")
LIMIT = 150    # seconds that one job may take
FIGURES = ("sonde", "cores", "memory", "memory peak", "of which", "CPU time", "counted by", "processes", "I/O", "monitor", "recording", "machine", "time",
           "where", "overhead", "next", "swap", "GPU", "GPUs", "nodes", "energy", "network", "events", "phases", "marks", "still runs", "left behind", "used",
           "code", "hot spots", "Python", "losses")
NO_BLAME = ("unsure", "good", "ok", "fine")
# What a verdict says of the recording and not of the job.
OF_SONDE = r"^Sonde (took|used|lost|could)|samples (were (late|skipped)|could not be)|were sampled|too short to"


# Programs and places.

def build_programs(chosen):
    """Those that the chosen cases run, where they are not built yet."""
    os.makedirs(BIN, exist_ok=True)
    compilers = {"java": ["javac", "-d", BIN], "go": ["go", "build", "-o", f"{BIN}/goroutines"],
                 "c": ["gcc", "-O2", "-pthread", "-fopenmp", "-D_GNU_SOURCE"]}
    wanted = {name for c in chosen for name in re.findall(r"\{bin\}/(\w+)", c.run)} | {"cpu"}
    if any("{bin} Jobs" in c.run for c in chosen):
        wanted.add("Jobs")
    for name in wanted:
        language, target = {"Jobs": ("java", "Jobs.class"), "goroutines": ("go", "goroutines")}.get(name, ("c", name))
        source = f"{PROGRAMS}/{name}.{language}"
        stale = not os.path.exists(f"{BIN}/{target}") or os.path.getmtime(f"{BIN}/{target}") < os.path.getmtime(source)
        if stale and shutil.which(compilers[language][0]):
            subprocess.run(compilers[language] + (["-o", f"{BIN}/{target}"] if language == "c" else []) + [source], check=True)


def lacks(case):
    """Why this machine cannot run the case, or nothing."""
    have = {"java": os.path.exists(f"{BIN}/Jobs.class"), "go": shutil.which("go"), "node": shutil.which("node"),
            "root": os.geteuid() == 0, "numpy": subprocess.run([PYTHON, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode == 0, "two-cores": CORES > 1,
            "cgroup": os.geteuid() == 0 and os.access("/sys/fs/cgroup/cpu", os.W_OK) and os.access("/sys/fs/cgroup/memory", os.W_OK)}
    return next((need for need in case.needs.split() if not (have[need] if need in have else shutil.which(need))), None)


def throttled_seconds(around):
    """How long the group that these words enter was held back, where that is its cause."""
    group = re.match(r"echo \$\$ >(/sys/fs/cgroup/cpu/[^/]+)/", around[2]) if len(around) > 2 else None
    if not group:
        return None
    with open(f"{group.group(1)}/cpu.stat", encoding="ascii") as f:
        return int(dict(line.split() for line in f)["throttled_time"]) / 1e9


@contextlib.contextmanager
def control_group(controller, files):
    """A group of cgroup v1; gives the words before a command that put it there."""
    group = tempfile.mkdtemp(prefix="causes_", dir=f"/sys/fs/cgroup/{controller}")
    try:
        for name, value in files.items():
            with open(f"{group}/{name}", "w", encoding="ascii") as f:
                f.write(value)
        yield ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh"]
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                os.rmdir(group)
                break
            time.sleep(0.1)


@contextlib.contextmanager
def silent_name_server(work):
    """A name server that answers nobody, known in a mount namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.53", 53))
        with open(f"{work}/resolv.conf", "w", encoding="ascii") as f:
            f.write("nameserver 127.0.0.53\noptions timeout:4 attempts:2\n")
        yield ["unshare", "-m", "sh", "-c", f'mount --bind {work}/resolv.conf /etc/resolv.conf; exec "$@"', "sh"]


@contextlib.contextmanager
def slow_file_system(work, delay):
    """One at work/far, in a mount namespace, that needs so long for each request; it has the files of work/seed."""
    os.mkdir(f"{work}/far")
    server = subprocess.Popen(["unshare", "-m", PYTHON, f"{TOP}/tests/fuse.py", f"{work}/far", delay], stdout=subprocess.PIPE)
    try:
        server.stdout.readline()
        enter = ["nsenter", f"--mount=/proc/{server.pid}/ns/mnt"]
        subprocess.run(enter + ["cp", "-r", f"{work}/seed/.", f"{work}/far/"], check=True)
        yield enter + ["sh", "-c", f'cd {work}; exec "$@"', "sh"]
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def plain(words):
    yield words


def surroundings(case, work):
    kind, _, value = case.around.partition(":")
    if kind == "quota":
        return control_group("cpu", {"cpu.cfs_quota_us": str(int(float(value) * 100000))})
    if kind == "memory":
        return control_group("memory", {"memory.limit_in_bytes": f"{value}M"})
    if kind == "blkio":
        device = os.stat(work).st_dev
        rate = int(value.partition(":")[0]) << 20
        return control_group("blkio", {"blkio.throttle.read_bps_device": f"{os.major(device)}:{os.minor(device)} {rate}"})
    if kind == "tmpfs":
        os.mkdir(f"{work}/small")
        return plain(["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size={value}m none {work}/small; exec "$@"', "sh"])
    if kind == "pids":
        return control_group("pids", {"pids.max": value})
    if kind == "cpuset":
        return control_group("cpuset", {"cpuset.mems": "0", "cpuset.cpus": value})
    if kind == "fuse":
        return slow_file_system(work, value)
    if kind == "dns":
        return silent_name_server(work)
    return plain({"": [], "taskset": ["taskset", "-c", value]}[kind])


def prepare(case, drawn, work):
    """Input that lies there before the job begins."""
    if case.name in ("random-reads", "cache-thrash", "slow-storage"):
        with open(f"{work}/big.dat", "wb") as f:
            for _ in range(drawn["mb"]):
                f.write(os.urandom(1 << 20))
            f.flush()
            os.fsync(f.fileno())
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if case.name == "imports":
        os.mkdir(f"{work}/modules")
        for i in range(drawn["n"]):
            with open(f"{work}/modules/part{i}.py", "w", encoding="ascii") as f:
                f.write(f"import os\n\n\ndef value():\n    return {i}\n")
                f.flush()
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if case.name == "healthy-checksums":
        with open(f"{work}/zeros", "wb") as f:
            f.write(bytes(400 << 20))
    if case.name in ("healthy-make", "compile-one-by-one"):
        for i in range(1, drawn["n"] + 1):
            with open(f"{work}/part{i}.c", "w", encoding="ascii") as f:
                f.writelines(f"int f{k}(int a, int b)\n{{\n\tfor (int i = 0; i < b; i++)\n\t\ta = a * {k + 3} ^ (i % ({k} + 7)) / 3;\n\treturn a;\n}}\n"
                             for k in range(150))
    if case.before:
        subprocess.run(["sh", "-c", case.before.replace("{src}", PROGRAMS)], cwd=work, stdin=subprocess.DEVNULL, check=True)


# One run.

def command_of(case, rng, work):
    drawn = {name: rng.choice(of) if isinstance(of, list) else rng.randint(*of) for name, of in case.draw.items()}
    text = case.run.format(bin=BIN, src=PROGRAMS, py=PYTHON, cores=CORES, small=f"{work}/small", **drawn)
    return drawn, ["sh", "-c", text[3:]] if text.startswith("sh:") else shlex.split(text)


def busy_seconds():
    with open("/proc/stat", encoding="ascii") as f:
        fields = [int(x) for x in f.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def outside_load(per_core):
    """Busy loops that are no part of the job; they end with this."""
    if not per_core:
        yield
        return
    load = subprocess.Popen([f"{BIN}/cpu", "threads", str(per_core * CORES), "3600"], start_new_session=True)
    try:
        time.sleep(0.3)
        yield
    finally:
        load.kill()
        load.wait()


def end_session(pid):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def record(command, work):
    """Runs it to its end; gives its wall time and the share of the machine that others used."""
    log = open(f"{work}/output.log", "wb")
    start, busy = time.monotonic(), busy_seconds()
    job = subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        while job.returncode is None and time.monotonic() < start + LIMIT:
            pid, status, used = os.wait4(job.pid, os.WNOHANG)
            if pid:
                job.returncode = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.05)
                used = resource.struct_rusage(range(16))
    finally:
        end_session(job.pid)
        if job.returncode is None:
            job.wait()
        log.close()
    wall = time.monotonic() - start
    others = max(0.0, busy_seconds() - busy - used.ru_utime - used.ru_stime) / (wall * CORES)
    return wall, others


def run_case(case, seed, busy):
    rng = random.Random(f"{seed}/{case.name}")
    with tempfile.TemporaryDirectory(prefix="causes_", ignore_cleanup_errors=True) as work:
        drawn, job = command_of(case, rng, work)
        prepare(case, drawn, work)
        with surroundings(case, work) as around, outside_load(max(0, case.outside - busy)):
            wall, others = record(around + [SONDE, "run", "--quiet", "-i", "200ms", "-o", f"{work}/recording", "--"] + job, work)
            held = throttled_seconds(around)
        shown = subprocess.run([SONDE, "show", "--all", f"{work}/recording"], capture_output=True, text=True, errors="replace", timeout=60, check=False,
                               env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"})
        text = shown.stdout or shown.stderr
        verdicts = verdicts_of(text)
        score = "void" if held is not None and held < 0.2 * wall else score_of(case, verdicts, others)
        return {"name": case.name, "half": case.half, "kind": case.kind, "cause": case.cause, "command": shlex.join(job).replace(f"{BIN}/", "").replace(work, "."),
                "wall": round(wall, 1), "others": round(others, 2), "score": score, "verdicts": [f"{label}: {said}" for label, said in verdicts],
                "truth": getattr(case, "truth", ""), "falsely": getattr(case, "falsely", ""), "read": text.replace(work, ".")}


# Reading and scoring.

def verdicts_of(text):
    """(label, sentence) of what stands in the first block and is no figure. A line that begins with blanks goes on with the one before."""
    lines = []
    for line in text.split("\n\n")[0].splitlines():
        if re.match(r"\S", line):
            label, said = re.match(r"(\S+(?: \S+)*?)(?:  +| (?=\S)|$)(.*)", line).groups() if len(line) <= 12 or line[11] != " " else (line[:12], line[12:])
            lines.append([label.strip(), said.strip()])
        elif lines:
            lines[-1][1] += " " + line.strip()
    return [(label, said) for label, said in lines if label not in FIGURES]


def says(sentence, patterns):
    return any(re.search(p, sentence, re.I) for p in patterns)


def ideas_of(sentence):
    return {idea for idea, pattern in IDEAS.items() if re.search(pattern, sentence, re.I)}


def judge_one(case, sentence, others):
    """What a verdict is of this case: cause, also, both, true, others or wrong."""
    if says(sentence, case.wrong):
        return "wrong"
    ideas = ideas_of(sentence)
    blames_others = "others" in ideas and not case.outside
    cause, also = says(sentence, case.says) and not blames_others, says(sentence, case.also)
    if cause or also:
        return "both" if cause and also else "cause" if cause else "also"
    if "others" in ideas and case.kind != "waits" and (others > 0.1 or case.outside):
        return "true" if case.around.startswith("quota") else "others"    # the job's own limit comes first
    if not ideas and case.kind != "healthy" or ideas & {x.strip() for x in case.fine.split(",")}:
        return "true"
    return "wrong"


def score_of(case, verdicts, others):
    kinds = [judge_one(case, said, others) for label, said in verdicts if label not in NO_BLAME and not says(said, [OF_SONDE])]
    kinds = [k for k in kinds if k != "others"]
    if case.kind == "healthy":
        return "false" if kinds else "first"
    named = [{"both": {"cause", "also"}}.get(k, {k} & {"cause", "also"}) for k in kinds]
    wanted = {"cause", "also"} if case.also else {"cause"}
    if not any(named):
        return "false" if "wrong" in kinds else "silent"
    start = next(i for i, n in enumerate(named) if n)
    if "wrong" in kinds[:start]:
        return "false"
    opening = set().union(*named[:1] if wanted <= named[0] else named[:len(wanted)]) if all(named[:1]) else set()
    return "first" if wanted <= opening else "later"


def counts(results):
    return {s: sum(r["score"] == s for r in results) for s in SCORES}


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def counts_line(results):
    n = sum(r["score"] in SCORES for r in results)
    return f"{n} jobs: " + ", ".join(f"{s} {c} ({percent(c, n)})" for s, c in counts(results).items())


# Documents.

def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def read_document(results):
    """What each job was and what was printed, for who mends the rules."""
    out = [counts_line(results), ""]
    for r in sorted(results, key=lambda r: ((*SCORES, "void").index(r["score"]), r["name"])):
        out += [f"## {r['score']}: {r['name']}", "", f"True cause: {r['cause']}. Ran {r['wall']} s; others used {100 * r['others']:.0f} % of the machine.", "",
                "    " + r["command"], ""] + [f"    > {v}" for v in r["verdicts"]] + [""]
        out += [line for key, words in (("truth", "Truth"), ("falsely", "False would be")) if r.get(key) for line in (f"{words}: {r[key]}", "")]
    return "\n".join(out)


def detailed_tables(labelled):
    """The tables of docs/verdicts-causes.md: LABEL and results; the labels are the columns. Its first table is a summary, written by hand."""
    out = ["| jobs | number | others used | first | later | silent | false |", "|---" * 7 + "|"]
    for label, results in labelled:
        for half, words in (("open", "known when rules were mended"), ("kept", "kept apart"), ("fresh", "written afterwards"), ("unseen", "written unseen"),
                            ("second", "written unseen by another"), ("third", "third set, first half"),
                            ("apart", "third set, second half, kept apart"), ("fourth", "fourth set, first half"),
                            ("aside", "fourth set, second half, kept apart"),
                            ("fifth", "fifth set, first half"), ("reserve", "fifth set, second half, kept apart"),
                            ("sixth", "sixth set, first half"), ("beside", "sixth set, second half, kept apart"),
                            ("seventh", "seventh set, first half"), ("withheld", "seventh set, second half, kept apart"),
                            ("eighth", "eighth set, first half"), ("spared", "eighth set, second half, kept apart"),
                            ("ninth", "ninth set, first half"), ("reserved", "ninth set, second half, kept apart"),
                            ("tenth", "tenth set, first half"), ("reserved10", "tenth set, second half, kept apart"),
                            ("half11", "eleventh set, first half"), ("reserved11", "eleventh set, second half, kept apart")):
            some = [r for r in results if r["half"] == half and r["score"] in SCORES]
            if some:
                c = counts(some)
                out.append(f"| {label}, {words} | {len(some)} | {100 * sum(r['others'] for r in some) / len(some):.0f} % | " + " | ".join(f"{c[s]} ({percent(c[s], len(some))})" for s in SCORES) + " |")
    labelled = [(label, results) for label, results in labelled if any(r["half"] == "open" for r in results)]
    names = sorted({r["name"]: r for _, results in labelled for r in results if r["half"] == "open"}.values(), key=lambda r: r["name"])
    out += ["", "Each job of the half that was known, and the first line that was printed last:", "", "| job | true cause | " + " | ".join(label for label, _ in labelled) + " | first verdict |", "|---" * (len(labelled) + 3) + "|"]
    for row in names:
        found = [next((r for r in results if r["name"] == row["name"]), None) for _, results in labelled]
        said = next((v for r in reversed(found) if r for v in r["verdicts"][:1]), "-")
        out.append(f"| {row['name']} | {row['cause']} | " + " | ".join(r["score"] if r else "-" for r in found) + f" | {cell(said)} |")
    return "\n".join(out) + "\n"


# The entrance.

def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--half", choices=("open", "kept", "fresh", "unseen", "second", "third", "apart", "fourth", "aside", "fifth", "reserve", "sixth", "beside", "seventh", "withheld", "eighth", "spared", "ninth", "reserved", "tenth", "reserved10", "half11", "reserved11", "gaps", "all"), default="open")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--busy", action="store_true", help="a busy loop for each core runs beside each job")
    p.add_argument("--only", help="names, separated by commas")
    p.add_argument("--jobs", type=int, default=1, help="cases at once, where they do not want all cores")
    p.add_argument("--json", help="write the results to this file")
    p.add_argument("--read", help="write what each job printed to this file, as Markdown")
    p.add_argument("--quiet", action="store_true", help="print the counts only")
    p.add_argument("--markdown", nargs="+", metavar="LABEL=FILE")
    return p.parse_args()


def judged(case, args):
    lack = lacks(case)
    if lack:
        print(f"{'-':7} {case.name:24} not here: {lack}", file=sys.stderr, flush=True)
        return None
    result = run_case(case, args.seed, args.busy)
    if not args.quiet:
        print(f"{result['score']:7} {case.name:24} {result['wall']:5.1f} s  {(result['verdicts'] or ['nothing'])[0][:110]}", flush=True)
    return result


def main():
    args = arguments()
    if args.markdown:
        labelled = []
        for word in args.markdown:
            label, _, path = word.partition("=")
            with open(path, encoding="utf-8") as f:
                labelled.append((label, json.load(f)))
        print(detailed_tables(labelled), end="")
        return 0
    only = args.only.split(",") if args.only else None
    chosen = [c for c in CASES + FRESH + UNSEEN + SECOND + THIRD + FOURTH + FIFTH + SIXTH + SEVENTH + EIGHTH + NINTH + TENTH + ELEVENTH + GAPS
              if (c.name in only if only else args.half == c.half or args.half == "all" and c.half in ("open", "kept", "fresh"))]
    build_programs(chosen)
    with outside_load(int(args.busy)), concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda c: judged(c, args), [c for c in chosen if not c.alone]))
        results += [judged(c, args) for c in chosen if c.alone]
    results = [r for r in results if r]
    print(counts_line(results))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    if args.read:
        with open(args.read, "w", encoding="utf-8") as f:
            f.write(read_document(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
