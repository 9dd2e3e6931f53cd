# SPDX-License-Identifier: Apache-2.0
# limit: 2400
# The archive of the sources builds where there is no npm and no network, with the charts of the page and every helper.
. "$TOP/tests/release/harness/made.sh"
unshare --user --map-root-user --net true 2>/dev/null || skip "no user namespace is permitted for a machine without a network"
tar -xf "$dist/sonde-$release_version.tar.gz"
cd "sonde-$release_version" || fail "the archive's folder has another name"
[ ! -e build ] && [ ! -e .git ] || fail "the archive holds more than sources"
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
