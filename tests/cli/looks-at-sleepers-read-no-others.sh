# SPDX-License-Identifier: Apache-2.0
# A look at a silent job reads the files of all other processes only where somebody waits for one of them: a job that sleeps does not.
. "$TOP/tests/lib.sh"
need strace
strace -qq -o calls true || skip "strace may not trace here"
looked() { # COMMAND...: of how many processes the helper listed the open files, in a look at the job
	rm -rf out calls
	strace -f -qq -o calls -e trace=execve,openat "$SONDE" run --quiet -i 1s -o out -- "$@"
	helper=$(awk '/execve\(.*sonde-unwind"/ { print $1; exit }' calls)
	[ "$helper" ] || fail "nothing looked at: $*"
	grep -c "^$helper .*openat([0-9]*, \"[0-9]*/fd\"" calls || true
}
equal "listed for a job that sleeps" 0 "$(looked sleep 7)"
holds "listed for a job that waits for a child or a pipe" "$(looked sh -c 'sleep 7 | cat') > 1"
