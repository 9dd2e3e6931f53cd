#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory of the recorder: its own on trees of 100 to 5,000 processes, the kernel's for the files that it keeps open,
# and its start and end on a simulated day. Takes 8 minutes; QUICK=1 takes 1. Needs no root.
#
# Every process of a tree is active unless stated otherwise, since files are kept open for active ones. A library
# counts as resident as far as it is mapped, even if shared; the static build (make static) has none. Resident is the
# kernel's maximum (VmHWM), over two sealed blocks. The kernel's memory for kept files is measured on another tree of
# as many processes, where bench/slab.c opens and reads as many of the same files, as the growth of its slabs. The day
# is simulated by bench/day.c: the recorder's sampler and writer with a simulated clock and processes that start and
# exit. All sources of the node are on throughout, and 2 MB of each limit are for them.
set -eu
. bench/bar.sh
. bench/tree.sh
ROUNDS=${ROUNDS:-3} SAMPLES=650 HOURS=24
[ -z "${QUICK:-}" ] || ROUNDS=1 SAMPLES=60 HOURS=2
declare -A limit=([100]=6 [1000]=10 [5000]=18)

of_status() { # PID NAME: MB
	awk -v name="$2:" '$1 == name { printf "%.2f\n", $2 * 1024 / 1e6 }' "/proc/$1/status"
}

kept_files() { # PID: "stat=100 io=20 ..." of what it holds open below /proc/PID
	find "/proc/$1/fd" -printf '%l\n' | sed -nE 's#^/proc/[0-9]+/(stat|statm|io|fd)$#\1#p' | sort | uniq -c |
		awk '{ printf "%s=%d ", $2, $1 }'
}

resident() { # PROCESSES INTERVAL-MS [ACTIVE-PERCENT WORDS [PROGRAM]]: sets $kept
	local what="$1 processes, ${4:-all active}" program=${5:-sonde} recorder
	tree_start "$1" "${3:-100}" $(($2 * 9 / 10))
	rm -rf "$scratch/out"
	"$BUILD/$program" attach -q -p "$tree" -i "$2ms" --max-overhead off -o "$scratch/out" &
	recorder=$!
	sleep $((SAMPLES * $2 / 1000))
	kept=$(kept_files $recorder)
	figure "resident at last, $what" "$(of_status $recorder VmRSS)" MB
	bar "resident at most, $what" "$(of_status $recorder VmHWM)" MB '<=' "${limit[$1]}"
	kill -INT $recorder
	wait $recorder || true
	tree_end
}

slab() { # PROCESSES
	local bytes
	for _ in $(seq "$ROUNDS"); do
		tree_start "$1" 0 1000
		# shellcheck disable=SC2086 # a word each
		"$BUILD/bench/slab" "$tree" $kept
		tree_end
	done >"$scratch/slab"
	bytes=$(median <"$scratch/slab")
	figure "files kept open, $1 processes, all active" "$(tr ' =' '\n ' <<<"$kept" | awk '{ n += $2 } END { print n }')" files
	bar "kernel slab for them, $1 processes, all active" "$(awk "BEGIN { printf \"%.2f\", $bytes / 1e6 }")" MB '<=' 12
}

resident 100 100 1 'mostly idle'
resident 100 100
[ ! -x "$BUILD/sonde-static" ] || resident 100 100 100 'all active, static build' sonde-static
resident 1000 100
slab 1000
# A tree of 5,000 that is active at 10 Hz would take two cores.
resident 5000 400
slab 5000

mkdir "$scratch/day"
"$BUILD/bench/day" "$scratch/day" "$HOURS" >"$scratch/hours"
hour() { awk -v h="$1" 'NR == h || h == "last" { mb = $2 / 1e6 } END { printf "%.2f", mb }' "$scratch/hours"; }
figure 'resident after the first hour of a simulated day' "$(hour 1)" MB
figure 'resident after the sixth' "$(hour 6)" MB
bar "more after hour $HOURS than after the first" "$(awk "BEGIN { printf \"%.2f\", $(hour last) - $(hour 1) }")" MB '<=' 0.2
exit $missed
