#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit: 120
# The wall clock is set forward or back by an hour while a job runs, or the machine stands still and its wall clock goes on, as when it was suspended:
# durations, rates and the start are those of before, nothing is damaged, and what was not sampled is told.
. "$TOP/tests/lib.sh"

need cc
readelf -l "$SONDE" | grep -q INTERP || skip "a static program loads no shim of clocks"
cat >shim.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Seconds that a clock is ahead by: what the file says. */
static long ahead(const char *name)
{
	char text[32] = "";
	int fd = (int)syscall(SYS_openat, AT_FDCWD, getenv(name), O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
		text[0] = 0;
	close(fd);
	return atol(text);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	t->tv_sec += id == CLOCK_REALTIME ? ahead("CLOCK_STEP") : 0;
	t->tv_sec += id == CLOCK_BOOTTIME ? ahead("CLOCK_BOOT") : 0;
	return rc;
}
END
cc -shared -fPIC -O1 -o shim.so shim.c 2>why || skip "cc makes no shared library here"
export CLOCK_STEP=$PWD/step CLOCK_BOOT=$PWD/boot
echo 0 >boot

stepped() { # NAME STEP CMD...: sonde run within whose second second the clock steps
	local name=$1 step=$2
	shift 2
	echo 0 >step
	LD_PRELOAD=$PWD/shim.so "$SONDE" run --quiet -i 100ms -o "$name" -- "$@" &
	run=$!
	wait_for 30 enough "$name"
	begun=$(figure "$name" .job.start)
	echo "$step" >step
}

enough() {
	"$SONDE" show --json "$1" 2>/dev/null | json_says '.nodes[0].samples >= 8' >/dev/null
}

sound() { # NAME LEAST: seconds that it took
	equal "damage of $1" 0 "$(figure "$1" .damages)"
	equal "start of $1" "$begun" "$(figure "$1" .job.start)"
	holds "duration of $1: $(figure "$1" .job.wall_seconds)" "$(figure "$1" .job.wall_seconds) >= $2 && $(figure "$1" .job.wall_seconds) < 100"
	holds "cores of $1 at most: $(figure "$1" .job.cores_used_peak)" "$(figure "$1" .job.cores_used_peak) <= $(nproc) * 1.001"
	"$SONDE" export --to csv -o "csv-$1" "$1" 2>/dev/null || fail "export of $1"
	"$PYTHON" - "csv-$1" <<'END'
import csv
import glob
import sys

for name in glob.glob(sys.argv[1] + "/*.csv"):
    for row in csv.DictReader(open(name)):
        if row.get("seconds"):
            assert -1 < float(row["seconds"]) < 100, (name, row)
END
}

# shellcheck disable=SC2016 # the job's
for way in 3600 -3600; do
	stepped "by$way" $way sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; sleep 3; echo M late >>"$SONDE_MARKS"'
	wait $run || fail "run: $?"
	sound "by$way" 3
	holds "samples" "$(figure "by$way" '.nodes[0].samples') >= 20"
	holds "a mark" "$(figure "by$way" '.marks[0].at_seconds') > 2.5"
done

# As after a suspend: the clock from the boot and the wall clock went on, the one of samples did not.
stepped slept 0 sh -c 'while [ ! -e woken ]; do sleep 0.1; done; sleep 1'
echo 30 | tee boot >step
touch woken
wait $run || fail "run: $?"
sound slept 1
equal "marks of a suspend" 1 "$(figure slept '[.marks[] | select(.name == "sonde.suspended")] | length')"
equal "seconds of it" 30 "$(figure slept '.nodes[0].metadata["monitor.suspended_seconds"]')"
figure slept '.marks[].text' | grep -q 'the machine was suspended for \(29\.9\|30\.0\) s' || fail "marks: $(figure slept .marks)"
"$SONDE" show --all slept 2>&1 | tr -s " \n" " " >shown
contains shown "of machine suspend not sampled"
equal "suspends of others" null "$("$SONDE" show --json by3600 | jq '.nodes[0].metadata["monitor.suspended_seconds"]')"
echo 0 >boot

# Before 1970 times of day are not known; nothing else is lost, and no disk is blamed.
echo -4000000000 >step
LD_PRELOAD=$PWD/shim.so "$SONDE" run --quiet -i 100ms -o ancient -- sleep 1.5 2>said || fail "run: $?"
equal "said" "" "$(cat said)"
equal "damage" 0 "$(figure ancient .damages)"
holds "samples" "$(figure ancient '.nodes[0].samples') >= 5"
holds "duration" "$(figure ancient .job.wall_seconds) >= 1.5"
"$SONDE" show --all ancient >shown 2>&1 || fail "show: $?"
! grep -E "could not be (recorded|written)|disk" shown || fail "something is blamed"

# All of it stands still for three seconds.
# shellcheck disable=SC2016
stepped still 3600 sh -c 'echo $$ >job; sleep 1; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; sleep 3'
wait_for 30 recorder_of still >recorder
kill -STOP $run "$(cat job)" "$(cat recorder)"
sleep 3
kill -CONT "$(cat job)" "$(cat recorder)" $run
wait $run || fail "run: $?"
sound still 6
"$SONDE" show --all still >shown 2>&1 || fail "show: $?"
contains shown "samples were late or skipped"
