#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An array of which every element has a recording of its own: sbatch slurm-array.sh ./app. The app gets the element's number.
#SBATCH --job-name=recorded
#SBATCH --array=1-4
#SBATCH --ntasks=1
#SBATCH --time=00:10:00

exec sonde run -- "$@" "$SLURM_ARRAY_TASK_ID"
