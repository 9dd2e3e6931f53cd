#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time by code (--stacks): how right the shares are, how many stacks are whole, what it costs, what it takes in the recording. Half an hour;
# QUICK=1: minutes.
#
# The program's parts are measured by its own clock in the same run; it is compiled without frame pointers. Cost is CPU time of the recorder, the
# helper and the job, with --stacks and without, in alternation; "perf record -g --call-graph dwarf", where it is installed, beside them: its own
# CPU time, and the job's. Bytes are those of the recording, less one of the same program without --stacks.
set -eu
BUILD=${BUILD:-build}
RUNS=${RUNS:-20} SECONDS_OF_CPU=${SECONDS_OF_CPU:-20} LONG_RUN=${LONG_RUN:-120} COST_RUNS=${COST_RUNS:-5}
[ -z "${QUICK:-}" ] || RUNS=2 SECONDS_OF_CPU=5 LONG_RUN=15 COST_RUNS=1
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

# The work is the same each time: without a clock of its own it would end after the same CPU time.
cost() { # WHAT CMD...
	local what=$1
	shift
	for _ in $(seq "$COST_RUNS"); do
		rm -rf "$scratch/with" "$scratch/without" "$scratch/perf.data"
		cpu_of "$BUILD/sonde" run --quiet -o "$scratch/without" -- "$@" >>"$scratch/without.txt"
		cpu_of "$BUILD/sonde" run --quiet --stacks -o "$scratch/with" -- "$@" >>"$scratch/with.txt"
		! command -v perf >/dev/null || cpu_of perf record -q -F 99 -e cpu-clock:u -g --call-graph dwarf -o "$scratch/perf.data" -- "$@" >>"$scratch/perf.txt"
	done
	if [ "$bar_of_cost" ]; then
		bar "$what: recorder, helper and the job's extra CPU" "$(share with)" % '<=' "$bar_of_cost"
	else
		figure "$what: recorder, helper and the job's extra CPU" "$(share with)" %
	fi
	[ ! -e "$scratch/perf.txt" ] || figure "$what: perf record with DWARF stacks, on top of sonde's without" "$(share perf)" %
	rm -f "$scratch"/{with,without,perf}.txt
}

share() { # of what it takes without
	awk -v a="$(median <"$scratch/$1.txt")" -v b="$(median <"$scratch/without.txt")" 'BEGIN { printf "%.2f", 100 * (a - b) / b }'
}

bar_of_cost=0.5
gcc -O2 -w -o "$scratch/loop" -x c - <<<'int main(int c, char **v) { volatile double x = 1; for (long i = 0; i < 20000000000L / (c > 1 ? 100 : 1); i++) x = x * 1.0000001 + 0.1; return 0; }'
[ -z "${QUICK:-}" ] || gcc -O2 -w -o "$scratch/loop" -x c - <<<'int main(int c, char **v) { volatile double x = 1; for (long i = 0; i < 1000000000L / (c > 1 ? 100 : 1); i++) x = x * 1.0000001 + 0.1; return 0; }'
cost 'one busy core' "$scratch/loop"
cost '100 busy processes' sh -c "for i in \$(seq 100); do $scratch/loop short & done; wait"
# A build: a driver, a compiler and an assembler for each of a thousand small files.
bar_of_cost=1
files=1000
[ -z "${QUICK:-}" ] || files=100
printf '#include <stdio.h>\n#include <string.h>\nint f(int x) { char b[64]; snprintf(b, sizeof b, "%%d", x); return (int)strlen(b); }\n' >"$scratch/small.c"
cost "a build of $((3 * files)) processes" sh -c "i=0; while [ \$i -lt $files ]; do i=\$((i+1)); gcc -O2 -c -o $scratch/small.o $scratch/small.c; done"
# Processes that do nothing at all are nearly nothing but starts: what an inherited event adds to each.
bar_of_cost=
cost '3,000 processes that do nothing' sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); /bin/true; done'

record long --stacks -- "$parts" "$LONG_RUN" >/dev/null
record plain -- "$parts" "$LONG_RUN" >/dev/null
samples=$(python3 -c 'import sys; from stacks import Stacks; print(Stacks(sys.argv[1]).total())' "$scratch/long")
bar 'a sample in the recording' "$(awk "BEGIN { printf \"%.2f\", ($(cat "$scratch"/long/*.sonde | wc -c) - $(cat "$scratch"/plain/*.sonde | wc -c)) / $samples }")" bytes '<=' 4
resident=$("$BUILD/sonde" export --raw -o - "$scratch/long" | awk -F, '$2 == "monitor.unwind_resident_bytes" && $6 > most { most = $6 } END { print most / 1048576 }')
bar "the helper's memory" "$resident" MiB '<=' 32

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
record short --stacks -- "$kinds" short 0.007 150
figure '150 processes of 7 ms: sampled' "$(python3 -c 'import sys; from stacks import Stacks; f = Stacks(sys.argv[1]); print(round(100 * sum(s.weight * s.unit for s in f.samples) / (150 * 7e6), 1))' "$scratch/short")" %
exit "${missed:-0}"
