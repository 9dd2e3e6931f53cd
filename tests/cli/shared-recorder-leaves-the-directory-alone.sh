# SPDX-License-Identifier: Apache-2.0
# After its start, whoever comes and goes, the shared recorder does nothing on the job's directory but write into its two
# files and sync them; the copies that share it do nothing there at all.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"
need strace
batch_job "$$" 4
mkfifo go
run_options=(-i 100ms --sync 400ms)
copy 0 bash -c ': <go' &
wait_for 20 recorder_of "sonde_$$" >recorder
sampled() {
	[ "$(figure "sonde_$$" '.nodes[0].samples' 2>/dev/null || echo 0)" -ge 2 ]
}
wait_for 20 sampled
strace -f -y -qq -o recorder.calls -p "$(recorder_of "sonde_$$")" 2>strace.said &
tracer=$!
wait_for 20 test -s recorder.calls
for rank in 1 2 3; do
	SLURM_PROCID=$rank strace -f -y -qq -o "copy.$rank" "$SONDE" run "${run_options[@]}" -- true 2>>said ||
		skip "strace may not trace here"
done
sleep 1
kill -INT $tracer
wait $tracer
: >go
wait
equal "recordings" 1 "$(recordings "sonde_$$")"
contains said "4 tasks on "
holds "something was written" "$(grep -c "pwrite64.*/sonde_$$/node-" recorder.calls) >= 5"
if grep "/sonde_$$" recorder.calls | grep -vE '^[0-9]+ +(<\.\.\. )?(pwrite64|fdatasync|newfstatat.*"stacks-asked")'; then
	fail "more than writing and syncing, and looking whether its stacks are asked for"
fi
if cat copy.* | grep -E "sonde_$$/|\"sonde_$$\"" | grep -vE 'execve|sendmsg|recvmsg|write\(2'; then
	fail "a copy touched the directory"
fi
