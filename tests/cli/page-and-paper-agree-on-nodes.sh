# SPDX-License-Identifier: Apache-2.0
# A job of twelve nodes: terminal, page and PDF name it and its nodes alike, in the order that people count them, and give the same
# figures, those of all nodes together; a process is shown with its node. Nodes that did little each have no storm together.
. "$TOP/tests/lib.sh"
need jq
need pdftotext
[ -x "$LIBEXEC/sonde-draw" ] || skip "Sonde was built without cairo and pango"
unset PBS_JOBID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN SLURM_PROCID
for n in $(seq 12); do
	SLURM_JOB_ID=12 SLURM_STEP_ID=0 SLURM_JOB_NAME=training SLURM_JOB_NODELIST='n[1-12]' SLURM_JOB_NUM_NODES=12 SLURMD_NODENAME=n$n SLURM_PROCID=$n SLURM_GTIDS=$n \
		"$SONDE" run -q -i 100ms -o out -- "$PROGRAMS/spin" $((n * 20000)) || fail "on n$n"
done
"$SONDE" report --only html,pdf out >/dev/null || fail report
"$SONDE" show --all out >shown || fail show
pdftotext -layout out/job-report-12.pdf paper
sed '/<script/,/<\/script>/d; /<style/,/<\/style>/d; s/<[^>]*>/ /g' out/report.html | tr -s ' \n' ' ' >page

contains page "nodes n1, n2, n3, n4 and 8 more"
contains paper "12 nodes: n1, n2, n3, n4 and 8 more"
contains page "job 12 , training"
contains paper training
equal "nodes in order" "$(seq -f 'n%.0f' 12 | tr '\n' ' ')" "$("$SONDE" show --json out | jq -r '.nodes[].host' | tr '\n' ' ')"
matches() { # FILE PATTERN
	grep -qE "$2" "$1" || fail "$1 has no $2: $(cat "$1")"
}
matches shown '^  node +pid +CPU'
matches shown "^  $(figure out '.processes.by_cpu[0] | .host + " +" + (.pid | tostring)') "

# The same figures. The terminal's line has what page and paper have in a tile.
cpu=$(sed -n 's/^CPU time *\([0-9.]* m\?s\).*/\1/p' shown)
cores=$(sed -n 's/^cores *\([0-9.]*\) of.*/\1/p' shown)
memory=$(sed -n 's/^memory peak *\(at [a-z]* \)\?\([0-9.]* [KMG]iB\).*/\2/p' shown)
read=$(sed -n 's/^I\/O *\([0-9.]* [KMG]\?i\?B\) read.*/\1/p' shown)
for figure in "$cpu" "$cores" "$memory" "$read"; do
	[ -n "$figure" ] || fail "a figure is missing: $(cat shown)"
	contains page " $figure "
	contains paper "$figure"
done
contains page "Figure Total Average Least on Most on Imbalance CPU time $cpu "
