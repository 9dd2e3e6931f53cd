# SPDX-License-Identifier: Apache-2.0
# What the job's shell has open is the job's: neither the recorder nor the sentinel holds it, nor the launcher once the job runs.
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

# A job that closes its output is at its end for who reads it, and a lock that it gives up is free.
cat >job.sh <<'END'
echo said
exec >&- 9>&-
echo closed >job.closed
read -r _ <job.wait
END
mkfifo job.wait job.said
for verb in "run --quiet -o closed" "span part"; do
	rm -f job.closed
	exec 9>lock
	flock 9
	cat job.said >job.end 9>&- &
	reader=$!
	# shellcheck disable=SC2086 # one word each
	"$SONDE" $verb -- sh job.sh >job.said &
	sonde=$!
	exec 9>&-
	wait_for 20 test -s job.closed
	wait_for 20 process_gone $reader
	equal "what it said" said "$(cat job.end)"
	wait_for 20 flock -n lock true
	echo >job.wait
	wait $sonde
done
