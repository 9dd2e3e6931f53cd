# SPDX-License-Identifier: Apache-2.0
# Of the shared directory, perfmon wants one stat a sample after its start: that of the file by which the job says that it is over;
# and, every 5 s, one of that by which sonde stacks asks (docs/waits.md).
. "$TOP/tests/lib.sh"
need strace
need jq
unset SLURM_JOB_ID LSB_JOBID OAR_JOB_ID FLUX_JOB_ID JOB_ID PBS_NUM_PPN
job="78.fake-$$"
export PBS_JOBID=$job

has_begun() {
	find "sonde_$job" -name 'node-*.sonde' -size +0 | grep -q .
}

"$PROGRAMS/spin" 300000000 0 5 &
app=$!
"$SONDE" perfmon -i 50ms 2>said &
monitor=$!
trap 'kill $app $monitor 2>/dev/null' EXIT
wait_for 30 has_begun
sleep 1
timeout -s INT 3 strace -y -qq -o calls -e trace=%file,pwrite64 -p $monitor 2>strace_said
[ -s calls ] || skip "strace may not trace here"
echo FINISHED >".ipc-$job"
wait $monitor || fail "perfmon: $(cat said)"

# What is below /proc, /sys and /dev/shm, where other jobs of this machine may make spans, is no shared directory; nor is that of Sonde's helpers.
# How full disks of this machine are Sonde asks itself; only of file systems that may hang does a helper ask.
findmnt -rn -o TARGET -t tmpfs,ext2,ext3,ext4,xfs,btrfs,f2fs,zfs | sed 's/.*/"&",/' >local
grep -v pwrite64 calls | grep -vE '"/(proc|sys|dev/shm)/|</(proc|sys|dev/shm)[/>]|/libexec/sonde/' | grep -vFf local >names
asked=$(grep -c "stat.*\"\.ipc-$job\"" names)
! grep -v "stat.*\"\.ipc-$job\"" names | grep -v 'stat.*"stacks-asked"' || fail "more than that is asked for"
samples=$(grep -c 'pwrite64.*\.tail' calls)
looked=$(grep -c '"stacks-asked"' names)
holds "looked $looked times in $samples samples for who asks for stacks" "$looked <= 1 + $samples / 20"
holds "asked $asked times in $samples samples" "$asked >= 1 && $asked <= $samples + 1"
