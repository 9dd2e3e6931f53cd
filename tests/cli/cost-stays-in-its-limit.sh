# SPDX-License-Identifier: Apache-2.0
# What Sonde gives up to stay within --max-overhead is said in the recording; PSS is read when --pss says.
. "$TOP/tests/lib.sh"
values() { # DIR METRIC: how many values of it
	"$SONDE" export "$1" --to csv --metrics "$2" -o "$1/csv" >&2
	tail -n +2 "$1/csv/series.csv" | wc -l
}

"$PROGRAMS/tree" 8 >ready &
tree=$!
wait_for 10 grep -q ready ready
"$SONDE" attach -q -p $tree -i 20ms --max-overhead 0.01% --duration 15s -o tight &
tight=$!
"$SONDE" attach -q -p $tree -i 20ms --max-overhead off --pss always --duration 3s -o free
"$SONDE" attach -q -p $tree -i 100ms --pss off --duration 1s -o none
"$SONDE" attach -q -p $tree -i 20ms --duration 3s -o usual
wait $tight || fail "attach ended with $?"
kill $tree

figure tight '.monitor.reduced' | grep -q 'every' || fail "the recording does not say what was given up"
"$SONDE" export tight --to csv -o tight/csv
grep -q 'sonde.reduced.*limit is 0.01 %' tight/csv/marks.csv || fail "no mark says when"
equal "given up without a limit" null "$("$SONDE" show --json free | jq .monitor.reduced)"
samples=$(figure free '.nodes[0].samples')
holds "PSS in every sample of every process that has stat" "$(values free process.pss_bytes) >= 8 * $samples / 3"
holds "PSS of processes that sleep, where it is not read again" "$(values usual process.pss_bytes) >= 8 && $(values usual process.pss_bytes) <= 4 * 8"
equal "PSS when it is off" 0 "$(values none process.pss_bytes)"
holds "the job's PSS when it is off" "$(values none job.pss_bytes) == 0"
for bad in 0 -1 101 x '' 0.5%%; do
	equal "exit code of --max-overhead '$bad'" 2 "$(status_of "$SONDE" attach -p $$ --max-overhead "$bad" -o bad 2>said)"
	one_sentence said
done
equal "exit code of --pss sometimes" 2 "$(status_of "$SONDE" attach -p $$ --pss sometimes -o bad 2>said)"
contains said "budget|always|off"
