# SPDX-License-Identifier: Apache-2.0
# A launcher that shares a recorder is killed and its command lives on: the recorder waits for the command's end by samples and does not spin.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"
need strace
batch_job "$$" 1
SLURM_PROCID=0 "$SONDE" run -q -i 200ms -- sleep 60 &
launcher=$!
wait_for 20 recorder_of "sonde_$$" >recorder
recorder=$(recorder_of "sonde_$$")
command_runs() {
	command=$(pgrep -P "$launcher" -x sleep)
}
wait_for 20 command_runs
kill -KILL "$launcher"
sleep 1
strace -c -o calls -p "$recorder" 2>traced &
tracer=$!
sleep 2
kill -INT $tracer
wait $tracer
kill "$command"
[ -s calls ] || skip "strace may not trace here"
waits=$(awk '$NF ~ /^epoll_p?wait2?$/ { n += $4 } END { print n + 0 }' calls)
# Ten samples in two seconds, and for each a look or two.
holds "waits while nothing happens: $waits" "$waits >= 3 && $waits <= 60"
wait_for 20 process_gone "$recorder"
figure "sonde_$$" '.job.complete' >/dev/null
