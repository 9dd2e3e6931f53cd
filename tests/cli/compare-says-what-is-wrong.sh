# SPDX-License-Identifier: Apache-2.0
# What cannot be compared says why, in a sentence, with exit code 2; what can be with a warning is.
. "$TOP/tests/lib.sh"
"$SONDE" run -q -o a -- true
"$SONDE" run -q -o b -- sh -c :
mkdir empty
echo text >file

compared() { # EXIT-CODE ARGUMENTS...
	local wanted=$1 status=0
	shift
	"$SONDE" compare "$@" >told 2>said || status=$?
	equal "exit code of compare $*" "$wanted" "$status"
}

says() { # TEXT: whatever the lines it is broken into
	tr -s ' \n' ' ' <told >unbroken
	contains unbroken "$1"
}

refused() { # SENTENCE ARGUMENTS...
	local wanted=$1
	shift
	compared 2 "$@"
	one_sentence said
	contains said "$wanted"
	[ ! -s told ] || [ "$(jq -r .schema told)" = sonde/error/1 ] || fail "compare $* wrote to standard output"
}

refused 'no runs given'
refused 'no runs given' a
refused "unexpected argument 'c'" a b c
refused 'cannot find nowhere' a nowhere
refused 'empty' a empty
refused 'file' a file
refused 'there is no run in ,' a ,
refused "the nearest is wall_seconds" --fail-if 'wall_second>+5%' a b
refused "there is no function 'median'" --fail-if 'median(job.cpu_cores)>+5%' a b
refused 'is not a condition' --fail-if wall_seconds a b
refused 'is not a threshold' --fail-if 'wall_seconds>+5parsecs' a b
refused 'is not a threshold' --fail-if 'wall_seconds>+i' a b
refused 'is not a threshold' --fail-if 'wall_seconds>+1Gi+5%' a b
refused 'write <- and a number' --fail-if 'wall_seconds<+5%' a b
refused 'names no figure' --fail-if '1>+5%' a b
refused 'is not a floor' --floor 'wall_seconds' a b
refused 'is not a floor' --floor 'wall_seconds=5%' a b
refused '--margin takes a share' --margin much a b
refused 'use either --json or --markdown' --json --markdown a b
refused '--html takes the name of a file' --html empty/ a b
refused 'cannot' --html file/page.html a a

# Another command is a warning.
compared 3 a b
contains said 'A and B ran different commands'
# A figure that nobody measured.
compared 3 --fail-if 'mean(no.such_metric)>+5%' a b
says 'unknown for all runs of A'
# Damaged: the rest is compared, and that is said.
cp -r b cut
for node in cut/*.sonde; do
	truncate -s $(($(stat -c %s "$node") * 2 / 3)) "$node"
done
rm cut/*.tail
compared 3 a cut
grep -qE 'is damaged|is incomplete' said || fail "$(cat said)"

# What was measured in two ways is not one figure. Where the kernel keeps the peak for both, it is.
"$SONDE" run -q -i 20ms -o estimated -- sleep 0.3
"$SONDE" run -q -i 20ms --pss off -o summed -- sleep 0.3
if [ "$(figure estimated .job.peak_memory_kind)" != "$(figure summed .job.peak_memory_kind)" ]; then
	compared 3 --fail-if 'peak_memory_bytes>+5%' estimated summed
	says 'peak_memory_bytes is not compared'
	says 'does not mean the same in all runs'
	! grep -q '^peak_memory_bytes  ' told || fail "it was compared"
	# Among several only the odd one is left out.
	for copy in e2 e3 e4; do
		cp -r estimated $copy
	done
	"$SONDE" compare estimated,e2 e3,e4,summed >told 2>said || :
	says 'peak_memory_bytes of 1 run is skipped'
	grep -q '^peak_memory_bytes  ' told || fail "it was not compared: $(cat told)"
fi
