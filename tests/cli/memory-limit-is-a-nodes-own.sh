# SPDX-License-Identifier: Apache-2.0
# A limit of memory is each node's own: the one that came nearest is named with its peak and its limit, in the text, the tables, the page, the PDF and JSON.
# limit: 240
. "$TOP/tests/lib.sh"
need pdftotext
unset SLURM_PROCID

on() { # NODE COMMAND...: one task of a step there, of a job of two nodes that has 300 MiB on each
	local node=$1
	shift
	SLURM_JOB_ID=5 SLURM_STEP_ID=0 SLURM_JOB_NODELIST='n[1-2]' SLURMD_NODENAME=n$node SLURM_PROCID=$((node - 1)) SLURM_GTIDS=$((node - 1)) SLURM_MEM_PER_NODE=300 \
		"$SONDE" run -q -i 100ms -o out -- "$@"
}
on 1 "$PYTHON" -c 'import time; time.sleep(1)'
on 2 "$PYTHON" -c 'import time; x = b"x" * 280000000; time.sleep(1)'
equal "nearest" n2 "$(figure out .job.nearest_memory_limit.host)"
equal "limit" 314572800 "$(figure out .job.nearest_memory_limit.limit_bytes)"
holds "peak" "$(figure out .job.nearest_memory_limit.peak_bytes) >= 280000000 && $(figure out .job.nearest_memory_limit.peak_bytes) < 310000000"
equal "limits" "314572800 314572800" "$(figure out '[.hosts[].memory_limit_bytes | tostring] | join(" ")')"
equal "most of its limit" n2 "$(figure out '.comparisons[] | select(.metric == "job.memory_limit_used_ratio") | .most_host')"
"$SONDE" show --all out | tr -s '\n ' ' ' >shown
for words in 'nearest to a limit: on n2 2' 'MiB of its 300.0 MiB' 'of its limit'; do
	contains shown "$words"
done
"$SONDE" report out >/dev/null 2>&1 || fail "report: $?"
contains out/report.html "nearest to a limit: on n2 2"
contains out/report.html "of its limit"
pdftotext -layout out/job-report-5.pdf - | tr -s '\n ' ' ' >paper
contains paper 'of all; on n2 2'

# Of a single node, and of nodes that are far from theirs, nothing is said.
"$SONDE" run -q -o single -- true
"$SONDE" show --all single >shown
! grep -q "nearest to a limit" shown || fail "a single node is nearest: $(cat shown)"

# Ten times, a task is killed on another node, with another limit and another peak: the first verdict has that node with its own figures.
of_three() { # NODE LIMIT-MIB COMMAND...
	local node=$1 limit=$2
	shift 2
	SLURM_JOB_ID=6 SLURM_STEP_ID=0 SLURM_JOB_NODELIST='n[1-3]' SLURMD_NODENAME=n$node SLURM_PROCID=$((node - 1)) SLURM_GTIDS=$((node - 1)) SLURM_MEM_PER_NODE=$limit \
		"$SONDE" run -q -i 50ms -o "tight.$limit" -- "$@"
}
for variant in 1 2 3 4 5 6 7 8 9 10; do
	tight=$((1 + variant % 3)) limit=$((90 + 20 * variant))
	for node in 1 2 3; do
		[ $node = $tight ] || of_three $node $limit "$PROGRAMS/mem" private $((limit / (4 + variant))) 400 &
	done
	equal "status" 137 "$(status_of of_three $tight $limit sh -c "'$PROGRAMS/mem' private $((limit * (93 + variant % 4) / 100)) 400; exit 137")"
	wait
	figure tight.$limit '.verdicts[0].sentence' >sentence
	contains sentence "Most likely out of memory: rank $((tight - 1)) of step 0 on n$tight was killed by SIGKILL"
	contains sentence " of $limit.0 MiB were in use"
	equal "nearest" "n$tight" "$(figure tight.$limit .job.nearest_memory_limit.host)"
	rm -r tight.$limit
done
