# SPDX-License-Identifier: Apache-2.0
# Another system in a folder, in which commands run as on a machine of their own.

installed() { # SUITE PACKAGE,...: a Debian in the folder SUITE
	need mmdebstrap
	[ "$(id -u)" = 0 ] || skip "not root: other Debians cannot be installed"
	mmdebstrap --quiet --variant=essential --include="mount,$2" "$1" "$1" >install.log 2>&1 || skip "$1 cannot be installed: $(tail -n 1 install.log)"
}

# The folder becomes the root, not only as by chroot: there, no user namespaces and no mounts could be made.
inside() { # ROOT COMMAND...
	# shellcheck disable=SC2016 # for the shell inside
	unshare --mount --pid --fork sh -c 'mount --bind "$1" "$1" && cd "$1" && mount -t proc proc proc && mount --rbind /dev dev && mount --rbind /sys sys &&
		mkdir -p before && pivot_root . before && cd / && umount -l before && shift &&
		exec env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' sh "$@"
}
