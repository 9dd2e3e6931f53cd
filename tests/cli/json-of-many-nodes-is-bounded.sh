# SPDX-License-Identifier: Apache-2.0
# show --json of very many nodes has some of them in detail, those among them that stand out, and the others together.
. "$TOP/tests/lib.sh"
need jq
[ -x "$BUILD/bench/make_nodes" ] || skip "bench/make_nodes is not built"
[ -x "$BUILD/bench/cost_of" ] || skip "bench/cost_of is not built"
for n in 200 700; do
	mkdir "n$n"
	"$BUILD/bench/make_nodes" "n$n" $n 3 40 || fail "make_nodes $n"
	"$SONDE" show --json "n$n" >"n$n.json" || fail "show --json n$n"
done

says() { # FILE FILTER WANTED
	equal "$2 of $1" "$3" "$(jq -c "$2" <"$1")"
}

says n200.json .nodes_in_detail 200
says n200.json '.metrics_of_other_nodes' '[]'
says n200.json '[.nodes[] | select(.metadata == null)] | length' 0

says n700.json .nodes_in_detail 256
says n700.json '.nodes | length' 700
says n700.json '.hosts | length' 700
says n700.json '[.nodes[] | select(.metadata == null)] | length' 444
says n700.json '[.metrics[].host] | unique | length' 256
says n700.json '[.metrics_of_other_nodes[].nodes] | unique' '[444]'
# Each value counts once, in detail or together with the others.
name=$(jq -r '.metrics_of_other_nodes[0].name' <n700.json)
values='([.metrics[], .metrics_of_other_nodes[]] | map(select(.name == "'"$name"'").n) | add)'
holds "values of 700 nodes, of those of 200" "$(jq "$values" <n700.json) / 700 == $(jq "$values" <n200.json) / 200"
says n700.json '([.metrics_of_other_nodes[] | select(.min > .mean or .mean > .max)] | length)' 0
# What the document needs beside the summary does not grow with the nodes.
resident() { # COMMAND...: MB
	"$BUILD/bench/cost_of" 1 "$@" | cut -d ' ' -f 2
}
mkdir n2100
"$BUILD/bench/make_nodes" n2100 2100 2 150 || fail "make_nodes 2100"
plain=$(resident "$SONDE" show n2100) json=$(resident "$SONDE" show --json n2100)
echo "show of 2,100 nodes: $plain MB resident, with --json $json MB"
holds "memory of show --json, of that of show" "$json <= 1.6 * $plain"
case $(nm "$SONDE") in
*__asan_init* | *__tsan_init*) ;;
*) holds "memory of show of 2,100 nodes of 150 series, in MB" "$plain <= 60" ;;
esac
# Whoever is named in a comparison is there with what it is.
says n700.json '(.comparisons | length > 0)' true
says n700.json '[.nodes[] | select(.metadata != null).host] as $there | [.comparisons[] | .least_host, .most_host] - $there' '[]'
