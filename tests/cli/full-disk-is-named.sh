# SPDX-License-Identifier: Apache-2.0
# A job that fails on a full disk is told which one it is: of its working directory, of $TMPDIR or of a file that it writes, by space or by inodes.
. "$TOP/tests/lib.sh"
[ "${1-}" = inside ] || {
	mkdir small image
	unshare -m sh -c 'mount -t tmpfs -o size=64k none small' 2>/dev/null || skip "no tmpfs can be mounted here"
	unshare -m bash "$0" inside || exit
	exit 0
}
mount -t tmpfs -o size=20m,nr_inodes=100 none small

ends() { # DIRECTORY CMD...: records it there; what the verdicts say is in said
	rm -rf out
	(cd "$1" && shift && "$SONDE" run --quiet --no-error-text -i 100ms -o "$OUT" -- "$@") >job.out 2>&1
	code=$?
	"$SONDE" show --json out | jq -r '.verdicts[] | .rule + ": " + .sentence' >said
}
OUT=$PWD/out

# In the working directory, by a program of C, too fast for any sample between.
ends small dd if=/dev/zero of=big bs=64k
equal "the end of dd" 1 $code
contains job.out "No space left on device"
contains said "disk-full: The disk that holds $PWD/small was full (0 B of 20.0 MiB free) when the job failed. Free space there, or write elsewhere."
equal "the first verdict" disk-full "$(sed -n '1s/:.*//p' said)"

# Elsewhere, filled and closed within a moment by a job that works in another directory; and one that ends with 0 all the same.
rm small/big
mkdir other
ends other sh -c 'sleep 0.3; head -c 30000000 /dev/zero >../small/big || exit 5'
equal "the end of a job that wrote elsewhere in a moment" 5 $code
contains said "disk-full: The disk that holds $PWD/small was full (0 B of 20.0 MiB free) when the job failed."
rm small/big
ends other sh -c 'sleep 0.3; dd if=/dev/zero of=../small/big bs=64k; true'
contains said "disk-filled: The disk that holds $PWD/small filled up: 20.0 MiB were free at first, 0 B of 20.0 MiB at its fullest; the job wrote "
ends other sh -c 'sleep 0.3; dd if=/dev/zero of=big bs=64k count=400; true'
grep '^disk' said && fail "told of a disk that was full before the job began"
rm small/big other/big
ends other sh -c 'sleep 0.3; cd ../small; i=0; while [ $i -lt 120 ]; do touch file.$i; i=$((i + 1)); done 2>/dev/null; true'
contains said "disk-filled-with-files: The disk that holds $PWD/small ran out of inodes (all 100 in use; "
rm -f small/file.*

# A job that failed while there was room again, and one that ended well on a nearly full disk.
ends small sh -c 'exit 3'
grep '^disk' said && fail "told of a disk with room"
head -c 20900000 /dev/zero >small/big
ends small true
contains said "disk-nearly-full: The disk that holds $PWD/small is nearly full: "
grep '^disk-full' said && fail "told of a full disk to a job that ended well"
rm small/big

# Below $TMPDIR, by Python.
export TMPDIR=$PWD/small
ends . "$PYTHON" -c '
import tempfile
with tempfile.NamedTemporaryFile(delete=False) as file:
    file.write(bytes(30 << 20))'
unset TMPDIR
contains job.out "No space left on device"
contains said "disk-full: The disk that holds $PWD/small was full (0 B of 20.0 MiB free)"
rm -f small/tmp*

# Elsewhere, in a file that was open for a while.
ends . sh -c 'exec 5>small/log; sleep 2.5; dd if=/dev/zero bs=64k >&5 || exit 4'
equal "the end of a job that wrote elsewhere" 4 $code
contains said "disk-full: The disk that holds $PWD/small was full (0 B of 20.0 MiB free)"
rm -f small/log

# Below the working directory, filled and closed within a moment.
ends . sh -c 'sleep 1.5; head -c 30000000 /dev/zero >small/big || exit 5'
equal "the end of a job that wrote below" 5 $code
contains said "disk-full: The disk that holds $PWD/small was full (0 B of 20.0 MiB free)"
rm -f small/big

# On a mount that only the job sees, as in a container: asked while the process that writes there lives.
mkdir own
ends . unshare -m bash -c 'mount -t tmpfs -o size=20m none own; exec 5>own/log; head -c 17000000 /dev/zero >&5; sleep 4; head -c 9000000 /dev/zero >&5 || exit 4'
equal "the end of a job that wrote to its own mount" 4 $code
grep -Eq "^disk-full(-possible)?: .*that holds $PWD/own (was full|had)" said || fail "its own mount: $(cat said)"
mountpoint -q own && fail "its mount is seen here"

# Without inodes there is space, and yet no file more.
ends small sh -c 'i=0; while : >file.$i; do i=$((i + 1)); done'
contains said "disk-without-inodes: The disk that holds $PWD/small had no free inodes (all 100 in use)"
rm -f small/file.*

# What is read only is not written to, however full it says that it is.
mount -t tmpfs -o size=1m none image
head -c 2000000 /dev/zero >image/all 2>/dev/null
mount -o remount,ro image
ends image sh -c 'exit 3'
grep '^disk' said && fail "told of a file system that is read only"
true
