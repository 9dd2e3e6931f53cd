#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make.sh OUT [ARCH]: the files of a release for this processor or ARCH (aarch64), in the folder OUT. The same tree on the same machine gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(realpath "$1")
version=$(sed -n 's/^VERSION *:= *//p' Makefile)
arch=${2:-$(uname -m)}
name=sonde-$version-linux-$arch
build=${BUILD:-build}/release
LC_ALL=C.UTF-8 TZ=UTC
# The date of what is packed: that of the last commit, or of the list of changes where there is no history.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
PYTHONDONTWRITEBYTECODE=1
export LC_ALL TZ SOURCE_DATE_EPOCH PYTHONDONTWRITEBYTECODE
umask 022

log=$build/$arch.log
mkdir -p "$build"
build=$(realpath "$build")
CC=${CC:-cc} CROSS='' RUN='' SYSROOT='' PKG_CONFIG=${PKG_CONFIG:-pkg-config} MUSLCC=musl-gcc
CPPFLAGS=${CPPFLAGS:-} LDFLAGS=${LDFLAGS:-} ZSTD=-l:libzstd.a

# Debian's packages of that processor, its compiler, and what runs its programs here.
use_other_processor() {
	SYSROOT=$build/sysroot-$arch
	release/sysroot.sh arm64 "$SYSROOT" libc6-dev libzstd-dev libsqlite3-dev libhdf5-dev libdeflate-dev libcairo2-dev libpango1.0-dev \
		fonts-dejavu-core libcurl4-openssl-dev libmicrohttpd-dev libyaml-dev libbpf-dev zlib1g-dev libelf-dev libdw-dev libaec-dev libpq5 musl-dev
	CROSS=$arch-linux-gnu- CC=$arch-linux-gnu-gcc RUN=qemu-$arch
	libraries=$SYSROOT/usr/lib/$arch-linux-gnu
	ln -sf hdf5-serial.pc "$libraries/pkgconfig/hdf5.pc"
	PKG_CONFIG="env PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$SYSROOT/usr/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$SYSROOT pkg-config"
	CPPFLAGS="-isystem $SYSROOT/usr/include"
	LDFLAGS="-L$libraries -Wl,-rpath-link,$libraries:$SYSROOT/lib/$arch-linux-gnu"
	sed "s|/usr/|$SYSROOT/usr/|g" "$SYSROOT/usr/lib/$arch-linux-musl/musl-gcc.specs" >"$SYSROOT/musl.specs"
	MUSLCC="$CC -specs=$SYSROOT/musl.specs"
}

[ "$arch" = "$(uname -m)" ] || use_other_processor
TRIPLET=$arch-linux-gnu
AR=${CROSS}ar
export AR CC CROSS RUN SYSROOT TRIPLET PKG_CONFIG MUSLCC CPPFLAGS LDFLAGS

release_make() {
	make -s RELEASE=1 BUILD="$build/$arch" PREFIX=/opt/sonde ZSTD="$ZSTD" "$@"
}

# libsonde for the Python of a Linux with musl: no other part needs the machine's C library.
library_of_musl() {
	headers=$build/headers-$arch
	mkdir -p "$headers"
	for header in zstd.h zstd_errors.h; do
		ln -sfn "$SYSROOT/usr/include/$header" "$headers/$header"
	done
	kernel=${SYSROOT:+/usr/$arch-linux-gnu}
	for header in linux asm-generic; do
		ln -sfn "${kernel:-/usr}/include/$header" "$headers/$header"
	done
	if [ -n "$kernel" ]; then ln -sfn "$kernel/include/asm" "$headers/asm"; else ln -sfn "/usr/include/$TRIPLET/asm" "$headers/asm"; fi
	LDFLAGS='' CPPFLAGS="-isystem $headers" make -s RELEASE=1 BUILD="$build/$arch-musl" CC="$MUSLCC" WARN=-w \
		ZSTD="$SYSROOT/usr/lib/$TRIPLET/libzstd.a" -j"${JOBS:-2}" "$build/$arch-musl/libsonde.so.0"
	"${CROSS}strip" -s "$build/$arch-musl/libsonde.so.0"
}

# What builds without npm and without a network: the tree, with the charts of the page.
source_archive() {
	rm -rf "$build/source"
	mkdir -p "$build/source"
	if [ -e .git ]; then
		git ls-files -z | tar -c --null -T -
	else
		tar -c --exclude=./build --exclude="./${out#"$PWD/"}" --exclude='./sonde_*' --exclude=node_modules --exclude=__pycache__ .
	fi | tar -x -C "$build/source"
	page=src/report/page/web/node_modules/uplot
	for part in dist/uPlot.iife.min.js dist/uPlot.min.css LICENSE package.json; do
		install -D -m 644 "$page/$part" "$build/source/$page/$part"
	done
	python3 release/archive.py "$build/source" "sonde-$version" "$SOURCE_DATE_EPOCH" "$out/sonde-$version.tar.gz"
}

wheel() { # TAGS [LIBRARY]
	python3 release/wheel.py "$build/tree-$arch" "$out" "$version" "$SOURCE_DATE_EPOCH" "$@"
}

# What makes modules and images of the archives; Spack asks for their sums.
recipes() {
	sums=$(sed -n "s|^\([0-9a-f]*\)  sonde-$version-linux-\(.*\)\.tar\.gz\$|\"\2\": \"\1\", |p" "$out/SHA256SUMS" | tr -d '\n')
	for recipe in release/recipes/*.in; do
		file=$(basename "$recipe" .in)
		[ "$file" != sonde.eb ] || file=sonde-$version.eb
		sed "s|@VERSION@|$version|g; s|@SUMS@|${sums%, }|" "$recipe" >"$out/$file"
	done
}

rm -rf "$build/staged-$arch" "$build/tree-$arch"
rm -f "$out/$name".* "$out"/sonde_*_"$arch".whl "$out/sonde-$version.tar.gz"
{ release_make -j"${JOBS:-2}" all "$build/$arch/start" && library_of_musl; } >"$log" 2>&1 || {
	cat "$log" >&2
	exit 1
}
! grep '^make: the helper' "$log" >&2 || {
	echo "release: it would lack these helpers; ./dev deps release installs what they need" >&2
	exit 1
}
release_make DESTDIR="$build/staged-$arch" install >>"$log"
# shellcheck disable=SC2046 # a word each
python3 release/tree.py "$build/$arch" "$build/staged-$arch/opt/sonde" "$build/tree-$arch" "$version" "$SOURCE_DATE_EPOCH" \
	$(sed -n 's/^BUNDLED *:= *//p' Makefile)
python3 release/archive.py "$build/tree-$arch" "$name" "$SOURCE_DATE_EPOCH" "$out/$name.tar.zst" "$out/$name.tar.gz"
source_archive
python3 release/packages.py "$build/tree-$arch" "$out" "$version" "$SOURCE_DATE_EPOCH" "$arch"
wheel "manylinux_2_17_$arch.manylinux2014_$arch"
wheel "musllinux_1_2_$arch" "$build/$arch-musl/libsonde.so.0"
(cd "$out" && sha256sum -- *.tar.gz *.tar.zst *.whl *.deb *.rpm >SHA256SUMS)
recipes
