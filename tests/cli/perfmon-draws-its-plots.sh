# SPDX-License-Identifier: Apache-2.0
# perfmon -r: perfmon's set of plots under its names, 18 cm at 200 dots an inch, what was not measured skipped, and its report.
. "$TOP/tests/lib.sh"
need pdftotext
[ -x "$LIBEXEC/sonde-draw" ] || skip "Sonde was built without cairo and pango"
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
job="77.plots-$$"

"$PROGRAMS/spin" 300000000 0 5 &
app=$!
trap 'kill $app 2>/dev/null' EXIT
PBS_JOBID=$job "$SONDE" perfmon -i 100ms -r >said 2>&1 &
monitor=$!
wait_for 30 test -e ".ipc-$job"
has_samples() {
	"$SONDE" export "sonde_$job" --to csv --metrics job.cpu_cores -o so-far 2>/dev/null && [ "$(wc -l <so-far/series.csv)" -gt 5 ]
}
wait_for 30 has_samples
echo FINISHED >".ipc-$job"
wait $monitor || fail "perfmon: $(cat said ./*.log)"
[ ! -s said ] || fail "it is not silent: $(cat said)"

# The names of what every machine can measure; and none that perfmon has not.
for name in CPU_Load Memory; do
	[ -s "plots/${name}_per_node.png" ] || fail "no ${name}_per_node.png: $(ls plots)"
	[ -s "plots/Average_${name}_all_nodes.png" ] || fail "no Average_${name}_all_nodes.png: $(ls plots)"
done
strange=$(find plots -type f -printf '%f\n' | grep -vE '^((Average_)?(CPU_Load|Memory|Memory_Bandwidth_\(Read\))|(Total_)?((Interconnect_)?((Output|Input)_Traffic|Packets_(Output|Input))|RAPL_(Package|DRAM|Core|Uncore)_Power))_(per_node|all_nodes)\.png$')
[ -z "$strange" ] || fail "names that perfmon has not: $strange"
for file in plots/*.png; do
	equal "the width of $file" 1417 "$(od -An -tu1 -j16 -N4 "$file" | awk '{ print $1 * 2^24 + $2 * 2^16 + $3 * 2^8 + $4 }')"
done
[ "$(find plots -name '*_per_node.png' | wc -l)" -eq "$(find plots -name '*_all_nodes.png' | wc -l)" ] || fail "not two of each"
report="job-report-$job.pdf"
pdftotext -layout "$report" text || fail "no $report: $(ls)"
contains text "Job $job"
grep -qE 'CPU Load: average/node [0-9.]+ %, max/node [0-9.]+ %' text || fail "no mean and maximum in the title: $(cat text)"
contains ska_sdp_monitoring_metrics.log "| Written: $PWD/$report"
