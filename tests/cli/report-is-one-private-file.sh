# SPDX-License-Identifier: Apache-2.0
# report writes one private file that needs nothing else, prints its path, and never leaves half of one.
. "$TOP/tests/lib.sh"

"$SONDE" run --quiet -i 50ms -o sonde_one -- "$PROGRAMS/spin" 300000 || fail "run"
umask 022
equal "the path" sonde_one/report.html "$("$SONDE" report --only html sonde_one 2>said)"
[ ! -s said ] || fail "talks when all is well: $(cat said)"
equal "the mode" 600 "$(stat -c %a sonde_one/report.html)"
equal "what else was left" 0 "$(find . -name '*report.html?*' | wc -l)"

page=sonde_one/report.html
contains "$page" 'Succeeded (exit code 0)'
contains "$page" 'spin<span class="soft">['
contains "$page" "default-src 'none'"
contains "$page" 'Copyright (c) 2022 Leon Sorokin'
grep -oE '(src|href)="[^"]*"' "$page" | grep -vE '="(#[a-z-]*|data:,)"$' && fail "the page asks for another file"
holds "the size" "$(stat -c %s "$page") < 400000"
# Comments and indentation of its scripts and styles stay in the sources: they would be a tenth of them, in every page.
equal "lines of comments in its scripts" 0 "$(sed -n '/<script nonce/,/<\/script>/p' "$page" | grep -c '^[[:space:]]*//')"
equal "indented lines in its scripts" 0 "$(sed -n '/<script nonce/,/<\/script>/p' "$page" | grep -c '^[[:space:]]')"

# Without a name: the newest here, and it says which.
equal "the newest's path" ./sonde_one/report.html "$("$SONDE" report --only html 2>said | sed 's,^\(\./\)*,./,')"
contains said sonde_one

# Elsewhere, and from one file of the recording.
"$SONDE" report --only html sonde_one -o public >stdout || fail "report -o"
equal "the path with -o" public/report.html "$(cat stdout)"
[ -s public/report.html ] || fail "nothing in public"
rm sonde_one/report.html
"$SONDE" report --only html sonde_one/node-*.sonde >stdout || fail "report of a file"
equal "the path beside a file" sonde_one/report.html "$(cat stdout)"

# What cannot be written leaves the old one as it was, and says so in one sentence.
mkdir taken && mkdir taken/report.html
"$SONDE" report --only html sonde_one -o taken >stdout 2>said
equal "exit status when the name is taken by a folder" 1 $?
one_sentence said
contains said taken/report.html
equal "what is in taken" report.html "$(ls -A taken)"
"$SONDE" report --only html sonde_one -o sonde_one/report.html 2>said
equal "exit status when -o is a file" 1 $?
one_sentence said
[ -s sonde_one/report.html ] || fail "the old report is gone"
"$SONDE" report sonde_one --only tapestry 2>said
equal "exit status of an unknown kind" 2 $?
one_sentence said
contains said tapestry
