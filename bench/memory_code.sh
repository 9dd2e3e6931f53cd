#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory by code (--memory): how right its shares are, whether it finds a leak and no other, and what it costs. Twenty minutes; QUICK=1: four
# minutes, rough.
#
# Shares at the peak of programs in C and in Python with NumPy that know what they ask for. A program keeps 1 MB a second of the GB that it touches and
# gives back (memory_parts drip), and others keep nothing or stop to (steady, plateau); all with --memory=1000, since 16 s are short. Cost is the CPU
# time of job, recorder and helper together, with --memory less without, in pairs that alternate: of a program that touches 200 MB a second beside its
# computing, and of one that does nothing else, for about 12 s: the helper takes 0.02 s to start, and windows begin in the first second. memray (PyPI), which counts each allocation, is beside it on the program of NumPy.
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

python3 -m venv "$scratch/venv"
if "$scratch/venv/bin/pip" install -q numpy memray >"$scratch/pip" 2>&1; then
	numpy=("$scratch/venv/bin/python" tests/programs/numpy_parts.py 400 200 100)
	record numpy --memory -- "${numpy[@]}"
	bar 'largest error of a share, Python with NumPy' "$(worst numpy load_index=400 load_table=200 read_texts=100)" points '<=' 3
	alone=$(cpu_of "${numpy[@]}")
	figure 'program of NumPy, sonde run --memory: CPU more than alone' "$(cpu_of "$BUILD/sonde" run --quiet --stacks=off --memory -o "$scratch/numpy2" -- "${numpy[@]}" | awk -v a="$alone" '{ print 100 * ($1 - a) / a }')" %
	figure 'the same, memray run' "$(cpu_of "$scratch/venv/bin/memray" run -q -o "$scratch/memray.bin" "${numpy[@]:1}" | awk -v a="$alone" '{ print 100 * ($1 - a) / a }')" %
	figure 'the same, memray run --native' "$(cpu_of "$scratch/venv/bin/memray" run --native -q -o "$scratch/native.bin" "${numpy[@]:1}" | awk -v a="$alone" '{ print 100 * ($1 - a) / a }')" %
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
cost() { # WHAT TURNS COMPUTE BAR
	: >"$scratch/pairs"
	for _ in $(seq "$PAIRS"); do
		for memory in '' --memory; do
			# shellcheck disable=SC2086
			cpu_of "$BUILD/sonde" run --quiet --stacks=off $memory -o "$scratch/cost" -- "$parts" turns "$2" "$3"
			rm -rf "$scratch/cost"
		done | paste -s >>"$scratch/pairs"
	done
	bar "CPU that --memory adds, $1, median of $PAIRS pairs" "$(awk '{ print 100 * ($2 - $1) / $1 }' "$scratch/pairs" | median)" % '<=' "$4"
}
cost 'a program that computes, too' "$TURNS" "$COMPUTE" 1
cost 'a program that only touches memory' "$TOUCHES" 0 1
exit "$missed"
