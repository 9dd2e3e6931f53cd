#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exporting recordings of many nodes, compared with decoding alone (bench/decode_alone.c). Takes 5 minutes and 1 GB in
# TMPDIR; QUICK=1 takes 30 s.
#
# First what every export needs: all rows of an hour of 1,000 nodes, made and discarded (bench/rows_alone.c), 1.08
# billion values of 300 series at 1 Hz, tidy and wide. Then each format, for a minute of these nodes, to /dev/null;
# these are figures without bars, because the cost of encoding is not a share of decoding. A wide row uses the columns
# that decoding produced. A tidy one needs the values of one instant side by side, and writes 67 bytes of node, metric,
# device, time, unit and kind with each 8 bytes of a value, which takes another 0.6 of decoding's time. Memory is flat
# if an hour takes no more than a minute. CPU time of all processes counts, not wall time; ratios are computed per
# round, and the median round counts.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} ROUNDS=${ROUNDS:-3} NODES=1000 SERIES=300
[ -z "${QUICK:-}" ] || ROUNDS=1 NODES=100
FORMATS=${FORMATS:-csv json openmetrics parquet feather orc pickle}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

free_kb=$(df --output=avail -k "$scratch" | tail -n 1)
if [ "$free_kb" -lt $((NODES * 1000)) ]; then
	echo "export: $scratch has no room for $NODES nodes of an hour" >&2
	exit 2
fi

cost() { # COMMAND...: CPU seconds, resident MB
	"$BUILD/bench/cost_of" 1 "$@"
}

quotient() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", a / b }'
}

largest() { # FILE
	sort -g "$1" | tail -n 1
}

for length in minute hour; do
	mkdir "$scratch/$length"
	"$BUILD/bench/make_nodes" "$scratch/$length" "$NODES" "$([ $length = hour ] && echo 3600 || echo 60)" "$SERIES"
done
for shape in tidy wide; do
	for _ in $(seq "$ROUNDS"); do
		read -r alone _ < <(cost "$BUILD/bench/decode_alone" "$scratch/hour")
		read -r rows rss < <(cost "$BUILD/bench/rows_alone" "$scratch/hour" $shape)
		read -r _ less < <(cost "$BUILD/bench/rows_alone" "$scratch/minute" $shape)
		echo "$rows" >>"$scratch/$shape"
		quotient "$alone" "$rows" >>"$scratch/$shape.speed"
		echo "$rss" >>"$scratch/$shape.rss"
		awk -v a="$rss" -v b="$less" 'BEGIN { printf "%.1f\n", a - b }' >>"$scratch/$shape.more"
	done
	figure "an hour of $NODES nodes, $shape, into nothing" "$(median <"$scratch/$shape")" 'CPU s'
	bar "speed of that, of decoding's" "$(median <"$scratch/$shape.speed")" times '>=' 0.5
	figure "resident, $shape" "$(largest "$scratch/$shape.rss")" MB
	bar "more for an hour than for a minute, $shape" "$(median <"$scratch/$shape.more")" MB '<=' 8
done

read -r alone _ < <(cost "$BUILD/bench/decode_alone" "$scratch/minute")
for format in $FORMATS; do
	read -r spent rss < <(cost "$BUILD/sonde" export "$scratch/minute" --to "$format" --table series -o -)
	figure "a minute as $format, values a second" "$(awk -v n=$((NODES * 60 * SERIES)) -v s="$spent" 'BEGIN { printf "%.1f", n / s / 1e6 }')" million
	figure "a minute as $format, speed of decoding's" "$(quotient "$alone" "$spent")" times
	figure "a minute as $format, resident" "$rss" MB
done
exit $missed
