# SPDX-License-Identifier: Apache-2.0
# The release of this tree, made once for the tests that look at it: dist is its folder, release_version and release_arch name its files.
. "$TOP/tests/lib.sh"
need zstd
need clang
need musl-gcc

# shellcheck disable=SC2034 # the tests' own
dist=$BUILD/dist release_version=$(sed -n 's/^VERSION *:= *//p' "$TOP/Makefile") release_arch=$(uname -m)
(
	flock 9
	cd "$TOP" || exit 1
	[ -e "$dist/SHA256SUMS" ] && [ -z "$(find Makefile CHANGELOG.md LICENSE README.md dev bench classes docs events examples include maps models phases pipelines python release rules site src tests \
		-type f -newer "$dist/SHA256SUMS" -not -path '*/node_modules/*' -not -name '*.pyc' -print -quit)" ] ||
		BUILD=$BUILD release/make.sh "$dist"
) 9>"$BUILD/release.lock" >release.log 2>&1 || fail "release/make.sh: $(tail -n 20 release.log)"
