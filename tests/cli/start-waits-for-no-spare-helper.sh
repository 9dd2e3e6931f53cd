# SPDX-License-Identifier: Apache-2.0
# plain
# Before the job starts, a helper is started for each file system of a server that is known by then, and none to spare: the one for a file
# system that the job will write to starts with the second sample.
. "$TOP/tests/lib.sh"
need strace
strace -f -qq -o calls true || skip "strace may not trace here"
helpers() { # OUT INTERVAL COMMAND...: how many are started, each behind a socket of its own
	strace -f -qq -o "$1.calls" -e trace=socketpair "$SONDE" run --quiet -o "$1" -i "$2" -- "${@:3}" || fail "run: $?"
	grep -c 'socketpair(AF_UNIX, SOCK_STREAM' "$1.calls" || true
}
short=$(helpers short 60s true)
long=$(helpers long 100ms sleep 2)
equal "helpers of a job of more samples" $((short + 1)) "$long"
