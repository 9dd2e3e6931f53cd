#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One fuzz target on its corpus: tests/fuzz/run.sh NAME. With LONG, $FUZZ_SECONDS of search after it, and what covers more is
# added to the corpus. Its runs are a line of $BUILD/fuzz-runs, and the total of all is said.
set -euo pipefail
target=$BUILD/fuzz/fuzz_$1
seeds=$TOP/tests/fuzz/corpus/$1
found=$BUILD/corpus/$1
bounds=(-error_exitcode=1 -timeout=10 -rss_limit_mb=2048)
small=$((32 << 10)) # bytes of a corpus, at most

replay=()
[ ! -d "$seeds" ] || replay=("$seeds")
"$target" "${bounds[@]}" -runs=0 "${replay[@]}"
[ -n "${LONG:-}" ] || exit 0
mkdir -p "$found" "$seeds"
words=() status=0
[ ! -e "$TOP/tests/fuzz/dictionaries/$1" ] || words=("-dict=$TOP/tests/fuzz/dictionaries/$1")
"$target" "${bounds[@]}" "${words[@]}" -max_total_time="${FUZZ_SECONDS:-60}" -print_final_stats=1 "$found" "$seeds" 2>&1 | tee search.log || status=$?
sed -n "s/^stat::number_of_executed_units: */$1 /p" search.log >>"$BUILD/fuzz-runs"
awk '{ n += $NF } END { printf "%d runs in all\n", n }' "$BUILD/fuzz-runs"
[ $status = 0 ] || exit $status

# The smallest of what covers more than the corpus does, as far as there is room.
mkdir more
cp -r "$seeds/." more
"$target" -merge=1 -max_len=4096 more "$found"
total=$(find "$seeds" -type f -exec cat {} + | wc -c)
while read -r bytes name; do
	total=$((total + bytes))
	[ $total -le $small ] || break
	cp "more/$name" "$seeds/$name"
done < <(comm -13 <(ls "$seeds") <(ls more) | while read -r name; do echo "$(stat -c %s "more/$name") $name"; done | sort -n)
