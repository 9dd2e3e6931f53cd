#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording of an early draft of the format is not shown as a damaged one without samples: the sentence says which Sonde wrote it.
. "$TOP/tests/lib.sh"

cp -r "$TOP/tests/fixtures/recordings/first-draft" early
chmod -R u+w early
for command in show export report recover; do
	operands=(early)
	[ $command != recover ] || operands=(-o copy early)
	status=0
	"$SONDE" $command "${operands[@]}" >/dev/null 2>said || status=$?
	[ "$status" -ne 0 ] || fail "$command ends with 0"
	one_sentence said
	contains said "was written by Sonde 0.1.0 in an earlier draft of version 0 of the format"
	contains said "this one, Sonde $("$SONDE" --version | sed -n '1s/^[^0-9]*\([0-9.]*\).*/\1/p'), reads version 1"
	! grep -q damage said || fail "it is no damage: $(cat said)"
done
"$SONDE" ls . | grep -q "unreadable.*earlier draft" || fail "ls: $("$SONDE" ls .)"

# Beside one that can be read it is named, and that one is shown.
"$SONDE" run -q -o both -- true
cp early/node-vm.sonde both/node-early.sonde
status=0
"$SONDE" show --json both >shown 2>/dev/null || status=$?
equal "status" 1 "$status"
json_says '.damaged_places | length == 1 and (.[0].what | test("was written by Sonde 0.1.0 in an earlier draft"))' <shown >/dev/null ||
	fail "of two: $(jq -c .damaged_places shown)"

# So is one of a later version, whole or in part.
"$PYTHON" - both/node-early.sonde <<'END'
import sys

import recording_format as f

open(sys.argv[1], "wb").write(f.block(7, 0, b"anything", version=7))
END
"$SONDE" show both/node-early.sonde 2>said && fail "a later version is shown"
contains said "was written by a later version of Sonde, in version 7 of the format; this one, Sonde "
