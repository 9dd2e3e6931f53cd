# SPDX-License-Identifier: Apache-2.0
# In a pid namespace of its own under the /proc of another, pids of /proc are not those of system calls.
. "$TOP/tests/lib.sh"
need unshare
need jq
unshare --pid --fork true 2>/dev/null || skip "pid namespaces are not permitted"
unshare --pid --fork "$SONDE" run --quiet -i 100ms -o out -- sh -c "$PROGRAMS/spin 600000; sleep 0.2" || fail "run"
"$SONDE" export --to csv -o tables out >/dev/null 2>&1 || fail "export"
equal "names" "sh sleep spin" "$(cut -d, -f3 tables/processes.csv | sed 1d | sort -u | paste -sd' ')"
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
	sh -c "sleep 0.1; $PROGRAMS/spin 200000; sleep 0.1" || fail "run as process 1"
"$SONDE" export --to csv -o init.csv init >/dev/null 2>&1 || fail "export"
equal "names as process 1" "sh sleep spin" "$(cut -d, -f3 init.csv/processes.csv | sed 1d | sort -u | paste -sd' ')"
