# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# The .deb and the .rpm of a release hold what its archive holds, in the folders of each; installed by dpkg and rpm into a root where there is nothing
# else they record and report there, and nothing is left of them when they are removed. Packed again they are the same bytes.
. "$TOP/tests/release/harness/made.sh"
need dpkg-deb
need rpm
unshare --user --map-root-user --mount --pid --fork true 2>/dev/null || skip "no user namespace is permitted for the empty roots"
tar -xf "$dist/sonde-$release_version-linux-$release_arch.tar.gz"
unpacked=sonde-$release_version-linux-$release_arch
(cd "$unpacked" && find . -not -type d -not -path ./LICENSE | sed 's|^\.|/usr|' | sort) >of_archive
[ "$(wc -l <of_archive)" -gt 200 ] || fail "the archive holds too little: $(wc -l <of_archive)"

inside() { # ROOT COMMAND...: as root of a root, with /proc and /dev
	# shellcheck disable=SC2016 # for the shell inside
	unshare --user --map-root-user --mount --pid --fork sh -c 'cd "$1" && mkdir -p proc dev tmp && mount -t proc proc proc && mount --rbind /dev dev &&
		shift && exec chroot . "$@"' sh "$@"
}

holds_the_archive() { # ROOT LIB
	(cd "$1" && find usr -not -type d -not -path usr/share/doc/sonde/copyright | sed "s|^usr/$2/|usr/lib/|; s|^|/|" | sort) >of_package
	diff of_archive of_package >differ || fail "$1: the files are not the archive's: $(cat differ)"
	cmp "$1/usr/bin/sonde" "$unpacked/bin/sonde" || fail "$1: another program"
	[ -e "$1/usr/$2/$(readlink "$1/usr/$2/libsonde.so")" ] || fail "$1: the library's link"
	equal "$1: where a compiler looks" "$PWD/$1/usr/$2" "$(PKG_CONFIG_PATH=$1/usr/$2/pkgconfig pkg-config --variable=libdir sonde | xargs realpath -s)"
}

works() { # ROOT
	inside "$1" /usr/bin/sonde run --quiet -o /rec -- /usr/bin/sonde --version >"$1.log" 2>&1 &&
		inside "$1" /usr/bin/sonde report /rec >>"$1.log" 2>&1 || fail "in $1: $(cat "$1.log")"
	[ -s "$1/rec/report.html" ] && [ -s "$1/rec/report.pdf" ] || fail "in $1: no page or no PDF: $(cat "$1.log")"
}

is_gone() { # ROOT
	! find "$1/usr" -not -type d 2>/dev/null | grep . >left || fail "$1: these are left: $(head left)"
	[ ! -e "$1/usr/libexec/sonde" ] && [ ! -e "$1/usr/share/sonde" ] || fail "$1: a folder of Sonde's is left"
}

of_debian() {
	local package
	package=$(echo "$dist/sonde_$release_version"_*.deb)
	mkdir -p debian/var/lib/dpkg/{info,updates,triggers} && : >debian/var/lib/dpkg/status
	debian() { unshare --user --map-root-user dpkg --root="$PWD/debian" --log=/dev/null "$@" >dpkg.log 2>&1 || fail "dpkg $*: $(cat dpkg.log)"; }
	debian --install "$package"
	holds_the_archive debian lib
	works debian
	debian --purge sonde
	is_gone debian
}

of_redhat() {
	mkdir redhat
	redhat() { unshare --user --map-root-user rpm --root="$PWD/redhat" --dbpath /var/lib/rpm "$@" >rpm.log 2>&1 || fail "rpm $*: $(cat rpm.log)"; }
	redhat --initdb
	cp "$dist/sonde-$release_version-1.$release_arch.rpm" redhat/
	redhat --install "$PWD/redhat/sonde-$release_version-1.$release_arch.rpm"
	holds_the_archive redhat lib64
	works redhat
	redhat --erase sonde
	is_gone redhat
}

again() {
	local epoch
	epoch=$(tar -tvf "$dist/sonde-$release_version-linux-$release_arch.tar.gz" --full-time --utc 2>/dev/null | awk 'NR == 1 { print $4, $5 "Z" }')
	mkdir again
	(umask 077 && touch -d 2001-01-01 "$unpacked/LICENSE" &&
		"$PYTHON" "$TOP/release/packages.py" "$unpacked" again "$release_version" "$(date -d "$epoch" +%s)" "$release_arch") || fail "packages.py"
	for file in again/*; do
		cmp "$file" "$dist/${file##*/}" || fail "packed again: ${file##*/} differs"
	done
}

of_debian
of_redhat
again
