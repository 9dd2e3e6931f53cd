# SPDX-License-Identifier: Apache-2.0
# Like slurm.sh, where slurmd and slurmstepd keep jobs in control groups of version 2, in a folder of the machine's own hierarchy that is all of it to them.
# Slurm refuses where there are hierarchies of version 1, too, by its daemons' /proc/PID/cgroup: only that file is another one for them. Which controllers
# this hierarchy has is the machine's business; CPU time of groups is there without any. Needs root.
if [ -z "${CLUSTER:-}" ]; then
	[ "$(id -u)" = 0 ] || {
		echo "not root: Slurm cannot make control groups"
		exit 77
	}
	unshare --mount true 2>/dev/null || {
		echo "namespaces are not permitted here"
		exit 77
	}
	exec "$PYTHON" "$TOP/tests/cluster/harness/guard.py" unshare --mount bash "$0" "$@"
fi
# shellcheck disable=SC2034 # for slurm.sh
PROCTRACK=cgroup
. "$TOP/tests/cluster/harness/slurm.sh"

daemon_in() { # NAME PROGRAM ARGUMENTS...: a script that runs it, in $CLUSTER/bin
	printf '%s\n' '#!/bin/bash' "$3" "mount --bind '$CLUSTER'/cgroup.\$NODE.$1 /proc/\$\$/cgroup" "exec $2 \"\$@\"" >"$CLUSTER/bin/$1"
	chmod 755 "$CLUSTER/bin/$1"
}

version2_start() {
	local where node
	where=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
	[ -w "${where:-/nowhere}/cgroup.procs" ] || skip "no control groups of version 2"
	mount --make-rprivate /
	echo "$where/sonde-$$" >>"$CLUSTER/cgroups"
	mkdir -p "$where/sonde-$$/system.slice" "$CLUSTER/bin"
	mount --bind "$where/sonde-$$" /sys/fs/cgroup
	for node in n1 n2 n3; do
		echo 0::/ >"$CLUSTER/cgroup.$node.slurmd"
		echo "0::/system.slice/${node}_slurmstepd.scope/system" >"$CLUSTER/cgroup.$node.slurmstepd"
	done
	# shellcheck disable=SC2016 # for the scripts
	daemon_in slurmd "$(command -v slurmd) -d '$CLUSTER/bin/slurmstepd'" 'export NODE=${!#}'
	daemon_in slurmstepd "$(command -v slurmstepd)" :
	PATH=$CLUSTER/bin:$PATH
	CGROUP_CONF='CgroupPlugin=cgroup/v2 IgnoreSystemd=yes CgroupMountpoint=/sys/fs/cgroup'
	cluster_start
}
