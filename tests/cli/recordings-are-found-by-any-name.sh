# SPDX-License-Identifier: Apache-2.0
# A recording is found whatever its name: the newest here, in a path that -o makes, or the folder one is in.
. "$TOP/tests/lib.sh"

"$SONDE" run -q -i 50ms -o base -- sleep 0.1 || fail "run -o base"
"$SONDE" run -q -i 50ms -o sonde_old -- sleep 0.1 || fail "run -o sonde_old"
"$SONDE" run -q -i 50ms -o head -- sh -c 'sleep 0.1; exit 3'
mkdir no-recording
echo text >no-recording/node-x.sonde
newest() { # VERB ARG...: says that it took head
	"$SONDE" "$@" >out 2>said || fail "$*: $(cat said)"
	grep -q "ing head$" said || fail "$* took another one: $(cat said)"
}
newest show
newest report --only html
newest export -o -
newest trace -o job.json
newest phases
contains <("$SONDE" top --once) head
equal "the list" "base sonde_old head" "$("$SONDE" ls --json | jq -r '[.recordings[] | select(.state == "complete").recording] | join(" ")')"
"$SONDE" compare base head >compared || [ $? = 3 ] || fail "compare: $(cat compared)"
contains compared "exit 3"

# From within it, and of a path whose parents were not there.
(cd head && "$SONDE" show) >shown 2>said || fail "show within a recording: $(cat said)"
contains shown "Failed (exit code 3) after"
"$SONDE" run -q -o a/b/c -- true || fail "run -o a/b/c"
contains <("$SONDE" ls a/b) a/b/c

# What cannot be written is said before the job, and again when it has said all it had.
touch file
"$SONDE" run -o file/x -- echo of the job >said 2>&1 || fail "a job without a recording"
equal "where it is said" "recording: cannot make the directory file/x|of the job|recording failed: cannot make the directory file/x" \
	"$(sed 's/^sonde: //; s/: Not a directory.*//' said | paste -sd'|')"
