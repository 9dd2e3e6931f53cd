#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Size and speed of recordings: bytes per value in sealed blocks and in the tail, next to the entropy of the same
# values; CPU time of making and reading blocks, next to zlib and bare varints in the same run. On two jobs generated
# from a seed (bench/matrix.h): a mixed hour, and one in which every counter moves. About 10 s; QUICK=1: 3 s.
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-9}
[ -z "${QUICK:-}" ] || ROUNDS=3
. bench/bar.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$BUILD/bench/recording_size" >"$scratch/figures"
"$BUILD/bench/codec_speed" "$ROUNDS" >>"$scratch/figures"

of() { # JOB FIGURE
	awk -F '\t' -v job="$1" -v figure="$2" '$1 == job && $2 == figure { print $3 }' "$scratch/figures"
}

ratio() { # JOB FIGURE FIGURE
	awk "BEGIN { printf \"%.2f\", $(of "$1" "$2") / $(of "$1" "$3") }"
}

job() { # JOB SEALED-BAR TAIL-BAR
	figure "$1: values as in the sample before" "$(of "$1" unchanged_percent)" %
	bar "$1: sealed" "$(of "$1" sealed_bytes)" B/value '<=' "$2"
	bar "$1: open tail" "$(of "$1" tail_bytes)" B/value '<=' "$3"
	figure "$1: entropy of lengths, and the bits behind" "$(of "$1" limit_bytes)" B/value
	bar "$1: sealed, of the entropy" "$(of "$1" of_limit)" times '<=' 1.25
	figure "$1: zlib-6 of varints, without ranges and checksums" "$(of "$1" zlib_bytes)" B/value
	figure "$1: the same with runs of zeros, as FTDC" "$(of "$1" ftdc_bytes)" B/value
	figure "$1: into the tail" "$(of "$1" rows_ns)" ns/value
	figure "$1: into the tail and into blocks" "$(of "$1" encode_ns)" ns/value
	figure "$1: zlib-6 of varints" "$(of "$1" zlib_ns)" ns/value
	figure "$1: the same with runs of zeros" "$(of "$1" ftdc_ns)" ns/value
	bar "$1: encode, of zlib-6" "$(ratio "$1" encode_ns zlib_ns)" times '<=' 0.25
	figure "$1: decode" "$(of "$1" decode_ns)" ns/value
	figure "$1: bare varints and memcpy" "$(of "$1" varint_ns)" ns/value
	bar "$1: decode, of bare varints" "$(ratio "$1" decode_ns varint_ns)" times '<=' 2
	figure "$1: write, system calls included" "$(of "$1" write_ns)" ns/value
	figure "$1: read through the run" "$(of "$1" read_ns)" ns/value
}

job mixed 0.55 0.75
job busy 1.3 1.6
figure 'waiting: sealed' "$(of waiting sealed_bytes)" B/value
figure 'waiting: open tail' "$(of waiting tail_bytes)" B/value
exit $missed
