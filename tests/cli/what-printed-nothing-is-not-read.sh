# SPDX-License-Identifier: Apache-2.0
# plain
# At a command's end the launcher has a thread read the end of its standard error, since a server may not answer. Where that is a file on a
# disk of this machine whose size has not changed, there is nothing to read and no thread; what was printed is recorded as before.
. "$TOP/tests/lib.sh"
need strace
unset TMPDIR
strace -f -qq -o calls true || skip "strace may not trace here"
[ "$(stat -c %Hd . 2>/dev/null || echo 0)" != 0 ] || skip "this folder is on no disk"

run_it() { # NAME COMMAND...: threads that the launcher makes
	name=$1
	shift
	strace -f -qq -o calls -e trace=execve,clone3 "$SONDE" run --quiet -o "$name" -- "$@" 2>>"$name.err" && status=0 || status=$?
	launcher=$(awk 'NR == 1 { print $1 }' calls)
	grep "^$launcher " calls | grep -c 'CLONE_THREAD'
}
echo "from before" >silent.err
equal "threads for a command that printed nothing" 0 "$(run_it silent sh -c 'exit 3')"
equal "why there is no text" "nothing was printed" "$(figure silent .printed.absent)"
equal "threads for one that printed" 1 "$(run_it loud sh -c 'echo broken >&2; exit 3')"
equal "what it printed" broken "$(figure loud .printed.text)"
