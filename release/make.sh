#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make.sh OUT: the files of a release, in the folder OUT. The same tree on the same machine gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
out=$(realpath "$1")
version=$(sed -n 's/^VERSION *:= *//p' Makefile)
arch=$(uname -m)
name=sonde-$version-linux-$arch
build=${BUILD:-build}/release
LC_ALL=C.UTF-8 TZ=UTC
# The date of what is packed: that of the last commit, or of the list of changes where there is no history.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
PYTHONDONTWRITEBYTECODE=1
export LC_ALL TZ SOURCE_DATE_EPOCH PYTHONDONTWRITEBYTECODE
umask 022

release_make() {
	make -s RELEASE=1 BUILD="$build/$arch" PREFIX=/opt/sonde "$@"
}

log=$build/$arch.log
mkdir -p "$build"
rm -rf "$build/staged" "$build/tree"
release_make -j"${JOBS:-2}" all "$build/$arch/start" >"$log" 2>&1 || {
	cat "$log" >&2
	exit 1
}
! grep '^make: the helper' "$log" >&2 || {
	echo "release: it would lack these helpers; ./dev deps release installs what they need" >&2
	exit 1
}
release_make DESTDIR="$build/staged" install >>"$log"
# shellcheck disable=SC2046 # a word each
python3 release/tree.py "$build/$arch" "$build/staged/opt/sonde" "$build/tree" "$version" "$SOURCE_DATE_EPOCH" \
	$(sed -n 's/^BUNDLED *:= *//p' Makefile)
python3 release/archive.py "$build/tree" "$name" "$SOURCE_DATE_EPOCH" "$out/$name.tar.zst" "$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" "$name.tar.zst" >SHA256SUMS)
