# SPDX-License-Identifier: Apache-2.0
# plain
# limit: 300
# Spans, marks and counters that programs make through libsonde are in the recording: all of them, of every thread and every
# child, and what a program that was killed had made; what found no room is counted. Without a recorder nothing happens.
. "$TOP/tests/lib.sh"
spanner=$PROGRAMS/spanner
spans() { # RECORDING NAME: how many
	"$SONDE" export --to csv -o "csv-$1" "$1" || fail "export"
	awk -F, -v name="$2" '$3 == name' "csv-$1/spans.csv" | wc -l
}
record() { # RECORDING ARGUMENTS...
	local to=$1
	shift
	"$SONDE" run --quiet -o "$to" -- "$spanner" "$@" >lost
}
left_out() { # RECORDING
	figure "$1" '.nodes[0].metadata["spans.left_out"] // 0'
}

# Threads at the same time, one after the other, and within each other.
record many many 4000 16 || fail "run: $?"
equal "outer of 16 threads" 32000 "$(spans many outer)"
equal "inner of 16 threads" 32000 "$(spans many inner)"
equal "tracks" 16 "$(cut -d, -f2 csv-many/spans.csv | grep spanner | sort -u | wc -l)"
equal "none is lost" "0 0" "$(cat lost) $(left_out many)"
"$SONDE" show --all many >shown || fail "show"
sed -n '/^spans by total/,/^$/p' shown | grep . >totals
equal "show sums up so many" "32000 inner 32000 outer" "$(awk 'NR > 2 { print $2, $NF }' totals | sort | tr '\n' ' ' | sed 's/ $//')"
! grep -q '^phases and marks' shown || fail "show prints each of so many spans"
holds "stored in at most 8 bytes each" "$(cat many/*.sonde | wc -c) <= 8 * 64000"
"$PYTHON" - csv-many/spans.csv <<'PY' || fail "some span is not where it was"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert all(float(r["duration_seconds"]) >= 0 for r in rows)
last = {}
for r in rows:  # each inner one is told before the outer one that it is within
    if r["name"] == "inner":
        last[r["track"]] = r
    elif r["name"] == "outer":
        inner = last[r["track"]]
        assert float(r["begin_seconds"]) <= float(inner["begin_seconds"]) and float(inner["end_seconds"]) <= float(r["end_seconds"]), (r, inner)
PY
record short short 40 || fail "run: $?"
equal "of 40 short threads" 120 "$(spans short short)"
equal "each is a track" 40 "$(grep ,short, csv-short/spans.csv | cut -d, -f2 | sort -u | wc -l)"
record signals signals 300 || fail "run: $?"
equal "of threads that are interrupted" 900 "$(spans signals short)"
record deep deep || fail "run: $?"
equal "so deep" 64 "$(spans deep deep)"
equal "and what is deeper is counted" "36 36" "$(cat lost) $(left_out deep)"

# What was made is in the recording when the process was killed, and what was open, too.
record killed kill 1000 && fail "it was not killed"
equal "before it was killed" 500 "$(spans killed outer)"
equal "open ones are there" 2 "$(grep -cE ',(open|within),' csv-killed/spans.csv)"
"$SONDE" run --quiet -i 50ms -o unfinished -- sh -c '"$0" unfinished; sleep 1' "$spanner" >lost 2>&1 || fail "run: $?"
"$SONDE" export --to csv -o csv-unfinished unfinished || fail "export"
for name in handled nested; do
	took=$(awk -F, -v name=$name '$3 == name { print $8 }' csv-unfinished/spans.csv)
	holds "open until the process ended, and not longer" "${took:-0} > 0.09 && ${took:-9} < 0.5"
done
equal "they say so" 2 "$(grep -c 'cut: its process ended' csv-unfinished/spans.csv)"

# A thread that unloads the library has a ring to give back when it ends.
"$SONDE" run --quiet -o unloaded -- "$PYTHON" - "$BUILD/libsonde.so.0" <<'PY' || fail "run: $?"
import _ctypes, ctypes, sys, threading
def load():
    lib = ctypes.CDLL(sys.argv[1])
    lib.sonde_begin(lib.sonde_name(b"loaded"))
    lib.sonde_end()
    _ctypes.dlclose(lib._handle)
t = threading.Thread(target=load)
t.start()
t.join()
PY
equal "of a library that was unloaded" 1 "$(spans unloaded loaded)"

# Children have their own; an executed program, too.
record forked fork || fail "run: $?"
for made in parent:5 child:10 grandchild:15 outer:20; do
	equal "spans of ${made%:*}" "${made#*:}" "$(spans forked "${made%:*}")"
done
equal "around the children" 1 "$(grep -c ',parent around,' csv-forked/spans.csv)"
equal "processes" 4 "$(tail -n +2 csv-forked/spans.csv | cut -d, -f2 | sort -u | wc -l)"

# More processes than are read at a time, where there is memory for what they leave.
if [ "$(df --output=avail -k /dev/shm | tail -1)" -gt 2000000 ]; then
	record crowd crowd 700 || fail "run: $?"
	equal "of a crowd of processes" 3500 "$(spans crowd outer)"
fi

# Faster than it can be taken: made and lost are all.
record fast fast 3000000 || fail "run: $?"
"$SONDE" export --to csv -o csv-fast fast || fail "export"
equal "made and lost" 3000000 $(($(grep -cE ',(fast|inner),' csv-fast/spans.csv) + $(cat lost)))
equal "the recording says how many" "$(cat lost)" "$(left_out fast)"

