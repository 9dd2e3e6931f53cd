# SPDX-License-Identifier: Apache-2.0
# limit: 7200
# The archive of the sources builds where there is no npm and no network, with the charts of the page and every helper; with --long
# also on Debians before and after this one.
. "$TOP/tests/release/harness/made.sh"
unshare --user --map-root-user --net true 2>/dev/null || skip "no user namespace is permitted for a machine without a network"
tar -xf "$dist/sonde-$release_version.tar.gz"
cd "sonde-$release_version" || fail "the archive's folder has another name"
[ ! -e build ] && [ ! -e .git ] || fail "the archive holds more than sources"
whole_path=$PATH
mkdir ../bin
for program in /usr/local/bin/* /usr/bin/* /bin/*; do
	case ${program##*/} in
	npm | npx | node) ;;
	*) ln -sf "$program" ../bin/ ;;
	esac
done
PATH=$PWD/../bin
unshare --user --map-root-user --net make -s BUILD=build -j"$JOBS" >../made.log 2>&1 || fail "make: $(tail -n 20 ../made.log)"
! grep '^make:' ../made.log || fail "something is left out"
build/sonde run -q -o rec -- true && build/sonde report --only html rec || fail "what was built"
grep -q leeoniya rec/report.html || fail "the page has no charts"

# On Debians before and after this one, with what ./dev names of their packages, and with their other compilers.
[ -n "$LONG" ] || exit 0
. "$TOP/tests/release/harness/root.sh"
PATH=$whole_path
cd .. || exit
builds_on() { # SUITE COMPILER...
	local suite=$1 packages
	packages=$(sed -n "s/^build_packages='\(.*\)'/\1/p" "$TOP/dev" | tr ' ' ,)
	shift
	installed "$suite" "$packages$(printf ',%s' "$@")"
	tar -xf "$dist/sonde-$release_version.tar.gz" -C "$suite/opt"
	inside "$suite" unshare --net sh -eu -c "
		cd /opt/sonde-$release_version
		make -s -j$JOBS >/made 2>&1
		for compiler in gcc $*; do make -s syntax JOBS=$JOBS WERROR=1 CC=\$compiler; done
		build/sonde run -q -o /rec -- sh -c 'exit 3' || [ \$? = 3 ]
		build/sonde report /rec
		build/sonde export --to sqlite,hdf5 /rec
		gcc --version | head -n 1 >/by" >"$suite.log" 2>&1 || fail "on $suite: $(tail -n 20 "$suite.log" "$suite/made")"
	# clang and libbpf are not among those packages.
	! grep '^make:' "$suite/made" | grep -v sonde-iterator || fail "on $suite something is left out"
	[ -s "$suite/rec/report.pdf" ] && [ -s "$suite/rec/series.h5" ] || fail "on $suite: no PDF or no HDF5"
	echo "$suite: $(cat "$suite/by")${*:+, and without a warning by $*}"
	rm -rf "$suite"
}
builds_on bullseye gcc-9 clang-11
builds_on trixie clang-19
builds_on forky
