# SPDX-License-Identifier: Apache-2.0
# quiet
# An orphan that is within exit(2), giving its memory back, when the command has ended is in the total all the same;
# and one that is still on its way there is none that was left alive.
. "$TOP/tests/lib.sh"
cat >ends.py <<'END'
import os, sys, time
def spin(seconds):
    while time.process_time() < seconds:
        pass
spin(1.5)
r, w = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        memory = bytearray(b"x") * (200 << 20)
        spin(0.17)
        os.write(w, b"%.6f" % time.process_time())
        spin(0.17 + float(sys.argv[1]))
        os._exit(0)
    os._exit(0)
os.wait()
orphan = float(os.read(r, 20))
os.write(1, b"%.6f\n" % (orphan + time.process_time()))
os._exit(0)
END
for later in 0 0.0015 0 0.0015 0; do
	rm -rf out
	spun=$("$SONDE" run --quiet -i 1s -o out -- "$PYTHON" ends.py "$later") || fail "run"
	total=$(figure out .job.cpu_seconds)
	echo "spun: $spun s, recorded: $total s"
	holds "all of it" "$total > 0.99 * $spun"
	equal "left alive" nobody "$(figure out '.job.survivors // "nobody"')"
done
