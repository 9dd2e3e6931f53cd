# SPDX-License-Identifier: Apache-2.0
# limit: 120
# However births are known, the CPU total is true, and the number of processes that were started is either exact or
# an upper bound that says so. What doctor calls available is what a recording then uses. Where both are permitted, a
# storm of processes that do nothing is recorded without perf events after a second, which would take more than 2 % of it:
# no process and no CPU time is lost at the change. Of processes that work they stay.
. "$TOP/tests/lib.sh"
need jq
"$SONDE" doctor --json >doctor.json || fail "doctor"

available() { # MECHANISM
	json_says --arg name "process.$1" '.mechanisms[] | select(.name == $name) | .state == "available"' <doctor.json >/dev/null
}

check() { # BIRTHS WORDS EXACT CMD...: WORDS name the mechanism, EXACT is yes or no
	local births=$1 words=$2 exact=$3 started bound
	shift 3
	rm -rf out
	"$@" "$SONDE" run --process-events "$births" --summary summary.txt -o out -- "$PROGRAMS/spawner" 500 "$PROGRAMS/spin" 1000 >spun ||
		fail "run --process-events $births"
	contains <(figure out .job.mechanisms) "$words"
	read -r _ children _ self <spun
	holds "$births: total within 1 %" "$(figure out .job.cpu_seconds) / ($children + $self) > 0.99 &&
		$(figure out .job.cpu_seconds) / ($children + $self) < 1.01"
	started=$(figure out .job.processes_started) bound=$(figure out .job.processes_started_at_most)
	if [ "$exact" = yes ]; then
		equal "$births: started" 501 "$started"
		equal "$births: at most" 501 "$bound"
		contains summary.txt "501 started"
	else
		holds "$births: at most" "$bound >= 501"
		holds "$births: not all were seen" "$started < 501"
		contains summary.txt "$started seen to start (at most $bound did)"
	fi
}

unnamed="new pids at each sample"
checked=
for row in "exit_records perf perf events" "connector connector the proc connector"; do
	read -r mechanism births words <<<"$row"
	if available "$mechanism"; then
		check "$births" "$words" yes
		checked="$checked $births"
	else
		check "$births" "$unnamed" no
	fi
done
check polling "$unnamed" no
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	# There the connector's pids would be another namespace's, and the bound is of this one's processes.
	check connector "$unnamed" no unshare --pid --fork --mount-proc
	holds "bound in a namespace" "$(figure out .job.processes_started_at_most) < 520"
fi
if [ "$checked" = " perf connector" ]; then
	rm -rf out
	"$SONDE" run -q -o out -- "$PROGRAMS/storm" 1500 6 /bin/true >own || fail "run of a storm"
	read -r spawns wall cpu <own
	if [ "$(calc "($spawns / $wall > 900)")" = 1 ]; then
		contains <(figure out .job.mechanisms) "perf events, then the proc connector"
		holds "a storm: started" "$(figure out .job.processes_started_at_most) >= $spawns + 1"
		holds "a storm: total within 1 %" "$(figure out .job.cpu_seconds) / $cpu > 0.99 && $(figure out .job.cpu_seconds) / $cpu < 1.01"
	fi
	if ! grep -q lost <(figure out .job.mechanisms); then
		equal "a storm: all of them" $((spawns + 1)) "$(figure out .job.processes_started)"
	fi
	rm -rf out
	"$SONDE" run -q -o out -- "$PROGRAMS/spawner" 300 "$PROGRAMS/spin" 5000 >own || fail "run of processes that work"
	if grep -q connector <(figure out .job.mechanisms); then fail "processes that work: $(figure out .job.mechanisms)"; fi
fi
[ -n "$checked" ] || echo "neither perf events nor the connector are permitted: only the bound was checked"
