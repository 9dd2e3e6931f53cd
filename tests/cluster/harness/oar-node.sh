#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# oar-node.sh NAME ADDRESS: the first process of a machine of oar.sh, in namespaces of its own; with a root of cgroups of its own since its
# second start. On ohead the database and OAR's server run, on the others only a daemon of ssh.
set -eu
name=$1 address=$2
controllers="cpuset cpu cpuacct devices freezer"
if [ -z "${IN_CGROUP:-}" ]; then
	for controller in $controllers; do
		echo 0 >"/sys/fs/cgroup/$controller/$MACHINE_CGROUP/cgroup.procs"
	done
	IN_CGROUP=1 exec unshare --cgroup bash "$0" "$@"
fi

hostname "$name"
until ip link show eth0 >/dev/null 2>&1; do sleep 0.05; done
ip link set lo up
ip address add "$address/24" dev eth0
ip link set eth0 up

mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /sys/fs/cgroup
for controller in $controllers; do
	mkdir "/sys/fs/cgroup/$controller"
	mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
done

# A /tmp of its own, in which only what the test needs is shared, and before it what is written over the machine's own files.
mount -t tmpfs -o mode=1777 tmpfs /mnt
for folder in "$CLUSTER" "$TOP" "$PWD"; do
	case $folder in
	/tmp/*)
		mkdir -p "/mnt${folder#/tmp}"
		mount --rbind "$folder" "/mnt${folder#/tmp}"
		;;
	esac
done
mkdir /mnt/.over
for folder in etc var dev; do
	mkdir "/mnt/.over/$folder" "/mnt/.over/$folder.work"
	mount -t overlay -o "lowerdir=/$folder,upperdir=/mnt/.over/$folder,workdir=/mnt/.over/$folder.work" overlay "/$folder"
done
mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts 2>/dev/null || true
mount --move /mnt /tmp
mkdir -p /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /var/tmp
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/sshd /run/postgresql /run/oar
chown postgres /run/postgresql
chown oar /run/oar
cp "$CLUSTER/hosts" /etc/hosts
rm -f /etc/nologin
echo "user:x:5001:5001:,,,:$CLUSTER/home:/bin/bash" >>/etc/passwd
echo 'user:x:5001:' >>/etc/group
echo 'user:*:19000:0:99999:7:::' >>/etc/shadow
sed -i -e 's/^\(DB_HOSTNAME\|SERVER_HOSTNAME\)=.*/\1="ohead"/' -e 's/^DB_BASE_PASSWD=.*/DB_BASE_PASSWD="oar"/' -e 's/^DB_BASE_PASSWD_RO=.*/DB_BASE_PASSWD_RO="oar_ro"/' \
	-e 's/^SCHEDULER_JOB_SECURITY_TIME=.*/SCHEDULER_JOB_SECURITY_TIME="1"/' -e 's/^LOG_LEVEL=.*/LOG_LEVEL="3"/' /etc/oar/oar.conf
# Whatever a job's user has in /tmp stays, even here.
sed -i -e 's/^my \$Cpuset_cg_mem_nodes = .*/my $Cpuset_cg_mem_nodes = "all";/' -e 's/^my @Tmp_dir_to_clear = .*/my @Tmp_dir_to_clear = ();/' \
	/etc/oar/job_resource_manager_cgroups.pl
grep -q '^my @Tmp_dir_to_clear = ();' /etc/oar/job_resource_manager_cgroups.pl
cd /

/usr/sbin/sshd -D -f /etc/oar/sshd_config &
if [ "$name" = ohead ]; then
	bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
	data=/var/lib/postgresql/sonde
	install -d -o postgres -m 700 $data
	setpriv --reuid postgres --regid postgres --clear-groups "$bin/initdb" -A trust -D $data
	echo 'host all all 10.68.0.0/24 trust' >>$data/pg_hba.conf
	setpriv --reuid postgres --regid postgres --clear-groups "$bin/pg_ctl" -D $data -w -t 60 -l $data/log \
		-o "-c listen_addresses='*' -c fsync=off -k /run/postgresql" start
	oar-database --create --db-is-local
	oarproperty -a cpu
	oarproperty -a core
	oarnodesetting -a -h o1 -p cpu=1 -p core=1 -p cpuset=0
	oarnodesetting -a -h o1 -p cpu=1 -p core=2 -p cpuset=1
	oarnodesetting -a -h o2 -p cpu=2 -p core=3 -p cpuset=0
	oarnodesetting -a -h o2 -p cpu=2 -p core=4 -p cpuset=1
	oar-server
fi
touch "$CLUSTER/up.$name"
# It takes away its orphans that have ended.
sleep infinity &
wait
