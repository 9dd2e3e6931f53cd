#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU time per sample of other process recorders, compared with Sonde's, at one sample a second of 1,000 idle
# processes. About 12 minutes: Sonde runs beside the others until it has sealed two blocks (SECONDS_IN_ALL); they
# alternate, each ROUNDS times. QUICK=1: a minute.
#
# The others are Debian's packages, unpacked below $BUILD and not installed, so that none of their services ever
# starts, now or at the next boot; no root is needed. They listen on Unix sockets and the loopback only, and do less
# than by default: pidstat prints only active processes, pmcd has one agent, netdata one plugin and no database on
# disk. All of them except Sonde read every process of the machine.
set -eu
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-3}
SECONDS_IN_ALL=${SECONDS_IN_ALL:-650}
PROCESSES=1000
if [ "${QUICK:-}" = 1 ]; then ROUNDS=1 SECONDS_IN_ALL=60; fi
# shellcheck source=bench/bar.sh
. bench/bar.sh
peers='pidstat pcp netdata atop collectl'
packages='sysstat pcp netdata-core atop collectl'
each=$((SECONDS_IN_ALL / (5 * ROUNDS) - 7)) # seconds of a turn that count
root=$PWD/$BUILD/peers
case $BUILD in /*) root=$BUILD/peers ;; esac
scratch=$(mktemp -d)
started=()
finish() {
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 1' INT TERM

# The packages, and of what they need that which is not installed.
unpack() {
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
	rm -rf "$root" && mkdir -p "$root/deb"
	# shellcheck disable=SC2086 # a word a package
	apt-get install -s --no-install-recommends $packages | awk '/^Inst/ { print $2 }' >"$root/needed"
	# shellcheck disable=SC2046,SC2086 # a word a package
	(cd "$root/deb" && apt-get download -q $packages $(cat "$root/needed")) >"$scratch/apt" 2>&1 || return 1
	for package in "$root"/deb/*.deb; do
		dpkg-deb -x "$package" "$root" || return 1
	done
	touch "$root/unpacked"
}

measure() { # NAME COMMAND... [++ COMMAND...]
	local name=$1 library=$root/usr/lib
	shift
	LD_LIBRARY_PATH=$library:$library/$(gcc -print-multiarch) \
		python3 bench/peers_arm.py "$each" "$scratch/$name" "$@" >>"$scratch/$name.cost" 2>"$scratch/$name/said" ||
		{ echo failed >"$scratch/$name.failed" && tail -n 3 "$scratch/$name/said"; }
}

run_pidstat() {
	measure pidstat sh -c "exec '$root/usr/bin/pidstat' -d -r -u -w 1 >'$scratch/pidstat/out'"
}

run_atop() {
	measure atop env ATOPACCT= "$root/usr/bin/atop" -w "$scratch/atop/out" 1
}

run_collectl() {
	measure collectl "$root/usr/bin/collectl" -C "$root/etc/collectl.conf" -sCDNmZ -i1:1 -f "$scratch/collectl/"
}

run_pcp() {
	local here=$scratch/pcp library=$root/usr/lib/pcp metric
	{
		for name in VAR SYSCONF RUN LOG ARCHIVE TMP TMPFILE; do echo "PCP_${name}_DIR=$here"; done
		printf '%s\n' "PCP_BINADM_DIR=$library/bin" "PCP_BIN_DIR=$root/usr/bin" "PCP_PMDAS_DIR=$library/pmdas" \
			"PCP_SHARE_DIR=$root/usr/share/pcp" "PCP_USER=$(id -un)" "PCP_GROUP=$(id -gn)" PCP_ARCHIVE_VERSION=2
	} >"$here/pcp.conf"
	echo "proc 3 pipe binary $library/pmdas/proc/pmdaproc -d 3" >"$here/pmcd.conf"
	{
		echo 'log mandatory on 1 sec {'
		for metric in utime stime rss vsize threads minflt maj_flt ppid sname; do echo "proc.psinfo.$metric"; done
		for metric in rchar wchar syscr syscw read_bytes write_bytes; do echo "proc.io.$metric"; done
		echo '}'
	} >"$here/pmlogger.conf"
	rm -f "$here"/archive.*
	measure pcp env PCP_CONF="$here/pcp.conf" PMCD_LOCAL=1 "$library/bin/pmcd" -f -A -p "$(free_port)" \
		-U "$(id -un)" -c "$here/pmcd.conf" -s "$here/socket" -l "$here/pmcd.log" -n "$library/pmns/root_proc" ++ \
		env PCP_CONF="$here/pcp.conf" PMLOGGER_LOCAL=1 PMLOGGER_PORT="$(free_port)" "$library/bin/pmlogger" \
		-h "unix:$here/socket" -c "$here/pmlogger.conf" -l "$here/pmlogger.log" -y "$here/archive"
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

run_netdata() {
	local here=$scratch/netdata
	mkdir -p "$here/cache" "$here/lib"
	sed -e "s|@HERE@|$here|; s|@ROOT@|$root|; s|@USER@|$(id -un)|" bench/peers_netdata.conf >"$here/netdata.conf"
	measure netdata env DISABLE_TELEMETRY=1 "$root/usr/sbin/netdata" -D -c "$here/netdata.conf" -P "$here/lib/pid"
}

[ -e "$root/unpacked" ] || unpack || {
	echo "  not measured: Debian's packages could not be had: $packages"
	[ ! -e "$scratch/apt" ] || tail -n 3 "$scratch/apt"
	exit 1
}
"$BUILD/programs/tree" $PROCESSES >"$scratch/ready" &
tree=$!
started+=("$tree")
until grep -qs ready "$scratch/ready"; do sleep 0.05; done
"$BUILD/sonde" attach -q -p "$tree" -i 1s --pss off -o "$scratch/sonde" &
sonde=$!
started=("$sonde" "${started[@]}")
sleep 3
python3 bench/clock_cpu.py $((SECONDS_IN_ALL - 5)) "$sonde" >"$scratch/sonde.cost" &
watch=$!
for _ in $(seq "$ROUNDS"); do
	for peer in $peers; do
		rm -rf "${scratch:?}/$peer" && mkdir "$scratch/$peer"
		"run_$peer"
	done
done
wait "$watch"
kill -INT "$sonde"
wait "$sonde" || true

live=$("$BUILD/sonde" export -o - --raw --wide --metrics job.processes_live_count "$scratch/sonde" |
	tr -d '\r' | tail -n +2 | cut -d , -f 4 | sort -gu)
if [ "$live" != $PROCESSES ]; then
	echo "  not measured: the tree did not have $PROCESSES processes all the time but" "$live"
	exit 1
fi
read -r cpu rss <"$scratch/sonde.cost"
say_cost() { # NAME CPU RSS BYTES
	figure "$1: CPU a sample" "$(awk "BEGIN { printf \"%.3f\", $2 * 1e3 }")" ms
	figure "$1: resident" "$(awk "BEGIN { printf \"%.1f\", $3 / 1e6 }")" MB
	figure "$1: written a process and sample" "$(awk "BEGIN { printf \"%.1f\", $4 / $PROCESSES }")" bytes
}
monitor=$("$BUILD/sonde" show --json "$scratch/sonde" | jq -r '.monitor | "\(.bytes_written / .samples) \(.samples)"')
say_cost Sonde "$cpu" "$rss" "${monitor% *}"
figure 'Sonde: samples' "${monitor#* }" count
for peer in $peers; do
	if [ -e "$scratch/$peer.failed" ]; then
		echo "  $peer: not measured: it did not run"
		missed=1
		continue
	fi
	# shellcheck disable=SC2046 # three words
	say_cost "$peer" $(for column in 1 2 3; do cut -d ' ' -f $column "$scratch/$peer.cost" | median; done)
	case $peer in
	collectl) limit=90 ;;
	atop) limit=30 ;;
	*) limit=20 ;;
	esac
	bar "$peer against Sonde: CPU a sample" \
		"$(awk "BEGIN { printf \"%.1f\", $(cut -d ' ' -f 1 "$scratch/$peer.cost" | median) / $cpu }")" times '>=' $limit
done
exit "${missed:-0}"
