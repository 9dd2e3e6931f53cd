#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Jobs of second.py that are shell scripts, as users write them.
set -eu

# Arithmetic of one process for about so many seconds.
count()
{
	awk -v s="$1" 'BEGIN { srand(); t = srand() + s; while (1) { for (i = 0; i < 200000; i++) x += i % 7; srand(); if (srand() >= t) exit } }'
}

case $1 in
align) # the aligner's index was never built
	count 6
	echo "aligning"
	sort -k2n genome.fa.fai >order.txt
	count 6
	;;
rename) # three commands for each name of a sample
	i=0
	while [ $i -lt "$2" ]; do
		name=$(echo "sample_$i.fastq" | sed 's/\.fastq$//' | cut -d_ -f2)
		echo "$name" >>names.txt
		i=$((i + 1))
	done
	;;
wait-for-input) # the stage before delivers late
	(sleep "$2"; echo ready >input.ready) &
	until [ -e input.ready ]; do
		sleep 0.5
	done
	count 2
	;;
turns) # every task wants the same lock for all that it does
	for i in 1 2 3 4 5 6; do
		flock shared.lock "$2" cpu "$3" &
	done
	wait
	;;
archive) # a damaged archive in the middle of a pipe
	count 5
	gzip -dc reads.fastq.gz | awk 'NR % 4 == 2' | sort | uniq -c >counts.txt
	;;
starts) # a Python for each line
	i=0
	while [ $i -lt "$2" ]; do
		/usr/bin/python3 -c "import json, sys; json.dumps({'row': int(sys.argv[1])})" $i
		i=$((i + 1))
	done
	;;
many-then-one) # a storm of commands, then tasks of which the last is the longest
	sh "$0" rename "$2"
	printf '1\n1\n1\n1\n9\n' | xargs -P 2 -n 1 "$3" cpu
	;;
stage-out) # packs on one core, then waits for a transfer that somebody else does
	gzip -9 <"$2" >packed.gz
	gzip -9 <"$2" >packed.gz
	until [ -e transferred ]; do
		sleep 1
		[ "$(find . -name packed.gz -mmin +0.16)" ] && touch transferred
	done
	;;
rows) # a Python for each few rows, each row stored for good at once
	i=0
	while [ $i -lt "$2" ]; do
		/usr/bin/python3 "$3" commit rows.db 40
		i=$((i + 1))
	done
	;;
forgotten) # a monitor in the background is waited for, and never ends
	count 5 &
	count 5
	touch monitor.log
	tail -f monitor.log &
	pid=$!
	(sleep 12; kill $pid) &
	wait $pid || true
	wait
	;;
*)
	echo "no such verb: $1" >&2
	exit 2
	;;
esac
