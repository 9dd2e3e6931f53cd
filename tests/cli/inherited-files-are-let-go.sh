# SPDX-License-Identifier: Apache-2.0
# What the job's shell has open is the job's: neither the recorder nor the sentinel holds it.
. "$TOP/tests/lib.sh"
: >lock
exec 9>lock
"$SONDE" run --quiet -o out -- sleep 2 &
sonde=$!
wait_for 5 recorder_of out >pid
recorder=$(recorder_of out)
[ -z "$(find "/proc/$recorder/fd" -lname "$PWD/lock")" ] || fail "the recorder holds the lock"
sentinel=
for comm in $(grep -lsx sonde-sentinel /proc/[0-9]*/comm || true); do
	held=$(find "${comm%/comm}/fd" -lname "$PWD/lock" 2>/dev/null)
	[ -z "$held" ] || fail "a sentinel holds the lock"
	sentinel=$comm
done
[ -n "$sentinel" ] || fail "there is no sentinel"
wait $sonde
