# SPDX-License-Identifier: Apache-2.0
# A full disk leaves the trace that was there as it was, however it is written, and nothing beside it; it is said which disk.
. "$TOP/tests/lib.sh"
mkdir disk made
mount -t tmpfs -o size=64k sonde-test disk 2>/dev/null || skip "a small tmpfs cannot be mounted here (needs root)"
trap "umount -l disk" EXIT # a recorder of another test may just look at it

"$PROGRAMS/traced_nodes" made 20000 || fail "the recording"
for name in a.json a.json.gz a.tar.gz a.pftrace; do
	"$SONDE" trace made -o disk/$name --from 0 --to 1ms 2>err || fail "a little as $name: $(cat err)"
	cp disk/$name wanted
	status=$(status_of "$SONDE" trace made -o disk/$name 2>err)
	equal "status of $name on a full disk" 1 "$status"
	one_sentence err
	contains err "cannot write disk/$name: No space left on device on the disk mounted at $PWD/disk"
	cmp disk/$name wanted || fail "the old $name has changed"
	equal "what is on the disk" "$name" "$(ls -A disk)"
	rm disk/$name
done
