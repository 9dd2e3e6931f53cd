# SPDX-License-Identifier: Apache-2.0
# The output's disk fills up: the job ends with its own status, the recording so far is readable, the message names the disk.
. "$TOP/tests/lib.sh"
mkdir disk
mount -t tmpfs -o size=2m sonde-test disk 2>/dev/null || skip "a small tmpfs cannot be mounted here (needs root)"
trap "umount -l disk" EXIT # a recorder of another test may just look at it
"$SONDE" run -i 2ms -o disk/out -- sh -c '
	i=0
	while [ $i -lt 40 ]; do
		[ $i -ne 15 ] || head -c 4000000 /dev/zero >disk/filler 2>/dev/null
		sleep 0.05
		i=$((i + 1))
	done
	exit 42' 2>said
equal "the job's exit status" 42 $?
grep -i "disk/out" said | grep -qiE 'no space|full' || {
	cat said
	fail "the message does not name the disk"
}
equal "said as it happens and at the end" 2 "$(grep -ciE 'no space|full' said)"
holds "samples from before" "$(figure disk/out '.nodes[0].samples') >= 300"

# Full from the start.
rm -rf disk/out
head -c 4000000 /dev/zero >disk/filler 2>/dev/null
"$SONDE" run --quiet -o disk/again -- sh -c 'exit 43' 2>said
equal "the job's exit status on a full disk" 43 $?
contains said disk/again
contains said "choose another directory"
