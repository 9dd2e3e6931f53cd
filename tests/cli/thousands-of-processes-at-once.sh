#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit: 600
# A job of 2,000 processes at once (with --long 100,000, or as many as the machine permits): none is counted twice, though more start and end than
# their records have room for, the recorder takes some kilobytes of each, and none is left behind.
. "$TOP/tests/lib.sh"

want=2000 seconds=3
if [ -n "${LONG:-}" ]; then
	want=100000 seconds=30
	memory_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
	for most in $(($(cat /proc/sys/kernel/pid_max) * 4 / 5)) $(($(cat /proc/sys/kernel/threads-max) / 2)) $((memory_kb / 200)) "$(ulimit -u)" \
		"$(cat "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)/pids.max" 2>/dev/null)"; do
		[[ $most =~ ^[0-9]+$ ]] && [ "$most" -lt "$want" ] && want=$most
	done
fi

"$SONDE" run --quiet -o many -- "$PROGRAMS/many" $want $seconds >there || fail "run: $?"
there=$(cat there)
holds "processes there: $there of $want" "$there > $want / 2"
equal "damage" 0 "$(figure many .damages)"
equal "exit code" 0 "$(figure many .job.exit_code)"
started=$(figure many .job.processes_started)
holds "started: $started of $there" "$started <= $there and $started >= 1"
holds "started at most" "$(figure many '.job.processes_started_at_most // 1e9') >= $there"
holds "at once" "$(figure many .job.processes_peak) <= $there"
holds "memory of the recorder: $(figure many .monitor.max_rss_bytes)" "$(figure many .monitor.max_rss_bytes) < 32e6 + $there * 4000"
holds "attributed CPU is of the job's" "$(figure many '.job.attributed_ratio // 1') <= 1.001"
echo "$there processes: recorder $(figure many '"\(.monitor.cpu_seconds) s of CPU, \(.monitor.max_rss_bytes / 1e6) MB, \(.monitor.samples) samples in \(.job.wall_seconds) s, started \(.job.processes_started)"')"
