# SPDX-License-Identifier: Apache-2.0
# A file for a textfile collector that cannot be written is said, once, and by a recorder that copies share, too, which has no standard
# error; the job runs and is recorded.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"

for how in own shared; do
	for file in nowhere/file.prom "$PWD"; do
		"$SONDE" run -q -i 100ms --node-recorder=$how --openmetrics "$file" -o "$how" -- sleep 1 2>err || fail "run"
		equal "sentences of $how" 1 "$(grep -c -- "--openmetrics: cannot write $file" err)"
		rm -r "$how"
	done
done

# Of the copies of a batch job one says it.
batch_job "$$" 2
run_options=(-q --openmetrics nowhere/file.prom)
copy 0 sleep 1 &
copy 1 sleep 1
wait
equal "sentences of two copies" 1 "$(grep -c -- '--openmetrics: cannot write' said)"
equal recordings 1 "$(recordings "sonde_$$")"

# What can be written is, and nothing is said.
run_options=(-q --openmetrics here.prom -o here)
copy 0 sh -c 'for i in $(seq 600); do [ ! -s here.prom ] || exit 0; sleep 0.1; done; exit 9' 2>said || fail "no file"
! grep -q openmetrics said || fail "$(cat said)"
