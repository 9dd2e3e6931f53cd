#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sonde that is installed set-user-ID or set-group-ID does nothing for other users but say so; for root itself, and with capabilities, it works.
. "$TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root may install it so"
need setpriv
other() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
chmod 755 .
mkdir -m 777 place
cp "$SONDE" sonde
for mode in 4755 2755; do
	chmod $mode sonde
	other ./sonde --version >out 2>said && [ ! -s said ] && findmnt -no OPTIONS -T . | grep -q nosuid && skip "set-user-ID means nothing here"
	for words in "run -o place/r -- touch place/ran" "show place" "--version"; do
		status=0
		# shellcheck disable=SC2086 # words
		other ./sonde $words >out 2>said || status=$?
		equal "status of $words" 125 $status
		equal "output of $words" "" "$(cat out)"
		one_sentence said
		contains said "installed set-user-ID or set-group-ID"
	done
	equal "what it did" "" "$(ls place)"
done
chmod 4755 sonde
./sonde --version >out || fail "root's own: $?"
chmod 755 sonde
other ./sonde run --quiet -o place/r -- true || fail "an ordinary install: $?"
