# SPDX-License-Identifier: Apache-2.0
# plain
# Closing an inotify descriptor takes the kernel 15 to 25 ms: the recorder leaves that to its own end, for which nobody waits.
. "$TOP/tests/lib.sh"
need strace
strace -f -y -qq -o calls -e trace=inotify_init1,close,sendto,sendmsg "$SONDE" run --quiet -o out -- true || skip "strace may not trace here"
grep -q 'inotify_init1(' calls || fail "nothing is watched: $(cat calls)"
grep 'close(.*anon_inode:inotify' calls && fail "an inotify descriptor was closed"
"$SONDE" show out >/dev/null || fail "show: $?"
