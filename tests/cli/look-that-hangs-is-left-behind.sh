# SPDX-License-Identifier: Apache-2.0
# limit: 90
# A look that does not come back, as at a process whose memory is on a server that is silent, costs its thread alone: it is said, and
# another helper goes on with the others. One that crashes or talks nonsense is no harm.
. "$TOP/tests/lib.sh"
[ -x "$LIBEXEC/sonde-unwind" ] || skip "the helper sonde-unwind was not built"
"$PROGRAMS/stuck" mutexes &
job=$!
trap 'kill $job 2>/dev/null' EXIT
wait_for 10 sh -c "[ \$(cat /proc/$job/task/*/wchan | grep -o futex | wc -l) = 2 ]"
thread=$(ls /proc/$job/task | tail -1)

helper() { # TEXT: in place of the first helper
	mkdir -p libexec
	rm -f first
	cat >libexec/sonde-unwind <<-END
		#!/bin/bash
		[ -e "$PWD/first" ] && exec "$LIBEXEC/sonde-unwind"
		touch "$PWD/first"
		$1
	END
	chmod +x libexec/sonde-unwind
	SONDE_LIBEXEC=$PWD/libexec timeout "$(patience 60)" "$SONDE" stacks --json $job >out 2>err
}

helper "echo '{\"at\":$thread,\"of\":$job}' >&0; exec sleep 300"
equal "state of the one that hung" silent "$(jq -r ".threads[] | select(.tid == $thread) | .state" out)"
contains out "reading it did not come back"
equal "state of the other" waits "$(jq -r ".threads[] | select(.tid == $job) | .state" out)"
equal "what it waits for" mutex "$(jq -r ".threads[] | select(.tid == $job) | .waits_for" out)"
equal "no deadlock is invented" 0 "$(jq '.deadlocks | length' out)"

helper "echo '{\"at\":$thread,\"of\":$job}' >&0; kill -SEGV \$\$"
equal "after a crash, the other" mutex "$(jq -r ".threads[] | select(.tid == $job) | .waits_for" out)"

# It is believed as little as it is understood.
helper "printf '%s\n' nonsense '{' '[1]' '{\"pid\":-1,\"tid\":1,\"state\":\"waits\",\"stack\":\"none\"}' '{\"at\":99999999999}' '{\"moved\":\"x\"}' '{\"done\":true}' >&0; sleep 1"
equal "exit status" 1 "$?"
one_sentence err

helper "exit 1"
equal "exit status of one that cannot start" 1 "$?"
one_sentence err
