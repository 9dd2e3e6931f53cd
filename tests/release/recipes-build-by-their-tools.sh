# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# The recipes that come with a release work in its folder: EasyBuild installs it as a module that runs; buildah makes an image that holds nothing
# else, in which a job is recorded.
. "$TOP/tests/release/harness/made.sh"
mkdir folder && cp "$dist/Dockerfile" "$dist/sonde-$release_version.eb" "$dist"/sonde-*-linux-*.tar.gz folder/ && cd folder || fail "the recipes are not there"
tried=

easybuild() {
	"$PYTHON" -m venv eb && eb/bin/python -m pip install -q --disable-pip-version-check easybuild-framework==5.4.1 easybuild-easyblocks==5.4.1 2>pip.log || return 0
	local lmod=/usr/share/lmod/lmod/libexec
	[ -x $lmod/lmod ] || return 0
	PATH=$PWD/eb/bin:$lmod:/usr/bin:/bin LMOD_CMD=$lmod/lmod eb "sonde-$release_version.eb" --sourcepath=. --installpath="$PWD/installed" \
		--buildpath="$PWD/building" --tmpdir="$PWD" --allow-use-as-root-and-accept-consequences --modules-tool=Lmod >eb.log 2>&1 ||
		fail "eb: $(tail -n 20 eb.log)"
	"installed/software/sonde/$release_version/bin/sonde" run -q -o of_eb -- true || fail "what EasyBuild installed"
	[ -s "installed/modules/all/sonde/$release_version.lua" ] || fail "EasyBuild made no module"
	tried="$tried EasyBuild"
}

image() {
	local buildah="buildah --storage-driver vfs --root $PWD/images --runroot $PWD/running" container place
	command -v buildah >/dev/null && [ "$(id -u)" = 0 ] || return 0
	$buildah bud --isolation chroot -t sonde . >image.log 2>&1 || fail "buildah: $(tail -n 5 image.log)"
	container=$($buildah from --pull-never sonde) && place=$($buildah mount "$container") || fail "the image cannot be mounted"
	equal "what the image holds" "sonde-$release_version-linux-$release_arch" "$(ls "$place")"
	# shellcheck disable=SC2016 # for the shell inside
	unshare --mount --pid --fork sh -c 'mkdir -p "$1/proc" && mount -t proc proc "$1/proc" && exec chroot "$1" "$2" run -q -o /rec -- "$2" --version' \
		sh "$place" "/sonde-$release_version-linux-$release_arch/bin/sonde" >inside.log 2>&1 || fail "in the image: $(cat inside.log)"
	equal "its program" "sonde $release_version" "$($buildah run --isolation chroot "$container" -- sonde --version)"
	"$SONDE" show "$place/rec" >/dev/null || fail "what was recorded in the image: $(cat inside.log)"
	tried="$tried buildah"
}

easybuild
image
[ -n "$tried" ] || skip "neither EasyBuild nor buildah can be had"
echo "built by:$tried"
