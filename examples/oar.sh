#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job of OAR of which every rank is recorded: oarsub -S ./oar.sh. Put your program in the place of ./app.
#OAR -n recorded
#OAR -l nodes=2,walltime=0:10:00

# oarsh takes the job's variables to the other nodes. OAR ends jobs by KILL: what was recorded until then is on disk.
mpirun --mca plm_rsh_agent oarsh --hostfile "$OAR_NODEFILE" sonde run -- ./app
