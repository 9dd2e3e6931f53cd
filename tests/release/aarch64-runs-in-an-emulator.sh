# SPDX-License-Identifier: Apache-2.0
# limit: 3600
# alone
# The release for aarch64, made here by the cross compiler: under qemu-user its program records, its static helpers and those that bring their
# libraries write, and its libraries need nothing newer than their tags say.
. "$TOP/tests/lib.sh"
need aarch64-linux-gnu-gcc
need qemu-aarch64
need clang
need zstd
dist=$BUILD/dist-aarch64
(cd "$TOP" && BUILD=$BUILD release/make.sh "$dist" aarch64) >release.log 2>&1 || {
	! grep -q 'sysroot\|apt' release.log || skip "the packages of arm64 cannot be fetched"
	fail "release/make.sh: $(tail -n 20 release.log)"
}
(cd "$dist" && sha256sum --quiet -c SHA256SUMS) || fail "the sums are of something else"
for file in "$dist"/*.tar.*; do
	holds "size of $file" "$(stat -c %s "$file") <= 25e6"
done
tar -xf "$dist"/sonde-*-linux-aarch64.tar.gz
sonde=$PWD/$(echo sonde-*)
holds "size of the recorder" "$(stat -c %s "$sonde/bin/sonde") <= 5e6"
find "$sonde" -type f | while read -r file; do
	! readelf -h "$file" 2>/dev/null | grep 'Machine:' | grep -qv AArch64 || echo "$file"
done | grep . && fail "these are for another processor"

# The packages hold the archive's files, below /usr, and are named for the processor as each of the two systems calls it.
unpacked() { # FOLDER LIB: what lies there, as in the archive
	(cd "$1/usr" && find . -not -type d -not -path ./share/doc/sonde/copyright | sed "s|^\./$2/|./lib/|" | sort)
}
(cd "$sonde" && find . -not -type d -not -path ./LICENSE | sort) >of_archive
dpkg-deb --extract "$dist"/sonde_*_arm64.deb debian
equal "the processor of the .deb" arm64 "$(dpkg-deb --field "$dist"/sonde_*_arm64.deb Architecture)"
unpacked debian lib | diff of_archive - || fail "the .deb holds other files"
cmp debian/usr/bin/sonde "$sonde/bin/sonde" || fail "the .deb has another program"
package=$(echo "$dist"/sonde-*.aarch64.rpm)
about() { # FORMAT: of the .rpm
	rpm -qp --nosignature --qf "$1" "$package" 2>/dev/null
}
equal "the processor of the .rpm" aarch64 "$(about '%{ARCH}')"
about '[%{FILEMODES:perms} %{FILENAMES}\n]' | sed -n 's|^[^d][^ ]* /usr/|./|p' | grep -v '^./share/doc/sonde/copyright$' | sed 's|^./lib64/|./lib/|' | sort |
	diff of_archive - || fail "the .rpm holds other files"
equal "the program of the .rpm" "$(sha256sum <"$sonde/bin/sonde" | cut -d ' ' -f 1)" "$(about '[%{FILENAMES} %{FILEDIGESTS}\n]' | awk '$1 == "/usr/bin/sonde" { print $2 }')"

# Each version that the two libraries need is in glibc 2.17; musl's has no versions.
unzip -q -o "$dist"/*manylinux*.whl 'sonde/*' -d glibc
unzip -q -o "$dist"/*musllinux*.whl 'sonde/*' -d musl
readelf -V glibc/sonde/libsonde.so.0 | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1 >newest
equal "the newest version that the library needs" GLIBC_2.17 "$(cat newest)"
readelf -d musl/sonde/libsonde.so.0 | grep NEEDED | grep -q 'libc.musl-aarch64.so.1' || fail "musl's library needs another C library"

run() { # COMMAND...: of aarch64; what it starts is of this machine's processor
	qemu-aarch64 "$@"
}
equal "its version" "sonde $(sed -n 's/^VERSION *:= *//p' "$TOP/Makefile")" "$(run "$sonde/bin/sonde" --version)"
# qemu-user lets no recorder leave its parent, so that this job may go unrecorded; its end is its own.
status=0
run "$sonde/bin/sonde" run -q -o unrecorded -- sh -c 'exit 3' 2>err || status=$?
equal "the job's exit status" 3 $status

# What was recorded here reads the same there.
"$SONDE" run -q -i 50ms -o rec -- sh -c 'seq 1 200000 | sort -n >/dev/null; sleep 0.2' || fail "a recording"
for table in series processes marks; do
	"$SONDE" export --to csv -o - --table $table rec >here || fail "export $table"
	run "$sonde/bin/sonde" export --to csv -o - --table $table rec >there || fail "export $table, in the emulator"
	cmp here there || fail "the table $table differs"
done
"$SONDE" show --all rec >here && run "$sonde/bin/sonde" show --all rec >there || fail "show"
cmp here there || fail "the summary differs"

# A helper that is static, and one that brings its libraries: both answer an empty request in their own words.
for helper in "$sonde/libexec/sonde/sonde-sqlite" "$sonde/libexec/sonde/lib/ld.so --library-path $sonde/libexec/sonde/lib $sonde/libexec/sonde/lib/sonde-draw"; do
	status=0
	# shellcheck disable=SC2086 # a word each
	run $helper </dev/null >answer 2>err || status=$?
	equal "$helper: exit status" 0 $status
	contains answer "runs this helper"
done

# Those that bring their libraries lack no function of them, the stand-ins for the libraries of a screen among these, and what draws gives the same page.
lib=$sonde/libexec/sonde/lib
for helper in "$lib"/sonde-*; do
	[ -L "$helper" ] || run -E LD_TRACE_LOADED_OBJECTS=1 -E LD_WARN=yes -E LD_BIND_NOW=yes "$lib/ld.so" --library-path "$lib" "$helper" 2>&1
done >loaded
equal "helpers that load their libraries" 8 "$(grep -c '^.*libc\.so\.6 => ' loaded)"
! grep -E 'not found|undefined' loaded || fail "the helpers lack something"
need pdftotext
mkdir -p mine/libexec/sonde
cp "$SONDE" mine/sonde
cp -a "$LIBEXEC/." mine/libexec/sonde/
mv mine/libexec/sonde/sonde-draw mine/draw
printf '#!/bin/sh\ntee %q | %q\n' "$PWD/drawing" "$PWD/mine/draw" >mine/libexec/sonde/sonde-draw
chmod +x mine/libexec/sonde/sonde-draw
mine/sonde report --only pdf rec || fail "report"
run -E FONTCONFIG_FILE="$lib/fonts.conf" "$lib/ld.so" --library-path "$lib" "$lib/sonde-draw" <drawing >answer 3<>there.pdf || fail "the drawing, in the emulator"
pdftotext there.pdf there && pdftotext rec/report.pdf here.txt && [ -s there ] || fail "no page was drawn"
cmp there here.txt || fail "the page differs"
