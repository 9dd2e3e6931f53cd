#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job of LSF of which every rank is recorded: bsub <lsf.sh. Put your program in the place of ./app.
#BSUB -J recorded
#BSUB -n 4
#BSUB -R "span[ptile=2]"
#BSUB -W 0:10

# An mpirun that knows LSF starts ranks with the job's variables; jsrun is prefixed in the same way.
mpirun sonde run -- ./app
