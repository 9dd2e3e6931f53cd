# SPDX-License-Identifier: Apache-2.0
# A byte that flipped is told in a verdict, in the JSON and by the exit code; the rest is shown.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 20ms -o out -- sh -c 'sleep 0.5' || fail "run"
file=$(echo out/node-*.sonde)
equal "damage before" 0 "$("$SONDE" show --json out | jq '.damages')"
at=$(($(stat -c %s "$file") / 2))
byte=$(od -An -tu1 -j$at -N1 "$file")
# shellcheck disable=SC2059 # the format is the byte
printf "\\$(printf %o $((byte ^ 64)))" | dd of="$file" bs=1 seek=$at conv=notrunc status=none
"$SONDE" show --json out >show.json 2>said
equal "exit status" 1 $?
one_sentence said
contains said out
holds "damages" "$(jq '.damages' show.json) >= 1"
equal "the file" "$file" "$(jq -r '.damaged_places[0].file' show.json)"
json_says '.verdicts[] | select(.rule == "recording-damaged")' <show.json >verdict || fail "no verdict of it"
"$SONDE" show out >shown 2>said
contains shown "The recording is damaged"
