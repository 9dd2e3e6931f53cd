# SPDX-License-Identifier: Apache-2.0
# A full disk leaves the file that was there as it was, says which disk, and leaves nothing else behind.
. "$TOP/tests/lib.sh"
mkdir disk
mount -t tmpfs -o size=256k sonde-test disk 2>/dev/null || skip "a small tmpfs cannot be mounted here (needs root)"
trap "umount -l disk" EXIT # a recorder of another test may just look at it

"$SONDE" run --quiet -i 20ms -o job -- sleep 1 || fail "run"
"$SONDE" export job -o disk/tables --metrics node.load_1min --table series 2>err || fail "export of a little"
cp disk/tables/series.csv wanted
status=0
"$SONDE" export job -o disk/tables --table series 2>err || status=$?
equal "exit status on a full disk" 1 $status
one_sentence err
contains err "cannot write disk/tables/series.csv: No space left on device on the disk mounted at $PWD/disk"
cmp wanted disk/tables/series.csv || fail "the old file has changed"
equal "what is in the folder" series.csv "$(find disk/tables -mindepth 1 ! -name losses.csv -printf "%f")"

chmod 500 disk/tables
[ "$(id -u)" = 0 ] || {
	equal "exit status without permission" 1 "$(status_of "$SONDE" export job -o disk/tables 2>err)"
	one_sentence err
}
