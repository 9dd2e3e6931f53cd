# SPDX-License-Identifier: Apache-2.0
# plain
# libsonde: the examples are built with nothing but its headers and library, read a recording and sample their
# own process, and nothing but sonde_* can be linked against.
. "$TOP/tests/lib.sh"

exported() { # FILE [NM-OPTION]: names defined for others that are not ours
	nm "${2:---extern-only}" --defined-only "$1" | awk 'NF == 3 { print $3 }' | grep -v '^sonde_'
}

! exported "$BUILD/libsonde.a" || fail "libsonde.a exports these"
! exported "$BUILD/libsonde.so.0" --dynamic || fail "libsonde.so.0 exports these"
nm --dynamic --defined-only "$BUILD/libsonde.so.0" | awk '{ print $3 }' | sort >exported
sed -n 's/^SONDE_API [^(;]*\b\(sonde_[a-z_]*\)[(;].*/\1/p' "$TOP"/include/*.h | sort -u >declared
diff declared exported || fail "what the header declares is not what the library exports"

mkdir include
cp "$TOP"/include/*.h include
! nm "$BUILD/libsonde.a" | grep -q __asan_init || skip "the library is built with sanitizers"
cc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -o read_recording "$TOP/examples/read_recording.c" \
	"$BUILD/libsonde.a" -lzstd -lm || fail "the example cannot be built"
cc -std=c11 -Iinclude -o read_shared "$TOP/examples/read_recording.c" "$BUILD/libsonde.so.0" -lm || fail "not with the shared one"

"$SONDE" run -i 10ms -q -o rec -- sh -c 'seq 1 2000000 | sort -n >/dev/null'
./read_recording rec >out 2>err || fail "the example: $(cat err)"
contains out "command: sh -c"
contains out "node 1: $(uname -n), $("$SONDE" show --json rec | jq .nodes[0].samples) samples, complete"
contains out " 0 damaged places"
grep -qE '^job.cpu_cores: at most [0-9.]+, after [0-9.]+ s$' out || fail "no peak: $(cat out)"
LD_LIBRARY_PATH=$BUILD ./read_shared rec | cmp - out || fail "the shared library reads otherwise"

for thing in nowhere . read_recording; do
	equal "status of $thing" 1 "$(status_of ./read_recording "$thing" 2>err)"
	one_sentence err
	contains err "$thing"
done

cc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -o sample_self "$TOP/examples/sample_self.c" \
	"$BUILD/libsonde.a" -lzstd -lm -pthread || fail "the example of sampling cannot be built"
TMPDIR=$PWD ./sample_self >figures || fail "the example of sampling fails"
grep -qE '^max_t_mem_percent [0-9.]+ \(node 0\)$' figures || fail "no figures: $(cat figures)"
saved=$(sed -n 's/^samples: //p' figures)
jq -e '.["0"] | length > 0 and all(has("cpu_pct_per_cpu_avg") and .timestamp > 1e9)' "$saved" >/dev/null || fail "what was saved: $(cat "$saved")"
