# SPDX-License-Identifier: Apache-2.0
# A name that does not say how a trace is written is refused before anything is read or written; a file stays as it was
# until the new one is whole; of damage the rest is written with status 1; without -o the name suits the recording.
. "$TOP/tests/lib.sh"

refused() { # TEXT ARGUMENTS...
	refused_as_usage trace "$@"
}

for name in job.xml job .json dir/.json job.json.zip -; do
	refused "a trace's name ends with .trace, .json, .json.gz, .tar.gz or .pftrace" nothing-here -o "$name"
done
equal "what is in the folder" "err out output.log" "$(: >>output.log && echo *)"

mkdir made
"$PROGRAMS/traced_nodes" made 200 || fail "the recording"
refused "not before" made -o job.json --from 5s --to 2s
refused 'no metric of this recording matches "nonsense.*"' made -o job.json --metrics 'nonsense.*'
[ ! -e job.json ] || fail "a refused trace left a file"

# Without -o: JSON, in the recording's directory; what was written is told.
"$SONDE" trace made --json >out 2>err || fail "trace"
json_says '.schema == "sonde/trace/1" and .files == ["made/trace.json"] and .damages == 0' <out || fail "$(cat out)"
contains err "wrote made/trace.json (slices"
json_says '.traceEvents | length > 300' <made/trace.json || fail "the trace"

# What cannot be written leaves the old one, and nothing beside it.
mkdir -p taken/job.pftrace
status=$(status_of "$SONDE" trace made -o taken/job.pftrace 2>err)
equal "status when the name is taken" 1 "$status"
one_sentence err
contains err "cannot write taken/job.pftrace"
equal "what is left" "job.pftrace" "$(ls -A taken)"

file=$(echo made/node-alpha*.sonde)
size=$(stat -c %s "$file")
byte=$(od -An -tu1 -j $((size / 2)) -N 1 "$file")
printf "\\$(printf %03o $((byte ^ 255)))" | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
status=$(status_of "$SONDE" trace made -o damaged.json 2>err)
equal "status on damage" 1 "$status"
contains err "is damaged (places:"
json_says '.traceEvents | length > 100' <damaged.json || fail "the damaged trace"
