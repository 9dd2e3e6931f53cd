#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time per sample, compared with psutil and with the floor (bench/floor.c), on trees of 1 to 5,000 processes. Takes
# 40 minutes; QUICK=1 takes 3.
#
# Each cell is a tree with the given number of processes and share of active ones (1 % if mostly idle). In each round
# Sonde, the floor and psutil alternate on the same tree at the same interval. A figure is the CPU time (user and
# system) of the whole process, including its wake-ups and the node's files, divided by the number of samples. Sonde
# takes at least 640, so that they include two sealed blocks, without PSS and with its overhead limit off, so that it
# leaves nothing out. The floor makes the same readings; its CPU time in ns comes from the CPU clock, because stat has
# ticks of 10 ms. Ratios are computed per round, and the median round counts. The interval is 100 ms: at shorter ones
# Sonde does not read everything in each sample (tests/bench/floor-is-what-it-says.py tests this). The kernel's own
# time for the readings limits what is possible, and how far below psutil that is depends on the kernel and the
# processor. So Sonde is judged by its distance from the floor; psutil is for information.
#
# CELLS="100:all 1000:idle" measures these cells only; ":crowd" adds a measurement beside 5,000 unrelated processes.

# shellcheck disable=SC2154 # what the files named here set
set -eu
. bench/bar.sh
. bench/tree.sh
. bench/floor.sh
ROUNDS=${ROUNDS:-3} SONDE_SAMPLES=${SONDE_SAMPLES:-650} FLOOR_SAMPLES=200 PSUTIL_SAMPLES=40
[ -z "${QUICK:-}" ] || ROUNDS=1 SONDE_SAMPLES=50 FLOOR_SAMPLES=30 PSUTIL_SAMPLES=8
MS=100

# Per cent of the processes that are active; each a little more often than a sample is taken.
declare -A active=([idle]=1 [some]=30 [all]=100)
declare -A named=([idle]='mostly idle' [some]='30 % active' [all]='all active')
# Of a few processes, what a sample takes besides them is as much.
declare -A times_floor=([1:some]=2 [10:some]=2)
CELLS=${CELLS:-1:some 10:some:crowd 100:some 1000:some 100:idle 1000:idle 5000:idle 100:all 1000:all}

sonde_us() { # PROCESSES SHARE: CPU us of a sample of $tree
	local TIMEFORMAT='%U %S'
	rm -rf "$scratch/out"
	{ time "$BUILD/sonde" attach -q -p "$tree" -i "${MS}ms" --duration $((SONDE_SAMPLES * MS))ms --pss off \
		--max-overhead off -o "$scratch/out" 2>"$scratch/said"; } 2>"$scratch/times" || {
		cat "$scratch/said" >&2
		exit 2
	}
	# shellcheck disable=SC2046 # two words
	account_agrees "$scratch/out" $(cat "$scratch/times")
	tree_was_as_said "$scratch/out" "$1" "$2"
	recorded_cost "$scratch/out" | awk '{ printf "%.1f\n", $1 * 1e6 }'
}

floor_us() { # MODE
	"$BUILD/bench/floor" "$1" "$tree" "$FLOOR_SAMPLES" "$MS" "${group[@]}"
}

psutil_us() {
	"$PYTHON" bench/psutil_arm.py "$tree" "$PSUTIL_SAMPLES" "$(awk "BEGIN { print $MS / 1000 }")" |
		awk '{ printf "%.1f\n", $1 * 1e6 }'
}

# Every round's figure of an arm is a line of $scratch/ARM.
measure() { # ARM PROCESSES ACTIVE-PERCENT
	local us
	case $1 in
	sonde | crowd) us=$(sonde_us "$2" "$3") ;;
	psutil) us=$(psutil_us) ;;
	*) us=$(floor_us "$1") ;;
	esac
	echo "$us" >>"$scratch/$1"
}

say() { # ARM WHAT
	figure "$2" "$(median <"$scratch/$1")" 'us a sample'
}

quotient() { # ARM OTHER: how many times more ARM is, the median of the rounds
	paste "$scratch/$1" "$scratch/$2" | awk '{ printf "%.2f\n", $1 / $2 }' | median
}

judge() { # ARM OTHER WHAT OP LIMIT
	bar "$3" "$(quotient "$1" "$2")" times "$4" "$5"
}

# What other processes of the machine cost: the same tree beside 5,000 that sleep.
measure_in_crowd() { # PROCESSES ACTIVE-PERCENT
	local watched=$tree tree
	tree_start 5000 0 1000
	tree=$watched measure crowd "$1" "$2"
	tree_end
}

compare() { # PROCESSES SHARE CROWD: Sonde, the floor and psutil
	local what="$1 processes, ${named[$2]}" arms='sonde psutil' arm
	case $2 in
	some) arms='sonde moved psutil' ;;
	all) arms='sonde full moved psutil' ;;
	idle) arms='sonde gate psutil' ;;
	esac
	[ "$1" != 1 ] || what='1 process, active'
	tree_start "$1" "${active[$2]}" $((MS * 9 / 10))
	for _ in $(seq "$ROUNDS"); do
		for arm in $arms; do measure "$arm" "$1" "${active[$2]}"; done
		[ -z "$3" ] || measure_in_crowd "$1" "${active[$2]}"
	done
	tree_end
	say sonde "Sonde, $what"
	say psutil "psutil, $what"
	figure "times less than psutil, $what" "$(quotient psutil sonde)" times
	case $2 in
	some)
		say moved "the floor that reads who ran, $what"
		judge sonde moved "times that floor, $what" '<=' "${times_floor[$1:$2]:-1.25}"
		;;
	all)
		say moved "the floor, $what"
		judge sonde moved "times the floor, $what" '<=' 1.25
		say full "the floor without CPU clocks, $what"
		figure "times the floor without CPU clocks, $what" "$(quotient sonde full)" times
		;;
	idle)
		say gate "the gate floor, $what"
		judge sonde gate "times the gate floor, $what" '<=' 2
		;;
	esac
	[ -z "$3" ] || {
		say crowd "Sonde, $what, beside 5000 unrelated ones"
		judge crowd sonde "times the cost alone, $what, beside 5000 unrelated ones" '<=' 1.2
	}
}

mapfile -t group < <(group_files "$MS" 30)
for cell in $CELLS; do
	IFS=: read -r processes share crowd <<<"$cell"
	rm -f "$scratch"/{sonde,crowd,full,moved,gate,psutil}
	compare "$processes" "$share" "$crowd"
done
exit $missed
