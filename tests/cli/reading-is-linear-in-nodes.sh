# SPDX-License-Identifier: Apache-2.0
# limit: 240
# Ten times the nodes take ten times the work, counted in instructions; and the page of very many nodes stays small.
. "$TOP/tests/lib.sh"
need valgrind
[ -x "$BUILD/bench/make_nodes" ] || skip "bench/make_nodes is not built"
case $(nm "$SONDE") in *__asan_init* | *__tsan_init*) skip "valgrind and a sanitizer exclude each other" ;; esac

for n in 30 300 1000; do
	mkdir "n$n"
	"$BUILD/bench/make_nodes" "n$n" $n 2 8 || fail "make_nodes $n"
done
for command in show "report --only html"; do
	few=$(instructions "$SONDE" $command n30) many=$(instructions "$SONDE" $command n300)
	echo "$command: $few, $many"
	# A part is the same for any number of nodes: what is linear takes less than ten times as much.
	holds "$command of ten times the nodes" "$many <= 9 * $few"
	[ "$command" != show ] || of_300=$many
done

# What is small beside the rest for some hundred nodes is not for a thousand, or three.
many=$(instructions "$SONDE" show n1000)
echo "show of 1000 nodes: $many"
holds "show of 1,000 nodes, of that of 300" "$many <= 3.25 * $of_300"
if [ -n "$LONG" ]; then
	mkdir n3000
	"$BUILD/bench/make_nodes" n3000 3000 2 8 || fail "make_nodes 3000"
	many=$(instructions "$SONDE" show n3000)
	holds "show of 3,000 nodes, of that of 300" "$many <= 10.5 * $of_300"
fi

"$SONDE" report --only html n1000 >out
contains n1000/report.html '"nodes_total":1000'
equal "nodes in detail" 512 "$(grep -o '"samples_in_a_point"' n1000/report.html | wc -l)"

# As large as a page gets: all nodes that it has in detail, with more samples than it draws points, and every series.
mkdir wide
"$BUILD/bench/make_nodes" wide 520 240 400 || fail "make_nodes wide"
"$SONDE" report --only html wide >out
size=$(stat -c %s wide/report.html)
echo "a page of 520 nodes: $size bytes"
holds "the page of many nodes is small" "$size < 16000000"
holds "and has what it has in detail" "$size > 5000000"
