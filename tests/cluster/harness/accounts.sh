# SPDX-License-Identifier: Apache-2.0
# Accounts for slurm.sh's cluster, as sacct reads them: with ACCOUNTS=1 cluster_start begins with a MariaDB and a slurmdbd of its own, below $CLUSTER and
# on ports of this machine that were free. The database has no users, no tables but Slurm's, and goes with the test. Needs root, as munge does.

need_accounts() {
	local program
	[ "$(id -u)" = 0 ] || skip "not root: slurmdbd has no munge of its own"
	for program in slurmdbd mariadbd sacctmgr sacct; do
		need $program
	done
}

slurmdbd_conf() { # DATABASE-PORT PORT
	cat <<-END
		AuthType=auth/munge
		AuthInfo=socket=$CLUSTER/munge.sock
		DbdHost=localhost
		DbdAddr=127.0.0.1
		DbdPort=$2
		SlurmUser=root
		LogFile=$CLUSTER/log/slurmdbd
		PidFile=$CLUSTER/slurmdbd.pid
		StorageType=accounting_storage/mysql
		StorageHost=127.0.0.1
		StoragePort=$1
		StorageUser=root
		StorageLoc=slurm
	END
}

accounts_start() { # with munge up and a slurm.conf that is not read yet
	local ports
	need_accounts
	mapfile -t ports < <(free_ports 2)
	mkdir "$CLUSTER/database"
	mariadbd --no-defaults --user=root --datadir="$CLUSTER/database" --socket="$CLUSTER/database.sock" --bind-address=127.0.0.1 --port="${ports[0]}" \
		--skip-grant-tables --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=16M --innodb-log-file-size=4M >"$CLUSTER/log/mariadbd" 2>&1 &
	(umask 077 && slurmdbd_conf "${ports[@]}" >"$CLUSTER/slurmdbd.conf")
	sed -i -e "s|^AccountingStorageType=.*|AccountingStorageType=accounting_storage/slurmdbd|" \
		-e "/^AccountingStorageType=/a AccountingStorageHost=127.0.0.1\nAccountingStoragePort=${ports[1]}\nAccountingStoragePass=$CLUSTER/munge.sock\nJobAcctGatherFrequency=1" "$SLURM_CONF"
	wait_for 60 test -S "$CLUSTER/database.sock"
	slurmdbd -D >/dev/null 2>&1 &
	wait_for 60 grep -q started "$CLUSTER/log/slurmdbd"
	wait_for 60 sacctmgr -Q -i add cluster sonde >/dev/null
}

accounted() { # ID: sacct knows how each of its jobs and steps ended
	[ -n "$(sacct -n -X -j "$1" -o State)" ] && ! sacct -n -P -j "$1" -o State,End | grep -qE '^(PENDING|RUNNING|COMPLETING|REQUEUED)|Unknown'
}
