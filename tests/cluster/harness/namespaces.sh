# SPDX-License-Identifier: Apache-2.0
# Like slurm.sh, with nodes n1 n2 n3 that are machines of their own (node.sh), joined by a bridge; the test itself runs on the machine "head".
# All of it lives in namespaces that end with their processes. Needs root.
if [ -z "${CLUSTER:-}" ]; then
	[ "$(id -u)" = 0 ] || {
		echo "not root: nodes with namespaces of their own cannot be made"
		exit 77
	}
	unshare --net --uts --mount true 2>/dev/null || {
		echo "namespaces are not permitted here"
		exit 77
	}
	exec "$PYTHON" "$TOP/tests/cluster/harness/guard.py" unshare --net --uts --mount bash "$0" "$@"
fi
. "$TOP/tests/cluster/harness/slurm.sh"

in_own_network() { # PID
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

head_network() {
	hostname head
	printf '%s\n' '127.0.0.1 localhost' '10.66.0.254 head' '10.66.0.1 n1' '10.66.0.2 n2' '10.66.0.3 n3' >"$CLUSTER/hosts"
	mount --bind "$CLUSTER/hosts" /etc/hosts
	ip link set lo up
	ip link add name bridge type bridge
	ip address add 10.66.0.254/24 dev bridge
	ip link set bridge up
}

machine_start() { # NUMBER MTU
	unshare --net --uts --mount --pid --ipc --fork --kill-child bash "$TOP/tests/cluster/harness/node.sh" "$1" >"$CLUSTER/log/node.n$1" 2>&1 &
	machine_pid[$1]=$!
	wait_for 60 in_own_network "${machine_pid[$1]}"
	ip link add "to-n$1" type veth peer name eth0 mtu "$2" netns "${machine_pid[$1]}"
	ip link set "to-n$1" master bridge mtu "$2" up
}

machine_kill() { # NUMBER: at once and with all its processes
	kill -KILL "${machine_pid[$1]}"
}

machines_start() { # [MTU]
	local i
	need_slurm
	need ip
	head_network
	slurm_conf >"$SLURM_CONF"
	cat >>"$SLURM_CONF" <<-END
		SlurmctldHost=head(10.66.0.254)
		NodeName=n[1-3] $node_line
	END
	munge_start
	slurmctld -D -c >/dev/null 2>&1 &
	wait_for 60 controller_is_up
	for i in $(seq $NODES); do
		machine_start "$i" "${1:-1500}"
	done
	wait_for 60 nodes_are idle:$NODES
}
