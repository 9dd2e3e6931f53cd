# SPDX-License-Identifier: Apache-2.0
# limit: 300
# The elements of an array, at the same time on the same nodes, have a recording each, with their own figures.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
cat >job <<'END'
#!/bin/sh
exec "$SONDE" run -q -- "$PROGRAMS/spin" "${SLURM_ARRAY_TASK_ID}00000"
END
export SONDE PROGRAMS
id=$(submit -N1 -a 2-5 job)
wait_for 60 job_gone "$id"
equal "recordings" 4 "$(find . -maxdepth 1 -name 'sonde_*' | wc -l)"
for dir in sonde_*; do
	element=$(figure "$dir" '.nodes[0].metadata["job.environment.SLURM_ARRAY_TASK_ID"]')
	cpu_within "$dir" "0.$element" 1
	equal "name of $dir" "sonde_$(figure "$dir" .job.id)" "$dir"
	echo "$element"
done | sort >elements
equal "elements" "2 3 4 5" "$(tr '\n' ' ' <elements | sed 's/ $//')"
