#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session of the database leaves its transaction open, and another one waits for the row: ninth.sh SECONDS. Runs in a directory with a cluster in pg/.
as() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
as postgres -D pg -c listen_addresses= -c unix_socket_directories="$PWD/pg" >pg.log 2>&1 &
server=$!
ask() { psql -q -h "$PWD/pg" -U nobody -d postgres "$@"; }
until ask -c 'SELECT 1' >/dev/null 2>&1; do sleep 0.2; done
ask -c 'CREATE TABLE stock (id int PRIMARY KEY, left_over int); INSERT INTO stock SELECT i, 100 FROM generate_series(1, 1000) i'
(
	echo 'BEGIN; UPDATE stock SET left_over = left_over - 1 WHERE id = 7;'
	sleep "$1"
	echo 'COMMIT;'
) | ask &
sleep 0.5
ask -c 'UPDATE stock SET left_over = left_over + 5 WHERE id = 7'
wait %2
kill -INT "$(head -n 1 pg/postmaster.pid)"
wait "$server"
