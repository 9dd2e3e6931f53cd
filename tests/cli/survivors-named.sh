# SPDX-License-Identifier: Apache-2.0
# Run ends when the command ends and names what outlives it; --wait-all stays until the last has ended.
. "$TOP/tests/lib.sh"
started=$(now)
"$SONDE" run -o out -- sh -c 'sleep 8 </dev/null >/dev/null 2>&1 & exit 5' 2>said
equal "exit status" 5 $?
holds "run ends with its command" "$(now) - $started < 6"
contains said sleep
equal "exit_code" 5 "$(figure out .job.exit_code)"

started=$(now)
"$SONDE" run --quiet --wait-all -i 100ms -o all -- sh -c "setsid sh -c '$PROGRAMS/spin 300000; sleep 1' & exit 6"
equal "exit status with --wait-all" 6 $?
holds "--wait-all waits" "$(now) - $started >= 1.2"
holds "the orphan's time is in the total" "$(figure all .job.cpu_seconds) >= 0.298"
