#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sysroot.sh ARCH OUT PACKAGE...: unpacks Debian's packages of another processor (arm64), and all that they depend on, into the folder OUT, which dpkg-query
# can be asked about. This machine's own packages, and what apt knows of them, stay as they are.
set -eu
arch=$1
mkdir -p "$2"
out=$(realpath "$2")
shift 2
! [ -e "$out/packages" ] || [ "$(cat "$out/packages")" != "$*" ] || exit 0
apt=$out/apt
rm -rf "$out"
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$out/var/lib/dpkg/info" "$out/usr/lib"
ln -s usr/lib "$out/lib" # as installed systems have it
: >"$out/var/lib/dpkg/status"
export APT_CONFIG="$apt/conf"
cat >"$APT_CONFIG" <<END
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Dir::State "$apt";
Dir::State::status "$out/var/lib/dpkg/status";
Dir::Cache "$apt";
END
apt-get update -q >/dev/null
apt-get install -qy --download-only "$@" >/dev/null
for deb in "$apt"/archives/*.deb; do
	name=$(dpkg-deb -f "$deb" Package)
	# The cross compiler has its own.
	[ "$name" = libc6-dev ] || dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink --no-same-owner -C "$out"
	dpkg-deb --fsys-tarfile "$deb" | tar -t | sed 's|^\./$|/.|; s|^\./|/|; s|/$||' >"$out/var/lib/dpkg/info/$name.list"
	{ dpkg-deb -f "$deb" && printf 'Status: install ok installed\n\n'; } >>"$out/var/lib/dpkg/status"
done
[ -e "$out/usr/share/doc/libc6-dev" ] || cp -r "$out/usr/share/doc/libc6" "$out/usr/share/doc/libc6-dev"
rm -r "$apt"
printf '%s' "$*" >"$out/packages"
