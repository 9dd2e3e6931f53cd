# SPDX-License-Identifier: Apache-2.0
# limit: 90
# The verdict of a job that hung names the functions, whom they wait for, and a deadlock where there is one; so does --watch-hang,
# and all threads are in the recording. Of very many processes some are looked at first, and all before the job is said to hang. A job that rests again and again is looked at five seconds after its start, and not again as long as that
# cost too much.
. "$TOP/tests/lib.sh"
[ -x "$LIBEXEC/sonde-unwind" ] || skip "the helper sonde-unwind was not built"

for kind in pipes sockets tcp files mutexes child fork free idle; do
	mkdir -p "in.$kind"
	(cd "in.$kind" && "$SONDE" run --quiet -i 200ms -o ../"$kind" -- timeout 7 "$PROGRAMS/stuck" "$kind") >/dev/null 2>&1 &
done
"$SONDE" run --quiet -i 200ms --watch-hang 2s -o watched -- sh -c "timeout 8 $PROGRAMS/stuck mutexes; exit 3" 2>/dev/null &
crowd='for i in $(seq 150); do sleep 30 & done; wait'
"$SONDE" run --quiet -i 200ms -o crowd -- timeout 9 sh -c "$crowd" 2>/dev/null &
"$SONDE" run --quiet -i 200ms --watch-hang 6s -o crowd_watched -- timeout 12 sh -c "$crowd" 2>/dev/null &
traced=
! strace -o /dev/null true 2>/dev/null || traced="strace -f -qq -e trace=execve -o rests.calls"
# shellcheck disable=SC2086 # words
$traced "$SONDE" run --quiet -i 50ms -o rests -- sh -c 'for i in 1 2 3 4 5 6 7; do sleep 1.3; done' 2>/dev/null &
wait

sentence() { # KIND: the first verdict, without what differs from run to run
	"$SONDE" show --json "$1" | jq -r '.verdicts[0] | .rule + ": " + .sentence' | sed 's/pid [0-9]*/pid N/g; s/thread [0-9]*/thread N/g; s/\b0x[0-9a-f]*/0xN/g' >"$1.says"
}

for kind in pipes sockets tcp files mutexes child; do
	sentence $kind
	contains $kind.says "Then: timeout ended it. Deadlock: stuck (pid N) waits for "
	! grep -q "gdb -p" $kind.says || fail "a debugger is not needed: $(cat $kind.says)"
done
contains pipes.says "waits for data from a pipe, written by stuck (pid N), in read < wait_for_data (stuck.c:"
contains sockets.says "waits for data from a socket, sent by stuck (pid N), in read < wait_for_data (stuck.c:"
contains files.says "waits for a lock on a file: $(pwd)/in.files/one, held by stuck (pid N), in flock < lock_two (stuck.c:"
contains mutexes.says "waits for a mutex at 0xN, held by thread N, in pthread_mutex_lock < wait_for_mutex (stuck.c:"
contains child.says "waits for a child: stuck (pid N), in "

sentence fork
contains fork.says ": waits for a mutex at 0xN, locked by thread N, which is not in this process: it ended, or was lost by fork(); nobody can unlock it"

for kind in free idle; do
	sentence $kind
	! grep -q Deadlock $kind.says || fail "invented: $(cat $kind.says)"
	grep -q "Then: timeout ended it. [1-3] of [1-3] threads of stuck in " $kind.says || fail "no functions: $(cat $kind.says)"
done

"$SONDE" show --json watched | jq -r '.verdicts[] | select(.rule == "no-progress") | .sentence' >no-progress
contains no-progress "held by thread"
contains no-progress "Deadlock: stuck (pid "
"$SONDE" show --json watched | jq -r '.. | objects | .["job.hang_stacks"]? // empty' >stacks
contains stacks "1 of 2 threads of stuck in pthread_mutex_lock < wait_for_mutex (stuck.c:"
contains stacks "Deadlock: stuck (pid "

[ -z "$traced" ] || equal "looks at a job that rests" 1 "$(grep -c 'execve(.*sonde-unwind.* = 0' rests.calls)"
equal "who looked has gone" "" "$(pgrep -x sonde-waits)"

metadata() { # OUT KEY
	"$SONDE" show --json "$1" | jq -r ".nodes[0].metadata[\"$2\"] // empty"
}
metadata crowd job.silent_stacks >crowd.stacks
grep -q '^128 of 15[0-9] processes were read' crowd.stacks || fail "some of many: $(head -c 300 crowd.stacks)"
metadata crowd_watched job.hang_stacks >watched.stacks
[ -s watched.stacks ] || fail "a hang of many processes left no evidence"
! grep -q 'were read' watched.stacks || fail "not all were read: $(head -c 300 watched.stacks)"
