# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# On older and newer Debians, as they install: the archive, the package and the wheel each record, report and export; and what the archive's program does on a
# terminal and in scripts (some of tests/cli) it does there.
[ -n "$LONG" ] || {
	echo "it installs other Debians with --long only"
	exit 77
}
. "$TOP/tests/release/harness/made.sh"
need mmdebstrap
[ "$(id -u)" = 0 ] || skip "not root: other Debians cannot be installed"
archive=$dist/sonde-$release_version-linux-$release_arch.tar.gz
package=$(echo "$dist/sonde_$release_version"_*.deb)
wheel=$(echo "$dist"/sonde_recorder-*-manylinux_2_17_"$release_arch".manylinux2014_*.whl)

inside() { # ROOT COMMAND...
	# shellcheck disable=SC2016 # for the shell inside
	unshare --mount --pid --fork sh -c 'cd "$1" && mount -t proc proc proc && mount --rbind /dev dev && shift && exec chroot . env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$@"
}

cat >try <<'END'
#!/bin/sh
# SONDE: what a new user does first
set -eu
cd "$(mktemp -d)"
"$1" run -q --stacks -o rec -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; exit 3' && exit 1 || [ $? = 3 ]
"$1" show rec | grep -q 'exit code 3'
"$1" report rec
"$1" export --to csv,sqlite,hdf5,parquet rec
for file in report.html report.pdf series.sqlite series.h5; do [ -s "rec/$file" ]; done
END

on() { # SUITE
	mmdebstrap --quiet --variant=essential --include=python3,python3-venv "$1" "$1" >install.log 2>&1 || skip "$1 cannot be installed: $(tail -n 1 install.log)"
	cp try "$1/try"
	mkdir "$1/wheels"
	cp "$archive" "$package" "$wheel" "$1/wheels"
	inside "$1" sh -eu -c '
		cd /opt
		tar -xf /wheels/*.tar.gz
		sh /try /opt/sonde-*/bin/sonde
		dpkg -i /wheels/*.deb
		sh /try /usr/bin/sonde
		dpkg -P sonde
		python3 -m venv /env
		/env/bin/pip install -q --no-index --no-deps /wheels/*.whl
		sh /try /env/bin/sonde
		/env/bin/python -I -c "import sonde; sonde.Sampler"' >"$1.log" 2>&1 || fail "on $1: $(tail -n 20 "$1.log")"
	echo "$1: $(inside "$1" ldd --version 2>&1 | head -n 1)"
	rm -rf "$1"
}

on bullseye
on trixie
