# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# alone
# Two releases of the same tree, made in different folders, are the same bytes. What they hold runs in a root where there is nothing else.
. "$TOP/tests/release/harness/made.sh"

# The same tree in another folder, with other times, and made without what is built here.
epoch=$(tar -tvf "$dist/sonde-$release_version-linux-$release_arch.tar.gz" --full-time --utc | awk 'NR == 1 { print $4, $5 "Z" }')
mkdir second-one
(cd "$TOP" && if [ -e .git ]; then git ls-files -z; else find . -type f -not -path './build/*' -not -path './sonde_*' -print0; fi |
	tar -c --null -T - src/report/page/web/node_modules) | tar -C second-one -x
touch -d 2001-01-01 second-one/README.md
(
	umask 077
	SOURCE_DATE_EPOCH=$(date -d "$epoch" +%s) BUILD=build second-one/release/make.sh "$PWD/second-one/dist"
) >second.log 2>&1 || fail "the second release: $(tail -n 20 second.log)"
diff -r "$dist" second-one/dist || fail "two releases differ"
(cd "$dist" && sha256sum --quiet -c SHA256SUMS) || fail "the sums are of something else"
for file in "$dist"/*.tar.*; do
	holds "size of $file" "$(stat -c %s "$file") <= 25e6"
done

mkdir root
tar -C root -xf "$dist/sonde-$release_version-linux-$release_arch.tar.gz"
sonde=$(echo root/sonde-*)
holds "size of the recorder" "$(stat -c %s "$sonde/bin/sonde") <= 5e6"
! ldd "$sonde/bin/sonde" 2>/dev/null | grep -q '=>' || fail "the recorder needs shared libraries"
jq -e '.packages | length > 20' "$sonde/share/doc/sonde/sbom.spdx.json" >/dev/null || fail "bill of materials"
jq -r '.packages[].name' "$sonde/share/doc/sonde/sbom.spdx.json" | grep -qx libcurl4 || fail "the bill lacks a library"
[ -s "$sonde/share/doc/sonde/licences/glibc" ] && [ -s "$sonde/share/doc/sonde/licences/LGPL-2.1" ] || fail "licences"

# Only what was unpacked, /proc and /dev.
mkdir root/proc root/dev root/tmp
unshare --user --map-root-user --mount --pid --fork true 2>/dev/null || skip "no user namespace is permitted for the empty root"
cat >inside <<-'END'
	set -eu
	mount -t proc proc root/proc
	mount --rbind /dev root/dev
	cd root
	inside() { chroot . "$@"; }
	sonde=/$(echo sonde-*)/bin/sonde
	inside "$sonde" run --quiet -o /rec -- "$sonde" --version
	inside "$sonde" show --all /rec
	inside "$sonde" report /rec
	inside "$sonde" export --to sqlite,hdf5,csv,parquet /rec
	inside "$sonde" ls --history
END
unshare --user --map-root-user --mount --pid --fork bash inside >inside.log 2>&1 || fail "in an empty root: $(cat inside.log)"
for file in report.html report.pdf series.sqlite series.h5 series.csv; do
	[ -s "root/rec/$file" ] || fail "$file was not written in the empty root: $(cat inside.log)"
done