"$SONDE" run --quiet -i 50ms -o count -- "$spanner" count >lost || fail "run: $?"
"$SONDE" export --to csv -o csv-count count || fail "export"
grep 'program.counter,images done,' csv-count/series.csv | cut -d, -f6 | uniq | tr '\n' ' ' >values
equal "values of the counter" "1 41.5 " "$(cat values)"
! grep -q 'program.counter,nothing,' csv-count/series.csv || fail "a value that is not a number is recorded"

# Where there is little memory for rings, the job keeps half of it and ends as it would; what is not recorded is counted.
small() { # SIZE COMMAND...: where $PWD/small is a file system so large
	unshare -Urm sh -c 'mount -t tmpfs -o size="$0" none small && export TMPDIR=$PWD/small && exec "$@"' "$@"
}
mkdir small
if small 1m true 2>/dev/null; then
	for size in 8m 1m 64k; do
		small $size "$SONDE" run --quiet -o "in-$size" -- sh -c '"$0" many 2000 32 >lost && df --output=avail -k small | tail -1 >avail' "$spanner" || fail "run: $?"
		holds "the job keeps half of $size" "$(cat avail) >= $(numfmt --from=iec "${size^^}") / 1024 / 2"
		[ $size = 64k ] || equal "made and lost in $size" 64000 $(($(spans in-$size outer) + $(spans in-$size inner) + $(cat lost)))
		[ $size = 64k ] || equal "the recording of $size says how many" "$(cat lost)" "$(left_out in-$size)"
	done
	holds "some have rings in 8 MB" "$(spans in-8m outer) > 2000"
	small 1m "$SONDE" run --quiet -o full -- sh -c 'head -c 2000000 /dev/zero >small/full 2>/dev/null; "$0" many 2000 8 >lost' "$spanner" || fail "where it is full: $?"
fi

# A branch without a recorder, and no file; SONDE=0 as well.
equal "without a recorder" 0 "$("$spanner" many 1000 2)"
env SONDE=0 "$SONDE" run -- "$spanner" many 1000 2 >lost || fail "run: $?"
SONDE_SPANS=/nonexistent "$spanner" many 1000 2 >lost || fail "a folder that is not there: $?"
SONDE_SPANS=relative "$spanner" many 1000 2 >lost || fail "a folder that is none: $?"
mkdir folder && chmod 700 folder
(ulimit -f 1 && SONDE_SPANS=$PWD/folder "$spanner" many 1000 2 >lost) || fail "where files may not grow: $?"

# Hostile files in the folder: the recorder goes on.
cat >hostile.sh <<'END'
"$PROGRAMS/spanner" many 1000 1
echo "$SONDE_SPANS" >where
stat -c '%a' "$SONDE_SPANS" >mode
cd "$SONDE_SPANS"
ln -s /etc/passwd 1-link
mkfifo 2-fifo
mkdir 3-folder
head -c 3000000 /dev/urandom >4-noise
: >5-empty
for f in [0-9]*-??????; do cp "$f" "6-$f" && truncate -s 200000 "6-$f"; done 2>/dev/null
"$PROGRAMS/spanner" many 3000 1 &
sleep 0.2
truncate -s 0 7-* "$!"-?????? 2>/dev/null
wait
mv 4-noise 8-noise
sleep 0.3
"$PROGRAMS/spanner" many 10 1
END
"$SONDE" run --quiet -i 50ms -o hostile -- bash hostile.sh || fail "run: $?"
holds "spans of honest ones" "$(spans hostile outer) >= 505"
equal "the folder is private" 700 "$(cat mode)"
[ ! -e "$(cat where)" ] || fail "the folder is still there"
"$SONDE" show --all hostile >shown || fail "show"

# Copies that share a recorder: each track is of a process of its rank.
for rank in 0 1; do
	SLURM_JOB_ID=$$ SLURM_PROCID=$rank SLURM_NTASKS=2 SLURM_STEP_ID=0 SLURM_NTASKS_PER_NODE=2 "$SONDE" run --quiet -i 100ms -o shared -- \
		sh -c 'sleep 0.5; "$PROGRAMS/spanner" many 100 1 >/dev/null; sleep 0.5' &
	copies[rank]=$!
done
wait "${copies[@]}" || fail "run: $?"
equal "they share a recorder" 1 "$(find shared -name '*.sonde' | wc -l)"
equal "spans of both" 100 "$(spans shared outer)"

# Alone: a recording of its own, and none of what is made while nobody records; a kill leaves it readable.
"$spanner" alone own >lost || fail "alone: $?"
equal "of its own" 50 "$(spans own alone)"
equal "of the other one" 50 "$(spans own.2 again)"
equal "made for nobody" "0 0" "$(spans own nobody) $(spans own.2 nobody)"
contains csv-own/marks.csv ',made,'
"$SONDE" ls >/dev/null
mkdir forks
"$spanner" forks forks/run >lost || fail "children that come while a recording starts: $?"
"$spanner" orphan orphan >lost 2>/dev/null && fail "it was not killed"
equal "of one that was killed" 50 "$(spans orphan alone)"
"$SONDE" run --quiet -o outer -- "$BUILD/examples/spans" inner || fail "run: $?"
[ ! -e inner ] || fail "it has a recording of its own under sonde run"
equal "the example's" "20 20" "$(spans outer load) $(spans outer imaging)"
"$SONDE" trace outer -o trace.json || fail "trace"
equal "in the trace" 20 "$(jq '[.traceEvents[] | select(.name == "load" and .ph == "X")] | length' trace.json)"
