#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How much longer a job takes with `sonde run` and its defaults: nine kinds of work, each alternately alone and recorded,
# ROUNDS times (default 15) for 5 s each. Takes 25 minutes; QUICK=1 takes a minute and only shows that it works.
#
# CPU time is all that the job took, its threads and children included, without Sonde's own; on a machine that others
# use, too, it says more than the time that passed. What Sonde costs a job is mostly the perf events that report process
# starts and exits, 0.3 to 0.5 us of each context switch: a job that switches more than 10,000 times a second is
# recorded without them after 0.15 s (after 2 s, where it begins to do so later). Estimates and their 95 %
# intervals are over the differences of the rounds (bench/estimate.py). The bar is for the estimate; where the interval
# is wide the machine was too busy to tell.
set -eu
BUILD=$(realpath "${BUILD:-build}") ROUNDS=${ROUNDS:-15} SECONDS_EACH=5
[ -z "${QUICK:-}" ] || ROUNDS=2 SECONDS_EACH=0.2
. bench/bar.sh
[ -z "${BENCH_TSV:-}" ] || BENCH_TSV=$(realpath "$BENCH_TSV")
estimate=$(realpath bench/estimate.py)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

turns_of() { # JOB: as many as take long enough
	local turns=1 wall=0
	while awk "BEGIN { exit !($wall < 0.1) }"; do
		turns=$((turns * 4))
		wall=$("$BUILD/bench/slowdown" "$1" $turns | awk '{ print $2 / 1e9 }')
	done
	awk "BEGIN { printf \"%d\", $turns * $SECONDS_EACH / $wall + 1 }"
}

recorded() {
	rm -rf out
	"$BUILD/sonde" run -q -o out -- "$@"
}

# WHAT COLUMN BAR
say() {
	local mid low high
	read -r mid low high < <(paste alone with | awk "{ print (\$($2 + 2) / \$$2 - 1) * 100 }" | python3 "$estimate")
	if [ -n "$3" ]; then
		bar "$1" "$mid" % '<=' "$3"
	else
		figure "$1" "$mid" %
	fi
	figure "$1: 95 % interval" "$low to $high" %
}

for job in ${JOBS:-pipe futex barrier shared storm compile triad mmap io}; do
	turns=$(turns_of "$job")
	rm -f alone with
	for round in $(seq "$ROUNDS"); do
		for turn in $((round % 2)) $(((round + 1) % 2)); do
			if [ "$turn" = 0 ]; then
				"$BUILD/bench/slowdown" "$job" "$turns" >>alone
			else
				recorded "$BUILD/bench/slowdown" "$job" "$turns" >>with
			fi
		done
	done
	say "$job: more CPU time" 1 2
	say "$job: longer" 2 ''
done
# shellcheck disable=SC2154 # of bar.sh
exit "$missed"
