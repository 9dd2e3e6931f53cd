# SPDX-License-Identifier: Apache-2.0
# What the caller waited for before it became sonde is not the command's memory.
. "$TOP/tests/lib.sh"
sh -c "$PROGRAMS/mem private 200 50 >/dev/null; exec '$SONDE' run --quiet -o out -- true" || fail "run"
holds "peak of true" "$(figure out .job.peak_memory_bytes) < 20 * 1024 * 1024"
