# SPDX-License-Identifier: Apache-2.0
# A real Slurm for one test, and nothing of it afterwards: a test that begins with `. "$TOP/tests/cluster/harness/slurm.sh"` runs below guard.py.
# cluster_start makes three nodes n1 n2 n3 of this machine: all daemons with files and ports of their own, below $CLUSTER.
# As root they trust each other by a munge of their own; else they are the user's, with Slurm's auth/none.
[ -n "${CLUSTER:-}" ] || exec "$PYTHON" "$TOP/tests/cluster/harness/guard.py" bash "$0" "$@"
. "$TOP/tests/lib.sh"
. "$TOP/tests/cluster/harness/accounts.sh"

PATH=$PATH:/usr/sbin:/sbin
export SLURM_CONF=$CLUSTER/slurm.conf
unset SONDE_DIR SONDE_RUN_ID
NODES=3
# Two clusters that run side by side have no job of the same number: Sonde knows a job's processes by it.
FIRST_JOB=$(($$ % 60000 * 1000 + 1))

free_ports() { # COUNT: that many, one a line
	"$PYTHON" -c 'import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
    print(s.getsockname()[1])' "$1"
}

slurm_conf() { # what every variant has in common
	local auth='AuthType=auth/none
CredType=cred/none'
	[ "$(id -u)" != 0 ] || auth="AuthType=auth/munge
AuthInfo=socket=$CLUSTER/munge.sock${CREDENTIAL_SECONDS:+,cred_expire=$CREDENTIAL_SECONDS}
CredType=cred/munge"
	cat <<-END
		ClusterName=sonde
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		$auth
		FirstJobId=$FIRST_JOB
		StateSaveLocation=$CLUSTER/state
		SlurmdSpoolDir=$CLUSTER/spool.%n
		SlurmctldPidFile=$CLUSTER/slurmctld.pid
		SlurmdPidFile=$CLUSTER/slurmd.%n.pid
		SlurmctldLogFile=$CLUSTER/log/slurmctld
		SlurmdLogFile=$CLUSTER/log/slurmd.%n
		ProctrackType=proctrack/${PROCTRACK:-linuxproc}
		TaskPlugin=task/${TASKS:-none}
		SwitchType=switch/none
		JobAcctGatherType=jobacct_gather/linux
		AccountingStorageType=accounting_storage/none
		JobCompType=jobcomp/none
		SchedulerType=sched/backfill
		SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU${MEMORY:+_Memory}
		${MEMORY:+DefMemPerNode=$MEMORY}
		SlurmdParameters=config_overrides
		ReturnToService=2
		SlurmctldTimeout=30
		SlurmdTimeout=30
		KillWait=${KILL_WAIT:-2}
		MailProg=/bin/true
		PropagateResourceLimits=NONE
		PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	END
	# Else slurmd looks for the machine's control groups, and ends where there are none.
	# shellcheck disable=SC2086 # a line a word
	printf '%s\n' ${CGROUP_CONF:-CgroupPlugin=cgroup/v1 CgroupAutomount=no} ${MEMORY:+ConstrainRAMSpace=yes} >"$CLUSTER/cgroup.conf"
}

# Control groups that Slurm makes for the jobs of this cluster, of version 1; taken away afterwards. MEMORY (in MiB) limits jobs that ask for none.
need_cgroups() { # CONTROLLER...
	local controller node
	[ "$(id -u)" = 0 ] || skip "not root: Slurm cannot make control groups"
	for controller; do
		[ -w "/sys/fs/cgroup/$controller/cgroup.procs" ] || skip "no $controller of control groups of version 1"
		for node in n1 n2 n3; do
			[ ! -e "/sys/fs/cgroup/$controller/slurm_$node" ] || skip "another Slurm has control groups of these names here"
			echo "/sys/fs/cgroup/$controller/slurm_$node" >>"$CLUSTER/cgroups"
		done
	done
}

node_line="CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=2000 State=UNKNOWN"

munge_start() {
	[ "$(id -u)" = 0 ] || return 0
	(umask 077 && head -c 128 /dev/urandom >"$CLUSTER/munge.key")
	munged -F --socket="$CLUSTER/munge.sock" --key-file="$CLUSTER/munge.key" --pid-file="$CLUSTER/munged.pid" \
		--seed-file="$CLUSTER/munge.seed" --log-file="$CLUSTER/log/munged" >/dev/null 2>&1 &
	wait_for 60 test -S "$CLUSTER/munge.sock"
}

