#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where the machine refuses perf events there are no samples of code, and show, the page, JSON and doctor give the reason and what would help. Where
# nobody asked for stacks the summary says nothing of it, and show --code, JSON and the page's foot do.
. "$TOP/tests/lib.sh"
need jq
"$PROGRAMS/without" perf_event_open true || skip "seccomp filters are not permitted"
[ -x "$LIBEXEC/sonde-unwind" ] || skip "the helper sonde-unwind was not built"

says() { # RECORDING REASON FIX
	"$SONDE" show "$1" | tr -s ' \n' ' ' >brief.txt
	contains brief.txt "code not sampled: forbidden: $2"
	"$SONDE" show --code "$1" >nothing.txt 2>code.txt
	equal "rows of $1" "" "$(cat nothing.txt)"
	contains code.txt "no stacks in $1"
	contains code.txt "Not sampled: forbidden: $2"
	contains code.txt "An administrator can: $3"
	equal "JSON of $1" "forbidden: $2" "$("$SONDE" show --code --json "$1" | jq -r .missing.refused)"
	equal "what helps with $1" "$3" "$("$SONDE" show --code --json "$1" | jq -r '.missing.fix_admin | .[:'${#3}']')"
	"$SONDE" report -o "$1-page" "$1" >/dev/null
	contains "$1-page/report.html" "<p>No samples of code.</p><p class=\"soft\">Not sampled: forbidden: $2"
	contains "$1-page/report.html" "An administrator can: $3"
}

FILTERED='perf_event_open is blocked by a seccomp filter, as of a container'
"$PROGRAMS/without" perf_event_open "$SONDE" run --stacks -q -o filtered -- true || fail "run"
says filtered "$FILTERED" "allow the system call perf_event_open to the container"
"$PROGRAMS/without" perf_event_open "$SONDE" doctor >doctor.txt || true
grep -A4 ' stacks: ' doctor.txt >of-stacks.txt
contains of-stacks.txt "  forbidden    stacks: "
contains of-stacks.txt "$FILTERED"

"$PROGRAMS/without" perf_event_open "$SONDE" run -q -o default -- true || fail "run"
"$SONDE" show --all default >all.txt
! grep -n '^ *code ' all.txt || fail "the summary of a recording by default speaks of code"
"$SONDE" show --code default >nothing.txt 2>code.txt
contains code.txt "Not sampled: forbidden: $FILTERED"
contains code.txt "An administrator can: allow the system call perf_event_open to the container"
! grep -n "A process is sampled once" code.txt || fail "nothing is sampled"
equal "JSON" "forbidden: $FILTERED" "$("$SONDE" show --code --json default | jq -r .missing.refused)"
equal "findings" forbidden "$("$SONDE" show --json default | jq -r '.findings[] | select(.name == "stacks") | .state')"
"$SONDE" report -o default-page default >/dev/null
! grep -o 'No samples of code' default-page/report.html || fail "the page has a section of stacks that nobody asked for"
contains default-page/report.html "<li>stacks: forbidden, $FILTERED"

if unshare -rm true 2>/dev/null; then
	echo 3 >three
	unshare -rm sh -c 'mount --bind three /proc/sys/kernel/perf_event_paranoid && exec "$@"' sh \
		"$PROGRAMS/without" permitted-perf-events "$SONDE" run --stacks -q -o paranoid -- true || fail "run"
	says paranoid "kernel.perf_event_paranoid is 3: root alone may count" "sysctl -w kernel.perf_event_paranoid=2"
fi

"$SONDE" run -q -o unasked -- true
"$SONDE" show --all unasked >all.txt
! grep -n '^ *code ' all.txt || fail "a short job speaks of code"
"$SONDE" report -o unasked-page unasked >/dev/null
! grep -o 'No samples of code' unasked-page/report.html || fail "the page of a short job speaks of stacks"
"$SONDE" doctor | grep -q ' stacks: ' || fail "doctor tries stacks"
