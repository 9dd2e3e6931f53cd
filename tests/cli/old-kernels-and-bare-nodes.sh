#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# limit: 180
# With the system calls of Linux 3.10 alone (a seccomp filter refuses later ones), without /tmp, /dev/shm and $HOME, and with 256 MB of address space for
# the commands that read, jobs are recorded and shown; what is absent has a reason.
. "$TOP/tests/lib.sh"
need jq

reasons() { # DIR: each source and mechanism that gave nothing says why
	equal "$1: without a reason" "" "$(figure "$1" '[.mechanisms[] | select(.state != "used" and (.reason // "") == "") | .name] | join(" ")')"
	equal "$1: samples, damage" "true 0" "$(figure "$1" '"\([.nodes[].samples > 0] | all) \(.damages)"')"
}

old=("$PROGRAMS/without" linux-3.10)
if "${old[@]}" true; then
	equal "status on Linux 3.10" 3 "$(status_of "${old[@]}" "$SONDE" run -q -i 50ms -o run -- sh -c 'sleep 0.2; exit 3' 2>said)"
	[ ! -s said ] || fail "run on Linux 3.10: $(cat said)"
	equal "exit code" 3 "$(figure run .job.exit_code)"
	reasons run
	# shellcheck disable=SC2016 # of that shell
	meet=': >here$SLURM_PROCID; for i in $(seq 1500); do [ ! -e here0 ] || [ ! -e here1 ] || exit 0; sleep 0.02; done; exit 1'
	export SLURM_JOB_ID=31 SLURM_JOB_NODELIST=n1 SLURM_JOB_NUM_NODES=1 SLURMD_NODENAME=n1 SLURM_NTASKS=2 SLURM_STEP_ID=0
	for rank in 0 1; do
		SLURM_PROCID=$rank SLURM_LOCALID=$rank "${old[@]}" "$SONDE" run -q -i 50ms -o job -- sh -c "$meet" &
	done
	wait
	unset ${!SLURM*}
	equal "one recorder of both ranks" "1 2" "$(find job -name '*.sonde' | wc -l) $(figure job '.tasks | length')"
	reasons job
	"${old[@]}" "$SONDE" run -q -o spans -- "$PROGRAMS/spanner" many 50 2 >lost || fail "spans on Linux 3.10"
	equal "spans" 100 "$(figure spans '.spans_in_bulk + (.spans | length)')"
	for command in "show --all" "export -o tables" "report -o page"; do
		# shellcheck disable=SC2086
		"${old[@]}" "$SONDE" $command run >/dev/null 2>said || fail "$command on Linux 3.10: $(cat said)"
	done
else
	echo "seccomp filters are not permitted: nothing stands in for Linux 3.10"
fi

# A root of its own, which has neither /tmp nor /dev/shm.
bare() { # COMMAND...: in that root
	# shellcheck disable=SC2016 # of that shell
	unshare "${as_root[@]}" -m sh -c '
		set -e
		mkdir -p root/dev root/work root/build root/proc root/sys root/etc root/usr
		for name in usr proc sys; do mount --rbind /$name root/$name; done
		for name in bin lib lib64; do [ ! -L /$name ] || ln -sfn usr/$name root/$name; [ -L /$name ] || ! [ -d /$name ] || { mkdir -p root/$name; mount --bind /$name root/$name; }; done
		mount --bind "$BUILD" root/build
		mount --bind . root/work
		for name in null urandom; do : >root/dev/$name; mount --bind /dev/$name root/dev/$name; done
		exec chroot root env -i PATH=/build:/usr/bin:/bin sh -c "cd /work && $1"' sh "$1"
}
as_root=()
[ "$(id -u)" = 0 ] || as_root=(-r)
if unshare "${as_root[@]}" -m true 2>/dev/null; then
	status=0
	bare '[ ! -e /tmp ] && [ ! -e /dev/shm ] && sonde run -q -i 50ms -o bare -- sh -c "sleep 0.2; exit 3"' 2>said || status=$?
	equal "status on a bare node ($(cat said))" 3 $status
	equal "exit code" 3 "$(figure bare .job.exit_code)"
	reasons bare
	bare 'sonde show bare && sonde report -o barepage bare && sonde ls' >shown 2>said || fail "reading on a bare node: $(cat said)"
else
	echo "mount namespaces are not permitted: /tmp and /dev/shm stay"
fi

(
	ulimit -v 262144
	unset HOME XDG_DATA_HOME
	for command in "run -q -o small -- true" "show --all small" "export --to csv,json,parquet -o smalltables small" "report -o smallpage small" "ls" \
		"doctor"; do
		# shellcheck disable=SC2086
		"$SONDE" $command >shown 2>said || fail "$command with 256 MB: $(cat said)"
	done
) || exit 1

# No thread of the helper that draws reserves an arena of its own (128 MiB of address space) beside the first.
if strace -f -qq -e trace=mmap -o calls "$SONDE" report -o smallpage small >shown 2>said && [ -s calls ]; then
	! grep 'mmap(NULL, 134217728, PROT_NONE' calls || fail "another arena is reserved"
fi
