#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 10 million intervals of Scanner's profiles: importing them, compared with reading the files and summing their bytes;
# totalling the spans; writing them as traces, compared with fprintf of as many events in Chrome's JSON to /dev/null.
# Takes a minute and 2 GB in TMPDIR; QUICK=1 takes a tenth. CPU time of all processes and threads counts; ratios are
# computed per round, and the median round counts. Memory is bounded if all of them take little more than a tenth of
# them.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} ROUNDS=${ROUNDS:-3} SPANS=10000000
[ -z "${QUICK:-}" ] || ROUNDS=1 SPANS=1000000
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cost() { # COMMAND...: CPU seconds, resident MB
	"$BUILD/bench/cost_of" 1 "$@"
}

quotient() { # A B
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", a / b }'
}

"$BUILD/bench/profiles" make "$scratch/few" $((SPANS / 10))
"$BUILD/bench/profiles" make "$scratch/db" "$SPANS"
profiles=("$scratch"/db/jobs/1/profile_*.bin)
for _ in $(seq "$ROUNDS"); do
	rm -rf "$scratch/recording" "$scratch/little"
	read -r sum _ < <(cost "$BUILD/bench/profiles" sum "${profiles[@]}")
	read -r format _ < <(cost "$BUILD/bench/profiles" format "$SPANS")
	read -r spent more < <(cost "$BUILD/sonde" import scanner "$scratch/db" 1 -o "$scratch/recording" 2>/dev/null)
	read -r _ less < <(cost "$BUILD/sonde" import scanner "$scratch/few" 1 -o "$scratch/little" 2>/dev/null)
	quotient "$sum" "$spent" >>"$scratch/import"
	awk -v a="$more" -v b="$less" 'BEGIN { printf "%.1f\n", a - b }' >>"$scratch/memory.import"
	echo "$more" >>"$scratch/rss"
	read -r spent _ < <(cost "$BUILD/sonde" show --spans "$scratch/recording")
	quotient "$sum" "$spent" >>"$scratch/show"
	for kind in json pftrace; do
		read -r spent more < <(cost "$BUILD/sonde" trace "$scratch/recording" -o "$scratch/trace.$kind" 2>/dev/null)
		read -r _ less < <(cost "$BUILD/sonde" trace "$scratch/little" -o "$scratch/trace.$kind" 2>/dev/null)
		quotient "$spent" "$format" >>"$scratch/$kind"
		awk -v a="$more" -v b="$less" 'BEGIN { printf "%.1f\n", a - b }' >>"$scratch/memory.$kind"
		echo "$more" >>"$scratch/rss"
	done
done
bytes=$(cat "$scratch"/recording/*.sonde | wc -c)
figure "stored, bytes a span" "$(quotient "$bytes" "$SPANS")" bytes
bar "importing, of the speed of reading and summing the bytes" "$(median <"$scratch/import")" times '>=' 0.333
figure "show --spans, of that speed" "$(median <"$scratch/show")" times
bar "Chrome's JSON, time of formatting" "$(median <"$scratch/json")" times '<=' 1.5
bar "Perfetto, time of formatting JSON" "$(median <"$scratch/pftrace")" times '<=' 1.5
figure "most resident" "$(sort -g "$scratch/rss" | tail -n 1)" MB
for what in import json pftrace; do
	bar "more for all than for a tenth of them, $what" "$(median <"$scratch/memory.$what")" MB '<=' 8
done
exit $missed
