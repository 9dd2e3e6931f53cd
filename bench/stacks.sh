#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time by code: how right the shares are, how many stacks are whole, what it costs, what it takes in the recording. An hour and a half; SHORT=1:
# less than ten minutes on a quiet machine, with fewer runs and the long run of 40 s instead of ten minutes; QUICK=1: two minutes, rough.
#
# The program's parts are measured by its own clock in the same run; it is compiled without frame pointers. A share of 40 % of n samples has an error of
# 0.98 / sqrt(n) at 95 %, and the worst of 100 such (five parts, 20 runs) one of 1.7 / sqrt(n): 2 points need 7,400 samples. So the bar is for runs at 499
# samples a second of CPU time; the error of all runs together shows whether there is a bias, and stands beside what chance allows.
#
# Cost is CPU time of recorder and helper and what the job takes more, with stacks (by default, of long processes; and --stacks=99, of all), less the same without. One busy
# core: a program sums the time that is missing between two readings of its clock (bench/gaps.c); what a sample takes from it is there, and runs
# alternate. A build: three recordings live at the same time, and their builds alternate. Busy processes have a fixed amount of work, and runs alternate. Intervals
# are of 95 %, of pairs; since what else runs disturbs, bars are for their lower end. "perf record -g --call-graph dwarf" and py-spy, where they
# are installed or can be, are beside them. Bytes are those of the recording, less one of the same program without stacks.
set -eu
BUILD=${BUILD:-build}
RUNS=${RUNS:-20} SECONDS_OF_CPU=${SECONDS_OF_CPU:-20} LONG_RUN=${LONG_RUN:-600} PAIRS=${PAIRS:-6} GAPS=${GAPS:-30} GAP_SECONDS=10 TURNS=60 EACH=600000000
[ -z "${SHORT:-}" ] || RUNS=5 SECONDS_OF_CPU=13 LONG_RUN=40 PAIRS=1 GAPS=5 GAP_SECONDS=5 TURNS=20 EACH=300000000
[ -z "${QUICK:-}" ] || RUNS=2 SECONDS_OF_CPU=5 LONG_RUN=15 PAIRS=1 GAPS=3 GAP_SECONDS=2 TURNS=6 EACH=50000000
# shellcheck source=bench/bar.sh
. bench/bar.sh
export PYTHONPATH=$PWD/tests PYTHONDONTWRITEBYTECODE=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
parts=$BUILD/programs/known_parts
kinds=$BUILD/programs/stack_kinds

record() { # NAME OPTIONS... -- CMD...
	local name=$1
	shift
	rm -rf "${scratch:?}/$name"
	"$BUILD/sonde" run --quiet -o "$scratch/$name" "$@"
}

# Of each run: each part's share and that by its own clock; then the part of the stacks that reach their outermost frame, and the samples.
for _ in $(seq "$RUNS"); do
	record shares --stacks=499 -- "$parts" "$SECONDS_OF_CPU" >"$scratch/parts"
	python3 bench/stacks_shares.py of "$scratch/shares" <"$scratch/parts" >>"$scratch/shares.txt"
done
read -r error of_error whole bias of_bias samples < <(python3 bench/stacks_shares.py sum <"$scratch/shares.txt")
bar "largest error of a share, $RUNS runs of $samples samples (chance allows $of_error)" "$error" points '<=' 2
figure "largest error of a share, all runs together (chance allows $of_bias)" "$bias" points
bar 'stacks that are whole, worst run' "$whole" % '>=' 98

# ---- what it costs ----

# CPU seconds of the recorder and of the helper.
own_of() { # RECORDING
	"$BUILD/sonde" export --raw -o - "$1" | awk -F, '$2 == "monitor.cpu_seconds" || $2 == "monitor.unwind_cpu_seconds" { last[$2] = $6 }
		END { printf "%.6f\n", last["monitor.cpu_seconds"] + last["monitor.unwind_cpu_seconds"] }'
}

# Of pairs that alternate, in percent: how much more the second took; the estimate and the ends of its interval.
more() { # WITHOUT WITH
	paste "$1" "$2" | awk '{ print 100 * ($2 - $1) / $1 }' | python3 bench/estimate.py
}

# What recorder and helper took more than without stacks, in percent of the job's CPU time.
own_more() { # WITHOUT WITH SECONDS_OF_THE_JOB
	awk -v a="$(own_of "$1")" -v b="$(own_of "$2")" -v job="$3" 'BEGIN { printf "%.3f", 100 * (b - a) / job }'
}

# An estimate with its interval of what the job took more, and its own part: the figure, and the bar for both.
both() { # WHAT OWN MID LOW HIGH BAR
	figure "$1: recorder and helper" "$2" %
	figure "$1: the job's extra CPU" "$3 ($4 to $5)" %
	[ -z "$6" ] || bar "$1: both, lower end of the interval" "$(awk "BEGIN { printf \"%.2f\", $2 + ($4 > 0 ? $4 : 0) }")" % '<=' "$6"
}

