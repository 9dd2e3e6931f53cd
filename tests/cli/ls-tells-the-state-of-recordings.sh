# SPDX-License-Identifier: Apache-2.0
# sonde ls: one line for each recording, whatever state it is in, and nothing hostile on the terminal.
. "$TOP/tests/lib.sh"

"$SONDE" ls >out 2>err || fail "ls of an empty folder"
[ ! -s out ] || fail "ls of an empty folder wrote to standard output"
one_sentence err
contains err "record one with sonde run -- CMD"
equal "the list of an empty folder" '[]' "$("$SONDE" ls --json | jq -c .recordings)"

state_of() { # DIR [FILTER]
	"$SONDE" ls --json | json_says -r --arg path "$1" ".recordings[] | select(.recording == \$path) | ${2:-.state}"
}

is() { # DIR STATE
	[ "$(state_of "$1")" = "$2" ]
}

hostile=$(printf 'x\033]0;title\007\n\342\200\256=<b>')
status=0
"$SONDE" run -i 10ms -q -o sonde_good -- sh -c 'sleep 0.1; exit 3' "$hostile" || status=$?
equal "status of the job" 3 $status
equal "state of a complete recording" complete "$(state_of sonde_good)"
equal "its exit code" 3 "$(state_of sonde_good .exit_code)"
equal "its nodes" 1 "$(state_of sonde_good .nodes)"
holds "its wall time" "$(state_of sonde_good .wall_seconds) >= 0.1"
state_of sonde_good .command | grep -q 'sleep 0.1' || fail "the command is not in the list"

# Steps of a job on one node: what failed stays failed, and the time is that of both.
mkdir steps
"$SONDE" run -i 10ms -q -o steps/sonde_steps -- sh -c 'sleep 0.1; exit 3' || :
"$SONDE" run -i 10ms -q --force -o steps/sonde_steps -- sleep 0.1
steps=$("$SONDE" ls --json steps | jq -c '.recordings[0] | [.nodes, .exit_code, .wall_seconds >= 0.2]')
equal "nodes, exit code and time of two steps" '[1,3,true]' "$steps"
"$SONDE" show steps/sonde_steps >out
contains out "exit code 3"
contains out "in 2 recordings"

# Others are listed beside it: killed by a signal, running, cut, damaged, empty, no recording at all.
"$SONDE" run -i 10ms -q -o sonde_killed -- sh -c 'kill -TERM $$' || :
equal "the signal" 15 "$(state_of sonde_killed .signal)"
equal "no exit code then" null "$(state_of sonde_killed '.exit_code | tostring')"
mkdir sonde_empty
mkdir sonde_20261120T151051Z_4194304
mkdir sonde_bad
echo 'this is no recording' >sonde_bad/node-x.sonde
cp -r sonde_good sonde_damaged
printf '\377\377\377\377' | dd of="$(echo sonde_damaged/node-*.sonde)" bs=1 seek=300 conv=notrunc 2>/dev/null
"$SONDE" run -i 10ms -q -o sonde_running -- sleep 60 &
launcher=$!
wait_for 20 is sonde_running running
"$SONDE" show sonde_running >out
contains out "Running for"
! grep -q "not closed" out || fail "what is written is said to be lost: $(cat out)"
equal "exit code of what runs" null "$(state_of sonde_running '.exit_code | tostring')"
recorder=$(recorder_of sonde_running)
# A recorder that gets no CPU, and will go on: no sample for longer than is waited for one.
kill -STOP "$recorder"
sleep 4
equal "state while the recorder lives" running "$(state_of sonde_running)"
cp -r sonde_running sonde_copy
equal "state of a copy, which nobody writes" cut "$(state_of sonde_copy)"
rm -r sonde_copy
kill -KILL "$recorder"
kill -TERM $launcher
wait $launcher 2>/dev/null || :
wait_for 20 is sonde_running cut

equal "state of an empty folder" unreadable "$(state_of sonde_empty)"
state_of sonde_empty .note >/dev/null || fail "no reason for the empty folder"
equal "state of what is no recording" unreadable "$(state_of sonde_bad)"
equal "state of a damaged recording" damaged "$(state_of sonde_damaged)"
state_of sonde_damaged .note >/dev/null || fail "no reason for the damage"

"$SONDE" ls >out 2>err || fail "ls"
[ ! -s err ] || fail "ls has something to say: $(cat err)"
equal "lines" 8 "$(wc -l <out)"
! LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80\xae' out || fail "hostile text reached the terminal"
awk 'NR == 1 { at = index($0, "COMMAND") } substr($0, at - 1, 1) != " " || substr($0, at, 1) == " " { bad = 1 } END { exit bad }' out ||
	fail "a name pushes its line out of the columns"
equal "oldest first" sonde_good "$(grep -oE 'sonde_(good|killed|running|bad|empty)' out | head -n 1)"
equal "one recording, asked for by name" sonde_good "$("$SONDE" ls --json sonde_good | jq -r '.recordings[].recording')"
equal "below another folder" sonde_good "$(cd sonde_bad && "$SONDE" ls --json .. | jq -r '.recordings[].recording' | grep -o 'sonde_good')"

equal "a folder that is not there" 1 "$(status_of "$SONDE" ls nowhere 2>err)"
one_sentence err
contains err "nowhere"
