#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every bench, one after the other, or those that are named: bench/run.sh [NAME...]. Ends with 1 when a bar is missed,
# with 2 when a bench did not come to its end. What it measures goes to $BUILD/bench-results/NAME.tsv, where
# bench/document.py finds it, with when and where. A bench is a script that says who runs it in its first line; the others are parts of one.
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build} LC_ALL=C.UTF-8
results=$BUILD/bench-results
mkdir -p "$results"
export XDG_DATA_HOME=$results/data # the history of the runs that are measured
[ $# -gt 0 ] || for script in bench/*.sh; do
	name=$(basename "$script" .sh)
	[ "$name" = run ] || ! head -n 1 "$script" | grep -q '^#!' || set -- "$@" "$name"
done

model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
virtual=; ! grep -q "^flags.*\bhypervisor\b" /proc/cpuinfo || virtual=", virtual"
machine="${model:-$(uname -m)}, $(nproc) cores$virtual, Linux $(uname -r)"
worst=0
for name; do
	echo "== $name"
	export BENCH_TSV=$results/$name.new
	printf '#\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%Y-%m-%d)" "$(git describe --always --dirty 2>/dev/null)" \
		"${QUICK:+quick}" "$(cut -d ' ' -f 1 /proc/loadavg)" "$machine" >"$BENCH_TSV"
	bash "bench/$name.sh"
	status=$?
	if [ $status -lt 2 ]; then
		mv "$BENCH_TSV" "$results/$name.tsv"
	else
		echo "bench/$name.sh did not come to its end: exit code $status"
		status=2
	fi
	[ $status -le $worst ] || worst=$status
done
exit $worst
