# SPDX-License-Identifier: Apache-2.0
# A real OAR for one test, and nothing of it afterwards: machines ohead, o1 and o2 (oar-node.sh) in namespaces that end with their processes,
# with an /etc, /var, /dev, /run and /tmp of their own: OAR's jobs end by deleting what their user has in /tmp, and must be nobody's there.
# $CLUSTER is the one folder that the machines share, as a home of the user "user" is. Needs root and the five controllers of cgroups of version 1 that OAR 2 wants.
. "$TOP/tests/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
controllers="cpuset cpu cpuacct devices freezer"
[ -n "$LONG" ] || skip "OAR is started with --long only"
if [ -z "${CLUSTER:-}" ]; then
	[ "$(id -u)" = 0 ] || skip "not root: nodes with namespaces of their own cannot be made"
	unshare --net --uts --mount true 2>/dev/null || skip "namespaces are not permitted here"
	for program in oar-server oarsub oarnodesetting sshd ip psql; do
		need $program
	done
	for controller in $controllers; do
		[ -w "/sys/fs/cgroup/$controller/cgroup.procs" ] || skip "no cgroups of version 1 with the controllers that OAR wants"
	done
	exec "$PYTHON" "$TOP/tests/cluster/harness/guard.py" unshare --net --uts --mount bash "$0" "$@"
fi
unset SONDE_DIR SONDE_RUN_ID
declare -A machine_pid

in_own_network() { # PID
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

machine_cgroups() { # NAME: made here, given back by guard.py
	local controller dir
	for controller in $controllers; do
		dir=/sys/fs/cgroup/$controller/sonde-$1-$$
		echo "$dir" >>"$CLUSTER/cgroups"
		mkdir "$dir"
		[ "$controller" != cpuset ] || for file in cpus mems; do
			cat "/sys/fs/cgroup/cpuset/cpuset.$file" >"$dir/cpuset.$file"
		done
	done
}

machine_start() { # NAME ADDRESS
	machine_cgroups "$1"
	MACHINE_CGROUP=sonde-$1-$$ unshare --net --uts --mount --pid --ipc --fork --kill-child \
		bash "$TOP/tests/cluster/harness/oar-node.sh" "$1" "$2" >"$CLUSTER/log/$1" 2>&1 &
	machine_pid[$1]=$!
	wait_for 60 in_own_network "${machine_pid[$1]}"
	ip link add "to-$1" type veth peer name eth0 netns "${machine_pid[$1]}"
	ip link set "to-$1" master bridge up
	wait_for 120 test -e "$CLUSTER/up.$1"
}

on() { # MACHINE COMMAND...: as root there
	local machine=$1 first
	shift
	# The first process of its namespaces is the child of unshare.
	first=$(cat "/proc/${machine_pid[$machine]}/task/${machine_pid[$machine]}/children")
	nsenter --target "${first% }" --all -- "$@"
}

as_user() { # COMMAND...: on the head, as who submits jobs
	on ohead setpriv --reuid user --regid user --clear-groups env -i HOME="$CLUSTER/home" USER=user LOGNAME=user PATH="$CLUSTER/bin:$PATH" \
		sh -c 'cd && exec "$@"' sh "$@"
}

oar_job() { # OARSUB-ARGUMENTS...: prints the job's id
	as_user oarsub "$@" | sed -n 's/^OAR_JOB_ID=//p'
}

oar_state() { # ID
	as_user oarstat -f -j "$1" | sed -n 's/^ *state = //p'
}

oar_job_is() { # ID STATE-PATTERN
	oar_state "$1" | grep -qxE "$2"
}

oar_start() {
	mkdir -p "$CLUSTER/log" "$CLUSTER/bin" "$CLUSTER/home"
	chmod 755 "$CLUSTER"
	chown 5001:5001 "$CLUSTER/home" "$CLUSTER/log"
	cp "$SONDE" "$PROGRAMS/spin" "$CLUSTER/bin"
	printf '%s\n' '127.0.0.1 localhost' '10.68.0.254 ohead' '10.68.0.1 o1' '10.68.0.2 o2' >"$CLUSTER/hosts"
	ip link set lo up
	ip link add name bridge type bridge
	ip link set bridge up
	machine_start o1 10.68.0.1
	machine_start o2 10.68.0.2
	machine_start ohead 10.68.0.254
	nodes_are_alive() {
		[ "$(on ohead oarnodes -s | grep -c Alive)" = 4 ] # a core each
	}
	wait_for 60 nodes_are_alive
}
