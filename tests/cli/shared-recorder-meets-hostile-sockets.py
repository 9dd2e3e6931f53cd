# SPDX-License-Identifier: Apache-2.0
# The socket of a job's shared recorder: garbage, another version's packets and silent connections do the recorder
# nothing; where somebody silent, or another user, holds the name, copies have a recorder of their own and say so.
import os, socket, struct, subprocess, sys, time

from patience import patience

SONDE = os.environ["SONDE"]
job = str(os.getpid())
environment = dict(os.environ, SLURM_JOB_ID=job, SLURM_STEP_ID="0", SLURM_GTIDS="0", SLURM_PROCID="0")
DIRECTORY = "sonde_" + job


def fail(what):
    print("FAIL:", what, file=sys.stderr)
    sys.exit(1)


def copy(*command, **options):
    return subprocess.Popen([SONDE, "run", "-i", "100ms", "--", *command], env=environment, stderr=subprocess.PIPE,
                            text=True, **options)


def files_of(pid):
    folder = f"/proc/{pid}/fd"
    try:
        return [os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder)]
    except OSError:
        return []


def listens():
    """The name that the recorder of this test's directory listens on, or None."""
    ours = os.path.realpath(DIRECTORY) + "/node-"
    files = [file for pid in os.listdir("/proc") if pid.isdigit() for file in [files_of(pid)]
             if any(name.startswith(ours) for name in file)]
    with open("/proc/net/unix") as file:
        held = {f"socket:[{line.split()[6]}]": line.split()[7][1:] for line in file if " @sonde/" in line}
    return next((held[name] for file in files for name in file if name in held), None)


def recordings():
    return sorted(name for name in os.listdir(DIRECTORY) if name.endswith(".sonde"))


def connect(name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("\0" + name)
    return s


def say_all(name):
    """Packets of every length around those that are right; then sockets that say nothing."""
    held = []
    for size in (1, 7, 8, 16, 63, 64, 65, 367, 368, 369, 1255, 1256, 1257, 5000):
        for kind in (0, 1, 2, 4, 5, 6, 7, 9, 255):
            for version in (1, 2):
                s = connect(name)
                packet = struct.pack("=II", version, kind).ljust(size, b"\xff")[:size]
                s.send(packet)
                held.append(s)
        while len(held) > 40:
            held.pop().close()
    s = connect(name)
    socket.send_fds(s, [struct.pack("=II", 1, 6).ljust(1256, b"\0")], [0, 1, 2])
    held.append(s)
    return held


def ends(process, code, text):
    _, said = process.communicate(timeout=patience(60))
    if process.returncode != code:
        fail(f"exit status {process.returncode}, not {code}: {said}")
    if text not in said:
        fail(f"'{text}' is not in: {said}")


# Garbage while it records.
first = copy("sh", "-c", "read x; exit 3", stdin=subprocess.PIPE)
deadline = time.monotonic() + patience(20)
while not (name := listens()):
    if time.monotonic() > deadline:
        fail("no recorder")
    time.sleep(0.05)
held = say_all(name)
second = copy("sh", "-c", "exit 4")
ends(second, 4, "")
first.stdin.close()
first.stdin = None
ends(first, 3, "2 tasks on ")
for s in held:
    s.close()
if recordings() != ["node-%s.sonde" % socket.gethostname()]:
    fail(f"one recording was wanted: {recordings()}")
shown = subprocess.run([SONDE, "show", "--json", DIRECTORY], capture_output=True, text=True, check=True).stdout
if '"complete": true' not in shown and '"complete":true' not in shown:
    fail("the recording is not complete")


def plant(user):
    """Somebody else listens under the name, and never answers."""
    ready, told = os.pipe()
    pid = os.fork()
    if not pid:
        if user:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.bind("\0" + name)
        s.listen(100)
        os.write(told, b"x")
        time.sleep(120)
        os._exit(0)
    os.read(ready, 1)
    os.close(ready)
    os.close(told)
    return pid


def with_planted(user, text, n):
    pid = plant(user)
    try:
        ends(copy("sh", "-c", "exit 5"), 5, text)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    if len(recordings()) != n:
        fail(f"{n} recordings were wanted: {recordings()}")


with_planted(0, "does not answer", 2)
# Nothing stale is left of who was killed.
ends(copy("sh", "-c", "exit 6"), 6, "")
if len(recordings()) != 3:
    fail(f"3 recordings were wanted: {recordings()}")
if os.geteuid() != 0:
    print("only root can be another user: the rest was checked")
    sys.exit(77)
with_planted(65534, "another user holds the socket", 4)
