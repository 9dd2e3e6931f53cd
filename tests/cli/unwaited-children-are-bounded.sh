# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Children of a program that ignores SIGCHLD, or has set SA_NOCLDWAIT, are in nobody's total when they have ended: what
# is known of them is a lower bound that says so, however births are known, and never "100 % known by process".
. "$TOP/tests/lib.sh"
need jq

record() { # BIRTHS HOW: 100 children of 10 ms and 600 KiB, one after the other
	rm -rf out
	"$SONDE" run --process-events "$1" --summary summary.txt -o out -- "$PROGRAMS/disown" "$2" 100 10 600 >spun || fail "run --process-events $1"
	read -r _ spun <spun
	cpu=$(figure out .job.cpu_seconds) written=$(figure out .job.written_bytes)
	bound=$(figure out ".job.cpu_is_lower_bound | tostring") io_bound=$(figure out ".job.io_is_lower_bound | tostring")
	used=$(figure out .job.mechanisms)
	"$SONDE" show --all out | tr -s ' \n' ' ' >all.txt
	echo "$2 by $1: $cpu of $spun s, a bound: $bound; $written bytes, a bound: $io_bound; $used"
}

not_in_full() {
	equal "$1: CPU is a lower bound" true "$bound"
	equal "$1: so is I/O" true "$io_bound"
	holds "$1: at least" "$cpu <= 1.02 * $spun"
	contains all.txt "CPU time at least"
	contains all.txt "children that were never waited for are counted in part"
	equal "$1: no share is known by process" null "$(figure out '.job.attributed_ratio | tostring')"
	equal "$1: nor how many cores were used" null "$(figure out '.job.cores_used | tostring')"
	at_most=$(figure out .job.cpu_at_most_seconds)
	holds "$1: at most" "$at_most >= 0.9 * $spun"
	contains <(figure out .job.mechanisms) "a lower bound"
}

for how in ignore nocldwait; do
	for births in connector polling; do
		record $births $how
		not_in_full "$how by $births"
	done
	record perf $how
	if [[ $used == *"exit records"* ]]; then
		holds "$how by perf: CPU" "$cpu > 0.97 * $spun && $cpu < 1.5 * $spun"
		equal "$how by perf: CPU is whole" false "$bound"
		equal "$how by perf: I/O is a lower bound" true "$io_bound"
		contains all.txt "I/O at least"
	else
		not_in_full "$how by perf"
	fi
done

# Who waits for every second one: what samples saw of the others, or exit records, tells.
for births in connector polling; do
	record $births mixed
	not_in_full "mixed by $births"
done
record perf mixed
if [[ $used == *"exit records"* ]]; then
	holds "mixed by perf: CPU" "$cpu > 0.97 * $spun && $cpu < 1.5 * $spun"
	equal "mixed by perf: I/O is a lower bound" true "$io_bound"
fi
# All are seen, many as soon as they were waited for; their parent ignores SIGCHLD in every second moment, and at its end.
"$SONDE" run --quiet --process-events polling -i 10ms -o seen -- "$PROGRAMS/disown" mixed 20 40 600 >spun || fail "run seen"
read -r _ spun <spun
holds "mixed and seen: CPU" "$(figure seen .job.cpu_seconds) <= 1.02 * $spun"
holds "mixed and seen: I/O" "$(figure seen .job.written_bytes) <= 20 * 600 * 1024 + 200"
holds "mixed and seen: more than those waited for" "$(figure seen .job.written_bytes) > 10 * 600 * 1024 + 200"
equal "mixed and seen: I/O is a lower bound" true "$(figure seen .job.io_is_lower_bound)"
# One that ends before many samples saw it, of which the records tell in the end.
"$SONDE" run --quiet --process-events perf -i 60s -o brief -- "$PROGRAMS/disown" mixed 20 15 0 >spun || fail "run brief"
read -r _ spun <spun
if figure brief .job.mechanisms | grep -q "exit records"; then
	holds "mixed and brief: CPU" "$(figure brief .job.cpu_seconds) > 0.97 * $spun"
	equal "mixed and brief: I/O is a lower bound" true "$(figure brief .job.io_is_lower_bound)"
fi

# A single one that no sample saw and that executed nothing: it was there too long for none.
"$SONDE" run --quiet --process-events connector -i 60s -o single -- "$PROGRAMS/disown" nocldwait 1 30 0 >spun || fail "run single"
if figure single .job.mechanisms | grep -q "the proc connector"; then
	equal "a single child: CPU is a lower bound" true "$(figure single .job.cpu_is_lower_bound)"
fi

# Children of the one that waits for who started them are counted once.
for births in perf connector polling; do
	record $births sibling
	holds "sibling by $births: CPU" "$cpu > 0.97 * $spun && $cpu < 1.5 * $spun"
done

# Who waits for them, or has them taken in by others that do, is told in full.
for how in waited double; do
	for births in perf connector polling; do
		record $births $how
		equal "$how by $births: CPU is whole" false "$bound"
		equal "$how by $births: so is I/O" false "$io_bound"
		holds "$how by $births: CPU" "$cpu > 0.98 * $spun"
		holds "$how by $births: I/O" "$written >= 100 * 600 * 1024"
		# Memory between two samples is another matter.
		! sed 's/at least [0-9]* at a time//; s/memory peak at least//' all.txt | grep -q "at least" || fail "$how by $births is called a bound"
	done
done

# Long ones are nearly known in full: as they were seen last.
"$SONDE" run --quiet --process-events polling -o long -- "$PROGRAMS/disown" ignore 2 1500 8000 2 >spun
read -r _ spun <spun
holds "long children" "$(figure long .job.cpu_seconds) > 0.8 * $spun"
equal "long children are a lower bound" true "$(figure long .job.cpu_is_lower_bound)"
holds "what long ones wrote" "$(figure long .job.written_bytes) >= 2 * 8000 * 1024"
