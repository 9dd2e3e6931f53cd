# SPDX-License-Identifier: Apache-2.0
# limit: 1800
"""Real jobs whose behaviour is drawn from a seed, each recorded and judged: what is wrong with them is told, and nothing else.

The label of a job comes from what was drawn: a fault is clearly there or clearly not; what lies between, or depends on what else the
machine does, is not scored. Prints precision and recall of each rule. JOBS=200 makes more of them, FIRST=1000 others, KIND=disk those
of one kind.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

SONDE = os.environ["SONDE"]
PROGRAMS = os.environ["PROGRAMS"]
BEHAVE = f"{PROGRAMS}/behave"
JOBS = int(os.environ.get("JOBS", 60 if os.environ.get("LONG") else 5))
FIRST = int(os.environ.get("FIRST", 0))
CPUS = min(len(os.sched_getaffinity(0)), 4)
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
        job.has |= {"no-progress", "idle-hole"}
    job.work(CPUS, draw(3, 4))


def calls(job, draw):
    seconds = draw(5.5, 8)
    small = draw(0, 1) < 0.6
    job.steps.append(f"calls:{int(draw(16, 2000) if small else draw(32e3, 500e3))}:{seconds:.3f}")
    job.add(1, seconds)
    if small:
        job.has.add("small-io")
    job.unknown.add("waiting-on-disk")  # of what the page cache writes back


def builds(job, draw):
    seconds = draw(5.5, 8)
    job.steps += [f"+build:{seconds:.3f}", f"build:{seconds:.3f}"]
    job.add(2, seconds)


def disk(job, draw):
    seconds = draw(5.5, 8)
    job.steps.append(f"sync:{int(draw(2, 5)) * 4096}:{seconds:.3f}")
    job.add(0, seconds)
    job.has.add("waiting-on-disk")
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
    job.steps.append(f"+grow:{draw(20, 60):.1f}:{draw(8, 30):.2f}:{seconds:.3f}")
    job.work(1, seconds)
    job.has.add("leak")
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
    job.unknown |= {"cores-unused", "thrash", "waiting-on-disk"}


def throttled(job, draw):
    job.limits["cpu"] = draw(0.3, 0.7) * CPUS
    job.work(CPUS, draw(5.5, 8))
    job.has.add("throttled-cgroup")
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


def crowds(job, draw):
    seconds = draw(6, 8)
    job.rivals += [[BEHAVE, f"work:{CPUS * int(draw(2, 4))}:{seconds + 4:.3f}"]]
    job.work(CPUS, seconds)
    job.has.add("crowded")


def unequal(job, draw):
    """Two tasks, which use as much CPU time however busy the machine is."""
    most = draw(3, 4)
    job.tasks = 2
    job.environment = {"SLURM_JOB_ID": "4712", "SLURM_STEP_ID": "0", "SLURM_GTIDS": "0,1"}
    if draw(0, 1) < 0.6:
        job.steps = [most, draw(0.3, 0.7)]
        job.has.add("unequal-tasks")
    else:
        job.steps = [most] * 2
    job.add(2, most)
    job.unknown |= {"single-core", "cores-unused", "serial-phase"}


KINDS = [
    serial, calls, rests, leaks, fails, oversubscribed, builds, disk, out_of_memory, asks, pinned, keeps, throttled, hangs, others_disk,
    crowds, steady, thrashes, sleeps, unequal, alone,
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


def record(job, directory):
    """Runs it. What others used of the machine meanwhile, as a share of its cores."""
    group = Group(job.limits, f"sonde-{os.getpid()}") if job.limits else None
    rivals = [subprocess.Popen(r, cwd=directory) for r in job.rivals]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")} | job.environment
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
                cwd=directory,
                env=environment | rank_of,
                preexec_fn=group.enter if group else None,
                stderr=said,
            )
        )
    for task in tasks:
        task.wait(timeout=120)
    said.close()
    spent = (busy_seconds() - before) / (time.monotonic() - begin) / os.cpu_count()
    for rival in rivals:
        rival.send_signal(signal.SIGKILL)
        rival.wait()
    if group:
        group.remove()
    return spent


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
    return summary, told


def others_share(summary, spent):
    return spent - (summary["job"]["cpu_seconds"] or 0) / summary["job"]["wall_seconds"] / os.cpu_count()


def draw_job(number, kinds):
    dice = random.Random(number)
    job = Job()
    kind = kinds[number % len(kinds)]
    random.seed(number)
    kind(job, dice.uniform)
    job.label_cores()
    return kind.__name__, job


def score(number, kinds, scores):
    kind, job = draw_job(number, kinds)
    directory = f"job-{number}"
    os.mkdir(directory)
    spent = record(job, directory)
    summary, told = judged(directory)
    others = others_share(summary, spent)
    if others > 0.1 and "crowded" not in job.has:
        job.unknown.add("crowded")  # it may be
    if others > 0.3 and "throttled-cgroup" in job.has:
        job.unknown.add("throttled-cgroup")  # it may never have come to its limit
    if others > 0.9 and "waiting-on-disk" in job.has:
        job.unknown.add("waiting-on-disk")  # it waits for a core instead
    wrong = []
    for rule in SCORED:
        if rule in job.unknown:
            continue
        there, said = rule in job.has, rule in told
        scores[rule][OUTCOMES[there, said]] += 1
        if there != said:
            wrong.append(f"{rule} is {'missed' if there else 'invented: ' + told[rule]}")
    print(f"job {number}, {kind}, others used {others:.0%} of the cores: {'; '.join(wrong) or 'right'}", flush=True)
    if wrong:
        print("    " + " ".join(map(str, job.steps)), flush=True)
        for rule, sentence in told.items():
            print(f"    {rule}: {sentence}", flush=True)
        if not summary["job"]["complete"]:
            with open(f"{directory}/said", encoding="utf-8") as said:
                print(f"    a recording has no end: {said.read().strip() or 'nothing was said'}", flush=True)
    else:
        subprocess.run(["rm", "-rf", directory], check=True)


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
    scores = {rule: dict.fromkeys(OUTCOMES.values(), 0) for rule in SCORED}
    for number in range(FIRST, FIRST + JOBS):
        score(number, kinds, scores)
    total = dict.fromkeys(OUTCOMES.values(), 0)
    bad = False
    for rule, s in scores.items():
        for what, n in s.items():
            total[what] += n
        if s["right"] + s["missed"] + s["invented"]:
            print_score(rule, s)
        bad |= JOBS >= 100 and min(share(s["right"], s["invented"]), share(s["right"], s["missed"])) < 0.95
    print_score("all", total)
    bad |= total["missed"] + total["invented"] > max(1, 0.05 * total["right"])
    sys.exit(1 if bad else 0)


def print_score(rule, s):
    print(
        f"{rule:20} {s['right'] + s['missed']:4} jobs  precision {share(s['right'], s['invented']):.3f}  "
        f"recall {share(s['right'], s['missed']):.3f}"
    )


main()
