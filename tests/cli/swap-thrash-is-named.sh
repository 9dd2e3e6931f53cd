# SPDX-License-Identifier: Apache-2.0
# limit: 120
# A job that does not fit into the memory of its control group, with a swap file that is there for this test alone: swapping is told.
. "$TOP/tests/lib.sh"
[ -n "$LONG" ] || skip "it adds swap to the machine for a while; LONG=1 runs it"
need jq
need mkswap
[ "$(id -u)" = 0 ] || skip "only root may add swap"
if [ -w /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
	group=/sys/fs/cgroup/memory/sonde_swap.$$ limit=memory.limit_in_bytes
elif grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
	group=/sys/fs/cgroup/sonde_swap.$$ limit=memory.max
else
	skip "there is no control group of memory to write to"
fi
swap=$PWD/swap
trap 'swapoff "$swap" 2>/dev/null; rmdir "$group" 2>/dev/null; rm -f "$swap"' EXIT
trap 'exit 1' HUP INT TERM
dd if=/dev/zero of="$swap" bs=1M count=400 status=none || skip "there is no room for a swap file"
chmod 600 "$swap"
mkswap "$swap" >mkswap.log 2>&1 && swapon "$swap" 2>swapon.log || skip "no swap may be added here: $(cat mkswap.log swapon.log)"
mkdir "$group" && echo 100M >"$group/$limit" || skip "no control group may be made here"
[ ! -w "$group/memory.swappiness" ] || echo 100 >"$group/memory.swappiness"
pages() {
	sed -n 's/^pswpin //p' /proc/vmstat
}

before=$(pages)
sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$group" "$SONDE" run --quiet -i 200ms -o out -- "$PYTHON" -c '
import random, time
kept = bytearray(240 << 20)
end = time.time() + 10
while time.time() < end:
    for i in range(500):
        kept[random.randrange(len(kept))] += 1
' || fail "the job: $?"
came=$(($(pages) - before))
swapoff "$swap" || fail "swapoff: $?"

wall=$(figure out .job.wall_seconds)
"$SONDE" show --json out | jq -r '.verdicts[] | .rule + ": " + .sentence' >verdicts
[ "$came" -gt 1000 ] || skip "the kernel swapped in $came pages only"
if awk "BEGIN { exit !($came > 200 * $wall) }"; then
	grep -q '^swap-thrash: Swap thrashed: [0-9]* pages a second came back from swap' verdicts || fail "$came pages in $wall s: $(cat verdicts)"
else # beside many others it is slower, and less is sure
	grep -qE '^(swap-thrash|swap|thrash-faults): ' verdicts || fail "$came pages in $wall s: $(cat verdicts)"
fi
