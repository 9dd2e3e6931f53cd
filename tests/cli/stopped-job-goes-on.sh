# SPDX-License-Identifier: Apache-2.0
# limit: 30
# A job that is stopped and continued from within ends as ever; one stopped as from a terminal stops sonde, too.
. "$TOP/tests/lib.sh"
timeout -s KILL "$(patience 10)" "$SONDE" run --quiet -o within -- sh -c '(sleep 0.3; kill -CONT $$) & kill -STOP $$; exit 5'
equal "exit status" 5 $?

"$SONDE" run --quiet -o terminal -- sh -c 'kill -TSTP $$; exit 6' &
sonde=$!
stopped() {
	grep -q '^State:.*T' "/proc/$sonde/status"
}
wait_for 5 stopped
kill -CONT $sonde
wait $sonde
equal "exit status" 6 $?
