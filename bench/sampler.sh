#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The sampler within a program, libsonde's thread, compared with one in Python that reads the same with psutil, like
# lightgbm-benchmark's: CPU time per sample at 10 Hz. Takes 3 minutes; QUICK=1 takes 10 s.
#
# Both wake up, read and keep samples, and the program does nothing else; the first sample is left out. From Python it
# is the same thread. The two alternate; ratios are computed per round, and the median round counts.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} ROUNDS=${ROUNDS:-5} INTERVAL=0.1 SAMPLES=100
[ -z "${QUICK:-}" ] || ROUNDS=1 SAMPLES=30
library=$(realpath "$BUILD/libsonde.so.0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

micro() {
	awk '{ printf "%.1f\n", $1 * 1e6 }' "$1" | median
}

for _ in $(seq "$ROUNDS"); do
	"$BUILD/bench/sampler" $INTERVAL $SAMPLES >>"$scratch/c"
	/usr/bin/python3 bench/sampler_arm.py psutil $INTERVAL $SAMPLES >>"$scratch/psutil"
	SONDE_LIBRARY=$library PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 bench/sampler_arm.py sonde $INTERVAL $SAMPLES >>"$scratch/python"
done
figure 'libsonde, from C' "$(micro "$scratch/c")" 'us a sample'
figure 'libsonde, from Python' "$(micro "$scratch/python")" 'us a sample'
figure psutil "$(micro "$scratch/psutil")" 'us a sample'
for from in c python; do
	bar "times less than psutil, from $([ $from = c ] && echo C || echo Python)" \
		"$(paste "$scratch/psutil" "$scratch/$from" | awk '{ printf "%.2f\n", $1 / $2 }' | median)" times '>=' 4
done
exit $missed
