#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory by code (--memory): how right its shares are, whether it finds a leak and no other, and what it costs. Twenty minutes; QUICK=1: four
# minutes, rough.
#
# Shares at the peak of programs in C and in Python with NumPy that know what they ask for. A program keeps 1 MB a second of the GB that it touches and
# gives back (memory_parts drip), and others keep nothing or stop to (steady, plateau); all with --memory=1000, since 16 s are short. Cost is the CPU
# time of job, recorder and helper together, with --memory less without, in pairs that alternate: of a program that touches 200 MB a second beside its
# computing, and of one that does nothing else, for about 12 s: the helper takes 0.02 s to start, and windows begin in the first second. memray (PyPI)
# and heaptrack, which count each allocation, take turns with it on the programs of NumPy and in C.
set -eu
BUILD=${BUILD:-build}
LEAKS=${LEAKS:-20} PAIRS=${PAIRS:-8} LEAK_SECONDS=16 TURNS=50 TOUCHES=500 COMPUTE=100000000
[ -z "${QUICK:-}" ] || LEAKS=3 PAIRS=2 TURNS=15 TOUCHES=250
# shellcheck source=bench/bar.sh
. bench/bar.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
parts=$BUILD/programs/memory_parts

record() { # NAME OPTIONS... -- CMD...
	local name=$1
	shift
	rm -rf "${scratch:?}/$name"
	"$BUILD/sonde" run --quiet --stacks=off -o "$scratch/$name" "$@" >"$scratch/$name.out" 2>&1
	"$BUILD/sonde" show --memory --json "$scratch/$name" >"$scratch/$name.json"
}

# The largest difference of FUNCTION=MB from what was found, in points of the peak.
worst() { # NAME FUNCTION=MB...
	python3 - "$scratch/$1.json" "${@:2}" <<-'END'
		import json, sys
		found = json.load(open(sys.argv[1]))
		owner = {row["name"]: row["peak_bytes"] for row in found["owner"]}
		print(max(100 * abs(owner.get(name, 0) - int(mb) * 2**20) / found["peak_bytes"] for name, mb in (part.split("=") for part in sys.argv[2:])))
	END
}

record c --memory -- "$parts" 600 300 100 3
bar 'largest error of a share, C' "$(worst c load_index=600 load_table=300 write_log=100)" points '<=' 3

numpy=()
python3 -m venv "$scratch/venv"
if "$scratch/venv/bin/pip" install -q numpy memray >"$scratch/pip" 2>&1; then
	numpy=("$scratch/venv/bin/python" tests/programs/numpy_parts.py 400 200 100)
	record numpy --memory -- "${numpy[@]}"
	bar 'largest error of a share, Python with NumPy' "$(worst numpy load_index=400 load_table=200 read_texts=100)" points '<=' 3
fi

# ---- leaks ----
named=0 wrong=0
for _ in $(seq "$LEAKS"); do
	record leak --memory=1000 -- "$parts" drip "$LEAK_SECONDS"
	[ "$(jq -r .grows "$scratch/leak.json")" != write_log ] || named=$((named + 1))
	for how in steady plateau; do
		record none --memory=1000 -- "$parts" "$how" "$LEAK_SECONDS"
		[ "$(jq -r .grows "$scratch/none.json")" = null ] || wrong=$((wrong + 1))
	done
done
bar "leak of 1 MB a second beside churn, $LEAKS runs: function named" "$(awk "BEGIN { print 100 * $named / $LEAKS }")" % '>=' 95
bar "runs without a leak, of $((2 * LEAKS)): one named" "$wrong" runs '<=' 0

# ---- what it costs ----

# CPU seconds of each arm, in rounds that alternate: a line a round.
rounds() { # ARM...: names of functions
	local arm
	for _ in $(seq "$PAIRS"); do
		for arm; do
			"$arm"
			rm -rf "$scratch/cost" "$scratch"/arm.*
		done | paste -s
	done
}

# Of two columns, by how many percent of the first the second is more: the estimate, and the ends of its 95 % interval.
more() { # FIRST SECOND
	awk -v a="$1" -v b="$2" '{ print 100 * ($b - $a) / $a }' "$scratch/rounds" | python3 bench/estimate.py
}

job=()
bare() { cpu_of "${job[@]}"; }
without() { cpu_of "$BUILD/sonde" run --quiet --no-history --stacks=off -o "$scratch/cost" -- "${job[@]}"; }
with_memory() { cpu_of "$BUILD/sonde" run --quiet --no-history --stacks=off --memory -o "$scratch/cost" -- "${job[@]}"; }
by_memray() { cpu_of "$scratch/venv/bin/memray" run -q -o "$scratch/arm.memray" "${job[@]:1}"; }
by_memray_native() { cpu_of "$scratch/venv/bin/memray" run --native -q -o "$scratch/arm.native" "${job[@]:1}"; }
by_heaptrack() { cpu_of heaptrack -o "$scratch/arm.heaptrack" "${job[@]}"; }

cost() { # WHAT
	local mid low high
	rounds without with_memory >"$scratch/rounds"
	read -r mid low high <<<"$(more 1 2)"
	figure "CPU that --memory adds, $1, $PAIRS pairs" "$mid ($low to $high)" %
	bar "CPU that --memory adds, $1, lower end of the interval" "$low" % '<=' 1
}
job=("$parts" turns "$TURNS" "$COMPUTE")
cost 'a program that computes, too'
job=("$parts" turns "$TOUCHES" 0)
cost 'a program that only touches memory'

# Beside the others, in the same rounds: what each adds to the program alone.
beside() { # WHAT ARM...
	local what=$1 column=2 arm mid low high
	shift
	rounds bare "$@" >"$scratch/rounds"
	for arm; do
		read -r mid low high <<<"$(more 1 "$column")"
		figure "CPU that ${arm/by_/} adds to $what alone, $PAIRS rounds" "$mid ($low to $high)" %
		column=$((column + 1))
	done
}
if [ -n "${numpy[*]}" ]; then
	job=("${numpy[@]}")
	beside 'a short program of NumPy' with_memory by_memray by_memray_native
fi
if command -v heaptrack >/dev/null; then
	job=("$parts" 600 300 100 3)
	beside 'a short program in C' with_memory by_heaptrack
fi
exit "$missed"
