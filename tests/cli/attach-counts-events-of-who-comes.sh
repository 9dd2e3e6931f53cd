# SPDX-License-Identifier: Apache-2.0
# limit: 180
# attach --job counts perf events of the job's processes that come later, each once: those it adopts, what they started before and after that,
# and orphans among these; however births are known.
. "$TOP/tests/lib.sh"
need jq
need setsid
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
"$SONDE" doctor | grep -q 'available *process.exit_records' || skip "perf events are not permitted"

has_begun() { # DIR
	find "$1" -name 'node-*.sonde' -size +0 | grep -q .
}

spun() { # DIR METRIC: what spin used of the last raw value
	"$SONDE" export "$1" --raw --to csv -o "$1.csv" 2>/dev/null
	awk -F, -v metric="$2" '$2 == metric { last = $6 } END { print last + 0 }' "$1.csv/series.csv"
}

sees_spinners() { # DIR COUNT
	"$SONDE" show --json "$1" | json_says "[.commands[] | select(.name == \"spin\").processes] | add >= $2" >/dev/null
}

cat >comes <<'END'
# A parent, a child from before it is adopted, one from after that, and one whose parent is gone by then.
spin 3000000 &
until [ -e found ]; do sleep 0.05; done
spin 700000 &
(sh -c "spin 3000000; touch over" &)
wait
until [ -e over ]; do sleep 0.05; done
END

for births in auto polling; do
	export PBS_JOBID="78.$births-$$"
	"$SONDE" attach --job -i 200ms --process-events $births --perf software --grace 2s -o $births >/dev/null 2>said.$births &
	sidecar=$!
	wait_for 30 has_begun $births
	rm -f found over
	PATH=$PROGRAMS:$PATH setsid sh comes &
	wait_for 30 sees_spinners $births 1
	touch found
	wait $sidecar || fail "attach --job: $(cat said.$births)"
	counted=$(spun $births perf.software.task_clock_seconds)
	# Of the first spinner what it used until it was found is missing: a second, more on a machine that is busy.
	holds "with $births: seconds counted of 6.7" "$counted >= 4 && $counted <= 1.02 * 6.7 + 0.1"
	equal "from when" true "$(figure $births '.nodes[0].metadata | has("perf.counted_from") | tostring')"
done
