# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# alone
# The wheels of a release: their tags are true by auditwheel's judgement, and what they hold beyond that needs nothing else; pip installs the program
# with all that it can; musl's Python finds a library that it can load. Beside the other project of the same command, the last one installed counts.
. "$TOP/tests/release/harness/made.sh"
unset PYTHONPATH SONDE_LIBRARY
of_glibc=$(echo "$dist"/sonde_recorder-*-manylinux_2_17_"$release_arch".manylinux2014_*.whl)
of_musl=$(echo "$dist"/sonde_recorder-*-musllinux_1_2_*.whl)
[ -s "$of_glibc" ] && [ -s "$of_musl" ] || fail "there are no wheels: $(ls "$dist")"

"$PYTHON" -m venv v || skip "python3-venv is not installed"
install() { # WHEEL...
	v/bin/python -m pip install -q --no-index --no-deps --disable-pip-version-check "$@" || fail "pip install $*"
}
install "$of_glibc"
(
	PATH=/usr/bin:/bin
	v/bin/sonde run -q -o rec -- sh -c 'exit 3'
	equal "the job's exit status" 3 $?
	v/bin/sonde report rec || fail "report"
	v/bin/sonde export --to sqlite,hdf5 rec || fail "export"
	v/bin/sonde ls --history >/dev/null || fail "history"
	v/bin/python -I -c 'import sonde; sonde.Sampler; assert sonde.open("rec").nodes' || fail "import sonde"
) || exit 1
tar -xf "$dist/sonde-$release_version-linux-$release_arch.tar.gz"
(cd "sonde-$release_version-linux-$release_arch/share/sonde" && find . -type f -not -path './modulefiles/*' | sort) >of_archive
(cd v/share/sonde && find . -type f -not -name '*.pyc' | sort) | diff of_archive - >differ || fail "the wheel's data are not the archive's: $(cat differ)"
for file in report.html report.pdf series.sqlite series.h5; do
	[ -s "rec/$file" ] || fail "$file was not written"
done

# What comes with its own C library is not for auditwheel: it needs nothing that is not there.
lib=v/libexec/sonde/lib
for file in "$lib"/*; do
	readelf -d "$file" 2>/dev/null | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | while read -r name; do
		[ -e "$lib/$name" ] || [[ $name == ld-linux* ]] || echo "$file needs $name"
	done
done >lacking
[ -x "$lib/ld.so" ] && [ ! -s lacking ] || fail "among the libraries: $(cat lacking)"

# For musl: a program of musl loads the library while it runs, as Python does.
unzip -q -o "$of_musl" 'sonde/*' -d musl
cat >load.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
#include <sonde_sampler.h>
int main(int argc, char **argv)
{
	void *l = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW);
	struct sonde_sampler *(*start)(const struct sonde_sampler_options *, struct sonde_error *);
	unsigned long long (*taken)(struct sonde_sampler *);
	struct sonde_sampler *s;

	if (!l)
		return puts(dlerror()), 1;
	*(void **)&start = dlsym(l, "sonde_sampler_start");
	*(void **)&taken = dlsym(l, "sonde_sampler_taken");
	s = start(&(struct sonde_sampler_options){ .interval = 0.05 }, NULL);
	usleep(400000);
	return s && taken(s) > 1 ? 0 : 2;
}
END
musl-gcc -I "$TOP/include" -o load load.c || fail "a program of musl"
./load musl/sonde/libsonde.so.0 || fail "a program of musl samples: $?"

# Another project has the command and the package sonde.
mkdir -p other/sonde other/sonde-9.dist-info other/sonde-9.data/scripts
echo 'OTHER = True' >other/sonde/__init__.py
printf '#!/bin/sh\necho other\n' >other/sonde-9.data/scripts/sonde
chmod 755 other/sonde-9.data/scripts/sonde
printf 'Metadata-Version: 2.1\nName: sonde\nVersion: 9\n' >other/sonde-9.dist-info/METADATA
printf 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >other/sonde-9.dist-info/WHEEL
printf 'sonde/__init__.py,,\nsonde-9.data/scripts/sonde,,\nsonde-9.dist-info/METADATA,,\nsonde-9.dist-info/WHEEL,,\nsonde-9.dist-info/RECORD,,\n' \
	>other/sonde-9.dist-info/RECORD
(cd other && "$PYTHON" -m zipfile -c ../sonde-9-py3-none-any.whl *)
install ./sonde-9-py3-none-any.whl
equal "the last one's command" other "$(v/bin/sonde)"
v/bin/python -I -c 'import sonde; sonde.OTHER' || fail "the last one's package"
install --force-reinstall "$of_glibc"
v/bin/sonde run -q -o again -- true && v/bin/python -I -c 'import sonde; sonde.Sampler' || fail "installed again"

# Their tags: pip's own view of this machine, and auditwheel's.
"$PYTHON" -m venv judge && judge/bin/python -m pip install -q --disable-pip-version-check auditwheel==6.8.2 2>pip.log ||
	skip "auditwheel cannot be fetched: $(tail -n 1 pip.log); the rest holds"
cat >cut.py <<'END'
import sys, zipfile
source, out = sys.argv[1:]
below = "/libexec/sonde/lib/"
with zipfile.ZipFile(source) as a, zipfile.ZipFile(out, "w") as b:
    for entry in a.infolist():
        data = a.read(entry)
        if entry.filename.endswith("/RECORD"):
            data = b"".join(line for line in data.splitlines(True) if below.encode() not in line)
        if below not in entry.filename:
            b.writestr(entry, data)
END
judged() { # WHEEL: the tag that auditwheel gives it
	mkdir -p cut && "$PYTHON" cut.py "$1" "cut/${1##*/}" || fail "cut $1"
	judge/bin/auditwheel show --ldpaths "/usr/lib/$release_arch-linux-musl" "cut/${1##*/}" 2>&1 | tr '\n' ' ' | grep -o 'platform tag: *"[^"]*"' |
		head -n 1 | grep -o '"[^"]*"'
}
equal "the tag for glibc" "\"manylinux_2_17_$release_arch\"" "$(judged "$of_glibc")"
equal "the tag for musl" "\"musllinux_1_2_$release_arch\"" "$(judged "$of_musl")"
