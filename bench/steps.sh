#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How well steps are found in made jobs with known truth and fixed seeds (bench/steps.c, tests/made_steps.h): 100 loops of 0.2 to 20 s with up to 15 %
# of jitter, warm-up, slow steps and checkpoints, seen 4.5 to 60 times a step; and 100 jobs that do not iterate: random walks, bursts, builds, ramps,
# noise. Half of the seeds were kept aside while the code was written. Likewise a second family, with other shapes, jitter, drift, checkpoints and
# sampling (tests/made_rounds.h), written before its author read the code. Then real programs that iterate, with the real recorder, beside what they
# measured themselves (bench/steps_real.py), of two families; half of the second was kept aside; and of a third (bench/steps_varied.py), half of it kept,
# too. QUICK=1 leaves those out. On a busy machine their steps
# differ by far more than 2 %: the load is shown.
set -eu
# shellcheck source=bench/bar.sh
. bench/bar.sh
BUILD=${BUILD:-build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

value() { # FILE KEY
	awk -F '\t' -v key="$2" '$1 == key { print $2 }' "$scratch/$1"
}

for half in open:1 kept:900001 open,_second_family:1:rounds kept,_second_family:900001:rounds; do
	IFS=: read -r name seed family <<<"$half"
	name=${name//_/ }
	"$BUILD/bench/steps" "$seed" 50 ${family:+"$family"} >"$scratch/$name"
	bar "50 loops, $name: mean step within 2 %" "$(value "$name" mean)" % ">=" 95
	figure "50 loops, $name: median step within 2 %" "$(value "$name" median)" %
	figure "50 loops, $name: nothing found" "$(value "$name" none)" %
	figure "50 loops, $name: slow steps found" "$(value "$name" slow)" %
	bar "50 jobs without steps, $name: some found" "$(value "$name" invented)" % "<=" 2
done
if [ -z "${QUICK:-}" ]; then
	SONDE=$(realpath "$BUILD/sonde")
	export SONDE
	figure "load before real programs" "$(cut -d ' ' -f 1 /proc/loadavg)" ""
	for family in "first:20 real programs:8" "open:15 real programs of other structures:10" "kept:15 real programs of other structures, kept:10"; do
		IFS=: read -r name what others <<<"$family"
		python3 bench/steps_real.py "$name" >"$scratch/real"
		bar "$what: median step within 2 % of their own clock" "$(value real median)" % ">=" 95
		bar "$others real programs without steps, $name: some found" "$(value real invented)" % "<=" 2
	done
	python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install -q numpy && export STEPS_PYTHON="$scratch/venv/bin/python"
	for half in open kept; do
		python3 bench/steps_varied.py "$half" >"$scratch/real"
		bar "8 varied real programs, $half: median step within 2 % of their own clock" "$(value real median)" % ">=" 95
		bar "4 varied real programs without steps, $half: some found" "$(value real invented)" % "<=" 2
	done
fi
exit $missed
