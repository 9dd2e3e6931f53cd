#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Spans from within a program: what one costs the thread that makes it, and its size in the recording. About a minute;
# QUICK=1: 10 s.
#
# A span is a begin and an end, with a recorder that reads them. Batches of 100 spans and of 100 pairs of clock_gettime
# alternate in each thread; the medians are over the batches of all threads, and the median round counts. Threads pause
# now and then, so that no span is lost. Without a recorder, a loop of spans is compared with the empty loop. For the
# size, a program makes spans of random lengths, 0.1 to 20 us, one after the other, with five names; the size of a
# recording of the same program without spans is subtracted.
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5} BATCHES=2000 SPANS=1000000
[ -z "${QUICK:-}" ] || ROUNDS=1 BATCHES=400 SPANS=200000
# shellcheck source=bench/bar.sh
. bench/bar.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for threads in 1 16; do
	for _ in $(seq "$ROUNDS"); do
		rm -rf "$scratch/rec"
		"$BUILD/sonde" run --quiet -o "$scratch/rec" -- "$BUILD/bench/spans" cost $threads $((BATCHES / (threads > 1 ? 4 : 1))) >>"$scratch/cost.$threads"
	done
	what="$threads thread$([ $threads = 1 ] || echo s)"
	figure "$what: a span" "$(cut -d ' ' -f 1 "$scratch/cost.$threads" | median)" ns
	figure "$what: two clock_gettime" "$(cut -d ' ' -f 2 "$scratch/cost.$threads" | median)" ns
	bar "$what: a span, of two clock_gettime" "$(awk '{ printf "%.2f\n", $1 / $2 }' "$scratch/cost.$threads" | median)" times '<=' 2
	figure "$what: spans lost" "$(cut -d ' ' -f 3 "$scratch/cost.$threads" | sort -g | tail -n 1)" count
done
for _ in $(seq "$ROUNDS"); do
	"$BUILD/bench/spans" off $((BATCHES / 10))
done >"$scratch/off"
bar 'without a recorder: a span, over an empty loop' "$(median <"$scratch/off")" ns '<=' 2

size() {
	cat "$scratch/$1"/*.sonde | wc -c
}
"$BUILD/sonde" run --quiet -o "$scratch/with" -- "$BUILD/bench/spans" make "$SPANS" >"$scratch/lost"
"$BUILD/sonde" run --quiet -o "$scratch/without" -- env -u SONDE_SPANS "$BUILD/bench/spans" make "$SPANS" >/dev/null
bar 'a span in the recording' \
	"$(awk "BEGIN { printf \"%.2f\", ($(size with) - $(size without)) / ($SPANS - $(cat "$scratch/lost")) }")" bytes '<=' 8
figure 'spans lost of those' "$(cat "$scratch/lost")" count
exit "${missed:-0}"
