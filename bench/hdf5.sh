#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# HDF5 of a table of six columns: sonde-hdf5, fed by bench/table_of.c, compared with pandas' to_hdf(format="table",
# complevel=1) of the same table from memory, alternately on the same disk. 10 million rows, about 4 minutes and 8 GB
# of memory (pandas'); QUICK=1: a million. Needs the virtual environment of tests/interop. Ratios are computed per
# round, and the median round counts.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} ROUNDS=${ROUNDS:-3} ROWS=10000000
[ -z "${QUICK:-}" ] || ROWS=1000000
tests/readers/venv.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

quotient() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", a / b }'
}

for _ in $(seq "$ROUNDS"); do
	rm -f "$scratch"/*.h5
	read -r ours rss < <("$BUILD/venv/bin/python" bench/hdf5_arm.py sonde "$BUILD/bench/table_of" "$scratch/ours.h5" "$ROWS")
	read -r categories strings size < <("$BUILD/venv/bin/python" bench/hdf5_arm.py pandas "$scratch/ours.h5" "$scratch/theirs.h5" "$ROWS")
	echo "$ours" >>"$scratch/ours"
	echo "$rss" >>"$scratch/rss"
	quotient "$categories" "$ours" >>"$scratch/categories"
	quotient "$strings" "$ours" >>"$scratch/strings"
	quotient "$(stat -c %s "$scratch/ours.h5")" "$size" >>"$scratch/size"
done
figure "HDF5, $ROWS rows of six columns" "$(median <"$scratch/ours")" seconds
bar "HDF5, times faster than pandas' to_hdf(format='table', complevel=1), texts as strings" "$(median <"$scratch/strings")" x '>=' 5
figure "HDF5, times faster than that, texts as categories, as Sonde has them" "$(median <"$scratch/categories")" x
figure "HDF5, size as a part of pandas' with categories" "$(median <"$scratch/size")" x
bar "HDF5, peak memory of the writing process and its helper, the larger" "$(median <"$scratch/rss")" MB '<=' 64
exit "$missed"
