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
# time for the readings limits what is possible: if the floor, times Sonde's allowance over it, is less far below
# psutil than the bar, no sampler that reads everything can meet the bar with this machine's kernel and processor.
#
# CELLS="100:all 1000:idle" measures these cells only; ":crowd" adds a measurement beside 5,000 unrelated processes.
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
# The cells, and how many times less than psutil each is to take.
declare -A wanted=([1:some]=8 [10:some]=12 [100:some]=20 [1000:some]=25 [100:idle]=30 [1000:idle]=50 [5000:idle]=50
	[100:all]=10 [1000:all]=10)
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

allowed() { # FLOOR TIMES WHAT: how far below psutil the floor is, and what may take so many times as much
	figure "that floor, times less than psutil, $3" "$(quotient psutil "$1")" times
	figure "$2 times that floor, times less than psutil, $3" \
		"$(awk "BEGIN { printf \"%.2f\", $(quotient psutil "$1") / $2 }")" times
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
	judge psutil sonde "times less than psutil, $what" '>=' "${wanted[$1:$2]}"
	case $2 in
	some)
		say moved "the floor that reads who ran, $what"
		figure "times that floor, $what" "$(quotient sonde moved)" times
		allowed moved 1.25 "$what"
		;;
	all)
		say moved "the floor, $what"
		judge sonde moved "times the floor, $what" '<=' 1.25
		allowed moved 1.25 "$what"
		say full "the floor without CPU clocks, $what"
		figure "times the floor without CPU clocks, $what" "$(quotient sonde full)" times
		;;
	idle)
		say gate "the gate floor, $what"
		judge sonde gate "times the gate floor, $what" '<=' 2
		allowed gate 2 "$what"
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
