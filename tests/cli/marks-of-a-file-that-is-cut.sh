#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job that cuts its file of marks, or writes it anew, loses no line that it writes afterwards, and the recording says how often it was cut.
. "$TOP/tests/lib.sh"

cat >job.sh <<'END'
printf 'M first a=1\nM second b=2\n' >>"$SONDE_MARKS"
sleep 0.7
printf 'M third, and this line is longer than the two before it together\nM fourth\n' >"$SONDE_MARKS" # anew, and longer
sleep 0.7
printf 'M fifth\n' >"$SONDE_MARKS" # anew, and shorter
sleep 0.7
printf 'M sixth\n' >>"$SONDE_MARKS"
sleep 0.7
: >"$SONDE_MARKS"
sleep 0.7
printf 'M sevent\n' >>"$SONDE_MARKS" # as long as the one before
END
sed -i 's/third, and/third and/' job.sh
"$SONDE" run --quiet -i 100ms -o cut -- sh job.sh || fail "run: $?"
equal "marks" "first second third fourth fifth sixth sevent" "$("$SONDE" show --json cut | jq -r '[.marks[].name] | join(" ")')"
equal "cuts" 3 "$(figure cut '.nodes[0].metadata["marks.cut_files"]')"
equal "lines that are none" null "$("$SONDE" show --json cut | jq '.nodes[0].metadata["marks.unclear_lines"]')"

# shellcheck disable=SC2016 # the job's
"$SONDE" run --quiet -i 100ms -o whole -- sh -c 'echo M one >>"$SONDE_MARKS"; sleep 0.3; echo M two >>"$SONDE_MARKS"'
equal "of a file that is not cut" null "$("$SONDE" show --json whole | jq '.nodes[0].metadata["marks.cut_files"]')"
