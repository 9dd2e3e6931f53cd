# SPDX-License-Identifier: Apache-2.0
# limit: 400
# What was lost of a run is said where people look: summary, page, PDF, traces, exports; and nothing where nothing was.
. "$TOP/tests/lib.sh"
need jq
record() { # RECORDING ARGUMENTS...
	local to=$1
	shift
	"$SONDE" run --quiet -o "$to" -- "$PROGRAMS/spanner" "$@" >"$to.lost" || fail "run $*: $?"
}
losses() { # RECORDING KIND OPTIONS...: show's line
	local of=$1
	shift
	"$SONDE" show "$@" "$of" | sed -n 's/^losses *//p'
}

# 100 within each other: 64 are kept.
words='36 of 100 spans left out (36 %)'
record deep deep
equal "lost" 36 "$(cat deep.lost)"
equal "show" "$words" "$(losses deep)"
equal "show --all" "$words" "$(losses deep --all)"
equal "show --spans" "$words" "$(losses deep --spans)"
equal "show --json" "$words 36 100 false" "$(figure deep '.losses[] | select(.what == "spans") | "\(.words) \(.lost) \(.of) \(.at_least)"')"
equal "show --spans --json" "$words 36" "$("$SONDE" show --spans --json deep | jq -r '.losses[] | select(.what == "spans") | "\(.words) \(.lost)"')"
equal "phases --json" "$words 36" "$("$SONDE" phases --json deep | jq -r '.losses[] | select(.what == "spans") | "\(.words) \(.lost)"')"
"$SONDE" phases deep >phases || fail "phases"
contains phases "losses: $words"
"$SONDE" report --only html deep >/dev/null || fail "report"
contains deep/report.html "<b>Losses</b> $words"
contains deep/report.html "more than 64 deep"
if [ -x "$LIBEXEC/sonde-draw" ] && command -v pdftotext >pdftotext.path; then
	"$SONDE" report --only pdf deep >/dev/null || fail "report --only pdf"
	pdftotext -layout -f 1 -l 1 deep/*.pdf first
	contains first "Losses: $words"
fi
note="note: the recording is not complete: $words"
"$SONDE" trace -o deep.json deep 2>said || fail "trace"
contains said "sonde: trace: $note"
equal "trace" "loss $words" "$(jq -r '.traceEvents[] | select(.cat == "loss") | "\(.cat) \(.name)"' deep.json)"
"$SONDE" trace -o deep.pftrace deep 2>/dev/null || fail "trace of Perfetto"
grep -qaF "$words" deep.pftrace || fail "the trace of Perfetto does not say it"
formats=json,csv,parquet,feather,orc,pickle,openmetrics
sqlite=$LIBEXEC/sonde-sqlite
[ ! -x "$sqlite" ] || formats=$formats,sqlite
"$SONDE" export --to $formats -o tables deep 2>said || fail "export"
contains said "sonde: export: $note"
equal "losses.csv" $'kind,lost,of,words,why\r\nspans.left_out,36,100,'"$words"',' "$(grep -E '^(kind|spans)' tables/losses.csv | sed 's/why.$/why\r/; s/"The program.*//')"
grep -E '^sonde_recording_losses\{kind="spans.left_out"\} 36 [0-9.]+$' tables/series.openmetrics || fail "openmetrics does not say it"
[ ! -x "$sqlite" ] || equal "sonde_losses" "spans|$words" "$("$PYTHON" -c 'import sqlite3
for row in sqlite3.connect("tables/spans.sqlite").execute("SELECT * FROM sonde_losses"): print("|".join(row))' | grep spans\ left)"
equal "export --to json" "$words" "$(jq -r .losses tables/spans.json)"
for file in tables/spans.{parquet,feather,pkl}; do
	grep -qaF "\"losses\":\"$words\"" $file || fail "$file does not say it"
done

# More than a ring takes between two looks: as many as the program counted, and the same words everywhere.
record fast fast 3000000
lost=$(cat fast.lost)
holds "the program lost some" "$lost > 0"
holds "what the program counted" "$(figure fast '.losses[] | select(.what == "spans") | .lost') >= $lost"
equal "of all" 3000000 "$(figure fast '.losses[] | select(.what == "spans") | .of')"
losses fast >line
contains line "of 3.0 M spans left out"

# Nothing is said of nothing.
record whole many 100 2
equal "show" "" "$(losses whole | grep spans)"
"$SONDE" show --json whole | json_says '[.losses[] | select(.what == "spans")] == []' >/dev/null || fail "spans are lost of a recording that has them all"
"$SONDE" export --to json -o whole-tables --table spans whole 2>said || fail "export"
! grep -q spans said || fail "export speaks of spans: $(cat said)"
! grep -qs spans whole-tables/losses.csv || fail "losses.csv speaks of spans"
