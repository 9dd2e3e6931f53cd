#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# node.sh NUMBER: the first process of a node that has namespaces of its own (namespaces.sh): a machine as far as a job can see, with its
# own host name, address, processes, /tmp and /dev/shm, and with whatever lies below $CLUSTER/sys.nNUMBER in its /sys.
set -eu
name=n$1

hostname "$name"
until ip link show eth0 >/dev/null 2>&1; do sleep 0.01; done
ip link set lo up
ip address add "10.66.0.$1/24" dev eth0
ip link set eth0 up

mount --make-rprivate /
mount -t proc proc /proc
mount -t sysfs sysfs /sys
[ ! -d "$CLUSTER/sys.$name" ] || mount -t overlay -o "lowerdir=$CLUSTER/sys.$name:/sys" overlay /sys
mount --bind "$CLUSTER/hosts" /etc/hosts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
# A /tmp of its own, in which only what the test needs is shared.
mount -t tmpfs -o mode=1777 tmpfs /mnt
for folder in "$CLUSTER" "$TOP" "$BUILD" "$PWD"; do
	case $folder in
	/tmp/*)
		mkdir -p "/mnt${folder#/tmp}"
		mount --rbind "$folder" "/mnt${folder#/tmp}"
		;;
	esac
done
mount --move /mnt /tmp
cd "$PWD"

slurmd -D -N "$name" &
# Whatever becomes of slurmd, the node stays, and takes away its orphans that have ended.
sleep infinity &
wait
