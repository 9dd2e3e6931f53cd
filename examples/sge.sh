#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job of Grid Engine of which every rank is recorded: qsub sge.sh. Put your program in the place of ./app, your site's parallel environment in
# that of mpi.
#$ -N recorded
#$ -pe mpi 4
#$ -cwd
#$ -l h_rt=0:10:0

# Ranks on other nodes have to be told which job they belong to, and the file of its nodes is on the first alone: there the host name is enough.
mpirun -x JOB_ID -x SGE_TASK_ID sonde run -- ./app
