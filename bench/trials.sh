#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `sonde bench run` costs a script, and what it costs to put trials into the store. Takes 5 minutes.
#
# The script works for about 1 s. It is run bare and by `sonde bench run` in turns; each time it is measured from before its fork until it
# was waited for, and a pair is one of each. The overhead is how much longer it took; its estimate and interval are those of signed ranks over
# the pairs, since other machines on the same processor make single pairs differ by much, in both directions.
#
# 10,000 trials go into SQLite in transactions of 100, with all that is checked and written of each; the same rows go bare, by Python's sqlite3,
# into tables of the same schema with the same indexes, in the same transactions. Both take turns.
#
# Then two batches of 50,000 trials are compared, which takes all their rows, and Python's sqlite3 fetches these in one query for each batch.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} PAIRS=${PAIRS:-60} ROUNDS=${ROUNDS:-5}
[ -z "${QUICK:-}" ] || PAIRS=8 ROUNDS=2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SONDE=$BUILD/sonde

read -r middle high cpu own < <(/usr/bin/python3 bench/trials_overhead.py "$scratch" "$PAIRS")
figure "a script of 1 s takes longer by" "$middle" %
figure "its own CPU time grows by" "$cpu" %
figure "CPU time of sonde for a trial, from its start to its end" "$own" ms
bar "upper bound of the 95 % interval of that" "$high" % "<=" 1

for _ in $(seq "$ROUNDS"); do
	rm -f "$scratch"/*.sqlite
	own=$("$BUILD/bench/trials" "$scratch/own.sqlite" 10000 100)
	bare=$(/usr/bin/python3 bench/trials_arm.py "$scratch/own.sqlite" "$scratch/bare.sqlite" 100)
	echo "$own" >>"$scratch/own"
	awk "BEGIN { print $own / $bare }" >>"$scratch/ratio"
done
figure "10,000 trials in transactions of 100" "$(median <"$scratch/own")" s
bar "the same inserts bare, times" "$(median <"$scratch/ratio" | awk '{ printf "%.2f\n", $1 }')" "" "<=" 2

"$BUILD/bench/trials" "$scratch/many.sqlite" 50000 5000 >"$scratch/none"
"$BUILD/bench/trials" "$scratch/many.sqlite" 50000 5000 >"$scratch/none"
read -r own ratio < <(/usr/bin/python3 bench/trials_compare.py "$scratch/many.sqlite" "$ROUNDS")
figure "100,000 trials in two batches compared" "$own" s
bar "the same rows by a bare query of each, times" "$ratio" "" "<=" 3
exit $missed
