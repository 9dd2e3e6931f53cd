#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On whatever machine, hostile files included, doctor answers, a job is recorded, and the recording can be read.
. "$TOP/tests/lib.sh"
need jq

count=0
for machine in "$BUILD"/nodes/*; do
	name=${machine##*/}
	roots=(--procfs "$machine/proc" --sysfs "$machine/sys")
	# 1: something failed, which it is there to say.
	"$SONDE" doctor --json "${roots[@]}" >doctor.json 2>said.txt || equal "doctor on $name" 1 $?
	equal "doctor's schema on $name" sonde/doctor/1 "$(jq -r .schema doctor.json)"
	[ ! -s said.txt ] || fail "doctor on $name says: $(cat said.txt)"
	# Its thousands of devices only take time here; unit/vast_node reads them.
	[ "$name" != vast ] || continue
	"$SONDE" run --quiet -i 20ms -o "$name" "${roots[@]}" -- sleep 0.1 2>said.txt || fail "run on $name: $?, $(cat said.txt)"
	"$SONDE" show --json "$name" >show.json || fail "show of $name: $?"
	equal "damage of $name" 0 "$(jq -r '.damages' show.json)"
	count=$((count + 1))
	# Cores tell of their first thread, and most interfaces of their speed: doctor says that it is to be had.
	[ "$name" != two-socket ] || for metric in cpu.throttles network.speed_bytes_per_second network.receive_used_ratio; do
		equal "$metric" available "$(jq -r --arg name "$metric" '.metrics[] | select(.name == $name) | .state' doctor.json)"
	done
done
[ "$count" -ge 13 ] || fail "only $count machines"
