#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who puts a link where the report goes gets nothing written elsewhere: a link in place of the folder of plots is refused, one in place of a file replaced.
. "$TOP/tests/lib.sh"

"$SONDE" run --quiet -i 50ms -o out -- sleep 0.3
mkdir elsewhere
echo mine >elsewhere/file
ln -s ../elsewhere out/plots
"$SONDE" report --only plots out >stdout 2>said && fail "it follows a link"
one_sentence said
contains said "out/plots is not a directory but a link or a file; remove it"
equal "elsewhere" file "$(ls elsewhere)"
rm out/plots
ln -s ../elsewhere/file out/report.html
"$SONDE" report --only html out >stdout || fail "report: $?"
equal "what the link pointed to" mine "$(cat elsewhere/file)"
[ ! -L out/report.html ] || fail "the page is a link"
"$SONDE" report --only plots out >stdout || fail "report: $?"
"$SONDE" report --only plots out >stdout || fail "again: $?"
