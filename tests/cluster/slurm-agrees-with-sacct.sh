# SPDX-License-Identifier: Apache-2.0
# limit: 300
# Of the same jobs sacct and Sonde say the same CPU time and memory, within 2 %; `make accounts` does it with all that docs/batch.md has.
ACCOUNTS=1
. "$TOP/tests/cluster/harness/slurm.sh"
need_accounts
cluster_start
. "$TOP/tests/cluster/harness/rows.sh"
row_plain
row_het
row_failure
row_array 2 2
cat rows
[ $wrong = 0 ] || fail "not within 2 %"
contains <(grep 'SIGSEGV' rows) 'First to fail: rank 1 of step 0 on n2, killed by SIGSEGV'
