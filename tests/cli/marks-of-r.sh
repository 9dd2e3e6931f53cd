# SPDX-License-Identifier: Apache-2.0
# plain
# What docs/library.md tells programs in R to write: spans and marks with words of any kind, each once, also where code stops with an error;
# without a recorder it does nothing.
. "$TOP/tests/lib.sh"
command -v Rscript >/dev/null || skip "R is not installed (r-base-core)"
sed -n '/^## R$/,/^## Julia$/s/^    //p' "$TOP/docs/library.md" | sed '/^model <- /,$d' >program.R
grep -q sonde_span program.R || fail "docs/library.md has nothing to run"
cat >>program.R <<'END_OF_R'
for (i in 1:3) {
	stopifnot(sonde_span("fit \"a\"", { Sys.sleep(.05); i }) == i)
	sonde_mark("epoch", n = i, loss = 1 / i)
}
try(sonde_span("stops", stop("over")), silent = TRUE)
sonde_mark("a\\b", text = "two\nlines")
END_OF_R
Rscript program.R || fail "without a recorder: $?"
"$SONDE" run --quiet -o out -- Rscript program.R || fail "run: $?"
"$SONDE" export --to csv -o csv out || fail "export"
equal "spans" "3 1" "$(grep -c '"fit ""a"""' csv/spans.csv) $(grep -c ',stops,' csv/spans.csv)"
equal "open spans" 0 "$(grep -c 'no end' csv/spans.csv)"
equal "marks" 3 "$(grep -c ',epoch,' csv/marks.csv)"
contains csv/marks.csv ',a\b,"""text=two\nlines"" '
"$SONDE" show --json out | jq -e '[.. | objects | select(.name? == "epoch loss")] | length >= 1' >/dev/null || fail "no curve"
