# SPDX-License-Identifier: Apache-2.0
# A CPU that no events file knows: doctor and the recording say that only what every CPU has is counted.
. "$TOP/tests/lib.sh"

"$SONDE" doctor | grep -q 'available *process.exit_records' || skip "perf events are not permitted"
printf 'processor\t: 0\nvendor_id\t: NoSuchVendor\ncpu family\t: 99\nmodel\t\t: 1\nstepping\t: 1\nflags\t\t: fpu\n' >cpuinfo
mkdir -p devices/cpu
echo 4 >devices/cpu/type

elsewhere() { # COMMAND...: where /proc/cpuinfo is of that CPU, and /sys shows that it has counters
	unshare -rm sh -c 'mount --bind cpuinfo /proc/cpuinfo && mount --bind devices /sys/bus/event_source/devices && exec "$@"' sh "$@"
}

elsewhere true 2>/dev/null || skip "files of /proc cannot be replaced here"
elsewhere "$SONDE" doctor >said || fail "doctor"
contains said "there is no events file for this CPU: only cycles, instructions"
elsewhere "$SONDE" run -q --perf software,l2 -o job -- true || fail "run"
"$SONDE" show --json job >show.json
contains show.json "there is no events file for this CPU: only cycles, instructions"
contains show.json "this CPU has no such events, or no events file knows it"
"$SONDE" run -q --perf software --perf-cpu zen3 -o known -- true || fail "run of a known CPU"
"$SONDE" show --json known >show.json
! grep -q "there is no events file for this CPU" show.json || fail "a CPU with an events file is called unknown"
