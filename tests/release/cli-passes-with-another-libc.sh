# SPDX-License-Identifier: Apache-2.0
# limit: 7200
# alone
# What tests/cli promises holds for the archive's program, with its own helpers, on a Debian with a newer C library, Python and compilers.
[ -n "$LONG" ] || {
	echo "it installs another Debian with --long only"
	exit 77
}
. "$TOP/tests/release/harness/made.sh"
. "$TOP/tests/release/harness/root.sh"
# What the tests ask for; without some of it they would be skipped.
installed trixie bash,coreutils,gcc,g++,gfortran,clang,libclang-rt-19-dev,golang-go,rustc,make,pkg-config,libc6-dev,libzstd-dev,python3,python3-dev,python3-pip,python3-venv,python3-psutil,python3-jsonschema,python3-yaml,python3-numpy,strace,valgrind,gdb,openssl,mandoc,man-db,bsdextrautils,jq,git,openmpi-bin,libopenmpi-dev,mpich,libmpich-dev,iproute2,procps,psmisc,poppler-utils,protobuf-compiler,file,sqlite3,unzip,xz-utils,zstd,slurmctld,slurmd,slurm-client,libslurm-dev,munge,postgresql,zsh,fish,busybox-static,tmux,e2fsprogs,curl,sudo

mkdir -p "trixie$TOP" trixie/released
tar -C "$TOP" -c --exclude=./build/release --exclude='./build/dist*' --exclude=./build/sanitized --exclude=./build/obj . | tar -C "trixie$TOP" -x
tar -C trixie/released -xf "$dist/sonde-$release_version-linux-$release_arch.tar.gz"
inside trixie sh -c "cd '$TOP' && BUILT=1 JOBS=$JOBS RELEASED=/released/sonde-$release_version-linux-$release_arch/bin tests/run.sh cli/" || fail "on trixie"
