#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# plain
# Until the job begins, it waits for what is needed only: two processes are made, by another that ends, none for disks of this node;
# leftovers of killed jobs are looked for behind that, wherever they lie; one look at cgroup.procs finds the one group of version 2; and
# no graphics card is looked for by its number where there is none. Beside opening, reading and closing files it makes few
# system calls, and the loader need not write addresses into its tables. One file is not read for each sign of a container, and what is empty
# is removed by one call.
. "$TOP/tests/lib.sh"
need strace
strace -f -qq -o calls true || skip "strace may not trace here"

record() {
	rm -rf out
	strace -f -y -qq -o calls -e trace=clone,fork,vfork,clone3,openat,getdents64,sendmsg "$SONDE" run --quiet -o out -- true || fail "run: $?"
	sed '/sendmsg(.*"\\[0-7]*\\0\\0\\0\\1\\0\\0\\0/,$d' calls >waited
	cmp -s waited calls && fail "the first sample was never said to be taken"
	return 0
}
count() { # FILE PATTERN
	grep -c "$2" "$1" || true
}
order_of_starts() { # by their first system calls: pids may begin anew
	grep -o '^[0-9]* *clone(.* = [0-9]*$\|^[0-9]* *<\.\.\. clone resumed>.* = [0-9]*$' calls | sed 's/.* = //' | while read -r pid; do
		sed -n "s/^$pid *prctl(PR_SET_NAME, \"\([a-z-]*\)\".*/\1/p" calls | head -n 1
	done | head -n 2 | paste -sd ' '
}
on_disk() { # a file system that no server keeps waiting
	case $(stat -f -c %T "$1") in ext2/ext3 | xfs | btrfs | tmpfs | zfs | f2fs) ;; *) false ;; esac
}

unset TMPDIR
record
if on_disk / && on_disk . && on_disk /tmp; then
	equal "processes made until then" 3 "$(grep -v CLONE_THREAD waited | grep -c '\(clone\|clone3\|fork\)(')"
fi
launcher=$(sed -n '1s/ .*//p' calls)
equal "looks for leftovers by the launcher" 0 "$(grep "^$launcher " calls | grep -c 'getdents64([0-9]*<\(/tmp\|/dev/shm\)>')"
[ "$(count calls 'getdents64([0-9]*</tmp>')" -ge 1 ] || fail "nobody looked for them"
if [ -e /sys/fs/cgroup/cgroup.procs ]; then
	[ "$(count waited 'cgroup.procs"')" -le 2 ] || fail "$(grep 'cgroup.procs"' waited)"
fi
equal "reads of the recorder's control group" 1 "$(count calls '"self/cgroup"')"
equal "empty folders that are listed before they are removed" 0 "$(grep "^$launcher " calls | grep -c 'openat([^"]*"[^"]*/sonde-spans')"
[ -e /sys/class/drm ] || equal "graphics cards looked for" 0 "$(count waited 'renderD')"

# Where the job has ended before the recorder gets to it, the launcher does not wait for that look.
rm -rf out
strace -f -y -qq -o calls -e trace=fallocate,getdents64,sendmsg -e inject=fallocate:delay_enter=1000000 "$SONDE" run --quiet -o out -- true ||
	fail "run: $?"
if [ "$(count calls 'fallocate(')" -ge 1 ]; then
	sed '/sendmsg(.*"\\[0-7]*\\0\\0\\0\\5\\0\\0\\0/,$d' calls >waited
	cmp -s waited calls && fail "the recorder never said that it was done"
	equal "looks for leftovers until the launcher is let go" 0 "$(count waited 'getdents64([0-9]*</tmp>')"
	[ "$(count calls 'getdents64([0-9]*</tmp>')" -ge 1 ] || fail "nobody looked for them behind that"
fi

# Whoever makes the folders below TMPDIR looks for them there.
mkdir own
export TMPDIR=$PWD/own
record
equal "looks for leftovers in TMPDIR" 1 "$(grep 'getdents64([0-9]*<[^>]*/own>' calls | cut -d ' ' -f 1 | sort -u | wc -l)"

# Of what each source and the job itself take beside an open, a read and a close there is a fixed number. What is in a tmpfs already is
# asked for its size, up to 4,096 files: they are the machine's.
rm -rf out
strace -f -qq -o calls "$SONDE" run --quiet -o out -- true
sed '/sendmsg(.*"\\[0-7]*\\0\\0\\0\\1\\0\\0\\0/,$d' calls | grep -v 'resumed>\|newfstatat([0-9]*, "[^/]*", .*AT_SYMLINK_NOFOLLOW' >waited
opens=$(count waited ' openat(') all=$(count waited '^[0-9]* *[a-z]')
holds "files opened until the job begins" "$opens >= 40"
holds "system calls until then" "$all <= 3 * $opens + 250"
# Its tables are cut from one mapping; where no Lustre is mounted, that is found out while the job runs.
holds "mappings until then" "$(count waited ' mmap(') <= 40"
[ -e /sys/fs/lustre ] || [ -e /proc/fs/lustre ] || equal "lists of Lustre's mounts" 0 "$(count waited '"[a-z/]*lustre/llite"')"
# The recorder has other things to do than to wait for the sentinel, which is made behind it.
equal "what is started, in order" "sonde-recorder sonde-sentinel" "$(order_of_starts)"
if command -v readelf >/dev/null && [ "${SONDE#"$TOP/build/"}" = sonde ]; then
	equal "the kind of program" EXEC "$(readelf -hW "$SONDE" | awk '$1 == "Type:" { print $2 }')"
fi
