# SPDX-License-Identifier: Apache-2.0
# Groups of runs, the gate's conditions and exit codes; what has no spread decides, so that no clock has to.
. "$TOP/tests/lib.sh"
export SONDE_HISTORY=off # cli/compare-knows-the-history has it
mkdir sonde_many
for i in 1 2 3; do
	"$SONDE" run -q -o "old$i" -- sh -c '/bin/true; /bin/true; :'
	OMP_NUM_THREADS=4 "$SONDE" run -q -o "new$i" -- sh -c '/bin/true; /bin/true; /bin/true; /bin/true; :'
	"$SONDE" run -q -o "same$i" -- sh -c '/bin/true; /bin/true; :'
	cp -r "new$i" "sonde_many/sonde_$i"
done
compared() { # EXIT-CODE FILE ARGUMENTS...: what compare prints goes to FILE
	local wanted=$1 file=$2 status=0
	shift 2
	"$SONDE" compare "$@" >"$file" 2>said || status=$?
	equal "exit code of compare $*" "$wanted" "$status"
}

gate="processes_started>+5%"
old=old1,old2,old3 new=new1,new2,new3

compared 1 worse --fail-if "$gate" $old $new
contains worse "worse, fails on $gate: processes_started +67 % (+67 % to +67 %)"
contains worse "Different in A and B"
contains worse "  job         job.command"
contains worse "  environment job.environment.OMP_NUM_THREADS"
contains worse "    A  (unknown)"
contains worse "    B  4"
! grep -qE 'boot_id|job.environment.PWD' worse || fail "what differs each time is told: $(cat worse)"
compared 0 same --fail-if "$gate" $old same1,same2,same3
grep -q '^processes_started .* same$' same || fail "$(cat same)"
compared 0 better --fail-if "$gate" $new $old
compared 1 less --fail-if 'processes_started<-5%' $new $old
compared 0 two --fail-if 'processes_started>+2' $old $new
compared 0 floor --fail-if "$gate" --floor processes_started=3 $old $new
compared 1 many --fail-if "$gate" $old sonde_many
contains many 'B  3 runs'
compared 1 options --fail-if "$gate" -a old1 -a old2,old3 -b new1 -b new2 -b new3
contains options 'A  3 runs'

# One run each tells nothing by itself, without like runs beside it, and says what would.
mkdir lone
cp -r old1 new1 lone
compared 3 single --fail-if "$gate" lone/old1 lone/new1
contains single "inconclusive, fails on $gate: processes_started +67 %, of single"
contains single "3 runs each where runs vary by 1 %"
! grep -n ' $' worse same single || fail "blanks at the end of lines"
# Five like runs do.
mkdir past
for i in 1 2 3 4 5; do
	"$SONDE" run -q -o "past/sonde_$i" -- sh -c '/bin/true; /bin/true; :'
done
compared 1 history --fail-if "$gate" --history past lone/old1 lone/new1
contains history "estimated from 5 similar runs"

# A pull request and a program.
"$SONDE" compare --fail-if "$gate" --markdown $old $new >request.md
contains request.md '### Sonde: worse: processes_started +67 %'
contains request.md '| **worse** |'
"$SONDE" compare --fail-if "$gate" --fail-if 'max(job.threads_count)>+5%' --json $old $new >made.json
json_says '.verdict == "worse" and (.gate | length) == 2 and .gate[0].difference == 2 and
	(.figures | any(.name == "wall_seconds" and (.values_a | length) == 3))' <made.json >/dev/null || fail "$(cat made.json)"
"$PYTHON" - <<'END' || fail "not as docs/schema/compare.json says"
import json, os, jsonschema
with open(os.environ["TOP"] + "/docs/schema/compare.json") as f:
    schema = json.load(f)
with open("made.json") as f:
    jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker()).validate(json.load(f))
END
