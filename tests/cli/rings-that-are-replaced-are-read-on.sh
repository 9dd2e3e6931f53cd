# SPDX-License-Identifier: Apache-2.0
# plain
# A job that puts another file in the place of one in which a process leaves its spans, or files that are open to others or another user's beside
# it: all spans of the process are recorded, the strange files are not, and the job and its recorder go on.
. "$TOP/tests/lib.sh"
export SONDE_LIBRARY=$BUILD/libsonde.so.0 PYTHONPATH=$TOP/python:$PYTHONPATH
cat >job.py <<'END'
import contextlib, glob, os, shutil, time
import sonde

def make(n):
    for _ in range(n):
        with sonde.span("made"):
            pass

def place(name, mode, owner=-1):
    """A copy, of which nothing seems to have been taken yet, gets its name when it is whole."""
    new = f"{folder}/new-{name}"
    shutil.copyfile(mine, new)
    os.chmod(new, mode)
    with contextlib.suppress(PermissionError):
        os.chown(new, owner, -1)
    if owner == -1 or os.stat(new).st_uid == owner:
        os.rename(new, f"{folder}/{name}")

make(100)
folder = os.environ["SONDE_SPANS"]
mine, = glob.glob(f"{folder}/{os.getpid()}-*")
place("900001-aaaaaa", 0o644)
place("900002-aaaaaa", 0o600, 65534)
time.sleep(0.3)
with open(f"{folder}/new-noise", "wb") as f:
    f.write(os.urandom(300000))
os.chmod(f"{folder}/new-noise", 0o600)
os.rename(f"{folder}/new-noise", mine)
make(100)
time.sleep(0.3)
make(100)
END
"$SONDE" run --quiet -i 50ms -o out -- "$PYTHON" job.py || fail "run: $?"
"$SONDE" export --to csv -o csv out || fail "export"
equal "spans" 300 "$(grep -c ',made,' csv/spans.csv)"
equal "tracks" 1 "$(tail -n +2 csv/spans.csv | cut -d, -f2 | sort -u | wc -l)"
equal "none is lost" none "$(figure out '.nodes[0].metadata["spans.left_out"] // "none"')"
