#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time per sample with the task iterator (--tree bpf) and with the files of /proc (--tree proc), on the same tree of
# 1,000 active processes.
#
# Both alternate, three times, each with 40 samples at an interval of 500 ms, without PSS and with the overhead limit
# off. A figure is the CPU time of the whole recorder divided by the number of samples; the ratio is computed per round,
# and the median round counts. It needs CAP_BPF and CAP_PERFMON, and the helper sonde-iterator.

# shellcheck disable=SC2154 # what the files named here set
set -eu
. bench/bar.sh
. bench/tree.sh
ROUNDS=${ROUNDS:-3} PROCESSES=1000 MS=500 SAMPLES=40
[ -z "${QUICK:-}" ] || ROUNDS=1

"$BUILD/sonde" doctor --json | jq -e '.mechanisms[] | select(.name == "process.task_iterator") | .state == "available"' >/dev/null || {
	echo "$BENCH: the task iterator is not available here: sonde doctor says why" >&2
	exit 2
}

sample_us() { # WAY: CPU us of a sample of $tree
	rm -rf "$scratch/out"
	"$BUILD/sonde" attach -q -p "$tree" -i "${MS}ms" --duration $((SAMPLES * MS))ms --pss off --max-overhead off \
		--tree "$1" -o "$scratch/out" 2>"$scratch/said" || {
		cat "$scratch/said" >&2
		exit 2
	}
	tree_was_as_said "$scratch/out" $PROCESSES 100
	recorded_cost "$scratch/out" | awk '{ printf "%.1f\n", $1 * 1e6 }'
}

tree_start $PROCESSES 100 $((MS * 9 / 10))
for ((round = 0; round < ROUNDS; round++)); do
	for way in proc bpf; do
		sample_us $way >>"$scratch/$way"
	done
done
tree_end >/dev/null

figure "1,000 active processes, files of /proc" "$(median <"$scratch/proc")" 'us a sample'
figure "1,000 active processes, task iterator" "$(median <"$scratch/bpf")" 'us a sample'
bar "task iterator, compared with /proc" "$(paste "$scratch/bpf" "$scratch/proc" | awk '{ printf "%.2f\n", $1 / $2 }' | median)" times '<=' 0.5
