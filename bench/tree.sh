# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by the benches that measure on a tree of processes (tests/programs/tree.c), after bar.sh.
shopt -s inherit_errexit
BUILD=${BUILD:-build}
PYTHON=/usr/bin/python3
scratch=$(mktemp -d)
trees=() outputs=()
# Killing the first process of a tree ends the others.
trap '[ ${#trees[@]} -eq 0 ] || kill "${trees[@]}"; rm -rf "$scratch"' EXIT

tree_start() { # PROCESSES ACTIVE-PERCENT PERIOD-MS: sets $tree, its first process and session, once all are there
	local output
	rm -f "$scratch/fifo"
	mkfifo "$scratch/fifo"
	setsid "$BUILD/programs/tree" "$1" 10 "$2" "$3" >"$scratch/fifo" &
	tree=$!
	exec {output}<"$scratch/fifo"
	trees+=("$tree") outputs+=("$output")
	read -r <&"$output"
	sleep 0.5
}

tree_end() { # ends the tree that was started last; its output ends with its last process
	local output=${outputs[-1]}
	kill "${trees[-1]}"
	wait "${trees[-1]}" 2>/dev/null || true
	cat <&"$output"
	exec {output}<&-
	unset 'trees[-1]' 'outputs[-1]'
}

# CPU seconds of one sample of the recording in DIR: from its 5th reading of the recorder's CPU clock to the last but
# one (the last reads everything once more), so that neither start nor end is in it, but all between: wake-ups,
# writing, sealing. Prints also how many samples that were.
recorded_cost() { # DIR
	"$BUILD/sonde" export "$1" -o - --raw --wide --metrics monitor.cpu_seconds | awk -F, '
		NR > 1 { time[NR - 1] = $3; cpu[NR - 1] = $NF }
		END { n = NR - 2; printf "%.9f %d\n", (cpu[n] - cpu[5]) / (n - 5), n - 5 }'
}

# Does the recording's account of its own CPU agree with the kernel's? USED: user and system seconds of the whole
# command by the shell's time. What is missing in the recording is what came after its last sample.
account_agrees() { # DIR USER SYSTEM
	local own
	own=$("$BUILD/sonde" show --json "$1" | jq .monitor.cpu_seconds)
	awk "BEGIN { used = $2 + $3; exit !($own <= used + 0.01 && $own >= 0.95 * used - 0.1) }" || {
		echo "$BENCH: the recording says that it took $own s of CPU, the kernel $2 + $3 s" >&2
		exit 2
	}
}

# Nothing was left out, every process of the tree was seen, and its active ones ran between any two samples: each
# writes once when it is its turn.
tree_was_as_said() { # DIR PROCESSES ACTIVE-PERCENT
	local seen
	seen=$("$BUILD/sonde" show --json "$1" | jq -c '[.job.processes_peak, .monitor.reduced]')
	[ "$seen" = "[$2,null]" ] || {
		echo "$BENCH: not all of the $2 processes were recorded all the time: $seen" >&2
		exit 2
	}
	"$BUILD/sonde" export "$1" -o - --raw --wide --metrics job.write_calls | awk -F, -v active=$((($2 * $3 + 99) / 100)) '
		NR == 6 { first = $NF }
		NR > 6 { last = $NF }
		END {
			if (last - first >= 0.98 * active * (NR - 6))
				exit 0
			printf "the tree was less active than it should be: %d turns of %d\n", last - first, active * (NR - 6)
			exit 1
		}' >&2 || exit 2
}

ratio() { # A B
	awk "BEGIN { printf \"%.2f\", $1 / $2 }"
}
