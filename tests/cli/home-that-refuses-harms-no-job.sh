#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In a home directory that may be neither read nor written, as that of root on an NFS server with root squash, a job is recorded, shown and reported;
# only what is kept there is missing, and says so.
. "$TOP/tests/lib.sh"
need jq
mkdir home
chmod 700 home
squashed=()
if [ "$(id -u)" = 0 ]; then
	need setpriv
	chown 65534 home
	squashed=(setpriv --bounding-set "-dac_override,-dac_read_search")
else
	chmod 0 home
fi
unset XDG_DATA_HOME XDG_CONFIG_HOME XDG_CACHE_HOME
export HOME=$PWD/home
trap 'chmod 700 home' EXIT
! "${squashed[@]}" sh -c 'ls home || : >home/file' 2>/dev/null || skip "this user may enter every directory"

equal "status" 3 "$("${squashed[@]}" "$SONDE" run -i 50ms -o rec -- sh -c 'sleep 0.2; exit 3' >out 2>said; echo $?)"
contains said "recording   rec"
equal "exit code and damage" "3 0" "$(figure rec '"\(.job.exit_code) \(.damages)"')"
for command in "show --all rec" "report rec" "export --to csv,sqlite -o tables rec" "ls" "doctor" "explain rec" "phases rec"; do
	# shellcheck disable=SC2086
	"${squashed[@]}" "$SONDE" $command >out 2>err || fail "$command: $(cat err)"
done
[ -s rec/report.html ] || fail "no page was written"
if "${squashed[@]}" "$SONDE" ls --history >out 2>err; then
	fail "a history that cannot be read is empty"
fi
one_sentence err
contains err "$HOME"

# One that may be read alone: the reason is that of the first folder that is not there.
chmod 755 home
"${squashed[@]}" "$SONDE" ls --history >out 2>err && fail "a place for the history was made"
one_sentence err
contains err "Permission denied"
