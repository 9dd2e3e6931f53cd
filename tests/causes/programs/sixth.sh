# SPDX-License-Identifier: Apache-2.0
# Jobs of sixth.py, for bash: sixth.sh VERB ARGUMENT...
here=$(dirname "$0")
work() { perl "$here/fourth.pl" work "$1"; }
until_end() { [ $SECONDS -lt "$end" ]; }
end=$((SECONDS + ${2:-0}))

case $1 in
short_gzip)
	work "$2"
	head -c 3000000 /dev/urandom | gzip -1 | head -c 1000000 >measured.gz
	gzip -dc measured.gz >measured
	;;
no_archive)
	work "$2"
	tar -xf inputs-2026.tar.gz
	;;
division)
	work "$2"
	seq 100 | awk '{ s += $1 / ($1 - 73) } END { print s }'
	seq 100 | perl -ne '$s += $_ / ($_ - 73); END { print $s }' || exit 2
	;;
unique)
	work "$2"
	sqlite3 keys.db 'create table k(id integer primary key, v)'
	for i in 1 2 3 2; do sqlite3 keys.db "insert into k values($i, hex(randomblob(20)))" || exit; done
	;;
polls)
	while until_end && [ ! -e finished ]; do sleep 0.2; done
	;;
reader)
	end=$((SECONDS + $2))
	yes 'a line of the log' | while read -r line && until_end; do
		echo "$line" >>copy
		sleep 0.1
	done
	;;
expr)
	n=0
	while until_end; do
		name=$(echo "gene:$n:length" | cut -d : -f 1)
		n=$(expr "$n" + 1)
	done
	echo "$name $n"
	;;
find_exec)
	for _ in $(seq "$2"); do
		find many -type f -exec basename {} \; >names
	done
	;;
inserts)
	sqlite3 rows.db 'create table t(v)'
	while until_end; do
		for i in $(seq 50); do echo "insert into t values($i);"; done
	done | timeout "$2" sqlite3 rows.db
	true
	;;
fill)
	work 6
	sqlite3 rows.db 'create table t(v)' && while until_end; do echo "insert into t select hex(randomblob(500));"; done | sqlite3 -bail rows.db
	;;
xz)
	while until_end; do head -c 4000000 /dev/urandom | xz -T1 -6 >part.xz; done
	;;
sort)
	seq -f '%.0f gene' 3000000 | awk '{ print ($1 * 7919) % 1000003, $2 }' >unsorted
	while until_end; do LC_ALL=C sort --parallel=1 -S 400M -n unsorted >sorted; done
	;;
sort_one)
	while until_end; do awk 'BEGIN { for (i = 0; i < 3000000; i++) s += i % 7 * 1.5; print s }' >/dev/null; done
	;;
make)
	for d in a b c d; do
		mkdir -p $d
		printf 'all:\n\tperl %s/fourth.pl work %s\n' "$here" "$2" >$d/Makefile
	done
	printf 'all:\n\tfor d in a b c d; do $(MAKE) -s -C $$d || exit; done\n' >Makefile
	make -s -j1
	;;
even)
	for _ in $(seq "$3"); do
		seq "$2" | xargs -P "$2" -I N perl "$here/fourth.pl" work 2
	done
	;;
zstd)
	end=$((SECONDS + $3))
	head -c 60000000 /dev/urandom >data
	while until_end; do zstd -q -f -12 -T"$2" data -o data.zst; done
	;;
*)
	exit 64
	;;
esac
