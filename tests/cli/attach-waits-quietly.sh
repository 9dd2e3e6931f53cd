# SPDX-License-Identifier: Apache-2.0
# The end of one of several processes is no reason to wait busily for the others.
. "$TOP/tests/lib.sh"
sleep 2 &
first=$!
sleep 6 &
"$SONDE" attach -p "$first,$!" -i 1h --duration 4s -o out 2>/dev/null || fail "attach"
holds "monitor.cpu_seconds" "$(figure out .monitor.cpu_seconds) < 0.5"