need_slurm() {
	local program
	for program in slurmctld slurmd srun sbatch; do
		need $program
	done
	[ "$(id -u)" != 0 ] || need munged
	mkdir "$CLUSTER/log" "$CLUSTER/state" "$CLUSTER"/spool.n{1,2,3}
	chmod 755 "$CLUSTER"
}

nodes_are() { # STATES, as sinfo's "%t:%D"
	[ "$(sinfo -h -o %t:%D)" = "$1" ]
}

controller_is_up() {
	scontrol ping | grep -q 'is UP'
}

cluster_start() {
	local ports i
	need_slurm
	mapfile -t ports < <(free_ports $((NODES + 1)))
	slurm_conf >"$SLURM_CONF"
	cat >>"$SLURM_CONF" <<-END
		SlurmctldHost=$(hostname)(127.0.0.1)
		SlurmctldPort=${ports[0]}
		NodeName=n[1-3] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$(IFS=, && echo "[${ports[*]:1}]") $node_line
	END
	munge_start
	[ -z "${ACCOUNTS:-}" ] || accounts_start
	slurmctld -D -c >/dev/null 2>&1 &
	wait_for 60 controller_is_up
	for i in $(seq $NODES); do
		slurmd -D -N "n$i" >/dev/null 2>&1 &
	done
	wait_for 60 nodes_are idle:$NODES
}

job_gone() { # ID: nothing of it is left in Slurm or running
	local pid
	[ -z "$(squeue -h -j "$1" 2>/dev/null)" ] || return 1
	for pid in $(pgrep -f "^slurmstepd: \[$1[].]"); do # another cluster may have a job of this number
		! grep -qzFx "SLURM_CONF=$SLURM_CONF" "/proc/$pid/environ" 2>/dev/null || return 1
	done
}

progress_of() { # ID: what changes while it gets on: its state and steps, what it has written, what its processes have computed
	squeue -h -j "$1" -o '%T %r' 2>/dev/null
	squeue -h -s -j "$1" -o %i 2>/dev/null
	find . -newer "$SLURM_CONF" -printf '%s ' 2>/dev/null
	pgrep -f "^slurmstepd: \[$1[].]" | while read -r pid; do
		pgrep -P "$pid" | sed 's|.*|/proc/&/stat|' | xargs -r cut -d ' ' -f 14-17 2>/dev/null
	done
}

# As long as the job gets on, on however busy a machine; when nothing of it has changed for four minutes, the test fails. Whether it gets on
# costs more to ask than whether it has ended.
wait_out() { # ID COMMAND...: until COMMAND succeeds
	local id=$1 last='' now since=$SECONDS looked=$SECONDS
	shift
	until "$@" 2>/dev/null; do
		sleep 0.5
		[ $((SECONDS - looked)) -ge 20 ] || continue
		looked=$SECONDS now=$(progress_of "$id" || true)
		[ "$now" = "$last" ] || since=$SECONDS
		last=$now
		[ $((SECONDS - since)) -lt 240 ] || fail "nothing changes, and never: $*"
	done
}

submit() { # SBATCH-ARGUMENTS...: prints the job's id
	sbatch --parsable -o "$PWD/job-%j.out" "$@"
}

state_of() { # ID: as Slurm remembers it, for some minutes after the end
	scontrol -o show job "$1" | grep -o 'JobState=[A-Z_]*' | cut -d= -f2
}

hosts_of() { # DIR: its nodes' names in one line
	figure "$1" '[.nodes[].host] | unique | join(" ")'
}

started_on() { # NODES DIR...: that many nodes of these recordings hold a sample or more
	local wanted=$1
	shift
	[ "$(for d; do "$SONDE" show --json "$d" | jq -r '.nodes[] | select(.samples > 0) | .host'; done | sort -u | wc -l)" -ge "$wanted" ]
}

cpu_within() { # DIR SECONDS [TASKS]: what the program says it spends and one percent more at most, or 20 ms to start and end each task
	local got
	got=$(figure "$1" .job.cpu_seconds)
	holds "CPU seconds of $1: $got of $2" "$got >= $2 * 0.9999 && $got <= $2 * 1.01 + ${3:-0} * 0.02"
}
