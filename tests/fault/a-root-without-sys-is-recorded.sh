# SPDX-License-Identifier: Apache-2.0
# A container may have no /sys, as one made FROM scratch or a chroot: the job is recorded there, and what only /sys has is absent.
. "$TOP/tests/lib.sh"
unshare --user --map-root-user --mount true 2>/dev/null || skip "no user namespace is permitted"
mkdir root
cat >inside <<'END'
set -eu
for folder in /*; do
	case $folder in
	/sys) continue ;;
	esac
	if [ -L "$folder" ]; then
		cp -P "$folder" root/
	elif [ -d "$folder" ]; then
		mkdir "root$folder"
		mount --rbind "$folder" "root$folder"
	fi
done
here=$PWD
cd root
exec chroot . sh -c 'cd "$0" && ! [ -e /sys ] && "$@"' "$here" "$SONDE" run -o rec -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exit 3'
END
status=0
unshare --user --map-root-user --mount bash inside >out 2>err || status=$?
equal "the job's exit status" 3 $status
! grep -q 'recording failed' err || fail "it is not recorded: $(cat err)"
equal "exit_code" 3 "$(figure rec .job.exit_code)"
holds "CPU time" "$(figure rec .job.cpu_seconds) > 0.01"
"$SONDE" export --to csv -o - --table states rec >states || fail "states"
grep -q '^[^,]*,cpu.frequency_hertz,.*,unsupported,' states || fail "what only /sys has: $(head -n 5 states)"
