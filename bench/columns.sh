#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writing columns: 10 million rows of six columns, alternating with pyarrow (PyPI), which writes the same table from
# memory to the same disk, both with zstd; a pickle alternating with pandas, whose texts are categories, both without
# compression. Takes 3 minutes; QUICK=1 takes 20 s.
#
# Only writing counts, not making the rows. Sonde gets them 4096 at a time, as in an export; pyarrow has them all, with
# texts as dictionaries where it accepts these. Ratios are computed per round, and the median round counts.

# shellcheck disable=SC2154 # what the file named here sets
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5} ROWS=10000000
[ -z "${QUICK:-}" ] || ROUNDS=1 ROWS=1000000
FORMATS=${FORMATS:-parquet feather orc pickle}
. bench/bar.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tests/readers/venv.sh || true
[ -e "$BUILD/venv/requirements.txt" ] || {
	echo "$BUILD/venv is not there, and cannot be made: no network?"
	exit 2
}

column() { # FILE NUMBER: the median of it
	cut -f "$2" "$1" | median
}

for format in $FORMATS; do
	other=pyarrow most=1.2
	[ "$format" != pickle ] || other=pandas most=1
	for _ in $(seq "$ROUNDS"); do
		"$BUILD/bench/columns" "$format" "$scratch/table" "$ROWS" >>"$scratch/sonde"
		[ -e "$scratch/table.parquet" ] || "$BUILD/bench/columns" parquet "$scratch/table.parquet" "$ROWS" >/dev/null
		"$BUILD/venv/bin/python" bench/columns_arm.py "$format" "$scratch/table.parquet" "$scratch/theirs" >>"$scratch/other"
	done
	figure "$format: Sonde" "$(column "$scratch/sonde" 1)" s
	figure "$format: $other" "$(column "$scratch/other" 1)" s
	bar "$format: time, of $other's" \
		"$(paste "$scratch/sonde" "$scratch/other" | awk '{ printf "%.2f\n", $1 / $4 }' | median)" times '<=' 1
	bar "$format: resident at most" "$(column "$scratch/sonde" 2)" MB '<=' 64
	figure "$format: size" "$(awk "BEGIN { printf \"%.1f\", $(column "$scratch/sonde" 3) / 1e6 }")" MB
	bar "$format: size, of $other's" \
		"$(paste "$scratch/sonde" "$scratch/other" | awk '{ printf "%.3f\n", $3 / $5 }' | median)" times '<=' $most
	rm "$scratch/sonde" "$scratch/other"
done
exit $missed
