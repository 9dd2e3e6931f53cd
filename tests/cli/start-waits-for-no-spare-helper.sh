# SPDX-License-Identifier: Apache-2.0
# plain
# Before the job starts, a helper is started for each file system that is known by then, and none to spare: the one for a file
# system that the job will write to starts with the second sample.
. "$TOP/tests/lib.sh"
need strace
helpers() { # OUT INTERVAL COMMAND...: how many are started, each behind a socket of its own
	strace -f -qq -o "$1.calls" -e trace=socketpair "$SONDE" run --quiet -o "$1" -i "$2" -- "${@:3}" || return 1
	grep -c 'socketpair(AF_UNIX, SOCK_STREAM' "$1.calls"
}
short=$(helpers short 60s true) || skip "strace may not trace here"
long=$(helpers long 100ms sleep 2)
holds "helpers of a job of two samples" "$short >= 1"
equal "helpers of a job of more samples" $((short + 1)) "$long"
