#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How often what Sonde says of benchmarks is right, on made trials with known truth and fixed seeds: simulations, whose
# figures are the same on every machine. Takes 10 minutes; QUICK=1 takes 2.
#
# Sweeps (bench/sweep_winners.c): three combinations 5 % apart, 8 trials of each, noise of 2 %; how often bench advise
# names the best one, when trials run in rounds, and combination by combination.
#
# History (bench/history_steps.c): noise of 1 %; how often bench history finds a step of 5 % and more within 2 trials,
# and how often it reports one in a stable series.
#
# Advice (bench/advice_truth.c): 2 to 6 combinations with 1 to 12 trials each, from 0 to 300 % apart, noise of 1 to
# 60 %; how often a combination that is not the best is named, and how many comparisons contradict the medians beyond
# their interval.
#
# Each simulation also runs with seeds that were kept aside while the code was written; the worse of the two counts.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} N=${N:-400}
[ -z "${QUICK:-}" ] || N=60
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for half in open kept; do
	"$BUILD/bench/sweep_winners" "$N" $half >>"$scratch/winners"
	"$BUILD/bench/history_steps" "$N" $half >>"$scratch/steps"
	"$BUILD/bench/advice_truth" "$N" $half >>"$scratch/advice"
done

worst() { # FILE KEY COLUMN min|max: of the lines whose first columns are KEY
	awk -F '\t' -v key="$2" -v c="$3" -v how="$4" '
		index($0, key "\t") == 1 { v = $c; if (n++ == 0 || (how == "min" ? v < w : v > w)) w = v }
		END { print n ? w : "nan" }' "$scratch/$1"
}

for drift in none "rising by 4 %" "wandering by 2 %" "3 % more from somewhere on"; do
	bar "sweep in rounds, drift: $drift: the winner is named" "$(worst winners "rounds	$drift" 3 min)" % ">=" 95
	figure "combination by combination, drift: $drift: the winner is named" "$(worst winners "combinations	$drift" 3 min)" %
done
for kind in gaussian heavy-tailed; do
	for sides in 8+8 10+10 12+12; do
		for size in 5 10 30 200; do
			bar "history, $kind noise, a step of $size % after $sides trials: found" "$(worst steps "step	$kind	$sides	$size" 5 min)" % ">=" 95
		done
	done
done
for kind in disturbed "alike 0.3"; do
	for size in 5 30; do
		figure "history, $kind noise, a step of $size % after 8+8 trials: found" "$(worst steps "step	$kind	8+8	$size" 5 min)" %
	done
done
for kind in gaussian heavy-tailed disturbed "alike 0.3"; do
	for n in 10 16 24 60; do
		if [ "$kind" = "alike 0.3" ]; then
			figure "history, $kind noise, $n stable trials: a change is reported" "$(worst steps "none	$kind	$n" 5 max)" %
		else
			bar "history, $kind noise, $n stable trials: a change is reported" "$(worst steps "none	$kind	$n" 5 max)" % "<=" 2
		fi
	done
done
for kind in gaussian heavy-tailed disturbed; do
	for order in shuffled "one after the other" "one after the other, drifting by 20 %"; do
		bar "advice, $kind noise, $order: not the best is named" "$(worst advice "$kind	$order" 4 max)" % "<=" 5
		bar "advice, $kind noise, $order: comparisons that contradict the medians" "$(worst advice "$kind	$order" 5 max)" % "<=" 0
	done
done
exit $missed
