# SPDX-License-Identifier: Apache-2.0
"""guard.py COMMAND...: runs COMMAND and repeats its exit status; whatever COMMAND started, daemons included, ends with it.

Two processes. The one in front is the test, as tests/run.sh knows it. The other has a session of its own and adopts every orphan below
itself (PR_SET_CHILD_SUBREAPER). When COMMAND ends, or the one in front does in whatever way, it kills its children until it has none.
COMMAND finds in CLUSTER a folder for short-lived files with a short path, which goes with it; its log files are kept when COMMAND fails.
Control groups that COMMAND made are removed, when it has listed them in $CLUSTER/cgroups.
"""
import ctypes
import os
import select
import shutil
import signal
import sys
import tempfile

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
libc = ctypes.CDLL(None, use_errno=True)


def children():
    """Pids whose parent is this process."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as f:
                parent = int(f.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue  # it has ended since
        if parent == os.getpid():
            yield int(pid)


def end_all():
    """Until there is no child: killing one makes its children ours."""
    while True:
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def command(argv):
    """In a child: ends with the guard, too, should that be killed."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.execvp(argv[0], argv)


def reap_orphans(but):
    """Takes away what has ended, other than the command itself."""
    while True:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None or ended.si_pid == but:
            return
        os.waitpid(ended.si_pid, 0)


def wait_for(pid, front):
    """The exit code of pid, or None when the one in front has ended before."""
    own = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(own, select.POLLIN)
    poll.register(front, select.POLLIN)
    while True:
        ready = [fd for fd, _ in poll.poll(50)]
        if own in ready:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if front in ready:
            return None
        reap_orphans(pid)


def remove_cgroups(listed):
    """Control groups that COMMAND has named in $CLUSTER/cgroups, with those below them: nobody is in them any more."""
    if not os.path.exists(listed):
        return
    with open(listed, encoding="utf-8") as f:
        for top in f.read().split():
            for folder, _, _ in os.walk(top, topdown=False):
                os.rmdir(folder)


def guard(argv, front):
    os.setsid()
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_IGN)
    folder = tempfile.mkdtemp(prefix="sonde-cluster.", dir="/tmp")
    os.environ["CLUSTER"] = folder
    pid = os.fork()
    if pid == 0:
        command(argv)
    code = wait_for(pid, front)
    end_all()
    if code not in (0, 77) and os.path.isdir(folder + "/log"):
        shutil.copytree(folder + "/log", "cluster-log", dirs_exist_ok=True)
    remove_cgroups(folder + "/cgroups")
    shutil.rmtree(folder)
    return 1 if code is None else code if code >= 0 else 128 - code


def main():
    front = os.pidfd_open(os.getpid())
    pid = os.fork()
    if pid == 0:
        os._exit(guard(sys.argv[1:], front))
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


main()
