# SPDX-License-Identifier: Apache-2.0
# --rules adds a site's verdicts, replaces built-in ones by name, and names file, line and reason when it cannot be read.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -o out -- sh -c 'exit 3' || true
cat >site.rules <<'END'
# The site's own words.
rule: failed
about: The command ended with an exit code other than 0.
when: exit_code != 0
severity: bad
say: Ask the help desk about exit code
  {exit_code:number}.

rule: small
about: The job needs no node of its own.
when: processes_started < 100
severity: note
say: Processes started: {processes_started:count}.
END
"$SONDE" show --rules site.rules out >shown || fail "show --rules"
contains shown "problem     Ask the help desk about exit code 3."
contains shown "note        Processes started: "
! grep -q 'Failed: exit code' shown || fail "the built-in rule spoke too"
equal "verdicts" failed "$("$SONDE" show --json --rules site.rules out | jq -r '.verdicts[0].rule')"

sed 's/processes_started </processes_begun </' site.rules >wrong.rules
"$SONDE" show --rules wrong.rules out >nothing 2>said
equal "exit status of a wrong rule" 1 $?
one_sentence said
contains said "wrong.rules:11:7: when: processes_begun"
[ ! -s nothing ] || fail "something on standard output"

"$SONDE" show --rules none.rules out >nothing 2>said
equal "exit status of no rules" 1 $?
one_sentence said
contains said none.rules

mkdir site && cp site.rules site/a.rules && cp wrong.rules site/b.rules.off
"$SONDE" show --rules site out >shown || fail "show --rules of a directory"
contains shown "problem     Ask the help desk about exit code 3."
mv site/b.rules.off site/b.rules
sed -i 's/^rule: /rule: other-/' site/b.rules
"$SONDE" show --rules site out >nothing 2>said
equal "exit status of a directory with a wrong file" 1 $?
contains said "site/b.rules:11:7: when: processes_begun"
"$SONDE" report --rules site.rules --only html -o page out >/dev/null || fail "report --rules"
contains page/report.html "Ask the help desk about exit code 3."
"$SONDE" report --rules wrong.rules -o none out >nothing 2>said
equal "exit status of a report by a wrong rule" 1 $?
contains said "wrong.rules:11:7: when: processes_begun"
[ ! -e none ] || fail "a report was written all the same"

mkfifo fifo.rules
"$SONDE" show --rules fifo.rules out >nothing 2>said # a file that nobody writes is not waited for
equal "exit status of a FIFO" 1 $?
one_sentence said
contains said "the rules file fifo.rules is not a regular file"
