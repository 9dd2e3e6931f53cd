# SPDX-License-Identifier: Apache-2.0
# limit: 300
# The job scripts of examples/ do what they say: those for Slurm in a real one; the others with the variables and the
# mpirun or flux that such a job would find.
. "$TOP/tests/cluster/harness/slurm.sh"
need mpirun.openmpi
cluster_start
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
cp "$PROGRAMS/spin" app

id=$(submit "$TOP/examples/slurm.sh" ./app 300000)
wait_for 60 job_gone "$id"
contains <(scontrol -o show job "$id") "ExitCode=0:0"
cpu_within "sonde_$id" 1.2 4
equal "tasks" 4 "$(figure "sonde_$id" .job.processes_started)"
[ -s "sonde_$id/report.html" ] || fail "no report"
equal "nodes" "n1 n2" "$(hosts_of "sonde_$id")"

rm -r "sonde_$id"
id=$(submit "$TOP/examples/slurm-array.sh" ./app)
wait_for 60 job_gone "$id"
for dir in sonde_*; do
	figure "$dir" '.nodes[0].metadata["job.environment.SLURM_ARRAY_TASK_ID"]'
done | sort >elements
equal "elements" "1 2 3 4" "$(tr '\n' ' ' <elements | sed 's/ $//')"

mkdir bin pbs oar lsf sge flux
cat >bin/mpirun <<'END'
#!/bin/sh
# On the hosts it is given, as far as they are this one.
exec mpirun.openmpi --oversubscribe -n 4 "$@"
END
printf '#!/bin/sh\nshift\nexec "$@"\n' >bin/oarsh
cat >bin/flux <<'END'
#!/bin/bash
# flux run -N NODES -n TASKS COMMAND...
shift 5
for rank in 0 1 2 3; do
	FLUX_JOB_ID=f23 FLUX_JOB_SIZE=4 FLUX_JOB_NNODES=1 FLUX_TASK_RANK=$rank FLUX_TASK_LOCAL_ID=$rank "$@" &
done
wait
END
chmod 755 bin/mpirun bin/oarsh bin/flux
printf '%s\n' localhost localhost >hosts
PATH=$PWD/bin:$PATH

printf '#!/bin/sh\nexec "%s/spin" 300000\n' "$PROGRAMS" | tee {pbs,oar,lsf,sge}/app >flux/app
chmod 755 {pbs,oar,lsf,sge,flux}/app
(cd / && PBS_JOBID=12.head PBS_NODEFILE=$OLDPWD/hosts PBS_O_WORKDIR=$OLDPWD/pbs bash "$TOP/examples/pbs.sh") >said 2>&1 ||
	fail "PBS: $(cat said)"
cpu_within pbs/sonde_12.head 1.2 4
(cd oar && OAR_JOB_ID=13 OAR_NODEFILE=../hosts bash "$TOP/examples/oar.sh") >said 2>&1 || fail "OAR: $(cat said)"
cpu_within oar/sonde_13 1.2 4
(cd lsf && LSB_JOBID=14 LSB_JOBINDEX=0 LSB_MCPU_HOSTS="localhost 4" bash "$TOP/examples/lsf.sh") >said 2>&1 || fail "LSF: $(cat said)"
cpu_within lsf/sonde_14 1.2 4
echo 'localhost 4 all.q@localhost UNDEFINED' >sge/hosts
(cd sge && JOB_ID=15 SGE_TASK_ID=undefined PE_HOSTFILE=hosts bash "$TOP/examples/sge.sh") >said 2>&1 || fail "Grid Engine: $(cat said)"
cpu_within sge/sonde_15 1.2 4
(cd flux && bash "$TOP/examples/flux.sh") >said 2>&1 || fail "Flux: $(cat said)"
cpu_within flux/sonde_f23 1.2 4
