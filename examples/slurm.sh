#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Slurm job of which every task is recorded: sbatch slurm.sh ./app ARGUMENT...
#SBATCH --job-name=recorded
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=00:10:00

# Started one by one by srun, each task is prefixed. For MPI, srun needs what it would without sonde, as --mpi=pmix.
srun sonde run -- "$@"
status=$?

# All nodes, one story: report.html in the recording's directory, sonde_<job id>.
sonde report "sonde_$SLURM_JOB_ID"
exit $status