# A busy core, in alternation. The job's part: how much more time is in gaps.
gaps_of() { # WHICH
	awk '{ print 100 * $1 / $2 }' "$scratch/$1.gaps"
}
gaps_more() { # WHICH
	paste <(gaps_of off) <(gaps_of "$1") | awk '{ print $2 - $1 }' | python3 bench/estimate.py
}
own_in_gaps() { # WHICH
	paste "$scratch"/{off,"$1"}.own "$scratch/off.gaps" | awk '{ print 100 * ($2 - $1) / $4 }' | median
}
gaps=$BUILD/bench/gaps
for _ in $(seq "$GAPS"); do
	for which in off long 99; do
		record gaps --stacks=$which -- "$gaps" "$GAP_SECONDS" >>"$scratch/$which.gaps"
		own_of "$scratch/gaps" >>"$scratch/$which.own"
	done
	! command -v perf >/dev/null || {
		cpu_of sh -c "perf record -q -F 99 -e cpu-clock:u -g --call-graph dwarf -o $scratch/perf.data -- $gaps $GAP_SECONDS >>$scratch/perf.gaps" >>"$scratch/perf.own"
	}
done
# shellcheck disable=SC2046
both 'one busy core, by default' "$(own_in_gaps long)" $(gaps_more long) 0.5
# shellcheck disable=SC2046
both 'one busy core, --stacks=99' "$(own_in_gaps 99)" $(gaps_more 99) 0.5
if [ -e "$scratch/perf.gaps" ]; then
	figure 'one busy core, perf record with DWARF stacks: its own CPU' "$(paste "$scratch/perf.own" "$scratch/perf.gaps" | awk '{ print 100 * ($1 - $5) / $3 }' | median)" %
	figure "one busy core, perf record with DWARF stacks: the job's extra CPU" "$(gaps_more perf | awk '{ print $1 " (" $2 " to " $3 ")" }')" %
fi

# Python, and py-spy beside it.
python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check py-spy==0.4.3 || echo 'py-spy cannot be installed: it is left out'
pythons() { # SECONDS
	cat >"$scratch/busy.py" <<-'END'
		import sys, time
		def work(n):
		    return sum(i * i for i in range(n))
		while time.process_time() < float(sys.argv[1]):
		    work(20000)
	END
	for which in off 99; do
		record python-$which --stacks=$which -- python3 "$scratch/busy.py" "$1"
	done
	figure 'a busy Python, --stacks=99: recorder and helper' "$(own_more "$scratch"/python-{off,99} "$1")" %
	figure 'a busy Python, --stacks=99: samples' "$(python3 -c 'import sys; from stacks import Stacks; print(Stacks(sys.argv[1]).total())' "$scratch/python-99")" ''
	[ -x "$scratch/venv/bin/py-spy" ] || return 0
	figure 'a busy Python, py-spy record -r 99: its own CPU' "$(cpu_of "$scratch/venv/bin/py-spy" record -r 99 -f raw -o "$scratch/spied" -- python3 "$scratch/busy.py" "$1" | awk -v job="$1" '{ print 100 * ($1 - job) / job }')" %
	figure 'a busy Python, py-spy record -r 99: samples' "$(awk '{ n += $NF } END { print n + 0 }' "$scratch/spied")" ''
}
pythons $((GAP_SECONDS * 2))

# Processes with a fixed amount of work each.
pairs() { # WHAT BAR CMD...
	local what=$1 limit=$2 which mid low high
	shift 2
	for _ in $(seq "$PAIRS"); do
		for which in off long 99; do
			rm -rf "${scratch:?}/pair"
			cpu_of "$BUILD/sonde" run --quiet --stacks=$which -o "$scratch/pair" -- "$@" >>"$scratch/$which.pairs"
			own_of "$scratch/pair" >>"$scratch/$which.pairs_own"
		done
	done
	for which in long 99; do
		read -r mid low high < <(more "$scratch/off.pairs" "$scratch/$which.pairs")
		figure "$what, --stacks=$which: recorder, helper and the job's extra CPU" "$mid ($low to $high)" %
		bar "$what, --stacks=$which: recorder and helper alone" "$(paste "$scratch"/{off,$which}.pairs_own "$scratch/off.pairs" | awk '{ print 100 * ($2 - $1) / $3 }' | median)" % '<=' "$limit"
		# One pair has no interval.
		[ "$PAIRS" -lt 3 ] || bar "$what, --stacks=$which: all of it, lower end of the interval" "$low" % '<=' "$limit"
	done
}
gcc -O2 -w -o "$scratch/loop" -x c - <<<'#include <stdlib.h>
int main(int c, char **v) { volatile double x = 1; for (long i = 0, n = atol(v[1]); i < n; i++) x = x * 1.0000001 + 0.1; return 0; }'
pairs '100 busy processes' 0.5 sh -c "for i in \$(seq 100); do $scratch/loop $EACH & done; wait"

