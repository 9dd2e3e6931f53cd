# SPDX-License-Identifier: Apache-2.0
# The shared recorder is killed: the launchers elect another one, which goes on in a file of its own. No CPU time is
# counted twice or left out, and the summary says that a recorder was lost.
. "$TOP/tests/lib.sh"
. "$TOP/tests/shared.sh"
batch_job "$$" 5
cat >task.sh <<'END'
"$PROGRAMS/spin" 200000
until [ -e killed ]; do
	echo >>"slept.$1"
	sleep 0.1
done
"$PROGRAMS/spin" 300000
(exec "$PROGRAMS/spin" 50000) &
wait
times >"times.$1"
exit "$1"
END
# shellcheck disable=SC2034 # shared.sh reads it
run_options=(-i 100ms)
for rank in 0 1 2 3 4; do
	(copy $rank bash task.sh $rank && echo "$rank 0" >>codes || echo "$rank $?" >>codes) &
done
wait_for 20 recorder_of "sonde_$$" >recorder
sleep 1
first=$(recorder_of "sonde_$$")
kill -9 "$first"
touch killed
wait
equal "exit statuses" "$(printf '%s\n' '0 0' '1 1' '2 2' '3 3' '4 4')" "$(sort codes)"
equal "recordings" 2 "$(recordings "sonde_$$")"
# User and system time of each shell's children, and of itself: what wait4 said of all of it.
waited=$(sed 's/[ms]/ /g' times.* | awk '{ n += 60 * $1 + $2 + 60 * $3 + $4 } END { print n }')
cpu=$(figure "sonde_$$" .job.cpu_seconds)
echo "waited: $waited s, recorded: $cpu s"
holds "all of it was recorded" "$cpu >= $waited - 0.02"
holds "nothing was recorded twice" "$cpu <= $waited * 1.01 + 0.1"
equal "tasks, each once" "0 1 2 3 4" "$(figure "sonde_$$" '[.tasks[] | select(.launch == 0 and (.cpu_is_lower_bound | not)).rank | tostring] | join(" ")')"
holds "CPU of the tasks" "$(figure "sonde_$$" '[.tasks[].cpu_seconds] | add') >= $waited - 0.02"
# By command: each of the fifteen spins and all of their time, those that both recorders saw included.
by_command=$(figure "sonde_$$" '[.commands[].cpu_seconds] | add')
holds "figures by command make up the job's: $by_command of $cpu s" "$by_command <= $cpu * 1.01 + 0.1 && $by_command >= $cpu * 0.9 - 0.1"
spins=$(figure "sonde_$$" '[.commands[] | select(.name == "spin") | .processes] | add // 0')
holds "processes by command: $spins" "$spins >= 5 && $spins <= 15"
# A shell that runs a script goes by that script; those that it forks and that execute nothing, too.
shells=$(figure "sonde_$$" '[.commands[] | select(.name == "bash task.sh") | .processes] | add // 0')
holds "shells by command: $shells" "$shells >= 5 && $shells <= 10"
# The five shells, three spins of each and what sleeps: each counted once, as far as it was seen.
slept=$(cat slept.* | wc -l)
started=$(figure "sonde_$$" .job.processes_started)
echo "processes started: $started of $((20 + slept))"
holds "no birth is counted twice" "$started <= 20 + $slept"
holds "those that could be seen are counted" "$started >= 15"
figure "sonde_$$" '.verdicts[] | select(.rule == "recorder-lost")' >/dev/null
figure "sonde_$$" '[.verdicts[].rule] | index("recording-incomplete") == null'
