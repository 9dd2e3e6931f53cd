#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How often compare blames the right function, on simulated runs with known truth and fixed seeds (bench/blame.c), whose figures are the same on
# every machine. Takes a minute; QUICK=1 takes 10 s.
#
# A program of 20 functions in 4 classes, about 10 s at 99 samples a second. One function is slowed by 5 % of the whole, or none is. Noise is 2 %: of
# whole runs, of each function by itself (6 % of it, which is about 2 % of the whole), heavy-tailed (Student's t with 3 degrees of freedom), or with a
# drift of 2 standard deviations over all runs. Samples are counted, which adds their own error. A and B alternate, but in the last kind of noise.
#
# Each simulation also runs with seeds that were kept aside while the code was written; the worse of the two counts.
set -eu
# shellcheck source=bench/bar.sh
. bench/bar.sh
BUILD=${BUILD:-build} N=${N:-1000}
[ -z "${QUICK:-}" ] || N=150
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for runs in 10 5 3; do
	for half in open kept; do
		"$BUILD/bench/blame" $runs "$N" $half >>"$scratch/$runs"
	done
done

worst() { # RUNS KIND COLUMN min|max
	awk -F '\t' -v key="$2" -v c="$3" -v how="$4" '
		$1 == key { v = $c; if (n++ == 0 || (how == "min" ? v < w : v > w)) w = v }
		END { print n ? w : "nan" }' "$scratch/$1"
}

for kind in "whole runs vary" "each function varies" heavy-tailed "drift of 2 sd"; do
	bar "10 + 10 runs, $kind: the slowed function is named first" "$(worst 10 "$kind" 2 min)" % ">=" 95
	bar "10 + 10 runs, $kind: nothing changed, nothing blamed" "$(worst 10 "$kind" 4 min)" % ">=" 98
	bar "10 + 10 runs, $kind: parts add up to the whole difference" "$(worst 10 "$kind" 5 min)" % ">=" 100
	figure "10 + 10 runs, $kind: another function is named, too" "$(worst 10 "$kind" 3 max)" %
	figure "10 + 10 runs, $kind: the true difference is in the interval of the whole" "$(worst 10 "$kind" 6 min)" %
	bar "10 + 10 runs, $kind: all intervals of functions have theirs" "$(worst 10 "$kind" 7 min)" % ">=" 98
done
for runs in 5 3; do
	figure "$runs + $runs runs, whole runs vary: the slowed function is named first" "$(worst $runs "whole runs vary" 2 min)" %
	bar "$runs + $runs runs, whole runs vary: nothing changed, nothing blamed" "$(worst $runs "whole runs vary" 4 min)" % ">=" 98
done
after="drift of 2 sd, one after the other"
figure "10 + 10 runs, $after: the slowed function is named first" "$(worst 10 "$after" 2 min)" %
bar "10 + 10 runs, $after: nothing changed, nothing blamed" "$(worst 10 "$after" 4 min)" % ">=" 98
figure "10 + 10 runs, $after: the true difference is in the interval of the whole" "$(worst 10 "$after" 6 min)" %
exit $missed
