#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job that dies with a core dump: the recording and the summary say so, and sonde, which dies of the same signal, writes no second core.
. "$TOP/tests/lib.sh"

grep -q '^[^|/]*$' /proc/sys/kernel/core_pattern || skip "cores go elsewhere here: $(cat /proc/sys/kernel/core_pattern)"
ulimit -c unlimited 2>/dev/null || skip "no core may be written here"
sh -c 'kill -SEGV $$' 2>/dev/null
compgen -G 'core*' >/dev/null || skip "no core is written here"
rm -f core*
# shellcheck disable=SC2016 # the job's
"$SONDE" run --quiet -o dumped -- sh -c 'echo $$ >pid; kill -SEGV $$' 2>/dev/null
equal "status" 139 $?
equal "cores" 1 "$(find . -maxdepth 1 -name 'core*' | wc -l)"
equal "metadata" true "$(figure dumped '.nodes[0].metadata["job.core_dumped"]')"
"$SONDE" show dumped >shown || fail "show: $?"
contains shown "Killed by SIGSEGV (signal 11, core dumped)"
rm -f core*
ulimit -c 0
# shellcheck disable=SC2016
"$SONDE" run --quiet -o plain -- sh -c 'kill -SEGV $$' 2>/dev/null
"$SONDE" show plain >shown || fail "show: $?"
contains shown "Killed by SIGSEGV (signal 11)"
