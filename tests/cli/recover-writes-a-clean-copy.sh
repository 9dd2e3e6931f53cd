# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# recover writes what can be read to a new place, names the damage, and never touches the source.
. "$TOP/tests/lib.sh"
"$SONDE" run --quiet -i 20ms -o out -- sleep 1 &
sonde=$!
wait_for 30 recorder_of out >wait.log
sleep 0.5
kill -9 "$(recorder_of out)"
wait $sonde || fail "the job's own status"
samples=$(figure out '.nodes[0].samples')
before=$(cat out/* | cksum)
"$SONDE" recover out 2>said || fail "recover a killed recording"
one_sentence said
contains said "out-recovered"
equal "samples" "$samples" "$(figure out-recovered '.nodes[0].samples')"
equal "the source" "$before" "$(cat out/* | cksum)"
equal "nothing is overwritten" 1 "$(status_of "$SONDE" recover out 2>said)"
one_sentence said
contains said "-o"

# A copy to be given to others.
contains <("$SONDE" show --json out-recovered) '"job.environment.PATH"'
"$SONDE" recover out --without-environment -o public 2>said || fail "recover without the environment"
"$SONDE" show --json out-recovered | jq '.nodes[0] | (.metadata |= with_entries(select(.key | startswith("job.environment.") | not))) | {metadata, samples}' >wanted
"$SONDE" show --json public | jq '.nodes[0] | {metadata, samples}' >got
cmp wanted got || fail "what the copy without the environment says: $(diff wanted got)"

# One that is killed on the way leaves no recording, and the next one in the same place writes them all.
equal "killed while it writes" 153 "$(ulimit -c 0 -f 1 && status_of "$SONDE" recover out -o again 2>said)"
equal "of its files" 0 "$(find again -name 'node-*' | wc -l)"
equal "what it left" 1 "$(find again -name '.node-*.part' | wc -l)"
"$SONDE" recover out -o again 2>said || fail "recover where one was killed: $(cat said)"
equal "what is there then" "$(ls -A out-recovered)" "$(ls -A again)"
equal "the copies" "$(cat out-recovered/* | cksum)" "$(cat again/* | cksum)"

# Damage is named by file and byte; the copy has none.
file=$(echo out-recovered/node-*.sonde)
at=$(($(stat -c %s "$file") - 200)) # in the values; the events come first
printf '\377\377\377\377' | dd of="$file" bs=1 seek=$at conv=notrunc status=none
"$SONDE" recover out-recovered -o clean --json >files.json 2>said || fail "recover a damaged recording"
contains said "$file, byte"
equal "files" "clean/$(basename "$file")" "$(jq -r '.files[0]' files.json)"
holds "damages" "$(jq .damages files.json) >= 1"
equal "damage of the copy" 0 "$("$SONDE" show --json clean | jq '.damages')"

# What is no recording is refused.
mkdir empty
equal "an empty directory" 1 "$(status_of "$SONDE" recover empty 2>said)"
one_sentence said
contains said empty
