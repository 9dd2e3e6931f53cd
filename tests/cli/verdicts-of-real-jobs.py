# SPDX-License-Identifier: Apache-2.0
# limit: 1800
"""Real jobs whose behaviour is drawn from a seed, each recorded and judged: what is wrong with them is told, and nothing else.

The label of a job comes from what was drawn, and from what the job itself measured where that depends on what else the machine does: a
fault is clearly there or clearly not; what lies between is not scored. Prints precision and recall of each rule. JOBS=200 makes more of
them, FIRST=1000 others, KIND="disk serial" those of some kinds. RESULTS=FILE adds what came of each job to FILE and tells of all that
is in there, so that many may run in pieces; JOBS=0 only tells.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

from patience import patience

SONDE = os.environ["SONDE"]
PROGRAMS = os.environ["PROGRAMS"]
BEHAVE = f"{PROGRAMS}/behave"
JOBS = int(os.environ.get("JOBS", 60 if os.environ.get("LONG") else 5))
FIRST = int(os.environ.get("FIRST", 0))
CPUS = min(len(os.sched_getaffinity(0)), 4)
MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
OF_GROUP = "/sys/fs/cgroup"

# What a job of these is told; of each job all of them are scored, unless it says that it cannot know.
SCORED = """killed failed failed-by-signal out-of-memory no-progress cores-asked cores-asked-idle cores-unused single-core memory-asked
    memory-tight serial-phase oversubscribed pinned-together crowded throttled-cgroup leak thrash waiting-on-disk small-io idle-head
    idle-tail idle-hole idle unequal-tasks""".split()

OUTCOMES = {(True, True): "right", (True, False): "missed", (False, True): "invented", (False, False): "silent"}


class Job:
    """Steps for `behave`, what is wrong with them, and what they cannot know."""

    def __init__(self):
        self.steps = []  # of several tasks: the CPU seconds of each
        self.has = set()
        self.unknown = set()
        self.options = []
        self.environment = {}
        self.limits = {}  # of a control group of its own
        self.rivals = []  # what others do meanwhile
        self.on_disk = False  # it does nothing but wait for the disk
        self.tasks = 1
        self.shell = False
        self.seconds = 0.0
        self.wanted = 0.0  # core seconds
        self.threads = 0

    def work(self, threads, seconds):
        self.steps.append(f"work:{threads}:{seconds:.3f}")
        self.add(threads, seconds)

    def sleep(self, seconds):
        self.steps.append(f"sleep:{seconds:.3f}")
        self.add(0, seconds)

    def add(self, threads, seconds):
        self.seconds += seconds
        self.wanted += min(threads, CPUS) * seconds
        self.threads = max(self.threads, threads)

    def label_cores(self):
        """What a machine that nobody shares says of few cores."""
        if "idle" in self.has or "SLURM_JOB_ID" in self.environment or CPUS < 2:
            return
        of = 1 if self.threads == 1 else CPUS
        mean = self.wanted / self.seconds / of
        if 0.35 <= mean <= 0.65:
            self.unknown |= {"cores-unused", "single-core"}
        elif mean < 0.35:
            self.has.add("cores-unused")
        elif self.threads == 1:
            self.has.add("single-core")


def steady(job, draw):
    job.work(CPUS, draw(5.5, 8))


def alone(job, draw):
    job.work(1, draw(5.5, 8))


def serial(job, draw):
    """One core for a part, then all."""
    wrong = draw(0, 1) < 0.6
    share = draw(5.6, 7) if wrong else draw(0.3, 1.2)
    rest = draw(4, 6) if wrong else draw(10.5, 12)
    order = draw(0, 1) < 0.5
    if order:
        job.work(1, share)
    job.work(CPUS, rest)
    if not order:
        job.work(1, share)
    if wrong:
        job.has.add("serial-phase")


def oversubscribed(job, draw):
    job.work(CPUS * int(draw(2, 5)), draw(5.5, 8))
    job.has.add("oversubscribed")


def pinned(job, draw):
    threads, seconds = int(draw(2, 6)), draw(5.5, 8)
    job.steps.append(f"pinned:{threads}:1:{seconds:.3f}")
    job.add(1, seconds)
    job.has.add("pinned-together")
    job.unknown |= {"single-core", "cores-unused"}


def rests(job, draw):
    """Idle at the start, in the middle, at the end, or hardly."""
    where = ("idle-head", "idle-hole", "idle-tail")[int(draw(0, 3))]
    wrong = draw(0, 1) < 0.7
    idle = draw(5.9, 7.5) if wrong else draw(0.3, 1)
    work = draw(4, 5) if wrong else draw(10, 11)
    threads = 1 if draw(0, 1) < 0.4 else CPUS
    parts = {"idle-head": (0, 1), "idle-hole": (0.5, 0.5), "idle-tail": (1, 0)}[where]
    if parts[0]:
        job.work(threads, work * parts[0])
    job.sleep(idle)
    if parts[1]:
        job.work(threads, work * parts[1])
    if wrong:
        job.has.add(where)


def hangs(job, draw):
    job.options += ["--watch-hang", f"{draw(2, 3):.1f}s"]
    job.work(CPUS, draw(1.5, 2.5))
    if draw(0, 1) < 0.6:
        job.sleep(draw(7.5, 8.5))
        job.has |= {"no-progress-for-a-while", "idle-hole"}
    job.work(CPUS, draw(3, 4))


def calls(job, draw):
    seconds = draw(5.5, 8)
    small = draw(0, 1) < 0.6
    job.steps.append(f"calls:{int(draw(16, 2000) if small else draw(32e3, 500e3))}:{seconds:.3f}")
    job.add(1, seconds)
    if small:
        job.has.add("small-io")
    else:
        job.unknown.add("single-core")  # the kernel, which copies data, may be named instead
    job.unknown.add("waiting-on-disk")  # of what the page cache writes back


def builds(job, draw):
    seconds = draw(5.5, 8)
    job.steps += [f"+build:{seconds:.3f}", f"build:{seconds:.3f}"]
    job.add(2, seconds)


def disk(job, draw):
    seconds = draw(5.5, 8)
    step = "sync" if draw(0, 1) < 0.5 else "fetch"
    job.steps.append(f"{step}:{4 * int(draw(1, 65)) if step == 'fetch' else int(draw(2, 5)) * 4096}:{seconds:.3f}")
    job.add(0, seconds)
    job.on_disk = True
    job.unknown |= {"cores-unused", "single-core", "idle", "idle-head", "idle-tail", "idle-hole"}


def others_disk(job, draw):
    """The disk is busy, but not with what the job does."""
    seconds = draw(5.5, 8)
    job.rivals.append([BEHAVE, f"sync:{int(draw(2, 5)) * 4096}:{seconds + 5:.3f}"])
    if draw(0, 1) < 0.5:
        job.work(1, seconds)
    else:
        job.sleep(seconds)
        job.has.add("idle")


def leaks(job, draw):
    seconds = draw(11, 13)
    fills = MEMORY / 50 / seconds / 1e6  # what grows slower in a short run is no leak
    rate = draw(1.3, 2) * fills
    if rate > 150:
        rate = draw(8, 30)
        job.unknown.add("leak")
    else:
        job.has.add("leak")
    job.steps.append(f"+grow:{draw(20, 60):.1f}:{rate:.2f}:{seconds:.3f}")
    job.work(1, seconds)
    job.unknown |= {"single-core", "serial-phase"}  # what grows works, too


def keeps(job, draw):
    """Memory that is no leak."""
    seconds, mib = draw(11, 13), draw(100, 300)
    kind = int(draw(0, 3))
    job.steps.append(
        "+"
        + (
            f"hold:{mib:.1f}:{seconds:.3f}",
            f"saw:{mib:.1f}:{draw(0.7, 2):.2f}:{seconds:.3f}",
            f"steps:{mib:.1f}:{int(draw(1, 4))}:{seconds:.3f}",
        )[kind]
    )
    job.work(1, seconds)
    job.unknown |= {"single-core", "serial-phase"}


def out_of_memory(job, draw):
    mib = draw(60, 150)
    job.limits["memory"] = mib
    seconds = draw(2, 4)
    job.steps.append(f"grow:10:{mib / seconds:.1f}:30")
    job.add(0, seconds)
    job.has |= {"out-of-memory", "killed"}
    job.unknown |= {"cores-unused", "thrash", "waiting-on-disk", "idle"}


def throttled(job, draw):
    """Of a group with a limit, which it may never come to."""
    wrong = draw(0, 1) < 0.7
    job.limits["cpu"] = draw(0.3, 0.7) * CPUS if wrong else draw(1.5, 3) * CPUS
    job.work(CPUS, draw(5.5, 8))
    job.unknown |= {"cores-unused", "single-core"}


def thrashes(job, draw):
    seconds = draw(5.5, 8)
    job.limits["memory"] = draw(40, 60)
    job.steps.append(f"reread:{int(draw(100, 200))}:{seconds:.3f}")
    job.add(1, seconds)
    job.has.add("thrash")
    job.unknown |= {"waiting-on-disk", "cores-unused", "single-core", "idle", "idle-head", "idle-tail"}


def sleeps(job, draw):
    job.sleep(draw(5.5, 8))
    job.has.add("idle")


def bursts(job, draw, threads, work, rest):
    """It works now and then. No rest is a hole."""
    for i in range(3):
        if i:
            job.sleep(draw(*rest))
        job.work(threads, draw(*work))


def dozes(job, draw):
    bursts(job, draw, 1 if draw(0, 1) < 0.5 else CPUS, (0.5, 0.9), (2.8, 4.2))


def partly(job, draw):
    """A batch job that uses all of its cores at times, or mostly."""
    job.environment = {"SLURM_JOB_ID": "4713", "SLURM_CPUS_ON_NODE": str(CPUS)}
    if draw(0, 1) < 0.6 and CPUS > 1:
        bursts(job, draw, CPUS, (1.1, 1.3), (3.5, 4.2))
        job.has.add("cores-asked-idle")
    else:
        bursts(job, draw, CPUS, (1.8, 2.2), (0.5, 0.8))


def starves(job, draw):
    """Others leave it next to nothing, and yet it has work all the time."""
    seconds = draw(8, 12)
    job.rivals.append([BEHAVE, f"work:{CPUS * 4}:{seconds + 8:.3f}"])
    job.steps.append("meek")
    job.options += ["--watch-hang", "2s"]
    kind = int(draw(0, 3))
    if kind == 2:
        job.steps.append(f"chain:{draw(2, 10):.1f}:{seconds:.3f}")
        job.add(1, seconds)
    else:
        job.work((1, CPUS)[kind], seconds)
    if job.threads == 1:
        job.unknown |= {"single-core", "cores-unused"}


def fails(job, draw):
    job.work(CPUS, draw(0.5, 2))
    how = int(draw(0, 3))
    job.steps.append(f"exit:{int(draw(1, 125))}" if how == 0 else f"kill:{random.choice([6, 9, 11, 15])}")
    job.shell = how == 2
    job.has.add(("failed", "killed", "failed-by-signal")[how])


def asks(job, draw):
    """A batch job that asked for much, or for what it needs."""
    cores, memory = draw(0, 1) < 0.5, int(draw(0, 3))
    mib = draw(60, 200)
    asked_mib = {0: draw(2200, 9000), 1: mib / 0.96, 2: mib / 0.6}[memory]
    job.environment = {
        "SLURM_JOB_ID": "4711",
        "SLURM_CPUS_ON_NODE": str(CPUS * int(draw(2, 9)) if cores else CPUS),
        "SLURM_MEM_PER_NODE": str(int(asked_mib)),
    }
    seconds = draw(6, 8)
    job.steps.append(f"+hold:{mib:.1f}:{seconds:.3f}")
    job.work(CPUS, seconds)
    if cores:
        job.has.add("cores-asked")
    if memory < 2:
        job.has.add(("memory-asked", "memory-tight")[memory])
    job.unknown |= {"oversubscribed", "crowded"}  # who fills memory on a busy machine is one more at work for long


def crowds(job, draw):
    seconds = draw(6, 8)
    job.rivals += [[BEHAVE, f"work:{CPUS * int(draw(2, 4))}:{seconds + 4:.3f}"]]
    job.work(CPUS, seconds)


def unequal(job, draw):
    """Two tasks, which use as much CPU time however busy the machine is."""
    most = draw(2, 2.6)
    job.tasks = 2
    job.environment = {"SLURM_JOB_ID": "4712", "SLURM_STEP_ID": "0", "SLURM_GTIDS": "0,1"}
    if draw(0, 1) < 0.6:
        job.steps = [most, draw(0.2, 0.5)]
        job.has.add("unequal-tasks")
    else:
        job.steps = [most] * 2
    job.add(2, most)
    job.unknown |= {"single-core", "cores-unused", "serial-phase"}


KINDS = [
    serial, calls, rests, leaks, fails, oversubscribed, builds, disk, out_of_memory, asks, pinned, keeps, throttled, hangs, others_disk,
    crowds, steady, thrashes, sleeps, unequal, alone,
    dozes, partly, starves,
]  # fmt: skip


class Group:
    """A control group with limits, in either version."""

    def __init__(self, limits, name):
        self.paths = []
        for controller, limit in limits.items():
            one = os.path.isdir(f"{OF_GROUP}/{controller}")
            path = f"{OF_GROUP}/{controller}/{name}" if one else f"{OF_GROUP}/{name}"
            os.makedirs(path, exist_ok=True)
            self.paths.append(path)
            if controller == "memory":
                self.write("memory.limit_in_bytes" if one else "memory.max", int(limit * 2**20))
            elif one:
                self.write("cpu.cfs_quota_us", int(limit * 100000))
            else:
                self.write("cpu.max", f"{int(limit * 100000)} 100000")

    def write(self, file, value):
        with open(f"{self.paths[-1]}/{file}", "w", encoding="ascii") as f:
            f.write(str(value))

    def enter(self):
        for path in self.paths:
            with open(f"{path}/cgroup.procs", "w", encoding="ascii") as f:
                f.write("0")

    def throttled_ratio(self):
        """How many of its periods it came to its limit in; None: it has no limit, or ran in too few to tell."""
        stat = {}
        for path in self.paths:
            if os.path.exists(f"{path}/cpu.stat"):
                with open(f"{path}/cpu.stat", encoding="ascii") as f:
                    stat |= dict(line.split() for line in f)
        periods = int(stat.get("nr_periods", 0))
        return int(stat["nr_throttled"]) / periods if periods >= 20 else None

    def remove(self):
        for path in dict.fromkeys(self.paths):
            for _ in range(100):
                try:
                    os.rmdir(path)
                    break
                except OSError:
                    time.sleep(0.1)


def is_permitted(limits):
    try:
        group = Group(limits, f"sonde-probe-{os.getpid()}")
    except OSError:
        return False
    group.remove()
    return True


def busy_seconds():
    """CPU time of the whole machine."""
    with open("/proc/stat", encoding="ascii") as f:
        fields = [int(x) for x in f.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4] - fields[7]) / os.sysconf("SC_CLK_TCK")


class Truth:
    """What a job and its generator measured themselves, in seconds; None: nobody did."""

    def __init__(self, directory, wall, spent, throttled):
        self.wall = wall
        self.spent = spent  # of the whole machine
        self.throttled_ratio = throttled
        self.ran = self.waited = self.stored = None
        if os.path.exists(f"{directory}/report"):
            with open(f"{directory}/report", encoding="ascii") as f:
                rows = [[int(x) * 1e-9 for x in line.split()] for line in f]
            self.ran, self.waited, in_calls = (sum(column) for column in zip(*rows))
            self.stored = max(0, in_calls - self.ran - self.waited)


def record(job, directory):
    group = Group(job.limits, f"sonde-{os.getpid()}") if job.limits else None
    rivals = [subprocess.Popen(r, cwd=directory) for r in job.rivals]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")} | job.environment
    environment["BEHAVE_REPORT"] = os.path.abspath(f"{directory}/report")
    command = [BEHAVE, *map(str, job.steps)]
    if job.shell:
        command = ["sh", "-c", '"$@"; exit $?', "sh", *command]
    begin, before = time.monotonic(), busy_seconds()
    tasks = []
    said = open(f"{directory}/said", "ab")
    for rank in range(job.tasks):
        of_task = [f"{PROGRAMS}/spin", str(int(job.steps[rank] * 1e6))] if job.tasks > 1 else command
        rank_of = {"SLURM_PROCID": str(rank)} if job.tasks > 1 else {}
        tasks.append(
            subprocess.Popen(
                [SONDE, "run", "-q", "-i", "100ms", "-o", "out", *job.options, "--", *of_task],
                cwd=directory, env=environment | rank_of,
                preexec_fn=group.enter if group else None,
                stderr=said,
            )
        )
    for task in tasks:
        task.wait(timeout=patience(900))
    said.close()
    wall = time.monotonic() - begin
    truth = Truth(directory, wall, busy_seconds() - before, group.throttled_ratio() if group else None)
    for rival in rivals:
        rival.send_signal(signal.SIGKILL)
        rival.wait()
    if group:
        group.remove()
    return truth


def judged(directory):
    for _ in range(300):  # a starved recorder may still be at its end
        shown = subprocess.run([SONDE, "show", "--json", f"{directory}/out"], check=True, capture_output=True)
        summary = json.loads(shown.stdout)
        if all(node["complete"] for node in summary["nodes"]):
            break
        time.sleep(0.1)
    told = {v["rule"]: v["sentence"] for v in summary["verdicts"] if v["severity"] != "cannot-tell"}
    if "out-of-memory-unseen" in told:
        told["out-of-memory"] = told.pop("out-of-memory-unseen")
    for how in ("fsync-storm", "random-reads"):  # it says how the disk was waited for
        if how in told:
            told["waiting-on-disk"] = told.pop(how)
    return summary, told


def others_share(summary, truth):
    own = (summary["job"]["cpu_seconds"] or 0) / summary["job"]["wall_seconds"]
    return (truth.spent / truth.wall - own) / os.cpu_count()


def label(job, rule, is_there, is_not):
    """What lies between is not known."""
    job.has.discard(rule)
    if is_there:
        job.has.add(rule)
    elif not is_not:
        job.unknown.add(rule)


def label_measured(job, truth, others):
    """What depends on who else is there, by what was measured."""
    makes_waits = job.has & {"oversubscribed", "pinned-together"} or job.limits.get("cpu", CPUS) < CPUS
    if "oversubscribed" in job.has and truth.ran is not None:
        had = truth.ran / truth.wall / CPUS
        label(job, "crowded", had <= 0.65, had >= 0.85)
    elif truth.ran is None or (makes_waits and others > 0.1):
        label(job, "crowded", False, others <= 0.1)
    elif not makes_waits:
        wanted = truth.ran + truth.waited
        label(
            job,
            "crowded",
            truth.waited >= 0.33 * truth.ran and wanted >= 2.6 and truth.wall >= 6,
            truth.waited <= 0.18 * truth.ran or wanted <= 1.5 or truth.wall <= 4,
        )
    if "cpu" in job.limits:
        ratio = truth.throttled_ratio
        label(job, "throttled-cgroup", ratio is not None and ratio >= 0.13, ratio is not None and ratio <= 0.07)
    if job.on_disk:
        stored = truth.stored / truth.wall
        label(job, "waiting-on-disk", stored >= 0.13, stored <= 0.07)


def draw_job(number, kinds):
    dice = random.Random(number)
    job = Job()
    kind = kinds[number % len(kinds)]
    random.seed(number)
    kind(job, dice.uniform)
    job.label_cores()
    return kind.__name__, job


def outcomes_of(job, told):
    if "waited" in told:  # it says why, in place of these
        told = set(told) | (job.has & {"idle", "cores-unused"})
    return {rule: OUTCOMES[rule in job.has, rule in told] for rule in SCORED if rule not in job.unknown}


def tell(number, kind, others, job, outcomes, told):
    wrong = {rule: outcome for rule, outcome in outcomes.items() if outcome in ("missed", "invented")}
    what = "; ".join(f"{rule} is {outcome}" for rule, outcome in wrong.items())
    print(f"job {number}, {kind}, others used {others:.0%} of the cores: {what or 'right'}", flush=True)
    if wrong:
        print("    " + " ".join(map(str, job.steps)), flush=True)
        for rule, sentence in told.items():
            print(f"    {rule}: {sentence}", flush=True)
    return bool(wrong)


def score(number, kinds):
    kind, job = draw_job(number, kinds)
    directory = f"job-{number}"
    os.mkdir(directory)
    truth = record(job, directory)
    summary, told = judged(directory)
    others = others_share(summary, truth)
    label_measured(job, truth, others)
    outcomes = outcomes_of(job, told)
    if not tell(number, kind, others, job, outcomes, told):
        subprocess.run(["rm", "-rf", directory], check=True)
    elif not summary["job"]["complete"]:
        with open(f"{directory}/said", encoding="utf-8") as said:
            print(f"    a recording has no end: {said.read().strip() or 'nothing was said'}", flush=True)
    return outcomes


def share(of, rest):
    return of / (of + rest) if of + rest else 1.0


def main():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CPUS])
    wanted = os.environ.get("KIND", "").split()
    kinds = [k for k in KINDS if not wanted or k.__name__ in wanted]
    needs = {out_of_memory: "memory", thrashes: "memory", throttled: "cpu"}
    if not is_permitted({"memory": 64, "cpu": 1}):
        print("control groups may not be made here: no jobs in them")
        kinds = [k for k in kinds if k not in needs]
    results = os.environ.get("RESULTS", "results")
    for number in range(FIRST, FIRST + JOBS):
        outcomes = score(number, kinds)
        with open(results, "a", encoding="ascii") as f:
            f.write(json.dumps({"job": number, "outcomes": outcomes}) + "\n")
    with open(results, encoding="ascii") as f:
        rows = [json.loads(line)["outcomes"] for line in f]
    sys.exit(1 if print_scores(rows) else 0)


def print_scores(rows):
    """True: they are too low."""
    total = Counter()
    bad = False
    for rule in SCORED:
        of_rule = Counter(row[rule] for row in rows if rule in row)
        total += of_rule
        if of_rule.total() > of_rule["silent"]:
            print_score(rule, of_rule)
        bad |= len(rows) >= 100 and min(precision(of_rule), recall(of_rule)) < 0.95
    print_score(f"all of {len(rows)} jobs", total)
    return bad or total["missed"] + total["invented"] > max(1, 0.05 * total["right"])


def precision(outcomes):
    return share(outcomes["right"], outcomes["invented"])


def recall(outcomes):
    return share(outcomes["right"], outcomes["missed"])


def print_score(rule, outcomes):
    there = outcomes["right"] + outcomes["missed"]
    print(
        f"{rule:20} there {there:4}, told {outcomes['right']:4}; not there {outcomes['silent'] + outcomes['invented']:5}, "
        f"told {outcomes['invented']:3}: precision {precision(outcomes):.3f}  recall {recall(outcomes):.3f}"
    )


main()
