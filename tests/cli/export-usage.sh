# SPDX-License-Identifier: Apache-2.0
# Options without sense are refused in a sentence with status 2, and nothing is written; one table can go to standard output.
. "$TOP/tests/lib.sh"

"$SONDE" run --quiet -i 50ms -o sonde_job -- sleep 0.2 || fail "run"
before=$(ls -A sonde_job)

refused() { # TEXT ARGUMENTS...
	local text=$1 status=0
	shift
	"$SONDE" export sonde_job "$@" >out 2>err || status=$?
	equal "status of sonde export $*" 2 $status
	one_sentence err
	contains err "$text"
	[ ! -s out ] || fail "sonde export $* wrote to standard output"
	equal "what is in the folder after sonde export $*" "$before" "$(ls -A sonde_job)"
}

profiles=$(sed -n 's/^PROFILE(\([a-z]*\).*/\1/p' "$TOP/src/profiles.def" | paste -sd ' ')
profiles_words="folded, pprof and speedscope are of stacks"
formats=$(sed -n 's/^SINK(\(.*\))$/\1/p' "$TOP/src/sinks.def" | paste -sd ' ')
refused "unknown format 'xml'. Formats, separated by commas: $formats perfmon scanner $profiles. $profiles_words" --to xml
# Who reads README finds them, too.
for format in $formats; do
	grep 'sonde export --to' "$TOP/README.md" | grep -qw "$format" || fail "README's line of export does not name $format"
done
refused "unknown format 'xml'" --to csv,xml
refused "unknown format ''" --to ''
refused "unknown format ''" --to ,
refused "unknown table 'series2'. One of these tables: series processes" --table series2
refused "one format" -o - --to csv,json
refused 'no metric of this recording matches "nonsense.*"' --metrics 'nonsense.*'
refused "not before" --from 5s --until 2s
refused "one of the two" --raw --every 1s
refused "unexpected argument 'other'" other

status=0
(mkdir nothing && cd nothing && "$SONDE" export >../out 2>../err) || status=$?
equal "status where there is no recording" 1 $status
one_sentence err

# Without DIR: the newest, and it says which.
"$SONDE" export -o - --metrics 'node.*' >out 2>err || fail "export to standard output"
contains err "sonde_job"
one_sentence err
[ "$(head -n 1 out)" = $'node,metric,instance,time,seconds,value,unit,kind\r' ] || fail "$(head -n 1 out)"
! grep -v '^[^,]*,node\.' <(tail -n +2 out) || fail "another metric"
"$SONDE" export sonde_job -o - --table processes --to json 2>err | json_says '.table == "processes"' >/dev/null ||
	fail "processes to standard output"
equal "what is in the folder" "$before" "$(ls -A sonde_job)"

status=0
"$SONDE" export sonde_job -o - >/dev/full 2>err || status=$?
equal "status of a full standard output" 1 $status
one_sentence err
contains err "cannot write to standard output: No space left on device"

# By default the files lie beside the recording, which may be named by one of its files.
"$SONDE" export sonde_job --table marks 2>err || fail "export"
"$SONDE" export sonde_job/node-*.sonde --table spans 2>err || fail "export of a file"
[ -s sonde_job/marks.csv ] && [ -s sonde_job/spans.csv ] || fail "$(ls sonde_job)"
"$SONDE" export sonde_job -o sonde_job/marks.csv 2>err && fail "a file taken for a folder"
one_sentence err
contains err sonde_job/marks.csv
