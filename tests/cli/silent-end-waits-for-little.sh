# SPDX-License-Identifier: Apache-2.0
# plain
# With --quiet the command ends once the recording is whole and on the disk: what a short one has is synced once, no memory is given
# back before, and helpers are ended and what was read is closed behind it.
. "$TOP/tests/lib.sh"
need strace
strace -f -y -qq -o calls -e trace=fdatasync,madvise,kill,close,ftruncate,sendmsg,rename "$SONDE" run --quiet -o out -- true ||
	skip "strace may not trace here"
grep -q 'sendmsg(.*"\\5\\0\\0\\0\\5\\0\\0\\0' calls || fail "no MESSAGE_DONE: $(grep sendmsg calls)"
sed '/sendmsg(.*"\\5\\0\\0\\0\\5\\0\\0\\0/,$d' calls >waited

waited() { # PATTERN: how many calls there were until the launcher heard that all is done
	grep -c "$1" waited
}
equal "syncs of the recording" 1 "$(waited 'fdatasync(')"
equal "memory given back" 0 "$(waited 'MADV_DONTNEED')"
equal "helpers killed" 0 "$(waited 'kill(.*SIGKILL')"
equal "files closed that only sampling needed" 0 "$(waited 'close(.*\[timerfd\]')"
equal "the tail is emptied" 1 "$(waited 'ftruncate(.*\.tail')"
equal "the history has it" 1 "$(waited 'rename(.*/ended/.*json')"
equal "damage" 0 "$(figure out .damages)"
