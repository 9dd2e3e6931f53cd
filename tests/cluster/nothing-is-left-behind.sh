# SPDX-License-Identifier: Apache-2.0
# limit: 600
# A test that is killed, or fails, in the middle of a job leaves no daemon, no job, no namespace, no mount and no folder of its cluster.
. "$TOP/tests/lib.sh"
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd srun; do
	need $program
done
name=$(hostname)
links=$(ls /sys/class/net)
variants=slurm
[ "$(id -u)" != 0 ] || ! unshare --net --uts --mount true 2>/dev/null || variants='slurm namespaces'

cat >in_the_middle <<'END'
. "$TOP/tests/cluster/harness/$VARIANT.sh"
if [ "$VARIANT" = slurm ]; then cluster_start; else machines_start; fi
srun -N3 -n3 "$SONDE" run -q -o out -- sh -c 'setsid sleep 1000 & sleep 1000' &
sbatch -N1 --wrap 'sleep 1000' >/dev/null
three() {
	[ "$(find out -name '*.sonde' | wc -l)" = 3 ]
}
wait_for 60 three
echo "$CLUSTER" >where.made && mv where.made where
[ "$ENDING" != fails ] || exit 3
sleep 1000
END

of_the_cluster() { # processes that carry its folder in their environment or command line
	grep -lzFf where /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | cut -d/ -f3 | sort -u
}

gone() { # FOLDER
	[ -z "$(of_the_cluster)" ] && [ ! -e "$1" ]
}

for VARIANT in $variants; do
	for ENDING in KILL TERM fails; do
		rm -rf out where
		export VARIANT ENDING
		bash in_the_middle >/dev/null 2>&1 &
		front=$!
		wait_for 60 test -e where
		where=$(cat where)
		if [ $ENDING = fails ]; then
			wait $front
			equal "exit status of what failed" 3 $?
		else
			[ "$(of_the_cluster | wc -l)" -ge 5 ] || fail "nothing of the cluster is seen"
			kill -$ENDING $front
		fi
		wait_for 60 gone "$where"
		! grep -qF "$where" /proc/self/mountinfo || fail "$VARIANT, $ENDING: a mount is left"
	done
done
equal "host name" "$name" "$(hostname)"
equal "network interfaces" "$links" "$(ls /sys/class/net)"
