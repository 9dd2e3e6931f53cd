# SPDX-License-Identifier: Apache-2.0
# Jobs of fourth.py, for bash: fourth.sh VERB ARGUMENT...
work() { perl "$here/fourth.pl" work "$1"; }
here=$(dirname "$0")

case $1 in
variable)
	set -u
	work "$2"
	echo "writing to $RESULT_DIR"
	;;
pipe)
	set -o pipefail
	work "$2"
	seq 1 100000000 | head -n 3
	;;
lines)    # Bash reads a pipe one byte at a time, so that the next command finds the rest.
	end=$((SECONDS + $2))
	n=0
	while [ $SECONDS -lt "$end" ] && read -r line; do
		n=$((n + ${#line}))
	done < <(yes 'chr1 12345 67890 GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA GATTACA')
	;;
processes)
	end=$((SECONDS + $2))
	while [ $SECONDS -lt "$end" ]; do
		ps -e -o pid,comm | grep -c python >/dev/null
	done
	;;
commits)
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_NOSYSTEM=1 HOME=$PWD
	git init -q records
	cd records || exit
	end=$((SECONDS + $2))
	for ((i = 0; SECONDS < end; i++)); do
		echo "$i" >"row$i"
		git add "row$i"
		git commit -q -m "row $i"
	done
	;;
esac
