# SPDX-License-Identifier: Apache-2.0
# sonde top without a terminal: one screen, or JSON; of a process nothing stays behind; what is wrong is one sentence.
. "$TOP/tests/lib.sh"
unset COLUMNS LINES
mkdir temporary
export TMPDIR=$PWD/temporary

"$PROGRAMS/tree" 4 >ready &
tree=$!
trap 'kill $tree 2>/dev/null' EXIT
wait_for 5 grep -q ready ready
"$SONDE" top -p $tree -i 200ms >screen 2>said || fail "top -p without a terminal"
[ ! -s said ] || fail "it has something to say: $(cat said)"
contains screen "process $tree"
contains screen COMMAND
contains screen tree
equal "sleepers" 3 "$(grep -c sleeper screen)"
! grep -q "$(printf '\033')" screen || fail "a sequence for a terminal is in it"
"$SONDE" top -p $tree -i 200ms --json >json || fail "top -p --json"
equal "what it says" "[\"sonde/top/1\",1,\"running\",4,true,true]" "$(jq -c '[.schema, (.nodes | length), .nodes[0].state,
	(.nodes[0].processes | length), .cpu_cores >= 0, .memory_bytes > 0]' json)"
equal "command lines, and what others use" '[true,true,true]' "$(jq -c '[(.nodes[0].processes | any(.command_line // "" | endswith("tree 4"))),
	.nodes[0].others_cpu_cores >= 0, .node_memory_bytes > .memory_bytes]' json)"
LINES=50 COLUMNS=200 "$SONDE" top -p $tree -i 200ms --once >wide || fail "top of a large screen"
for text in "| job" ": others" "History cores" "WAITS FOR" "$PROGRAMS/tree 4"; do
	contains wide "${text##*/}"
done
kill -0 $tree || fail "the process did not live on"
equal "what stays behind" "" "$(ls temporary)"

# A process that ends while it is watched is shown to have ended; TERM=dumb gets one screen.
sleep 1.5 &
TERM=dumb timeout "$(patience 60)" "$SONDE" top -p $! -i 100ms --once >screen || fail "top -p of a process that ends"
equal "what stays behind" "" "$(ls temporary)"

"$SONDE" run -q -o sonde_job -- sleep 0.1
"$SONDE" top >screen 2>said || fail "top of the newest here"
contains screen sonde_job
contains screen ended
contains screen "sonde show has its summary"
contains screen "CPU time"

wrong() { # STATUS TEXT ARGUMENTS...
	local wanted=$1 text=$2 status=0
	shift 2
	"$SONDE" top "$@" >out 2>said || status=$?
	equal "exit status of top $*" "$wanted" $status
	one_sentence said
	contains said "$text"
	[ ! -s out ] || fail "top $* wrote to standard output"
}
wrong 2 "unexpected argument" a b
wrong 2 "unexpected argument" -p 1 a
wrong 2 "not a list of at most 256 process ids" -p 12x
wrong 1 4194304 -p 4194304
wrong 1 "nowhere" nowhere
wrong 1 "has no node nobody" --node nobody sonde_job
wrong 2 "100ms" -i 1ms sonde_job
equal "what stays behind" "" "$(ls temporary)"
TMPDIR=/nowhere/at/all
export TMPDIR
wrong 1 "cannot make a directory" -p $tree
