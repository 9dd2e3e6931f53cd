# SPDX-License-Identifier: Apache-2.0
# A damaged recording is exported as far as it is sound, the damage is named, and the status is 1.
. "$TOP/tests/lib.sh"

"$SONDE" run --quiet -i 5ms -o whole -- sleep 1 || fail "run"
"$SONDE" export whole -o all --table series 2>err || fail "export of the whole"
cp -r whole cut
file=$(echo cut/node-*.sonde)
size=$(stat -c %s "$file")
at=$((size - 300)) # in the block of values, which comes last but for the end; one byte: two might belong to two
byte=$(od -An -tu1 -j "$at" -N 1 "$file")
printf "\\$(printf %03o $((byte ^ 255)))" | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
status=0
"$SONDE" export cut -o some 2>err || status=$?
equal "exit status on damage" 1 $status
one_sentence err
contains err "$file"
contains err "damaged (places: 1), first in"
# What is there is as it was: every row of the damaged one is a row of the whole one.
tail -n +2 some/series.csv | sort >some.rows
tail -n +2 all/series.csv | sort >all.rows
[ "$(wc -l <some.rows)" -lt "$(wc -l <all.rows)" ] || fail "nothing is missing"
