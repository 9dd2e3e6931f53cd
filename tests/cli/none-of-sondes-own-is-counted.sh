# SPDX-License-Identifier: Apache-2.0
# Whatever of launcher, sentinel and recorder comes first, on a busy machine: only what the command starts is counted.
. "$TOP/tests/lib.sh"
busy=()
trap 'kill "${busy[@]}"' EXIT
for _ in 1 2 3; do
	sh -c 'while :; do :; done' &
	busy+=($!)
done
for i in $(seq 40); do
	"$SONDE" run --quiet -o "out$i" -- true
	equal "processes started in run $i" 1 "$(figure "out$i" .job.processes_started)"
done
