# SPDX-License-Identifier: Apache-2.0
# Writes tests/fixtures/jobs-recorded anew: what each launcher of a real Slurm gives to a process. Not a test; with TOP, BUILD and PYTHON
# in the environment: bash tests/cluster/harness/record.sh FOLDER (an absolute path).
. "$TOP/tests/cluster/harness/namespaces.sh"
JOBS=$1
home=/home/"user"
cd "$JOBS" || exit 1
machines_start

# What a user's shell would hand on, and no more.
clean() {
	env -i HOME="$home" USER=user LOGNAME=user SHELL=/bin/bash LANG=C.UTF-8 PATH=/usr/bin:/bin SLURM_CONF="$SLURM_CONF" \
		OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 UCX_TLS=tcp,self "$@"
}

cat >"$CLUSTER/note" <<'END'
#!/bin/bash
# note NAME [HOST [RANK-VARIABLE RANK]]: leaves the environment as NAME.env, on that host and of that rank only.
[ -z "${2:-}" ] || [ "$(hostname)" = "$2" ] || exit 0
[ -z "${3:-}" ] || [ "${!3}" = "$4" ] || exit 0
tr '\0' '\n' </proc/$$/environ | LC_ALL=C sort >"$JOBS_TO/$1.raw"
pid=$$
while pid=$(awk '/^PPid/ { print $2 }' /proc/$pid/status) && [ "$pid" -gt 1 ] && [ "$pid" != "$NOT_FROM" ]; do
	printf '%s\t%s\n' "$(cat /proc/$pid/comm)" "$(tr '\0' ' ' </proc/$pid/cmdline | sed 's/ *$//')"
done >"$JOBS_TO/$1.ancestors"
sleep 0.3
END
chmod 755 "$CLUSTER/note"
note="env JOBS_TO=$JOBS NOT_FROM=$$ $CLUSTER/note"

batch() { # SBATCH-ARGUMENTS... -- SCRIPT-LINE
	local options=() id
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	printf '#!/bin/bash\n%s\n' "$2" >"$CLUSTER/job.sh"
	id=$(clean sbatch --parsable -o "$CLUSTER/log/job-%j" "${options[@]}" "$CLUSTER/job.sh")
	wait_for 60 job_gone "$id"
}

clean srun -N3 --ntasks-per-node=2 $note slurm-srun-task n2 SLURM_PROCID 3
clean salloc -Q -N3 --ntasks-per-node=2 $note slurm-salloc
batch -N3 --ntasks-per-node=2 -t 10 --mem=100 -- "$note slurm-batch"
batch -N1 -a 3-5%1 -- "[ \$SLURM_ARRAY_TASK_ID != 4 ] || $note slurm-array"
batch -N3 --ntasks-per-node=2 -- "srun --overlap --ntasks-per-node=1 -n 3 $note slurm-sidecar n3"
clean srun -N3 --ntasks-per-node=2 --mpi=pmix $note slurm-openmpi-srun n2 PMIX_RANK 3
clean srun -N3 --ntasks-per-node=2 --mpi=pmi2 $note slurm-mpich-srun n2 PMI_RANK 3
batch -N3 --ntasks-per-node=2 -- "mpirun.openmpi $note slurm-openmpi-mpirun-first n1 OMPI_COMM_WORLD_RANK 1
mpirun.openmpi $note slurm-openmpi-mpirun-other n3 OMPI_COMM_WORLD_RANK 5
mpiexec.mpich $note slurm-mpich-mpiexec-first n1 PMI_RANK 1
mpiexec.mpich $note slurm-mpich-mpiexec-other n3 PMI_RANK 5"
clean mpirun.openmpi --oversubscribe -n 2 env -u SLURM_CONF $note openmpi-mpirun head OMPI_COMM_WORLD_RANK 1
clean mpiexec.mpich -n 2 env -u SLURM_CONF $note mpich-mpiexec head PMI_RANK 1

for raw in *.raw; do
	sed -E -e "s|$CLUSTER|$home/slurm|g; s|$JOBS|$home/work|g" -e '/^(JOBS_TO|NOT_FROM|OMPI_ALLOW_RUN|UCX_TLS|_|OLDPWD|OMPI_ARGV)=/d' -e 's/(precondition_transports)=.*/\1=0-0/' \
		-e "s|=${TMPDIR:-/tmp}\$|=/tmp|" \
		-e 's/^(SLURM_JOB_USER)=root/\1=user/; s/^(SLURM_JOB_[UG]ID)=0$/\1=1000/' "$raw" >"${raw%.raw}.env"
	rm "$raw"
done
sed -i -E "s|env JOBS_TO=$JOBS NOT_FROM=[0-9]+ $CLUSTER/note.*|./app|; s|$CLUSTER|$home/slurm|g; s|$JOBS|$home/work|g" ./*.ancestors
