# SPDX-License-Identifier: Apache-2.0
# The summary is on standard error, in about five lines; --quiet keeps it away, --summary puts it into a file.
. "$TOP/tests/lib.sh"
"$SONDE" run -o out -- sh -c 'echo data; echo talk >&2' >stdout 2>stderr || fail "run"
equal "standard output" data "$(cat stdout)"
contains stderr talk
grep -vx talk stderr >brief
holds "lines of summary" "$(wc -l <brief) >= 3 && $(wc -l <brief) <= 6"
head -1 brief | grep -q "^sonde       Succeeded (exit code 0) after " || fail "the first line is: $(head -1 brief)"
grep -q "^time        \[.\{10,24\}\] computing " brief || fail "no bar of where the time went: $(cat brief)"
tail -1 brief | grep -qx "recording   out; next: sonde show --all, sonde report" || fail "the last line is: $(tail -1 brief)"
contains stderr out

"$SONDE" run --quiet -o quiet -- sh -c 'echo data; echo talk >&2' >stdout 2>stderr || fail "run --quiet"
equal "standard error with --quiet" talk "$(cat stderr)"

"$SONDE" run --summary summary.txt -o filed -- sh -c 'echo talk >&2' 2>stderr || fail "run --summary"
equal "standard error with --summary" talk "$(cat stderr)"
contains summary.txt "overhead    Sonde used"

# No colour and no control characters where no person watches.
! grep -q $'\033' summary.txt || fail "escape sequences in a file"

"$SONDE" run --json --summary summary.json -o json -- true 2>stderr || fail "run --json"
[ ! -s stderr ] || fail "--json with --summary talks"
equal "schema" sonde/show/1 "$(jq -r .schema summary.json)"
equal "exit code" 0 "$(jq .job.exit_code summary.json)"

mkfifo nobody.reads
"$SONDE" run --summary nobody.reads -o fifo -- true 2>stderr || fail "run --summary into a FIFO"
one_sentence stderr
contains stderr "cannot write the summary to nobody.reads: No such device or address"
