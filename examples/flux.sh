#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job of Flux of which every task is recorded: flux batch flux.sh. Put your program in the place of ./app.
#flux: --job-name=recorded
#flux: -N 2
#flux: -n 4
#flux: -t 10m

# Each flux run is a job of its own inside this one, and has a recording of its own.
flux run -N 2 -n 4 sonde run -- ./app
