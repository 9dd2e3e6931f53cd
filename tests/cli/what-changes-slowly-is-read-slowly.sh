#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# At ten samples a second, load, pressure and the open files of a process are read once a second: absent in between, never repeated; and
# once more in the last sample.
. "$TOP/tests/lib.sh"
# shellcheck disable=SC2016 # the job's shell
"$SONDE" run -q -i 100ms --max-overhead off -o out -- timeout 2.5 sh -c 'while :; do :; done' && fail "timeout ends with 124"
column() { # METRIC: its cells, one a line
	"$SONDE" export out -o - --raw --wide --metrics "$1,monitor.cpu_seconds" | awk -F, 'NR > 1 { print $4 }'
}
process() { # the same of the process that runs
	"$SONDE" export out -o - --raw --metrics process.open_files_count | awk -F, '$3 ~ /^sh#/ { print $6 }'
}
for metric in node.load_1min node.pressure_memory_some_seconds process.open_files_count; do
	if [ $metric = process.open_files_count ]; then process; else column $metric; fi >cells
	known=$(grep -c . cells)
	echo "$metric: $known of $(wc -l <cells)"
	[ "$known" -ge 2 ] || fail "$metric is not there"
	[ "$known" -le 6 ] || fail "$metric was read more than once a second"
done
# The last sample has no process any more, but the node.
[ -n "$(column node.pressure_memory_some_seconds | tail -n 1)" ] || fail "the last sample is without pressure"
column job.resident_bytes >cells
[ "$(grep -c . cells)" -ge $(($(wc -l <cells) - 3)) ] || fail "memory was not read in every sample"
[ "$(column job.open_files_count | sed -n 4p)" -ge 3 ] || fail "a job of less than a second has no open files"
