#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `sonde bench run` costs a script, and what it costs to put trials into the store. Takes 5 minutes.
#
# The overhead on a script of 1 s is the sum of three parts (bench/trials_overhead.py): how much longer a script that
# does nothing takes; how much the CPU time of the same work grows, alternating every 5 ms between a bare script and
# one under Sonde; and Sonde's own CPU time per second, counted as if the script had waited for all of it. Other
# virtual machines on the same processor change its speed from second to second. So the difference between whole
# scripts of 1 s, which also alternate, has a wide interval and no bar.
#
# 10,000 trials go into SQLite in transactions of 100, including all checks and tables. For comparison, Python's
# sqlite3 writes the same rows into tables of the same schema with the same indexes, in the same transactions. Both
# alternate.
#
# Then two batches of 50,000 trials are compared, which reads all their rows; Python's sqlite3 fetches these in one
# query per batch.
set -eu
. bench/bar.sh
BUILD=${BUILD:-build} PAIRS=${PAIRS:-40} ROUNDS=${ROUNDS:-5}
[ -z "${QUICK:-}" ] || PAIRS=8 ROUNDS=2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SONDE=$BUILD/sonde

read -r start work second total high whole low_whole high_whole own < <(/usr/bin/python3 bench/trials_overhead.py "$scratch" "$PAIRS")
figure "a script that does nothing takes longer by" "$start" ms
figure "CPU time of the same work grows by" "$work" %
figure "CPU time of sonde for each second of a script" "$second" ms
figure "these together, of a script of 1 s" "$total" %
bar "upper bound of the 95 % interval of that" "$high" % "<=" 1
figure "a script of 1 s as a whole takes longer by" "$whole" %
figure "lower end of the 95 % interval of that" "$low_whole" %
figure "upper end of it" "$high_whole" %
figure "CPU time of sonde for a trial, from its start to its end" "$own" ms

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
