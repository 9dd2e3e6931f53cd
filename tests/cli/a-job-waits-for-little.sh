# SPDX-License-Identifier: Apache-2.0
# plain
# A job begins behind the first sample, and what need not be known before is looked for while it runs: where cores are and how many interrupts
# they took, the file systems, the helper for stacks.
. "$TOP/tests/lib.sh"
need strace
strace -f -y -o trace -e trace=openat,pread64,readlinkat,newfstatat,statfs,sendmsg "$SONDE" run -q -o out -- /bin/true 2>strace-said || skip "strace is not permitted"

# Up to the message that the first sample is taken (MESSAGE_READY of src/job/message.h).
awk '/sendmsg\([0-9]+<[^>]*>, .*"\\[0-7]+\\0\\0\\0\\1\\0\\0\\0/ { said = 1; exit } { print } END { exit !said }' trace >before || fail "the recorder said nothing"

later() { # WHAT PATTERN: it is in the trace, but not before the job
	grep -q -- "$2" trace || fail "$1: nobody looked for it"
	! grep -q -- "$2" before || fail "$1: the job waits for it: $(grep -m 1 -- "$2" before)"
}
later "the helper for stacks" 'sonde-unwind'
later "the file system of /" 'statfs("/",'
[ ! -r /proc/interrupts ] || later "how many interrupts each core took" 'pread64([0-9]*</proc/interrupts>'
[ ! -e /sys/devices/system/cpu/cpu0/topology/core_id ] || [ -e /sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count ] ||
	later "where a core is" 'cpu0/topology/core_id'
! grep -q /etc/localtime before || fail "times in UTC need no time zone"
holds "mountinfo is read for control groups and for files in memory" "$(grep -c '/mountinfo",.* = [0-9]' before) <= 2"
