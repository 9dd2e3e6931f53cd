#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit: 120
# Runs end and nobody ever looks at the history: about 10,000 are kept for it, the oldest go, and who looks then hears how many.
. "$TOP/tests/lib.sh"

export XDG_DATA_HOME=$PWD/data # other tests look at the one that all share
folder=$XDG_DATA_HOME/sonde/ended
"$SONDE" run --quiet -o first -- true
[ -d "$folder" ] || folder=$(dirname "$(find . -path '*ended/*.json' | head -1)")
one=$(find "$folder" -name '*.json')
[ -s "$one" ] || fail "no run was left in $folder"
"$PYTHON" - "$folder" "$one" <<'END'
import os
import sys

text = open(sys.argv[2]).read()
first = os.path.join(sys.argv[1], "%020d-1-made.json" % 1)
open(first, "w").write(text)
for i in range(2, 10501):
    os.link(first, os.path.join(sys.argv[1], "%020d-1-made.json" % i))
END
count() {
	find "$folder" -name '*.json' | wc -l
}
trimmed() { # one run in 32 looks
	"$SONDE" run --quiet -o "r$((n++))" -- true
	[ "$(count)" -le 10100 ]
}
wait_for 100 trimmed
[ -e "$one" ] || fail "the newest went"
[ ! -e "$folder/$(printf %020d 1)-1-made.json" ] || fail "the oldest stayed"
[ "$(count)" -ge 10000 ] || fail "more went than had to: $(count) are left"
[ -x "$LIBEXEC/sonde-database" ] || exit 0
dropped=$(wc -c <"$folder/dropped")
find "$folder" -name '*-made.json' -delete
"$SONDE" bench list >/dev/null 2>said || true # there is no trial
contains said "$dropped runs are not in the history: more ended than Sonde keeps until the history is read"
"$SONDE" bench list >/dev/null 2>said || true
! grep -q "not in the history" said || fail "it is said twice"
