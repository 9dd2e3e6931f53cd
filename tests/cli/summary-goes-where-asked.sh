# SPDX-License-Identifier: Apache-2.0
# The summary is on standard error, 15 lines at most; --quiet keeps it away, --summary puts it into a file.
. "$TOP/tests/lib.sh"
"$SONDE" run -o out -- sh -c 'echo data; echo talk >&2' >stdout 2>stderr || fail "run"
equal "standard output" data "$(cat stdout)"
contains stderr talk
holds "lines of summary" "$(wc -l <stderr) >= 3 && $(wc -l <stderr) <= 16"
contains stderr out

"$SONDE" run --quiet -o quiet -- sh -c 'echo data; echo talk >&2' >stdout 2>stderr || fail "run --quiet"
equal "standard error with --quiet" talk "$(cat stderr)"

"$SONDE" run --summary summary.txt -o filed -- sh -c 'echo talk >&2' 2>stderr || fail "run --summary"
equal "standard error with --summary" talk "$(cat stderr)"
holds "lines of summary in the file" "$(wc -l <summary.txt) >= 3 && $(wc -l <summary.txt) <= 15"

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
