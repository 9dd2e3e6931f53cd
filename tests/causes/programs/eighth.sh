#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Workers of the shell take turns: a directory is their lock, and who does not get it looks again later. eighth.sh WORKERS SECONDS
end=$(($(date +%s) + $2))
worker() {
	while [ "$(date +%s)" -lt "$end" ]; do
		until mkdir turn 2>/dev/null; do sleep 0.1; done
		awk 'BEGIN { for (i = 0; i < 6000000; i++) x += i % 7 }'
		rmdir turn
	done
}
for _ in $(seq "$1"); do worker & done
wait
