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

# A disk that cannot be written is called that, also below a directory that would have to be made.
if unshare -rm true 2>/dev/null; then
	unshare -rm sh -c 'mount -t tmpfs none no-recording && mount -o remount,ro no-recording && cd no-recording &&
		exec "$SONDE" run -o sub/x -- echo of the job' >said 2>&1 || fail "a job on a disk that cannot be written"
	equal "what is said first" "sonde: recording: cannot make the directory sub/x: Read-only file system; name another with -o" "$(head -1 said)"
fi

# A file of a node that was renamed is read all the same, with the tail that belongs to it, or the user is told how.
"$SONDE" run -q -i 50ms -o renamed -- sh -c 'sleep 0.2; exit 4' && fail "exit 4"
node=$(basename renamed/node-*.sonde .sonde)
[ -e "renamed/$node.tail" ] || touch renamed/other.tail
mv "renamed/$node.sonde" renamed/node-kept.sonde
"$SONDE" show renamed >shown 2>said || fail "show of a renamed node: $(cat said)"
contains shown "Failed (exit code 4) after"
equal "what is said of it" "" "$(cat said)"
mv renamed/node-kept.sonde renamed/first.sonde
"$SONDE" show renamed >shown 2>said && fail "a directory without node-*.sonde"
contains said "renamed holds no node-*.sonde, but first.sonde; to read it, name it: renamed/first.sonde"
"$SONDE" show renamed/first.sonde >shown 2>said
contains shown "Failed (exit code 4) after"
