# SPDX-License-Identifier: Apache-2.0
# The report of a failed job says how it ended; of a cut recording, that it is one, and exits with 1.
. "$TOP/tests/lib.sh"

"$SONDE" run --quiet -i 50ms -o failed -- sh -c 'exit 3'
"$SONDE" report failed >/dev/null || fail "report of a failed job"
contains failed/report.html 'Failed (exit code 3)'

"$SONDE" run --quiet -i 50ms -o killed -- sh -c 'kill -9 $$'
"$SONDE" report killed >/dev/null || fail "report of a killed job"
contains killed/report.html 'Killed by SIGKILL (signal 9)'

"$SONDE" run --quiet -i 20ms -o whole -- "$PROGRAMS/spin" 500000 || fail "run"
mkdir cut
for file in whole/node-*; do
	cp "$file" cut/
done
cut_file=$(echo cut/node-*.sonde)
size=$(stat -c %s "$cut_file")
printf '\377\377\377\377\377\377\377\377' | dd of="$cut_file" bs=1 seek=$((size / 2)) conv=notrunc status=none
"$SONDE" report --only html cut >stdout 2>said
equal "exit status on damage" 1 $?
one_sentence said
contains said cut
contains cut/report.html damaged:
contains cut/report.html "$(basename "$cut_file")"

# Wherever it is damaged, what is left is read: the samples of the job may be lost and those of the node kept.
"$SONDE" run --quiet -i 10s -o few -- "$PROGRAMS/spin" 50000 || fail "run"
for part in 1 2 3 4 5 6 7 8 9; do
	rm -rf cut
	cp -r few cut
	size=$(stat -c %s cut/node-*.sonde)
	printf '\377\377\377\377\377\377\377\377' | dd of="$(echo cut/node-*.sonde)" bs=1 seek=$((size * part / 10)) conv=notrunc status=none
	for view in show explain "report --only html"; do
		# shellcheck disable=SC2086 # the view's own words
		"$SONDE" $view cut >stdout 2>said
		equal "exit status of $view with damage at $part tenths" 1 $?
		contains said 'cut is damaged'
	done
done

# What is not known has no words around it.
cp -r whole headless
truncate -s 100 headless/node-*.sonde
rm -f headless/report.html headless/node-*.tail
"$SONDE" report headless >said 2>&1 || :
"$SONDE" report whole >/dev/null 2>&1 || fail "report of a whole recording"
for words in " at a time" " user, " "[^d] of memory, "; do
	grep -q "$words" whole/report.html || fail "the page of a whole recording has no '$words'"
	! grep -q "$words" headless/report.html || fail "of what is not known: '$words'"
done
