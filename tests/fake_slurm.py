#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one node, for one job, in which steps wait for each other as in one of its versions: srun, scontrol and a batch script's step.

fake_slurm.py batch SCRIPT runs the script as job $FAKE_JOB and ends as it ends. Links called srun and scontrol are found in PATH.
FAKE_SLURM is a folder of its own, FAKE_VERSION one of VERSIONS. What differs between versions (release notes, srun's manual page):

20.11  a step has its CPUs and its memory for itself; --overlap shares CPUs only, so that its memory has to be 0; SLURM_CPUS_PER_TASK is read
21.08  --overlap shares all with all; SLURM_CPUS_PER_TASK is read; a step that waits is not listed
22.05  SLURM_CPUS_PER_TASK is not read; a step that waits is listed as PENDING
23.11  mpirun's srun has --external-launcher, which takes nothing; SLURM_TRES_PER_TASK beside --cpus-per-task is refused

In all of them an srun that is killed takes its step along, by a child that it forked for that; and a step's end kills all its processes.
"""
import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import sys
import time

VERSIONS = {
    "20.11": {"reads_cpus": True, "lists_waiting": False, "shares_memory": False, "external": False, "tres": False},
    "21.08": {"reads_cpus": True, "lists_waiting": False, "shares_memory": True, "external": False, "tres": False},
    "22.05": {"reads_cpus": False, "lists_waiting": True, "shares_memory": True, "external": False, "tres": False},
    "23.11": {"reads_cpus": False, "lists_waiting": True, "shares_memory": True, "external": True, "tres": True},
}
CPUS, LOOK = 4, 0.05
libc = ctypes.CDLL(None)
FOLDER, JOB = os.environ["FAKE_SLURM"], os.environ["FAKE_JOB"]
IS = VERSIONS[os.environ["FAKE_VERSION"]]


@contextlib.contextmanager
def steps():
    """The list of steps, locked."""
    with open(FOLDER + "/steps", "a+", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.seek(0)
        listed = json.loads(f.read() or "[]")
        yield listed
        f.seek(0)
        f.truncate()
        f.write(json.dumps(listed))


def fatal(text):
    print("srun: fatal: " + text, file=sys.stderr)
    sys.exit(1)


def processes(step):
    """All of a step, wherever their parents are."""
    mark = f"FAKE_STEP={JOB}.{step}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as f:
                ours = mark in f.read().split(b"\0")
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
                if ours and f.read() != "slurmstepd\n":
                    yield int(pid)


def end_all(step, signal_number):
    for pid in processes(step):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal_number)


def stepd(name, environment, command, told):
    """The step's daemon: it starts the step's task, and ends what that leaves behind. Its exit status goes to the descriptor."""
    os.setsid()
    pid = os.fork()
    if pid == 0:
        os.environ.update(environment)
        os.environ["FAKE_STEP"] = f"{JOB}.{name}"
        os.execvp(command[0], command)
    signal.signal(signal.SIGTERM, lambda *_: end_all(name, signal.SIGTERM))
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255
    end_all(name, signal.SIGKILL)
    with steps() as listed:
        listed[:] = [s for s in listed if s["id"] != name]
    with contextlib.suppress(OSError):
        os.write(told, bytes([status]))
    os._exit(0)


def start_step(name, environment, command):
    """Where its exit status comes. The daemon is nobody's child; its command line is as Slurm's."""
    status, told = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.set_inheritable(told, True)
            argv = [f"slurmstepd: [{JOB}.{name}]", os.path.realpath(__file__), "stepd", name, str(told), json.dumps(environment), *command]
            os.execv(sys.executable, argv)
        os._exit(0)
    os.wait()
    os.close(told)
    return status


def options_of(argv):
    """The options that matter, and the command."""
    given = {}
    with_value = {"-n", "-N", "--ntasks-per-node", "-i", "-o", "-e", "-w"}
    known = {"--jobid", "--overlap", "--nodes", "--ntasks", "--ntasks-per-node", "--cpus-per-task", "--mem", "--cpu-bind", "--mpi", "--input",
             "--kill-on-bad-exit", "--wait", "--job-name"} | ({"--external-launcher"} if IS["external"] else set()) | with_value
    while argv and argv[0].startswith("-"):
        name, _, value = argv.pop(0).partition("=")
        if name not in known:
            fatal(f"unrecognized option '{name}'")
        given[name] = argv.pop(0) if name in with_value and not value else value
    return given, argv


def check(given):
    e = os.environ
    cpus = int(given.get("--cpus-per-task") or (e.get("SLURM_CPUS_PER_TASK", 1) if IS["reads_cpus"] else 1))
    if cpus > CPUS:
        fatal("Unable to create step for job: More processors requested than permitted")
    if IS["tres"] and "SLURM_TRES_PER_TASK" in e and "--cpus-per-task" in given:
        fatal("cpus-per-task set by two different environment variables")
    if "--mem" in given and "SLURM_MEM_PER_CPU" in e:
        fatal("SLURM_MEM_PER_CPU and SLURM_MEM_PER_NODE are mutually exclusive")
    if "SLURM_STEP_NUM_TASKS" in e and int(given.get("--ntasks", given.get("-n", 1))) != 1:
        fatal("this node has one task")


def may_begin(given, listed):
    """Steps wait for those that run, but for mpirun's, which take nothing."""
    if "--external-launcher" in given:
        return True
    shares = "--overlap" in given or os.environ.get("SLURM_OVERLAP") == "1"
    for s in listed:
        if s["state"] != "RUNNING" or s["external"]:
            continue
        if not shares and not s["overlap"]:
            return False
        if not IS["shares_memory"] and given.get("--mem") != "0" and s["memory"]:
            return False
    return True


def begin(given):
    """Waits for its turn: the step's name."""
    me = {"id": f"TBD{os.getpid()}", "state": "PENDING", "pid": os.getpid(), "external": "--external-launcher" in given,
          "overlap": "--overlap" in given or os.environ.get("SLURM_OVERLAP") == "1", "memory": given.get("--mem") != "0"}
    said = False
    while True:
        with steps() as listed:
            listed[:] = [s for s in listed if s["id"] != me["id"]]
            if may_begin(given, listed):
                with open(FOLDER + "/next", "a+", encoding="utf-8") as f:
                    f.write("x")
                    me["id"], me["state"] = str(f.tell() - 1), "RUNNING"
                listed.append(me)
                return me["id"]
            listed.append(me)
        if not said:
            print(f"srun: Job {JOB} step creation temporarily disabled, retrying (Requested nodes are busy)", file=sys.stderr)
        said = True
        time.sleep(LOOK)


def shepherd(end, name):
    """srun's child: when srun is gone without a word, the step is ended."""
    if not os.read(end, 1):
        end_all(name, signal.SIGKILL)
    os._exit(0)


def srun(argv):
    libc.prctl(15, b"srun")
    given, command = options_of(argv)
    check(given)
    while command[0] != "perfmon" and not os.path.exists(FOLDER + "/next"):
        time.sleep(LOOK)  # perfmon's is the first, as the scripts have it
    name = begin(given)
    environment = {"SLURM_STEP_ID": name, "SLURM_STEPID": name, "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_NODEID": "0", "SLURM_GTIDS": "0",
                   "SLURM_STEP_NUM_TASKS": "1", "SLURM_STEP_NUM_NODES": "1", "SLURM_NTASKS": "1", "SLURM_NTASKS_PER_NODE": "1"}
    if IS["tres"]:
        environment["SLURM_TRES_PER_TASK"] = "cpu:2"
    told = start_step(name, environment, command)
    watched, mine = os.pipe()
    if os.fork() == 0:
        os.close(mine)
        shepherd(watched, name)
    os.close(watched)
    signal.signal(signal.SIGTERM, lambda *_: end_all(name, signal.SIGKILL))
    status = os.read(told, 1)
    os.write(mine, b"x")
    return status[0] if status else 1


def scontrol(argv):
    if argv[:2] == ["show", "hostnames"]:
        print("\n".join(argv[2].split(",")))
        return 0
    assert argv == ["-o", "show", "step", JOB], argv
    with steps() as listed:
        print(f"StepId={JOB}.batch UserId=0 State=RUNNING Name=batch SrunHost:Pid=(null):0")
        for s in listed:
            waits = s["state"] == "PENDING"
            if not waits or IS["lists_waiting"]:
                print(f"StepId={JOB}.{'TBD' if waits else s['id']} UserId=0 State={s['state']} Name=x SrunHost:Pid={socket.gethostname()}:{s['pid']} ")
    return 0


def batch(script):
    """The script in a step of its own; when it is over, TERM to what else runs, and KILL later. 99: it took longer than FAKE_LIMIT seconds."""
    os.environ.update({"SLURM_JOB_ID": JOB, "SLURM_JOBID": JOB, "SLURM_JOB_NODELIST": socket.gethostname(), "SLURM_JOB_NUM_NODES": "1", "SLURM_NNODES": "1",
                       "SLURM_TASKS_PER_NODE": "1", "SLURM_SUBMIT_DIR": os.getcwd(), "SLURM_MEM_PER_CPU": "100", "SLURM_CPUS_PER_TASK": "64"})
    if IS["reads_cpus"]:
        del os.environ["SLURM_CPUS_PER_TASK"]
    if IS["external"]:
        os.environ["OMPI_MCA_plm_slurm_args"] = "--external-launcher"
    libc.prctl(36, 1)
    script_step = {"SLURM_STEP_ID": "batch", "SLURM_PROCID": "0", "SLURM_NODEID": "0", "SLURM_LOCALID": "0", "SLURM_GTIDS": "0"}
    told = start_step("batch", script_step, ["bash", script])
    late = not select.select([told], [], [], float(os.environ.get("FAKE_LIMIT", "240")))[0]
    status = b"" if late else os.read(told, 1)
    end_steps(signal.SIGKILL if late else signal.SIGTERM)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    return 99 if late else status[0] if status else 1


def end_steps(signal_number):
    with steps() as listed:
        names = [s["id"] for s in listed]
    for name in [*names, "batch"]:
        end_all(name, signal_number)


def main():
    name, argv = os.path.basename(sys.argv[0]), sys.argv[1:]
    if name == "fake_slurm.py" and argv[0] == "stepd":
        libc.prctl(15, b"slurmstepd")
        stepd(argv[1], json.loads(argv[3]), argv[4:], int(argv[2]))
    return {"srun": srun, "scontrol": scontrol}.get(name, lambda a: batch(a[1]))(argv)


if __name__ == "__main__":
    sys.exit(main())
