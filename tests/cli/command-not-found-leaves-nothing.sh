# SPDX-License-Identifier: Apache-2.0
# A command that is not there is one line and no recording; what was meant for a shell is told how to get there.
. "$TOP/tests/lib.sh"
mkdir empty && cd empty || exit 1

slip() { # STATUS WORDS COMMAND...
	equal "status of $3" "$1" "$(status_of "$SONDE" run -- "${@:3}" 2>said)"
	one_sentence said
	contains said "$2"
	equal "what is left of $3" said "$(ls)"
}
slip 127 "sonde: nosuch: command not found" nosuch --option
! grep -q "sh -c" said || fail "a shell would not find it either"
slip 127 "sonde run -- sh -c 'echo hi | wc'" 'echo hi | wc'
slip 127 "sonde run -- sh -c 'cd /tmp'" cd /tmp
slip 127 "sonde run -- sh -c 'A=1 env'" A=1 env
slip 127 "./nosuch: command not found" ./nosuch
slip 126 "/etc: cannot execute: Permission denied" /etc
slip 126 "/etc/passwd: cannot execute: Permission denied" /etc/passwd
equal "status without a PATH" 127 "$(status_of env PATH=/nosuch "$SONDE" run -- true 2>said)"
contains said "sonde: true: command not found"

# An empty element of PATH is this folder, as it is to execvp.
printf '#!/bin/sh\nexit 4\n' >here
chmod +x here
equal "status of what is here" 4 "$(PATH=/nosuch: status_of "$SONDE" run -q -o out -- here)"

# The page at the end.
"$SONDE" run --report -q -o paged -- true 2>said || fail "run --report"
grep -q "/paged/report.html$" said || fail "the page's path is not said: $(cat said)"
grep -q "<html" paged/report.html || fail "no page"
equal "status with --report" 6 "$(status_of "$SONDE" run --report -q -o failed -- sh -c 'exit 6' 2>said)"
[ -s failed/report.html ] || fail "no page of a job that failed"
