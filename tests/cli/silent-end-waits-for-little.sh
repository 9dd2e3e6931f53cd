# SPDX-License-Identifier: Apache-2.0
# plain
# With --quiet the command ends once the recording is whole for all who read it: it is synced behind that, no memory is given back
# before, no process is made for the history, and helpers are ended and what was read is closed behind it. A recorder that is killed
# there loses nothing. Where another machine has the file, it is synced first.
. "$TOP/tests/lib.sh"
need strace
# The job lasts until its start is over: what that takes is given back with it. The recorder finds the machine out last.
# The words of the job are in its recording, too, but not with a colon behind.
job='i=0; until "$0" show --json out | grep -q "\"host.cpu_flags\": " || [ $((i += 1)) -gt 100 ]; do sleep 0.1; done; exit 3'
record() { # STRACE-OPTIONS...
	rm -rf out calls
	strace -f -y -qq -o calls -e trace=clone,fork,vfork,fdatasync,madvise,kill,close,ftruncate,sendmsg,rename,fstatfs "$@" \
		"$SONDE" run --quiet -o out -- sh -c "$job" "$SONDE" && status=0 || status=$?
	equal "exit status" 3 "$status"
	grep -q 'sendmsg(.*"\\6\\0\\0\\0\\5\\0\\0\\0' calls || fail "no MESSAGE_DONE: $(grep sendmsg calls)"
	sed '/sendmsg(.*"\\6\\0\\0\\0\\5\\0\\0\\0/,$d' calls >waited
	recorder=$(awk '/sendmsg\(.*"\\6\\0\\0\\0\\5\\0/ { print $1; exit }' calls)
	sed '1,/sendmsg(.*"\\6\\0\\0\\0\\5\\0\\0\\0/d' calls >behind
}
count() { # FILE PATTERN: how many calls there were until the launcher heard that all is done, or behind that
	grep -c "$2" "$1"
}
strace -f -qq -o calls true || skip "strace may not trace here"
record
equal "syncs of the recording, waited for" 0 "$(count waited 'fdatasync(')"
equal "syncs of the recording, behind" 1 "$(count behind 'fdatasync(.*\.sonde')"
# From the job's end on: what only the start needed is given back once, after some samples.
sed '1,/sendmsg(.*"\\6\\0\\0\\0\\4\\0\\0\\0/d' waited >last
[ -s last ] || fail "no MESSAGE_ENDED: $(grep sendmsg calls)"
equal "memory given back" 0 "$(count last "^$recorder .*MADV_DONTNEED")"
equal "processes made by the recorder" 0 "$(sed -n '/fstatfs([0-9]*<[^>]*\/out>/,$p' waited |
	grep "^$recorder " | grep -v CLONE_THREAD | grep -c 'clone(\|fork(')"
equal "helpers killed" 0 "$(count waited 'kill(.*SIGKILL')"
equal "files closed that only sampling needed" 0 "$(count waited 'close(.*\[timerfd\]')"
equal "the tail is emptied behind the sync" 1 "$(sed -n '/fdatasync(/,$p' behind | grep -c 'ftruncate(.*\.tail')"
equal "the history has it" 1 "$(count waited 'rename(.*/ended/.*json')"
equal "damage" 0 "$(figure out .damages)"

record -e inject=fdatasync:signal=KILL
equal "killed at the sync" 1 "$(count behind "^$recorder .*killed by SIGKILL")"
equal "then its tail is as it was" 0 "$(count calls 'ftruncate(.*\.tail')"
equal "and the history has it" 1 "$(count waited 'rename(.*/ended/.*json')"
equal "and there is no damage" 0 "$(figure out .damages)"
equal "and it is complete" true "$(figure out '.nodes[0].complete')"
