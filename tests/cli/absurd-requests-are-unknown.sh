# SPDX-License-Identifier: Apache-2.0
# What a scheduler's variables say is used as far as it can be true.
. "$TOP/tests/lib.sh"
export SLURM_JOB_ID=17 SLURM_MEM_PER_NODE=4096
"$SONDE" run --quiet -o true -- true || fail "run"
equal "memory asked" 4294967296 "$(figure true .job.memory_asked_bytes)"
SLURM_MEM_PER_NODE=9223372036854775807 "$SONDE" run --quiet -o absurd -- true || fail "run"
equal "absurd memory asked" null "$("$SONDE" show --json absurd | jq .job.memory_asked_bytes)"
