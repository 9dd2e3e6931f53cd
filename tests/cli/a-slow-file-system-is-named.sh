# SPDX-License-Identifier: Apache-2.0
# A job whose files come from a slow file system is told so, with the file system: of files that are read one by one, and of a Python that imports
# its modules from there and computes between. What computes beside such a file system is not.
. "$TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root may mount"
[ -c /dev/fuse ] || skip "there is no /dev/fuse"
if [ -z "${OWN_MOUNTS:-}" ]; then
	OWN_MOUNTS=1 exec unshare --mount --propagation private bash "$0"
fi

mkdir far
"$PYTHON" "$TOP/tests/fuse.py" far 0.02 >ready 2>why &
server=$!
trap 'kill -9 $server' EXIT
wait_for 30 grep -q ready ready
for i in $(seq 60); do echo "sum(range(40000))" >"far/part$i.py"; done

first() { # RECORDING: its first verdict that is a warning or worse, but for others on the machine
	figure "$1" '[.verdicts[] | select(.severity != "note" and .severity != "good") | .sentence | select(test("^Others took") | not)][0]'
}
cat >read.py <<'END'
import os
import time
end = time.monotonic() + 5
while time.monotonic() < end:
    for name in os.listdir("far"):
        with open(f"far/{name}", "rb") as f:
            f.read()
END
"$SONDE" run --quiet -i 200ms -o read -- "$PYTHON" read.py || fail "run: $?"
first read >sentence
contains sentence "Slow files, for "
contains sentence "waits for storage: "
contains sentence "FUSE"
holds "share of the time that waits for storage, of two cores or one" "$(figure read '.where_time_went.parts[] | select(.part == "storage").ratio') > 0.2"
cat >import.py <<'END'
import sys
sys.path.insert(0, "far")
for i in range(1, 61):
    __import__(f"part{i}")
END
"$SONDE" run --quiet -i 200ms -o import -- "$PYTHON" import.py || fail "run: $?"
first import >sentence
contains sentence "Slow files, for "
contains sentence "FUSE"
"$SONDE" run --quiet -i 200ms -o busy -- "$PYTHON" -c 'import time
open("far/part1.py").read()
end = time.monotonic() + 4
while time.monotonic() < end: pass' || fail "run: $?"
figure busy '.verdicts[].sentence' >sentences
! grep -q "Slow files" sentences || fail "what computes: $(cat sentences)"
