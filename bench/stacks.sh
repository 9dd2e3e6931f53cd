#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time by code: how right the shares are, how many stacks are whole, what it costs, what it takes in the recording. Two hours;
# SHORT=1: more than ten minutes, with fewer runs and the long run of one minute instead of ten; QUICK=1: minutes, too few processes are long.
#
# The program's parts are measured by its own clock in the same run; it is compiled without frame pointers. Cost is CPU time of the recorder, the
# helper and the job, with stacks (by default, of long processes; and --stacks=99, of all) and without, in alternation, with the 95 % interval, since
# what else runs disturbs: bars are for its lower end. The part of recorder and helper is also told by itself, from the recordings.
# "perf record -g --call-graph dwarf", where it is installed, is beside them: its own CPU time, and the job's. Bytes are those of the recording, less one of the same program without stacks.
set -eu
BUILD=${BUILD:-build}
RUNS=${RUNS:-20} SECONDS_OF_CPU=${SECONDS_OF_CPU:-20} LONG_RUN=${LONG_RUN:-600} COST_RUNS=${COST_RUNS:-6} TURNS=${TURNS:-400}
[ -z "${SHORT:-}" ] || RUNS=5 SECONDS_OF_CPU=8 LONG_RUN=60 COST_RUNS=1 TURNS=400
[ -z "${QUICK:-}" ] || RUNS=2 SECONDS_OF_CPU=5 LONG_RUN=15 COST_RUNS=2 TURNS=60
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

# Largest difference between a part's share and its own clock, in points; the part of the stacks that reach their outermost frame.
for _ in $(seq "$RUNS"); do
	record shares --stacks -- "$parts" "$SECONDS_OF_CPU" >"$scratch/parts"
	python3 - "$scratch" <<-'END'
		import sys
		from stacks import Stacks
		found = Stacks(sys.argv[1] + "/shares")
		parts = {name: float(v) for name, v in map(str.split, open(sys.argv[1] + "/parts"))}
		total = sum(parts.values())
		whole = sum(n for name, n in found.ends().items() if not name.startswith("("))
		print(max(abs(found.share(name) - v / total) for name, v in parts.items()) * 100, 100 * whole / max(1, found.total()))
	END
done >"$scratch/shares.txt"
bar 'largest error of a share, median of the runs' "$(cut -d ' ' -f 1 "$scratch/shares.txt" | median)" points '<=' 2
figure 'largest error of a share, worst run' "$(cut -d ' ' -f 1 "$scratch/shares.txt" | sort -g | tail -n 1)" points
bar 'stacks that are whole, worst run' "$(cut -d ' ' -f 2 "$scratch/shares.txt" | sort -g | head -n 1)" % '>=' 98

# ---- what it costs ----

# CPU seconds of all that a command starts, itself included.
cpu_of() {
	python3 - "$@" <<-'END'
		import ctypes, os, resource, subprocess, sys
		ctypes.CDLL(None).prctl(36, 1)
		subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		while True:
		    try:
		        os.wait()
		    except ChildProcessError:
		        break
		r = resource.getrusage(resource.RUSAGE_CHILDREN)
		print(r.ru_utime + r.ru_stime)
	END
}

# CPU seconds of the recorder and of the helper.
own_of() { # RECORDING
	"$BUILD/sonde" export --raw -o - "$1" | awk -F, '$2 == "monitor.cpu_seconds" || $2 == "monitor.unwind_cpu_seconds" { last[$2] = $6 }
		END { printf "%.6f\n", last["monitor.cpu_seconds"] + last["monitor.unwind_cpu_seconds"] }'
}

# Of pairs that alternate, in percent: how much more the second took; the estimate and the ends of its interval.
more() { # WITHOUT WITH
	paste "$1" "$2" | awk '{ print 100 * ($2 - $1) / $1 }' | python3 bench/estimate.py
}

# The work is the same each time: without a clock of its own it would end after the same CPU time.
cost() { # WHAT OPTIONS BAR CMD...
	local what=$1 limit=$3 mid low high own i
	local -A option=([with]=$2 [without]=--stacks=off)
	shift 3
	rm -f "$scratch"/{with,without,perf}.txt "$scratch"/{with,without}_own.txt
	for i in $(seq "$COST_RUNS"); do
		for which in $([ $((i % 2)) = 0 ] && echo with without || echo without with); do
			rm -rf "${scratch:?}/$which"
			cpu_of "$BUILD/sonde" run --quiet "${option[$which]}" -o "$scratch/$which" -- "$@" >>"$scratch/$which.txt"
			own_of "$scratch/$which" >>"$scratch/${which}_own.txt"
		done
		[ -z "$limit" ] || [ "${option[with]}" = --stacks=long ] || ! command -v perf >/dev/null || {
			rm -f "$scratch/perf.data"
			cpu_of perf record -q -F 99 -e cpu-clock:u -g --call-graph dwarf -o "$scratch/perf.data" -- "$@" >>"$scratch/perf.txt"
		}
	done
	read -r mid low high < <(more "$scratch/without.txt" "$scratch/with.txt")
	own=$(paste "$scratch"/{without_own,with_own,without}.txt | awk '{ print 100 * ($2 - $1) / $3 }' | median)
	figure "$what: recorder and helper" "$own" %
	[ -z "$limit" ] || bar "$what: recorder and helper alone" "$own" % '<=' "$limit"
	figure "$what: recorder, helper and the job's extra CPU" "$mid ($low to $high)" %
	# One pair has no interval.
	[ -z "$limit" ] || [ "$COST_RUNS" -lt 3 ] || bar "$what: the same, lower end of the interval" "$low" % '<=' "$limit"
	[ ! -e "$scratch/perf.txt" ] || figure "$what: perf record with DWARF stacks, on top of sonde's without" "$(more "$scratch/without.txt" "$scratch/perf.txt" | cut -d ' ' -f 1)" %
}

