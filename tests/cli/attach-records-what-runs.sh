# SPDX-License-Identifier: Apache-2.0
# attach records processes that run already, for a time or until they end, and leaves them alone.
. "$TOP/tests/lib.sh"
"$PROGRAMS/spin" 60000000 &
spinner=$!
"$PROGRAMS/tree" 4 >ready &
tree=$!
trap 'kill $spinner $tree' EXIT
wait_for 5 grep -q ready ready

spun() { # the spinner used 0.6 s of CPU
	awk '{ exit $14 + $15 < 60 }' "/proc/$spinner/stat"
}
wait_for 20 spun

"$SONDE" attach -p "$spinner,$tree" -i 100ms --duration 1500ms -o out >stdout 2>said || fail "attach"
[ ! -s stdout ] || fail "attach wrote to standard output"
kill -0 "$spinner" || fail "the process did not live on"
holds samples "$(figure out '.nodes[0].samples') >= 8 && $(figure out '.nodes[0].samples') <= 17"
holds wall_seconds "$(figure out .job.wall_seconds) > 1.3 && $(figure out .job.wall_seconds) < 3"
holds cpu_seconds "$(figure out .job.cpu_seconds) > 0.02 && $(figure out .job.cpu_seconds) < 2"
job_cpu=$(figure out .job.cpu_seconds)
holds "what it used before is not counted" "$(figure out '.processes.by_cpu[0].cpu_seconds') < $job_cpu + 0.2"
spinners='.commands[] | select(.name == "spin")'
equal "it is counted once" 1 "$(figure out "$spinners | .processes")"
holds "its CPU is counted once" "$(figure out "$spinners | .cpu_seconds") < $job_cpu + 0.2"
"$SONDE" export out --to csv -o tables >/dev/null || fail "export"
equal "sleepers and the root of their tree" 4 "$(grep -cE '(sleeper|tree)' tables/processes.csv)"

sleep 2 &
"$SONDE" attach -p $! -i 50ms -o ended 2>/dev/null || fail "attach to a process that ends"
holds "attach ends with its process" "$(figure ended .job.wall_seconds) < 7"

"$SONDE" attach -p 4194304 -o none 2>said
equal "exit status when there is no such process" 1 $?
one_sentence said
contains said 4194304
[ ! -e none ] || fail "a folder was left behind"
"$SONDE" attach -p 12x -o none 2>said
equal "exit status when the pid is not a number" 2 $?
one_sentence said
