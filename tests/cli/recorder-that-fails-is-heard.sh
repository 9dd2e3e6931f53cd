# SPDX-License-Identifier: Apache-2.0
# plain
# A recorder that cannot record, and learns so late, is heard: its launcher says once why, and not that it did not answer.
. "$TOP/tests/lib.sh"
need strace
strace -f -qq -o calls true || skip "strace may not trace here"
strace -f -qq -o calls -e trace=recvfrom -e inject=recvfrom:delay_enter=300000 "$SONDE" run -o /proc/nowhere/job -- true 2>said ||
	fail "run: $?: $(cat said)"
cat said
equal "sentences" 2 "$(grep -c '^sonde: recording' said)"
contains said "recording failed: cannot make the directory /proc/nowhere/job"
