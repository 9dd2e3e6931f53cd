# SPDX-License-Identifier: Apache-2.0
# limit: 300
# Three machines with an InfiniBand port and a RAPL zone each, whose counters advance during a job by what the test writes: every machine's
# figures are its own, and so are its interfaces.
. "$TOP/tests/cluster/harness/namespaces.sh"
RANGE=262143328850
for n in 1 2 3; do
	sys=$CLUSTER/sys.n$n
	zone=$sys/class/powercap/intel-rapl:0
	port=$sys/class/infiniband/mlx5_0/ports/1
	mkdir -p "$sys"
	cp -r "$TOP/tests/fixtures/infiniband/sys/class" "$sys/"
	mkdir -p "$zone"
	echo package-0 >"$zone/name"
	echo $RANGE >"$zone/max_energy_range_uj"
	echo 100000000000 >"$zone/energy_uj"
	echo 6000000000 >"$port/counters/port_xmit_data"
	echo 7000000000 >"$port/counters/port_rcv_data"
done
mount -t overlay -o "lowerdir=$CLUSTER/sys.n1:/sys" overlay /sys 2>/dev/null || skip "no overlay over /sys here"
umount /sys
machines_start

advance() { # FILE BY: in place, as the kernel would
	local now
	read -r now <"$1"
	echo $((now + $2)) 1<>"$1"
}

srun -N3 -n3 "$SONDE" run -q -i 100ms -o out -- sh -c 'until [ -e over ]; do sleep 0.05; done' &
sonde=$!
wait_for 60 started_on 3 out
for step in 1 2 3 4; do
	for n in 1 2 3; do
		sys=$CLUSTER/sys.n$n
		advance "$sys/class/powercap/intel-rapl:0/energy_uj" $((n * step * 2000000))
		advance "$sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data" $((n * step * 1000000))
		advance "$sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data" $((n * step * 500000))
	done
	sleep 0.25
done
touch over
wait $sonde || fail "srun: $?"

"$SONDE" export out --to csv -o tables >/dev/null
risen() { # RATE: by how much its counter rose on each machine, all instances together
	awk -F, -v rate="$1" '!($1 in first) { first[$1] = $5 }
		$2 == rate { id = $1 "," $3; sum[$1] += $6 * ($5 - (id in last ? last[id] : first[$1])); last[id] = $5 }
		END { for (node in sum) printf "%s:%.0f\n", node, sum[node] }' tables/series.csv | sort | tr '\n' ' '
}
equal "machines" "n1 n2 n3" "$(hosts_of out)"
equal "bytes sent over InfiniBand" "n1:40000000 n2:80000000 n3:120000000 " "$(risen infiniband.transmitted_bytes_per_second)"
equal "bytes received over InfiniBand" "n1:20000000 n2:40000000 n3:60000000 " "$(risen infiniband.received_bytes_per_second)"
equal "joules" "n1:20 n2:40 n3:60 " "$(risen energy.consumed_watts)"
equal "interfaces" "n1,eth0 n2,eth0 n3,eth0" \
	"$(awk -F, '$2 == "network.received_bytes_per_second" { print $1 "," $3 }' tables/series.csv | sort -u | grep -v ,lo | paste -sd ' ')"
