# SPDX-License-Identifier: Apache-2.0
# Threads that read ahead give what one thread reads, to the byte: of whole recordings, of damaged ones, and of those
# with large chunks, which are not read ahead. On one CPU there is one thread.
. "$TOP/tests/lib.sh"
need taskset
[ -x "$BUILD/bench/make_nodes" ] || skip "bench/make_nodes is not built"
[ "$(nproc)" -gt 1 ] || skip "one CPU: nothing reads ahead"

# DIR FILE: what explain and show print of it, and how they end.
said() {
	for form in "explain --json" "show --json" "show --all"; do
		# shellcheck disable=SC2086 # they are words
		${one:-} "$SONDE" $form "$1" 2>&1
		echo "$form: $?"
	done >"$2"
}

threads() { # DIR: that explain starts, beside its own
	strace -f -o trace -e trace=clone,clone3 "$SONDE" explain --json "$1" >/dev/null 2>&1 || true
	grep -c CLONE_THREAD trace || true
}

alike() { # DIR WHAT
	one="taskset -c $cpu" said "$1" one
	said "$1" several
	cmp one several || fail "$2: threads read something else: $(diff one several | head -n 5)"
}

cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
mkdir many
"$BUILD/bench/make_nodes" "$PWD/many" 3 18000 400
alike many "a whole recording"
counts() { # whether threads are Sonde's alone, and can be counted
	command -v strace >/dev/null && ! nm "$SONDE" | grep -q '__[at]san_init'
}
if counts; then
	equal "threads beside its own" "$(nproc | awk '{ n = $1 < 4 ? $1 : 4; print 2 * n }')" "$(threads many)" # of the files, of the chunks
fi

# A recorder was killed: what was last is in the tail.
for end in sonde tail; do
	cp "$TOP/tests/recordings/version-1/killed/node-n1.$end" "many/node-z.$end"
done
alike many "a recording with a tail"
grep -q "is damaged" several && fail "the tail was not taken: $(grep damaged several)"
# A node in the middle lacks a part, another has a byte that is another one.
file=$(find many -name '*.sonde' | sort | sed -n 2p)
size=$(stat -c %s "$file")
printf '\377' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
alike many "a damaged recording"
file=$(find many -name '*.sonde' | sort | sed -n 1p)
truncate -s $((size / 3)) "$file"
alike many "a truncated recording"

mkdir wide
"$BUILD/bench/make_nodes" "$PWD/wide" 1 45000 500
alike wide "large chunks"
if counts; then
	equal "threads for large chunks" 0 "$(threads wide)"
fi
