# SPDX-License-Identifier: Apache-2.0
# Show prints the summary of the end of run again: verdicts first, the figures, what to do next.
. "$TOP/tests/lib.sh"
"$SONDE" run -i 100ms -o out -- sh -c 'sleep 0.3; exit 7' 2>said
equal "exit status" 7 $?
"$SONDE" show >shown 2>talk.txt || fail "show"
diff said shown || fail "show says something else than run"
contains talk.txt "showing out"
"$SONDE" show out >named || fail "show out"
tail -1 named | grep -qx "recording   out; next: sonde show --all out, sonde report out" || fail "last line: $(tail -1 named)"
"$SONDE" show --all out >shown || fail "show --all"
diff <(head -2 said) <(head -2 shown) || fail "show --all begins with something else"
[ -z "$(awk "length > 80" shown)" ] || fail "lines of more than 80 columns"
contains shown "Processes by CPU"
contains shown "Processes by memory"
contains shown "Commands by CPU"
grep -Eq '^  sleep +[0-9]+ ' shown || fail "show does not name the process sleep"
head -1 shown | grep -q '^sonde       Failed (exit code 7) after .*: sh -c ' || fail "the first line is: $(head -1 shown)"
sed -n 2p shown | grep -q '^problem     Failed: exit code 7 ' || fail "the second line is: $(sed -n 2p shown)"
contains shown "recording   out; next: sonde report out"

# One file of it, and nothing else than the summary on standard output.
"$SONDE" show --all out/node-*.sonde >single 2>talk.txt || fail "show of one file"
[ ! -s talk.txt ] || fail "talk: $(cat talk.txt)"
equal "lines" "$(wc -l <shown)" "$(wc -l <single)"

"$SONDE" show out out >nothing 2>talk.txt
equal "exit status of two operands" 2 $?
one_sentence talk.txt
[ ! -s nothing ] || fail "something on standard output"

"$SONDE" show out >/dev/full 2>talk.txt
equal "exit status on a full disk" 1 $?
one_sentence talk.txt
