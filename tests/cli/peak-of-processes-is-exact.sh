# SPDX-License-Identifier: Apache-2.0
# limit: 60
# 60 children that live together for a moment between two samples are 61 processes at a time: where each start and exit
# is told. By new pids alone the number is of samples, and says "at least".
. "$TOP/tests/lib.sh"
need jq

record() { # BIRTHS
	rm -rf out
	"$SONDE" run --quiet --process-events "$1" -i 10s -o out -- sh -c 'sleep 1.5; "$0" waited 60 5 0 60' "$PROGRAMS/disown" >spun || fail "run --process-events $1"
	"$SONDE" show --all out | tr -s ' \n' ' ' >all.txt
	peak=$(figure out .job.processes_peak) bound=$(figure out '.job.processes_peak_is_lower_bound | tostring')
	echo "$1: $peak at a time, a bound: $bound; $(figure out .job.mechanisms)"
}

for births in perf connector; do
	record $births
	if [ "$(figure out '.nodes[0].metadata["job.births_exact"] | tostring')" = true ]; then
		equal "$births: exact" false "$bound"
		holds "$births: peak" "$peak >= 40 && $peak <= 62"
		contains all.txt ", $peak at a time"
	fi
done
record polling
equal "polling: a bound" true "$bound"
contains all.txt "at least $peak at a time"
