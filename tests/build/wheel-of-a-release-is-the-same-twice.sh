# SPDX-License-Identifier: Apache-2.0
# limit: 300
# The Python wheel of a release depends on names, contents and who may execute them. pip installs it without a network into an environment that is
# never activated: there Python finds the library, the program finds its helpers; and what was installed goes again.
. "$TOP/tests/lib.sh"
! nm "$BUILD/libsonde.a" | grep -q __asan_init || skip "the library is built with sanitizers"
version=$("$SONDE" --version | grep -o '[0-9][0-9.]*' | head -n 1)

tree() { # FOLDER HELPER...: in this order
	local folder=$1 helper
	shift
	mkdir -p "$folder"/{bin,lib,libexec/sonde,share/doc/sonde/licences}
	cp "$SONDE" "$folder/bin/sonde"
	cp "$BUILD/libsonde.so.0" "$folder/lib/"
	for helper; do
		# shellcheck disable=SC2016 # for the helper
		printf '%s\n' '#!/bin/sh' 'echo "$0" >used' >"$folder/libexec/sonde/sonde-$helper"
		chmod 755 "$folder/libexec/sonde/sonde-$helper"
	done
	ln -s sonde-hdf5 "$folder/libexec/sonde/sonde-sqlite"
	echo '{}' >"$folder/share/doc/sonde/sbom.spdx.json"
	echo "a licence" >"$folder/share/doc/sonde/licences/other"
}

pack() { # TREE FOLDER
	mkdir "$2"
	"$PYTHON" "$TOP/release/wheel.py" "$1" "$2" "$version" 1700000000 linux_"$(uname -m)" || fail "wheel.py $1"
}

(umask 077 && tree one hdf5 nvml)
(umask 002 && tree two nvml hdf5)
touch -d 2001-01-01 two/bin/sonde
pack one 1
pack two 2
diff -r 1 2 || fail "two packings differ"
wheel=$(echo 1/*.whl)

# To make one takes five seconds of CPU time; ./dev check has one.
cp -a "$BUILD/pip" v 2>/dev/null || { rm -rf v && "$PYTHON" -m venv v; } || skip "python3-venv is not installed"
find v | sort >before
v/bin/python -m pip install -q --no-index --disable-pip-version-check "$wheel" || fail "pip install $wheel"
equal "the programs" "sonde" "$(cd v/bin && ls -d sonde*)"
unset PYTHONPATH SONDE_LIBRARY
PATH=/usr/bin:/bin
v/bin/python -I - "$PWD/v" "$version" <<'END' || fail "import sonde in an environment that is not active"
import sys, time
import sonde
sampler = sonde.Sampler(interval=0.05)
with sampler:
    time.sleep(0.3)
with open("/proc/self/maps") as f:
    libraries = {line.split()[-1] for line in f if "libsonde" in line}
assert len(libraries) == 1 and libraries.pop().startswith(sys.argv[1]), "another library"
assert sampler.samples and sonde.version() == sys.argv[2], (sampler.samples, sonde.version())
END
v/bin/sonde run -q -o rec -- true || fail "the program that pip installed"
v/bin/python -I -c 'import sonde; assert sonde.open("rec").nodes' || fail "a recording, from Python"
v/bin/sonde export --to sqlite rec 2>/dev/null || true # this one writes nothing
equal "the helper, which was a link" "$(realpath v)/libexec/sonde/sonde-sqlite" "$(realpath "$(cat used)")"
grep -q "a licence" v/lib/python*/site-packages/*.dist-info/licenses/other || fail "licences"
v/bin/python -m pip uninstall -q -y sonde-recorder || fail "pip uninstall"
find v -not -name __pycache__ -not -name '*.pyc' | sort | grep -i sonde && fail "this stays behind"
exit 0
