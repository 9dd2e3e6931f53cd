# SPDX-License-Identifier: Apache-2.0
# limit: 240
# alone
# plain
# 200 copies in one job on one node: one recorder, 200 right exit statuses, every process and all CPU time of all of
# them, though the task of the copy that was elected ends first.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"
tasks=200
batch_job "$$" $tasks
mkfifo go.0 go
cat >task.sh <<'END'
"$PROGRAMS/spin" 10000
: >"up.$1"
if [ "$1" = 0 ]; then : <go.0; else : <go; fi
exit $(($1 % 100))
END
task() { # RANK
	local status=0
	copy "$1" "$PROGRAMS/account_of" "account.$1" bash task.sh "$1" || status=$?
	echo "$1 $status" >>codes
}
task 0 &
first=$!
wait_for 30 test -e up.0
for ((rank = 1; rank < tasks; rank++)); do
	task $rank &
done
wait_for 150 eval "[ \$(find . -name 'up.*' | wc -l) -eq $tasks ]"
: >go.0
wait "$first"
equal "who ended first" '0 0' "$(cat codes)"
: >go
wait
for ((rank = 0; rank < tasks; rank++)); do
	echo "$rank $((rank % 100))"
done >wanted
sort -n codes | diff wanted - || fail "exit statuses differ"
equal "recordings" 1 "$(recordings "sonde_$$")"
equal "sentences" 1 "$(wc -l <said)"
contains said "$tasks tasks on "
figure "sonde_$$" '.job | [.complete, .exit_code] == [true, 99]' >/dev/null
# account_of, the shell and spin of each.
started=$(figure "sonde_$$" .job.processes_started)
at_most=$(figure "sonde_$$" .job.processes_started_at_most)
waited=$(cat account.* | awk '{ n += $1 } END { print n }')
cpu=$(figure "sonde_$$" .job.cpu_seconds)
echo "waited: $waited s, recorded: $cpu s, processes: $started"
# What account_of used after it had written that down is in the recording, too: less than a tick each.
holds "no CPU time is missing" "$cpu >= $waited"
holds "none is counted twice" "$cpu <= $waited + 0.002 * $tasks"
holds "births at most" "$at_most >= 3 * $tasks"
batch_job "probe$$" 1
perf_permitted || skip "perf events are not permitted: the number of processes is a bound, all else was checked"
equal "births" $((3 * tasks)) "$started"
equal "births at most" $((3 * tasks)) "$at_most"
