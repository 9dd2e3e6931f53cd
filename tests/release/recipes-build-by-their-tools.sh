# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# The recipes that come with a release work in its folder: EasyBuild installs it as a module that runs; buildah makes an image that holds nothing
# else, in which a job is recorded; rattler-build makes a package for conda. Spack's and Apptainer's own tools cannot be had: a stand-in for the few
# names that the one uses installs what its sums are of, and Singularity's parser in Python reads the other, whose steps then run.
. "$TOP/tests/release/harness/made.sh"
mkdir folder && cp "$dist"/{Dockerfile,package.py,recipe.yaml,sonde.def} "$dist/sonde-$release_version.eb" "$dist"/sonde-*-linux-*.tar.gz folder/ && cd folder || fail "the recipes are not there"
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

runs() { # FOLDER: it holds a Sonde that records, with its helpers
	"$1/bin/sonde" run -q -o "of_$2" -- true && "$1/bin/sonde" report "of_$2" >/dev/null || fail "what $2 installed"
	[ -s "of_$2/report.pdf" ] || fail "what $2 installed writes no PDF"
	tried="$tried $2"
}

conda() {
	"$PYTHON" -m venv c && c/bin/python -m pip install -q --disable-pip-version-check py-rattler-build==0.73.0 2>pip.log || return 0
	mkdir of_conda && cp recipe.yaml sonde-*-linux-*.tar.gz of_conda/ # it packs up what lies beside its recipe
	HOME=$PWD c/bin/python -W ignore - >conda.log 2>&1 <<-'END' || fail "rattler-build: $(tail -n 20 conda.log)"
		import rattler_build
		rattler_build.build_recipes(["of_conda/recipe.yaml"], channel=[], output_dir="conda", test="skip")
	END
	mkdir environment
	unzip -q -o conda/linux-*/sonde-recorder-"$release_version"-*.conda -d package || fail "the package for conda: $(tail -n 20 conda.log)"
	zstd -dcq package/pkg-*.tar.zst | tar -x -C environment
	cmp environment/bin/sonde "unpacked/sonde-$release_version-linux-$release_arch/bin/sonde" || fail "the package for conda has another program"
	runs environment rattler-build
}

spack() {
	mkdir -p stand_in/spack prefix
	: >stand_in/spack/__init__.py
	cat >stand_in/spack/package.py <<-'END'
		import hashlib, shutil
		versions = {}
		class Package:
		    pass
		def version(name, sha256, url):
		    versions[name] = sha256, url.removeprefix("file://")
		def install_tree(source, prefix):
		    shutil.copytree(source, prefix, symlinks=True, dirs_exist_ok=True)
	END
	PYTHONPATH=stand_in "$PYTHON" - "$release_version" "$PWD/prefix" <<-'END' || fail "package.py"
		import hashlib, os, shutil, sys
		sys.path.insert(0, ".")
		import package
		from spack.package import versions
		(name, (sha256, path)), = versions.items()
		assert name == sys.argv[1] and package.Sonde.__doc__, versions
		assert hashlib.sha256(open(path, "rb").read()).hexdigest() == sha256, path
		shutil.unpack_archive(path, "building")
		os.chdir(os.path.join("building", *os.listdir("building")))
		package.Sonde().install(None, sys.argv[2])
	END
	runs prefix Spack
}

apptainer() {
	"$PYTHON" -m venv s && s/bin/python -m pip install -q --disable-pip-version-check spython==0.3.14 2>pip.log || return 0
	mkdir opt
	s/bin/python - >steps.sh <<-'END' || fail "sonde.def"
		import os
		from spython.main.parse.parsers import SingularityParser
		recipe, = SingularityParser("sonde.def").recipe.values()
		assert recipe.fromHeader == "debian:12-slim" and recipe.environ == ["PATH=/opt/sonde/bin:$PATH"] and "sonde run" in recipe.cmd, vars(recipe)
		steps = ["cp " + files for files in recipe.files] + [step for step in recipe.install if "/tests.sh" not in step]
		for step in steps: # those of %test go to /tests.sh
		    print(step.replace("/opt/", os.getcwd() + "/opt/"))
	END
	sh -eu steps.sh >steps.log 2>&1 || fail "the steps of sonde.def: $(cat steps.log steps.sh)"
	runs opt/sonde spython
}

mkdir unpacked && tar -C unpacked -xf sonde-*-linux-*.tar.gz
easybuild
image
conda
spack
apptainer
[ -n "$tried" ] || fail "nothing was built"
echo "built by:$tried"
