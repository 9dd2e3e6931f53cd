#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The file of marks and the folder of spans of a job that was killed with its launcher and its recorder go with the next run; those of a job that
# lives on stay, though nobody reads them any more, and so do those in use.
. "$TOP/tests/lib.sh"

alive() { # DIR: its job can leave marks and spans
	[ -e "$(sed -n 1p "$1.left")" ] && [ -e "$(sed -n 2p "$1.left")" ]
}

holders() { # DIR: who of Sonde has a file open there, or in its recording
	find /proc/[0-9]*/fd \( -lname "$(dirname "$(sed -n 1p "$1.left")")*" -o -lname "$PWD/$1/node-*" \) 2>/dev/null | cut -d/ -f3 | sort -u
}

nobody_of() { # DIR: nobody lives of its job, whose environment names its folder of spans
	! grep -lszxF "SONDE_SPANS=$(sed -n 2p "$1.left")" /proc/[0-9]*/environ | grep -q .
}

gone() {
	[ ! -e "$(dirname "$(sed -n 1p "$1.left")")" ] && [ ! -e "$(sed -n 2p "$1.left")" ]
}

trap 'touch over' EXIT
for job in dead orphan live; do
	# shellcheck disable=SC2016 # the job's
	"$SONDE" run --quiet -o $job -- sh -c ': >"$SONDE_SPANS/1-left"; printf "%s\n" "$SONDE_MARKS" "$SONDE_SPANS" $$ >$0.new; mv $0.new $0.left
		while [ ! -e over ]; do sleep 0.1; done; echo M late >>"$SONDE_MARKS"; echo $? >$0.status' $job &
	launcher[n++]=$!
	wait_for 30 test -s $job.left
	wait_for 30 recorder_of $job >recorder
	[ $job != live ] || break
	kill -9 "${launcher[-1]}"
	while holders $job >held; [ -s held ]; do
		xargs kill -9 <held 2>/dev/null
	done
	wait_for 30 process_gone "${launcher[-1]}"
done
kill -9 "$(sed -n 3p dead.left)"
wait_for 30 process_gone "$(sed -n 3p dead.left)"
wait_for 30 nobody_of dead # its own child ends
mkdir -m 700 "$TMPDIR/sonde-new.abcdef" "$TMPDIR/sonde-new.123456"
touch -d '2 minutes ago' "$TMPDIR/sonde-new.abcdef"
"$SONDE" run --quiet -o next -- true || fail "run: $?"
gone dead || fail "what a killed job left is still there: $(cat dead.left)"
alive orphan || fail "what a job still has is gone"
alive live || fail "what is in use is gone"
[ ! -e "$TMPDIR/sonde-new.abcdef" ] || fail "what was being made long ago is still there"
[ -e "$TMPDIR/sonde-new.123456" ] || fail "what is being made is gone"
touch over
wait "${launcher[2]}" || fail "run: $?"
equal "the mark of who lives on" 0 "$(cat live.status)"
wait_for 30 test -s orphan.status
equal "the mark of who was left alone" 0 "$(cat orphan.status)"
wait_for 30 process_gone "$(sed -n 3p orphan.left)"
"$SONDE" run --quiet -o last -- true || fail "run: $?"
gone orphan || fail "what an orphan left is still there"
equal "in TMPDIR" "" "$(find "$TMPDIR" -maxdepth 1 -name 'sonde-marks.*')"
