# SPDX-License-Identifier: Apache-2.0
# limit: 300
# srun and sbatch end as they would without sonde: by the greatest exit code of a task, or its signal.
. "$TOP/tests/cluster/harness/slurm.sh"
cluster_start
cat >task <<'END'
#!/bin/sh
[ "$SLURM_PROCID" != 2 ] || kill -"${1:-0}" $$
exit $SLURM_PROCID
END
chmod 755 task

same() { # WHAT ARGUMENT...
	local what=$1 plain recorded
	shift
	plain=$(status_of srun -N3 -n6 ./task "$@" 2>plain.err)
	recorded=$(status_of srun -N3 -n6 "$SONDE" run -q -- ./task "$@" 2>recorded.err)
	equal "$what: status" "$plain" "$recorded"
	equal "$what: what srun says of task 2" "$(grep -o 'task 2.*' plain.err)" "$(grep -o 'task 2.*' recorded.err)"
}

same "exit codes"
equal "the greatest of them" 5 "$(status_of srun -N3 -n6 "$SONDE" run -q -- ./task 2>/dev/null)"
same "a signal" USR1

for element in 0 3; do
	printf '#!/bin/sh\nSLURM_PROCID=%s exec "%s" run -q -- ./task\n' $element "$SONDE" >job
	id=$(submit job)
	wait_for 60 job_gone "$id"
	contains <(scontrol -o show job "$id") "ExitCode=$element:0"
done
