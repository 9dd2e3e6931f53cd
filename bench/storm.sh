#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A storm of short processes, 1,500 a second for 10 s, with each way to detect process starts and exits: are all
# counted, does the CPU total match the kernel's own, what does Sonde use, and what does it cost the job? Run by root,
# it runs them as nobody. The cost is the CPU time of a spawn with Sonde over that without; the two alternate, ROUNDS
# times (default 7) for 2 s each. Takes 3 minutes, with QUICK=1 20 s, and then the cost is noise. So it is on a busy
# machine.
#
# Last, what the kernel takes for each way by itself, of starting /bin/true and waiting for it (bench/births.c). Records
# of starts and ends take one inherited event a CPU, the CPU time of each task that ends another. Both by one event would
# take half, but a task that ends on one CPU writes its counts into the rings of all, and two at once leave a ring stuck:
# starts and ends must not be lost so. A count of all together says nothing of a process, and the connector neither CPU
# time nor names. So each process has its CPU time for what this takes while that is less than 2 % of
# the job, and a storm of processes that do nothing is recorded with the connector after its first second.
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-7} rate=1500 seconds=10
[ -z "${QUICK:-}" ] || ROUNDS=1 seconds=2
. bench/bar.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
as=()
if [ "$(id -u)" = 0 ]; then
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)
	chown 65534:65534 "$scratch"
fi
cp "$BUILD/sonde" "$BUILD/programs/storm" "$scratch" # nobody may not read the build
sonde=$scratch/sonde storm=$scratch/storm

recorded() { # BIRTHS SECONDS: the storm's own figures go to the file "own"
	"${as[@]}" rm -rf "$scratch/out"
	(cd "$scratch" && "${as[@]}" "$sonde" run -q --process-events "$1" -o out -- "$storm" $rate "$2" /bin/true >own)
}

show() { # JQ-FILTER
	"$sonde" show --json "$scratch/out" | jq -r "$1"
}

three() { # digits of a number
	awk "BEGIN { printf \"%.4g\", $1 }"
}

us_a_spawn() { # of the storm's figures on standard input
	awk '{ print $3 / $1 * 1e6 }'
}

judge_counts() { # HOW
	local spawns wall cpu seen at_most
	read -r spawns wall cpu <"$scratch/own"
	read -r seen at_most < <(show '"\(.job.processes_started) \(.job.processes_started_at_most)"')
	figure "$1: spawns a second" "$(three "$spawns / $wall")" 1/s
	if [ "$1" = polling ]; then
		figure "$1: seen to start" "$seen" processes
		bar "$1: upper bound over what was started" "$(three "$at_most / ($spawns + 1)")" ratio '>=' 1
	else
		bar "$1: missed or counted twice" "$((seen > spawns + 1 ? seen - spawns - 1 : spawns + 1 - seen))" processes '<=' 0
	fi
	bar "$1: CPU total, off from the kernel's" \
		"$(three "$(show ".job.cpu_seconds / $cpu - 1 | if . < 0 then -. else . end * 100")")" % '<=' 1
	figure "$1: CPU known by process" "$(three "$(show '.job.attributed_ratio * 100')")" %
	bar "$1: Sonde's share of a core" "$(three "$(show ".monitor.cpu_seconds / $wall * 100")")" % '<=' 2
}

judge_cost() { # BIRTHS...: in turns with the storm alone
	local births
	for _ in $(seq "$ROUNDS"); do
		for births in none "$@"; do
			if [ "$births" = none ]; then
				"${as[@]}" "$storm" $rate 2 /bin/true >"$scratch/own"
			else
				recorded "$births" 2
			fi
			us_a_spawn <"$scratch/own" >>"$scratch/us.$births"
		done
	done
	figure "CPU of a spawn without Sonde" "$(three "$(median <"$scratch/us.none")")" us
	for births in "$@"; do
		# The ratios of each round: what slows the whole machine for a while is in both.
		bar "$births: CPU of a spawn with Sonde, more than without" \
			"$(three "$(paste "$scratch/us.none" "$scratch/us.$births" | awk '{ print ($2 / $1 - 1) * 100 }' | median)")" % '<=' 5
	done
}

permitted=()
for births in perf connector polling; do
	recorded "$births" "$seconds"
	how=$(show .job.mechanisms)
	case $births,$how in
	perf,*'perf events'* | connector,*connector* | polling,*) permitted+=("$births") ;;
	*)
		echo "  $births: not permitted here ($how)"
		continue
		;;
	esac
	judge_counts "$births"
done
judge_cost "${permitted[@]}"
while read -r percent way; do
	figure "the kernel, $way: CPU of a spawn, more than without" "$percent" %
done < <("$BUILD/bench/births" $((ROUNDS * 20)) 40 /bin/true)
exit "${missed:-0}"
