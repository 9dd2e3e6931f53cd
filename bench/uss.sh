#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time per sample if PSS and USS of every process are read again in each (`--pss always`), compared with psutil's
# memory_full_info() on new objects, on a tree of 100 active processes. Takes 4 minutes; QUICK=1 takes 20 s.
#
# bench/cost.sh describes the method. Nearly all of the time is the kernel's walk through page tables, which both need.
set -eu
. bench/bar.sh
. bench/tree.sh
ROUNDS=${ROUNDS:-3} SAMPLES=650 PSUTIL_SAMPLES=40
[ -z "${QUICK:-}" ] || ROUNDS=1 SAMPLES=60 PSUTIL_SAMPLES=10
PROCESSES=100

tree_start $PROCESSES 100 90
for _ in $(seq "$ROUNDS"); do
	rm -rf "$scratch/out"
	"$BUILD/sonde" attach -q -p "$tree" -i 100ms --duration $((SAMPLES * 100))ms --pss always --max-overhead off \
		-o "$scratch/out"
	tree_was_as_said "$scratch/out" $PROCESSES 100
	# The oldest PSS of any sample: all were read in it.
	"$BUILD/sonde" export "$scratch/out" -o - --raw --wide --metrics job.pss_age_seconds,job.pss_bytes |
		awk -F, -v bench="$BENCH" 'NR > 6 && ($NF == "" || $NF > 0.1) { bad++ }
			END { if (bad) { print bench ": PSS was not read in", bad, "samples"; exit 2 } }' >&2
	recorded_cost "$scratch/out" | awk '{ printf "%.1f\n", $1 * 1e6 }' >>"$scratch/sonde"
	"$PYTHON" bench/psutil_arm.py --uss "$tree" $PSUTIL_SAMPLES 0.1 | awk '{ printf "%.1f\n", $1 * 1e6 }' >>"$scratch/psutil"
done
figure "Sonde, $PROCESSES processes, PSS of each" "$(median <"$scratch/sonde")" 'us a sample'
figure "psutil, $PROCESSES processes, USS of each" "$(median <"$scratch/psutil")" 'us a sample'
bar 'times less than psutil' "$(paste "$scratch/psutil" "$scratch/sonde" | awk '{ printf "%.2f\n", $1 / $2 }' | median)" \
	times '>=' 3.2
exit $missed
