# SPDX-License-Identifier: Apache-2.0
# limit: 120
# Processes that no sample sees have memory, too: of those that were waited for the kernel tells the most that one had,
# which is a lower bound of the peak, and says so wherever it is printed. One that samples saw is none.
. "$TOP/tests/lib.sh"
need jq

for how in perf connector polling; do
	"$SONDE" run --quiet --process-events $how -i 60s -o $how -- sh -c 'for i in 1 2 3; do "$0" private 32 1; done' "$PROGRAMS/mem" || fail "run"
	kind=$(figure $how .job.peak_memory_kind) peak=$(figure $how .job.peak_memory_bytes)
	echo "$how: $peak by $kind"
	[ "$kind" = cgroup ] && continue
	equal "$how: by" process "$kind"
	equal "$how: a bound" true "$(figure $how '.job.peak_memory_is_lower_bound | tostring')"
	holds "$how: that of one" "$peak >= 32 * 1048576 && $peak < 40 * 1048576"
	"$SONDE" show --all $how | tr -s ' \n' ' ' >all.txt
	contains all.txt "memory peak at least 3"
	contains all.txt "the largest process alone"
	"$SONDE" report $how -o page-$how >/dev/null || fail "report"
	contains page-$how/*.html "Peak memory, at least"
	contains page-$how/*.html "the largest process alone"
	if [ -x "$LIBEXEC/sonde-draw" ] && command -v pdftotext >/dev/null; then
		pdftotext page-$how/*.pdf - | tr '\n' ' ' >paper.txt
		contains paper.txt "; the largest process alone"
	fi
done

# So it is of small ones beside a shell that is nearly as large.
for how in perf connector polling; do
	"$SONDE" run --quiet --process-events $how -o small-$how -- bash -c 'sleep 0.3; for i in 1 2 3; do "$0" private 5 1; done; sleep 0.3' "$PROGRAMS/mem" || fail "run"
	[ "$(figure small-$how .job.peak_memory_kind)" = cgroup ] && continue
	equal "small ones, $how: a bound" true "$(figure small-$how '.job.peak_memory_is_lower_bound | tostring')"
	holds "small ones, $how: that of one" "$(figure small-$how .job.peak_memory_bytes) >= 5 * 1048576 && $(figure small-$how .job.peak_memory_bytes) < 9 * 1048576"
done

# A program that ignores SIGCHLD, or does not wait, and ends before any sample: what it lost is known by its end.
for how in ignore nocldwait; do
	for by in perf connector; do
		"$SONDE" run --quiet --process-events $by -i 60s -o $how-$by -- "$PROGRAMS/disown" $how 10 5 100 >spun || fail "run"
		figure $how-$by .job.mechanisms | grep -qE "exit records|connector" || continue
		equal "$how by $by: I/O is a lower bound" true "$(figure $how-$by .job.io_is_lower_bound)"
	done
done
"$SONDE" run --quiet --process-events polling -i 60s -o ignored -- "$PROGRAMS/disown" ignore 10 5 100 >spun || fail "run"
equal "ignore by polling: CPU is a lower bound" true "$(figure ignored .job.cpu_is_lower_bound)"
for how in waited zombies double; do
	"$SONDE" run --quiet --process-events perf -i 60s -o $how -- "$PROGRAMS/disown" $how 10 5 100 >spun || fail "run"
	equal "$how: CPU is whole" false "$(figure $how '.job.cpu_is_lower_bound | tostring')"
	equal "$how: so is I/O" false "$(figure $how '.job.io_is_lower_bound | tostring')"
done
