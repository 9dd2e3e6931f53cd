# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# On older and newer Debians, as they install: the archive, the package and the wheel each record, report and export.
[ -n "$LONG" ] || {
	echo "it installs other Debians with --long only"
	exit 77
}
. "$TOP/tests/release/harness/made.sh"
. "$TOP/tests/release/harness/root.sh"
archive=$dist/sonde-$release_version-linux-$release_arch.tar.gz
package=$(echo "$dist/sonde_$release_version"_*.deb)
wheel=$(echo "$dist"/sonde_recorder-*-manylinux_2_17_"$release_arch".manylinux2014_*.whl)

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
	installed "$1" python3,python3-venv
	cp try "$1/try"
	mkdir "$1/wheels"
	cp "$archive" "$package" "$wheel" "$1/wheels"
	inside "$1" sh -eu -c '
		cd /opt
		begun=$(date +%s%N)
		tar -xf /wheels/*.tar.gz
		sonde-*/bin/sonde run -q -o /first -- true
		echo "unpacked and recorded in $((($(date +%s%N) - begun) / 1000000)) ms" >/took
		sh /try /opt/sonde-*/bin/sonde
		dpkg -i /wheels/*.deb
		sh /try /usr/bin/sonde
		dpkg -P sonde
		python3 -m venv /env
		/env/bin/pip install -q --no-index --no-deps /wheels/*.whl
		sh /try /env/bin/sonde
		/env/bin/python -I -c "import sonde; sonde.Sampler"' >"$1.log" 2>&1 || fail "on $1: $(tail -n 20 "$1.log")"
	echo "$1: $(inside "$1" ldd --version 2>&1 | head -n 1): $(cat "$1/took")"
	rm -rf "$1"
}

on bullseye
on trixie
