#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What tracing of files costs (run --files): CPU time of a job's read or write with and without it, in pairs that alternate;
# and of the calls of another process meanwhile. When it is off, the job's calls are counted: not one more. A minute; QUICK=1: some seconds.
set -eu
BUILD=${BUILD:-build}
PAIRS=${PAIRS:-15} CALLS=400000
[ -z "${QUICK:-}" ] || PAIRS=3 CALLS=100000
# shellcheck source=bench/bar.sh
. bench/bar.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sonde=$(realpath "$BUILD/sonde")
cd "$scratch"
head -c "$((CALLS / 2))" /dev/zero >data

# A read and a write for each byte; the CPU time of the program alone, in ns a call.
# shellcheck disable=SC2016 # the job's own shell expands it
job='TIMEFORMAT="%U %S"; { time dd if=data of=out bs=1 conv=notrunc status=none; } 2>&1'
each() { # COMMAND... : of the job that the command runs
	"$@" bash -c "$job" | awk -v n="$CALLS" 'NF == 2 { print 1e9 * ($1 + $2) / n }'
}
record() { # OPTIONS... -- CMD...
	rm -rf run
	"$sonde" run --quiet --stacks=off -o run "$@"
}

record --files -- true
if ! "$sonde" show --files --json run | grep -q '"by": "calls"'; then
	echo "  tracepoints may not be opened here: nothing is measured"
	exit 0
fi
for _ in $(seq "$PAIRS"); do
	each env >>alone
	each record -- >>off
	each record --files -- >>on
done
paste alone on | awk '{ print $2 - $1 }' >added
paste alone off | awk '{ print $2 - $1 }' >without
figure 'CPU time of a read or write alone' "$(median <alone)" ns
bar 'more with --files' "$(median <added)" ns '<=' 1500
figure 'more without it, under sonde run' "$(median <without)" ns

# Another process of the node: its calls on no file of the job.
record --files -- sleep 6 &
sleep 1
for _ in 1 2 3; do each env >>beside; done
wait
figure 'more for a read or write of another process meanwhile' "$(echo "$(median <beside) $(median <alone)" | awk '{ print $1 - $2 }')" ns

if command -v strace >/dev/null; then
	strace -f -qq -o s.alone dd if=data of=out bs=4096 status=none
	record -- strace -f -qq -o s.off dd if=data of=out bs=4096 status=none
	bar "the job's system calls under sonde run without --files, more than alone" "$(($(wc -l <s.off) - $(wc -l <s.alone)))" calls '<=' 0
fi
exit "$missed"