# One busy core exactly: two recorded jobs, of which one has stacks, live at the same time and take turns, as in bench/slowdown.sh; the CPU time of
# recorders and helper is added.
turns() { # WHAT OPTIONS BAR
	local what=$1 amount=1 first mid low high rest own
	rm -rf "${scratch:?}"/{a,b,with,without}
	mkfifo "$scratch/a" "$scratch/b"
	while [ "$(echo >"$scratch/a" & timeout 60 "$BUILD/bench/slowdown" triad $amount 1 "$scratch/a" "$scratch/b" | awk '{ print int($1 / 1e6) }')" -lt 20 ]; do
		amount=$((amount * 2))
	done
	rm -f "$scratch/a" "$scratch/b"
	mkfifo "$scratch/a" "$scratch/b"
	"$BUILD/sonde" run -q "$2" -o "$scratch/with" -- "$BUILD/bench/slowdown" triad $amount "$TURNS" "$scratch/a" "$scratch/b" begins >"$scratch/turns_with" &
	local recorded=$!
	"$BUILD/sonde" run -q --stacks=off -o "$scratch/without" -- "$BUILD/bench/slowdown" triad $amount "$TURNS" "$scratch/b" "$scratch/a" >"$scratch/turns_without" &
	echo >"$scratch/a"
	wait $! && wait $recorded || exit 2
	# shellcheck disable=SC2034
	read -r first mid low high rest < <(python3 bench/slowdown_of.py "$scratch/turns_without" "$scratch/turns_with")
	own=$(awk -v a="$(own_of "$scratch/with")" -v b="$(own_of "$scratch/without")" '{ sum += $1 } END { printf "%.3f", 100 * (a - b) / (sum / 1e9) }' "$scratch/turns_without")
	figure "$what: recorder and helper" "$own" %
	figure "$what: the job's extra CPU" "$mid ($low to $high)" %
	bar "$what: both, lower end of the interval" "$(awk "BEGIN { printf \"%.2f\", $own + ($low > 0 ? $low : 0) }")" % '<=' "$3"
}

turns 'one busy core, by default' --stacks=long 0.5
turns 'one busy core, --stacks' --stacks=99 0.5
gcc -O2 -w -o "$scratch/loop" -x c - <<<'#include <stdlib.h>
int main(int c, char **v) { volatile double x = 1; for (long i = 0, n = atol(v[1]); i < n; i++) x = x * 1.0000001 + 0.1; return 0; }'
each=600000000 # 2 s
[ -z "${QUICK:-}" ] || each=50000000
busy="for i in \$(seq 100); do $scratch/loop $each & done; wait"
cost '100 busy processes, by default' --stacks=long 0.5 sh -c "$busy"
cost '100 busy processes, --stacks' --stacks=99 0.5 sh -c "$busy"
# A build: a driver, a compiler and an assembler for each of a thousand small files.
files=1000
[ -z "${QUICK:-}" ] || files=100
printf '#include <stdio.h>\n#include <string.h>\nint f(int x) { char b[64]; snprintf(b, sizeof b, "%%d", x); return (int)strlen(b); }\n' >"$scratch/small.c"
build="i=0; while [ \$i -lt $files ]; do i=\$((i+1)); gcc -O2 -c -o $scratch/small.o $scratch/small.c; done"
cost "a build of $((3 * files)) processes, by default" --stacks=long 1 sh -c "$build"
cost "a build of $((3 * files)) processes, --stacks" --stacks=99 1 sh -c "$build"
# Processes that do nothing at all are nearly nothing but starts: what an inherited event adds to each.
# shellcheck disable=SC2016
nothing='i=0; while [ $i -lt 3000 ]; do i=$((i+1)); /bin/true; done'
cost '3,000 processes that do nothing, by default' --stacks=long '' sh -c "$nothing"
cost '3,000 processes that do nothing, --stacks' --stacks=99 '' sh -c "$nothing"

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

# Processes of 7 ms: the part of their time that is in samples, 150 of them.
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
