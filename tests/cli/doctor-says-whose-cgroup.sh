#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Doctor says which control group the job runs in, of which version, and whose it is.
. "$TOP/tests/lib.sh"
need jq

says() { # FIXTURE: state, and note or reason
	"$SONDE" doctor --json --procfs "$TOP/tests/fixtures/$1/proc" --sysfs "$TOP/tests/fixtures/$1/sys" |
		jq -r '.sources[] | select(.name == "cgroup") | [.state, .note // .reason] | join(" ")'
}

equal "version 1 of Slurm" "available /slurm/uid_1000/job_42/step_0/task_0, version 1: it is the task of the \
batch system, by its name; others may be in it" "$(says cgroup-v1)"
equal "a session" "available /user.slice/user-1000.slice/session-3.scope, version 1: it is shared: process 500 \
does not belong to the job" "$(says cgroup-hybrid)"
equal "a container" "available /docker/0123456789abcdef, version 1: it is shared with processes outside of this \
pid namespace" "$(says cgroup-container)"
says vm-small >none.txt
contains none.txt unsupported
contains none.txt self/cgroup
