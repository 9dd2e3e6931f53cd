# SPDX-License-Identifier: Apache-2.0
# When the launcher is killed, alone or with all of the job, the total at the end is not below what was shown before,
# nothing is in it twice, and nobody says that wait4 told it.
. "$TOP/tests/lib.sh"

cpu_so_far() { # DIR: what has been shown by now
	"$SONDE" show --json "$1" 2>/dev/null | jq -r '.job.cpu_seconds // 0'
}

has_used() { # DIR SECONDS
	awk "BEGIN { exit !($(cpu_so_far "$1") >= $2) }"
}

check() { # DIR LEAST-BEFORE MOST
	local after
	wait_for 30 ends "$1"
	after=$(figure "$1" .job.cpu_seconds)
	holds "$1: the total does not fall" "$after >= $2"
	holds "$1: nothing is counted twice" "$after <= $3"
	figure "$1" .job.mechanisms >mechanisms
	! grep -q wait4 mechanisms || fail "$1: its totals are said to be wait4's: $(cat mechanisms)"
	contains mechanisms "CPU clocks and waited children"
}

ends() { # DIR: its recorder has gone
	! recorder_of "$1" >/dev/null
}

# A child that was waited for by the launcher, one by its parent, one that runs.
cat >job.sh <<'END'
"$PROGRAMS/spin" 200000
(exec "$PROGRAMS/spin" 200000 & exec true) # an orphan: the launcher waits for it
sh -c '"$PROGRAMS/spin" 200000; :'
"$PROGRAMS/spin" "$1"
END
for births in auto polling; do
	# All of the job with its launcher, as a batch system does it.
	"$SONDE" run --quiet --process-events $births -i 100ms -o all-$births -- setsid sh job.sh 60000000 &
	launcher=$!
	wait_for 30 has_used all-$births 0.75
	before=$(cpu_so_far all-$births)
	job=$(cat "/proc/$launcher/task/$launcher/children" | tr ' ' '\n' | while read -r pid; do
		[ "$(cat "/proc/$pid/comm")" != sh ] || echo "$pid"
	done)
	kill -9 $launcher -- "-$job" 2>/dev/null
	check all-$births "$before" "$before + 5"

	# The launcher alone: the job goes on, and is recorded until it ends.
	"$SONDE" run --quiet --process-events $births -i 100ms -o alone-$births -- sh job.sh 700000 &
	launcher=$!
	wait_for 30 has_used alone-$births 0.75
	before=$(cpu_so_far alone-$births)
	kill -9 $launcher
	check alone-$births "$before" 1.5
	holds "what ran on is recorded" "$(figure alone-$births .job.cpu_seconds) > 1.1"
done
