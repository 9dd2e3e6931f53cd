# SPDX-License-Identifier: Apache-2.0
# Lines of a program's own log become marks and spans by rules: of a log that comes later, that is renamed, of hostile
# lines and of the last ones; what was in it before does not; what makes no sense is refused before anything is run.
. "$TOP/tests/lib.sh"
echo "Epoch 0 of another run" >app.log
cat >app.sh <<'END'
sleep 0.2
echo "loading key=7" >>late.log
echo "Epoch 1 loss 0.5" >>app.log
sleep 0.4
mv app.log app.log.1
echo "Epoch 2 loss 0.25" >>app.log
sleep 0.4
printf 'Begin solve a"b c\r\n' >>app.log
sleep 0.5
printf 'End solve\nEpoch \0\033[31m 7 x\n' >>app.log
head -c 200000 /dev/zero | tr '\0' x >>app.log
printf '\nEpoch 3 last' >>app.log
END
"$SONDE" run --quiet -i 100ms -o out --mark-log app.log --mark-log late.log --mark-log never.log --mark-rule '^Epoch ([0-9]+) (.*)$=epoch n=\1 what=\2' \
	--mark-rule 'Begin ([^ ]+) (.*)=B \1 of=\2' --mark-rule '^End (.*)=E \1' --mark-rule 'key\=([0-9])=key v=\1' -- bash app.sh || fail "run: $?"
"$SONDE" show --json out >show.json || fail "show"
json_says '[.marks[] | select(.name == "epoch") | .text | sub(" seen_within.*"; "")] == ["n=1 \"what=loss 0.5\"", "n=2 \"what=loss 0.25\"", "n=3 what=last"]' <show.json >/dev/null ||
	fail "$(jq -c .marks show.json)"
json_says '[.marks[] | select(.name == "key") | .text | sub(" seen_within.*"; "")] == ["v=7"]' <show.json >/dev/null || fail "$(jq -c .marks show.json)"
# It began at most that much before it was seen.
json_says '[.spans[] | select(.name == "solve")] | length == 1 and (.[0] | (.text | startswith("\"of=a\\\"b c\"")) and
	.end_seconds - .begin_seconds > 0.49 - (.text | capture("seen_within=(?<s>[0-9.]+)").s | tonumber))' <show.json >/dev/null ||
	fail "$(jq -c .spans show.json)"
# By how much that may be wrong is what both lines say together.
"$SONDE" phases --json out >phases.json || fail "phases"
json_says '.phases[] | select(.name == "solve") | (.uncertain_seconds - ([.text | scan("seen_within=([0-9.]+)")[0] | tonumber] | add) | fabs) < 1e-9 and .uncertain_seconds > 0' <phases.json >/dev/null ||
	fail "$(jq -c .phases phases.json)"
"$SONDE" phases out >phases.txt || fail "phases"
contains phases.txt "  durations may be wrong by up to "

# The job's status is its own, and nobody is waited for.
equal "status" 3 "$(status_of "$SONDE" run --quiet -o status --mark-log x.log --mark-rule 'x=y' -- sh -c 'exit 3')"
# One rule that makes no sense and nothing is run.
refused() { # TEXT OPTIONS...
	local text=$1
	shift
	equal "status of $*" 125 "$(status_of "$SONDE" run "$@" -- touch ran 2>said)"
	one_sentence said
	contains said "$text"
	[ ! -e ran ] || fail "it was run all the same"
}
refused "belong together" --mark-log x.log
refused "it is REGEX=NAME" --mark-log x.log --mark-rule nothing
refused "it is REGEX=NAME" --mark-log x.log --mark-rule 'x='
refused "refers back" --mark-log x.log --mark-rule '(a)\1=x'
refused "is not a regular expression" --mark-log x.log --mark-rule '(=x'
refused "more than 1,000 times" --mark-log x.log --mark-rule '(a{100}){100}=x'
refused "repeats what is repeated, as a*+" --mark-log x.log --mark-rule '(.++++++++++++++++++++++++++)=x'
refused "repeats what is repeated, as a*+" --mark-log x.log --mark-rule 'a*+?{500}=x'

# A log that grows faster than it may be read is left out in part, and that is told; the end is read.
{ head -c 30000000 /dev/zero | tr '\0' '\n' && echo "Epoch 9 x"; } >grown.log
cat >fast.sh <<'END'
sleep 0.2
mv grown.log fast.log
END
"$SONDE" run --quiet -i 100ms -o fast --mark-log fast.log --mark-rule 'Epoch ([0-9])=epoch n=\1' -- bash fast.sh || fail "run: $?"
json_says '[.marks[] | .name] | sort == ["epoch", "sonde.mark_log_left_out"]' < <("$SONDE" show --json fast) >/dev/null || fail "$("$SONDE" show fast)"

# Who is attached to: marks in a file of one's own.
: >own.marks
ticks() { # N: so many are recorded
	[ "$("$SONDE" show --json attached | jq '[.marks[] | select(.name == "tick")] | length')" -ge "$1" ]
}
sh -c 'for i in $(seq 600); do echo "M tick n=$i" >>own.marks; [ ! -e enough ] || exit; sleep 0.1; done' &
job=$!
timeout "$(patience 60)" "$SONDE" attach --quiet -i 100ms -p $job --marks own.marks -o attached &
recorder=$!
wait_for 50 ticks 3
touch enough
wait $recorder || fail "attach: $?"
ticks 3 || fail "marks: $("$SONDE" show attached)"
[ -e own.marks ] || fail "its file went away"
mkfifo fifo
equal "no FIFO" 1 "$(status_of timeout "$(patience 20)" "$SONDE" attach --quiet -p $$ --marks fifo -o nothing 2>said)"
one_sentence said

# Marks that rules pair are phases in `show` and bands on the page.
"$SONDE" run --quiet -i 100ms -o bands -- sh -c '"$SONDE" mark solve-start; sleep 0.3; "$SONDE" mark solve-end' || fail "run: $?"
"$SONDE" show --all bands | grep -qE '^ +[0-9.]+ m?s +[0-9.]+ m?s +solve( |$)' || fail "$("$SONDE" show --all bands)"
"$SONDE" report bands --only html >/dev/null 2>&1 || fail "report"
grep -qF '"spans_total": 1,' bands/report.html || grep -qF '"spans_total":1' bands/report.html || fail "the page has no band"
