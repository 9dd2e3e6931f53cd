#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job of PBS (OpenPBS, PBS Pro, Torque) of which every rank is recorded: qsub pbs.sh. Put your program in the place of ./app.
#PBS -N recorded
#PBS -l select=2:ncpus=2:mpiprocs=2
#PBS -l place=scatter
#PBS -l walltime=00:10:00

# A job of PBS begins in the home directory; the recording is to be on a file system that all nodes see.
cd "$PBS_O_WORKDIR" || exit 1

# An mpirun that knows nothing of PBS starts ranks by ssh: they have to be told which job they belong to.
mpirun -x PBS_JOBID --hostfile "$PBS_NODEFILE" sonde run -- ./app