# The same command many times, in three recordings that take turns.
turns() { # WHAT BAR CMD
	local what=$1 limit=$2 which at=0 job arm=()
	rm -rf "$scratch"/turn*
	mkfifo "$scratch"/turn{0,1,2}
	exec 7<>"$scratch/turn0" 8<>"$scratch/turn1" 9<>"$scratch/turn2" # whoever comes later finds them open
	for which in off long 99; do
		"$BUILD/sonde" run -q --stacks=$which -o "$scratch/turns-$which" -- python3 bench/by_turns.py "$TURNS" "$scratch/turn$at" "$scratch/turn$(((at + 1) % 3))" "$3" >"$scratch/$which.turns" &
		arm+=($!)
		at=$((at + 1))
	done
	printf x >&7
	wait "${arm[@]}"
	exec 7>&- 8>&- 9>&-
	job=$(awk '{ sum += $1 } END { print sum }' "$scratch/off.turns")
	for which in long 99; do
		# shellcheck disable=SC2046
		both "$what, --stacks=$which" "$(own_more "$scratch"/turns-{off,$which} "$job")" $(more "$scratch"/{off,$which}.turns) "$limit"
	done
	rm -rf "$scratch"/turns-*
}
# A driver, a compiler and an assembler for each small file.
printf '#include <stdio.h>\n#include <string.h>\nint f(int x) { char b[64]; snprintf(b, sizeof b, "%%d", x); return (int)strlen(b); }\n' >"$scratch/small.c"
turns "a build of $((TURNS * 150)) processes" 1 "for i in \$(seq 50); do gcc -O2 -c -o $scratch/small.o $scratch/small.c; done"
# Processes that do nothing at all are nearly nothing but starts: what an inherited event adds to each.
turns "$((TURNS * 150)) processes that do nothing" '' "for i in \$(seq 150); do /bin/true; done"

# Both at the same time: it is their sizes that are compared. The first writes the page at its end.
record plain --stacks=off -- "$parts" "$LONG_RUN" >/dev/null &
# shellcheck disable=SC2016
record long --stacks --report -- sh -c '"$@" && date +%s%N >"$0"' "$scratch/end" "$parts" "$LONG_RUN" >/dev/null
paged=$((($(date +%s%N) - $(cat "$scratch/end")) / 1000000))
wait $!
[ "$(find "$scratch/long" -name '*.html' | wc -l)" -gt 0 ] || exit 2
samples=$(python3 -c 'import sys; from stacks import Stacks; print(Stacks(sys.argv[1]).total())' "$scratch/long")
bar 'a sample in the recording' "$(awk "BEGIN { printf \"%.2f\", ($(cat "$scratch"/long/*.sonde | wc -c) - $(cat "$scratch"/plain/*.sonde | wc -c)) / $samples }")" bytes '<=' 4
most() { # RECORDING METRIC
	"$BUILD/sonde" export --raw -o - "$scratch/$1" | awk -F, -v metric="$2" '$2 == metric && $6 > most { most = $6 } END { print most / 1048576 }'
}
helper=$(most long monitor.unwind_resident_bytes)
figure "the helper's memory" "$helper" MiB
bar 'memory of recorder and helper, more than without' "$(awk "BEGIN { print $helper + $(most long monitor.resident_bytes) - $(most plain monitor.resident_bytes) }")" MiB '<=' 32
bar "the page, written by the recorder, after the job's end" "$paged" ms '<=' 1000

# The page with its flame graph; perf's way to one begins with its script.
milliseconds() {
	local begin
	begin=$(date +%s%N)
	"$@" >/dev/null 2>&1
	echo $((($(date +%s%N) - begin) / 1000000))
}
bar 'the page after the end' "$(milliseconds "$BUILD/sonde" report -o "$scratch/page.html" "$scratch/long")" ms '<=' 1000
if command -v perf >/dev/null; then
	perf record -q -F 99 -e cpu-clock:u -g --call-graph dwarf -o "$scratch/perf.data" -- "$parts" "$LONG_RUN" >/dev/null 2>&1
	figure 'perf script of the same program' "$(milliseconds perf script -i "$scratch/perf.data")" ms
fi

# Processes of 7 ms, 150 of them: the parts of the account and the kernel's own total; what is sampled, or named as too short.
for _ in $(seq "$RUNS"); do
	record short --stacks -- "$kinds" short 0.007 150
	"$BUILD/sonde" show --code --json "$scratch/short" | python3 -c 'import json, sys
c = json.load(sys.stdin)
named, user, system = c["sampled_seconds"] + c["too_short_seconds"], c["user_seconds"], c["system_seconds"]
print(abs(user - named) / (user + system) * 100, named / user * 100)'
done >"$scratch/short.txt"
bar '150 processes of 7 ms: what is neither sampled nor named, of the total, median of the runs' "$(cut -d ' ' -f 1 "$scratch/short.txt" | median)" % '<=' 1
figure '150 processes of 7 ms: the same, worst run' "$(cut -d ' ' -f 1 "$scratch/short.txt" | sort -g | tail -n 1)" %
bar '150 processes of 7 ms: sampled or named as too short, least of the runs' "$(cut -d ' ' -f 2 "$scratch/short.txt" | sort -g | head -n 1)" % '>=' 75
exit "${missed:-0}"
