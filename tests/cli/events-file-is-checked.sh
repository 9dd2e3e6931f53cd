# SPDX-License-Identifier: Apache-2.0
# An events file that is malformed is named with line and reason before the job starts; so are unknown groups and CPUs.
. "$TOP/tests/lib.sh"

refused() { # TEXT OPTION...
	local text=$1
	shift
	equal "status of $*" 125 "$(status_of "$SONDE" run "$@" -o out -- touch started 2>said)"
	contains said "$text"
	one_sentence said
	[ ! -e started ] && [ ! -e out ] || fail "the job was started with $*"
}

printf 'group mine\nevent a A cpu config=0x1\nmetric both = a + b\n' >bad.events
printf 'group mine\nevent a A software config=0x2\nmetric twice_per_second = 2*a\n' >good.events
refused "bad.events:3: the group has no event of this name: 'b'" --events bad.events
refused "cannot open the events file none.events" --events none.events
mkfifo fifo
for strange in . fifo /dev/zero; do # none of them is waited for, nor read without an end
	refused "the events file $strange is not a regular file" --events $strange
done
head -c 1048577 /dev/zero >large.events
refused "the events file large.events has more than 1048576 bytes" --events large.events
refused "no group of perf events 'tea'" --perf tea,l2
refused "no group of perf events is named" --perf ""
refused "no events file is for a CPU of the name 'z80'" --perf-cpu z80
"$SONDE" run -q --events good.events --perf mine,L2 -o out -- touch started || fail "a sound events file"
[ -e started ] || fail "the job did not run"
