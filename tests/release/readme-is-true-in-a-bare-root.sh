# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# What README says first, command by command, in a root that has busybox and the archive alone. There Sonde does all that it can, also without $HOME,
# /tmp and /dev/shm, in 256 MB of address space, and with foreign libraries in LD_LIBRARY_PATH; moved, deleted and replaced while it runs; half
# unpacked it says so, and the rest works.
. "$TOP/tests/release/harness/made.sh"
need busybox
unshare --user --map-root-user --mount --pid --fork true 2>/dev/null || skip "no user namespace is permitted for the bare root"
mkdir -p root/bin root/proc root/dev root/job root/root
cp "$(command -v busybox)" root/bin/busybox || fail "busybox"
for name in $(root/bin/busybox --list); do
	[ "$name" = busybox ] || ln -s busybox "root/bin/$name"
done
cp "$dist/sonde-$release_version-linux-$release_arch.tar.gz" root/job/
# shellcheck disable=SC2016 # for the job to expand
printf '#!/bin/sh\nwhile [ $((i += 1)) -lt 300000 ]; do :; done\nexit 3\n' >root/job/my-job
chmod 755 root/job/my-job

inside() { # SCRIPT: in that root; what it prints is kept
	# shellcheck disable=SC2016 # for the shell inside
	unshare --user --map-root-user --mount --pid --fork sh -c 'mount -t proc proc root/proc && mount -t tmpfs none root/dev &&
		for name in null zero urandom; do : >root/dev/$name && mount --bind /dev/$name root/dev/$name; done &&
		exec chroot root env -i HOME=/root PATH=/bin sh -c "cd /job; $1"' sh "$1" >inside.log 2>&1
}

# The block of README, without what is for pip, which tests/release/wheel-installs-for-any-linux.sh tries.
sed -n '/^    tar -xzf/,/^$/s/^    //p' "$TOP/README.md" | sed "s/ *#.*//; s/x86_64/$release_arch/" | grep -v '^pip install' >root/job/readme
equal "commands of README" 4 "$(grep -c . root/job/readme)"
cat >root/job/first <<'END'
while read -r command <&4; do
	status=0
	eval "$command" || status=$?
	echo "status $status of: $command"
done 4</job/readme
sonde show --all && sonde report
END
inside ". /job/first" || fail "README: $(cat inside.log)"
equal "the statuses of README's commands" "0 0 3 0" "$(sed -n 's/^status \(.*\) of: .*/\1/p' inside.log | tr '\n' ' ' | sed 's/ $//')"
equal "summaries" 3 "$(grep -c '^sonde .*Failed (exit code 3).*my-job' inside.log)"
for file in report.html report.pdf plots; do
	[ -s "$(echo root/job/sonde_*)/$file" ] || fail "README: no $file"
done

mv root/job/sonde-* root/ || fail "the archive's folder"
rm root/*.tar.gz
mv root/sonde-* root/sonde
cat >root/job/everything <<'END'
# NAME [COMMAND...]: all that Sonde can do, by this command
name=$1 sonde=/sonde/bin/sonde
shift
does() { # STATUS ARGUMENTS...: of sonde
	status=0 want=$1
	shift
	${by:-} $sonde "$@" >out 2>err </dev/null || status=$?
	[ $status = $want ] || { echo "FAIL: $name: status $status of sonde $*: $(cat err)"; exit 1; }
}
does 3 run -q -i 100ms -o $name -- ./my-job
[ ! -s err ] || { echo "FAIL: $name: run: $(cat err)"; exit 1; }
does 3 run -q -i 100ms --stacks --waits --memory --files --peers -o $name --force -- ./my-job
[ ! -s err ] || { echo "FAIL: $name: run with all options: $(cat err)"; exit 1; }
for view in all code waits memory path steps pipelines files peers; do does 0 show --$view $name; done
does 0 report $name
[ -s $name/report.html ] && [ -s $name/report.pdf ] || { echo "FAIL: $name: no page or no PDF: $(cat err)"; exit 1; }
does 0 export --to csv,json,parquet,sqlite,hdf5,openmetrics -o $name.tables $name
does 0 trace -o $name.json $name
for command in explain doctor ls phases; do does 0 $command; done
[ -z "${HOME:-}" ] || does 0 ls --history
echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"explain","arguments":{"run":"'$name'"}}}' | $sonde mcp >out 2>err
grep -q '"isError": *false' out || { echo "FAIL: $name: mcp: $(cat out err)"; exit 1; }
does 1 push --patience 0s --to mlflow --url http://localhost:1 $name
grep -q 'cannot reach' err || { echo "FAIL: $name: push: $(cat err)"; exit 1; }
END
everything() { # NAME SCRIPT
	inside "set -e; $2; set -- $1; . /job/everything" || fail "$1: $(cat inside.log)"
}
everything plain :
everything bare 'unset HOME; [ ! -e /tmp ]; [ ! -e /dev/shm ]'
everything small 'ulimit -v 262144'
mkdir root/junk
for file in root/sonde/libexec/sonde/lib/*.so*; do
	echo junk >"root/junk/${file##*/}"
done
everything foreign 'export LD_LIBRARY_PATH=/junk LD_BIND_NOW=1'

cp -a root/sonde root/kept
for what in 'mv /sonde /moved' 'rm -r /sonde' 'rm -r /sonde; cp -a /kept /sonde; echo 9.9 >/sonde/libexec/sonde/version'; do
	inside "/sonde/bin/sonde run -q -i 50ms --stacks --waits -o while -- sh -c '$what; exec ./my-job'; [ \$? = 3 ] && /kept/bin/sonde show while" ||
		fail "$what: $(cat inside.log)"
	grep -q 'Failed (exit code 3)' inside.log || fail "$what: $(cat inside.log)"
	rm -rf root/sonde root/moved root/job/while && cp -a root/kept root/sonde
done

# Its libraries were not all unpacked.
for file in root/sonde/libexec/sonde/lib/*.so*; do
	: >"$file"
done
inside '/sonde/bin/sonde run --stacks -o half -- ./my-job; echo status $?; /sonde/bin/sonde show --all half; /sonde/bin/sonde report half; echo status $?
	/sonde/bin/sonde ls --history; /sonde/bin/sonde push --patience 0s --to mlflow --url http://localhost:1 half; /sonde/bin/sonde export --to sqlite,hdf5 half; echo status $?'
equal "statuses of the half" "3 0 0" "$(sed -n 's/^status //p' inside.log | tr '\n' ' ' | sed 's/ $//')"
for helper in unwind draw database http; do
	tr -s ' \n' ' ' <inside.log | grep -qE "sonde-$helper (cannot start|ended too early); install Sonde again" || fail "half unpacked, sonde-$helper: $(cat inside.log)"
done
