# SPDX-License-Identifier: Apache-2.0
# limit: 120
# alone
# Six processes that have 600 MiB together, in a shared mapping or since they were forked, and 20 MiB each, are 720 MiB
# and not 3.6 GiB, though a walk of their page tables is too long to be made often: an estimate that says so.
. "$TOP/tests/lib.sh"
need jq
[ "$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)" -gt 2000 ] || skip "less than 2000 MiB of memory are free"

for how in map fork; do
	rm -rf out
	"$SONDE" run --quiet --pss budget -o out -- "$PROGRAMS/share" $how 6 600 20 8000 || fail "run"
	peak=$(figure out .job.peak_memory_bytes) kind=$(figure out .job.peak_memory_kind)
	error=$(figure out '.job.peak_memory_error_bytes // 0')
	echo "$how: $((peak >> 20)) MiB by $kind, +- ${error%.*} B; at most $(figure out '.job.peak_memory_at_most_bytes | tostring')"
	if [ "$kind" = cgroup ]; then
		holds "$how: the group's own peak" "$peak >= 720 * 1048576 && $peak < 1440 * 1048576"
		continue
	fi
	holds "$how: memory" "$peak > 0.9 * 720 * 1048576 && $peak < 1.1 * 720 * 1048576"
	[ "$kind" = pages ] || continue
	holds "$how: its error" "$error > 0 && $error < 100 * 1048576"
	"$SONDE" show --all out | tr -s ' \n' ' ' >all.txt
	contains all.txt "estimated from some pages), +- "
done
