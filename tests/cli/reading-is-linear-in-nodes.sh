# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Ten times the nodes take ten times the work, counted in instructions; and the page of very many nodes stays small.
. "$TOP/tests/lib.sh"
need valgrind
[ -x "$BUILD/bench/make_nodes" ] || skip "bench/make_nodes is not built"
case $(nm "$SONDE") in *__asan_init* | *__tsan_init*) skip "valgrind and a sanitizer exclude each other" ;; esac

for n in 30 200 300; do
	mkdir "n$n"
	"$BUILD/bench/make_nodes" "n$n" $n 2 8 || fail "make_nodes $n"
done
for command in show "report --only html"; do
	few=$(instructions "$SONDE" $command n30) many=$(instructions "$SONDE" $command n300)
	echo "$command: $few, $many"
	# A part is the same for any number of nodes: what is linear takes less than ten times as much.
	holds "$command of ten times the nodes" "$many <= 9 * $few"
done

# What is small beside the rest for some hundred nodes is not for thousands.
mkdir n2000
"$BUILD/bench/make_nodes" n2000 2000 2 8 || fail "make_nodes 2000"
few=$(instructions "$SONDE" show n200) many=$(instructions "$SONDE" show n2000)
echo "show of 2000 nodes: $few, $many"
holds "show of 2,000 nodes, of that of 200" "$many <= 10.5 * $few"

"$SONDE" report --only html n2000 >out
contains n2000/report.html '"nodes_total":2000'
equal "nodes in detail" 512 "$(grep -o '"samples_in_a_point"' n2000/report.html | wc -l)"

# As large as a page gets: all nodes that it has in detail, with more samples than it draws points, and every series.
mkdir wide
"$BUILD/bench/make_nodes" wide 520 240 400 || fail "make_nodes wide"
"$SONDE" report --only html wide >out
size=$(stat -c %s wide/report.html)
echo "a page of 520 nodes: $size bytes"
holds "the page of many nodes is small" "$size < 16000000"
holds "and has what it has in detail" "$size > 5000000"
