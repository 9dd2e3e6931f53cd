#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How much more CPU time and time a job takes with `sonde run` and its defaults, for nine kinds of work. Takes 5 minutes;
# QUICK=1 takes a minute and only shows that it works; JOBS="pipe storm" measures these only, OPTIONS=--stacks with that.
#
# A job alone and one that is recorded live at the same time and alternate after 50 ms of CPU, 200 times each, in the order
# A B B A. The ratios of the pairs give the estimate and its 95 % interval (bench/estimate.py). What else runs on the
# machine disturbs both alike and widens the interval: the bar is for its lower end. CPU time is that of the job, its
# threads and children included; time is what a turn took. Neither has what Sonde itself computes, which may fall into
# the turn of either: its CPU time is told beside them, and added for the bar, as if the job had waited for all of it.
# The two processes of pipe, futex and shared stay on one core.
# The bar is for a job of 10 s, the first second included.
#
# What Sonde costs a job is mostly the perf events that report process starts and exits, 0.3 to 0.5 us of each context
# switch. A job that switches more than 10,000 times a second is recorded without them after 0.15 s, or after 2 s where
# it begins to do so later; the kernel still takes 0.1 us of each of its switches while any other program of the machine
# uses perf events of tasks. So is a job that for a second starts processes for which they take more than 2 % of it.

# shellcheck disable=SC2154 # what the file named here sets
set -eu
BUILD=$(realpath "${BUILD:-build}") TURNS=200 MS=50
[ -z "${QUICK:-}" ] || TURNS=40 MS=10
. bench/bar.sh
[ -z "${BENCH_TSV:-}" ] || BENCH_TSV=$(realpath "$BENCH_TSV")
of=$(realpath bench/slowdown_of.py)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkfifo a b

amount_of() { # JOB: of a turn
	local amount=1 ms=0
	while awk "BEGIN { exit !($ms < 10) }"; do
		amount=$((amount * 2))
		ms=$(echo >a & timeout 60 "$BUILD/bench/slowdown" "$1" $amount 1 a b | awk '{ print $1 / 1e6 }')
	done
	awk "BEGIN { printf \"%d\", $amount * $MS / $ms + 1 }"
}

own_share() { # of one core, in percent, in a job of 10 s: the start and the end once, the rest as it is
	"$BUILD/sonde" show --json out | jq -r '.monitor.cpu_seconds / .job.wall_seconds * 100 | . * 100 | round / 100'
}

for job in ${JOBS:-pipe futex barrier shared storm compile triad mmap io}; do
	amount=$(amount_of "$job")
	rm -rf out
	timeout 900 "$BUILD/sonde" run -q ${OPTIONS:-} -o out -- "$BUILD/bench/slowdown" "$job" "$amount" $TURNS a b begins >with &
	recorded=$!
	timeout 900 "$BUILD/bench/slowdown" "$job" "$amount" $TURNS b a >alone &
	echo >a
	wait $! && wait $recorded || exit 2
	read -r first mid low high time early late total least < <(python3 "$of" alone with)
	own=$(own_share)
	figure "$job: CPU, in the first second" "$first" %
	figure "$job: CPU, later" "$mid ($low to $high)" %
	figure "$job: time, later" "$time ($early to $late)" %
	figure "$job: CPU, 10 s" "$total" %
	figure "$job: Sonde itself, of a core" "$own" %
	bar "$job: CPU, 10 s, lower end of the interval, with Sonde itself" \
		"$(awk "BEGIN { printf \"%.2f\", $least + $own }")" % '<=' 2
done
exit $missed
