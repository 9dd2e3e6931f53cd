# SPDX-License-Identifier: Apache-2.0
# In a pid namespace of its own under the /proc of another, pids of /proc are not those of system calls.
. "$TOP/tests/lib.sh"
need unshare
need jq
unshare --pid --fork true 2>/dev/null || skip "pid namespaces are not permitted"

names() { # DIR: of its processes
	rm -rf "$1.csv"
	"$SONDE" export --to csv -o "$1.csv" "$1" >/dev/null 2>&1 && cut -d, -f3 "$1.csv/processes.csv" | sed 1d | sort -u | paste -sd' '
}

# Nobody reports starts there: a process is known when a sample has seen it, however late that is.
waiter_is_known() { # DIR
	names "$1" | grep -qw waiter
}
cp "$(command -v cat)" waiter
mkfifo over

let_end() { # DIR PID
	wait_for 60 waiter_is_known "$1"
	echo >over
	wait "$2"
}

unshare --pid --fork "$SONDE" run --quiet -i 100ms -o out -- sh -c "$PROGRAMS/spin 600000; ./waiter over" >/dev/null &
let_end out $! || fail "run"
equal "names" "sh spin waiter" "$(names out)"
holds "cpu_seconds" "$(figure out .job.cpu_seconds) > 0.59 && $(figure out .job.cpu_seconds) < 0.8"
holds "attributed_ratio" "$(figure out .job.attributed_ratio) > 0.7"

# Nor does /proc say there that the recorder is gone: its number is none, or another's.
unshare --pid --fork --kill-child sh -c 'echo 30000 2>/dev/null >/proc/sys/kernel/ns_last_pid
	"$SONDE" run --quiet -i 100ms -o alive -- sleep 60 &
	for try in $(seq 100); do
		! "$SONDE" ls --json alive 2>/dev/null | jq -e ".recordings[0].state == \"running\"" >/dev/null || exit 0
		sleep 0.2
	done
	exit 1' || fail "what is being recorded is not running"

unshare --pid --fork --mount-proc true 2>/dev/null || skip "a /proc of its own is not permitted"
# As process 1 of a namespace, as in a container, the launcher is the parent of the recorder, too.
unshare --pid --fork --mount-proc "$SONDE" run --quiet --process-events polling -i 50ms -o init -- \
	sh -c "$PROGRAMS/spin 200000; ./waiter over" >/dev/null &
let_end init $! || fail "run as process 1"
equal "names as process 1" "sh spin waiter" "$(names init)"
