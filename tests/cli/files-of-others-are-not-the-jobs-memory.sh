# SPDX-License-Identifier: Apache-2.0
# What other processes of the same user write to /dev/shm, or share, or have in System V segments, while a job runs is none of its memory; what the job wrote there is, also
# while it writes more to other file systems and after nobody has it open.
. "$TOP/tests/lib.sh"
need jq
{ [ -w /dev/shm ] && [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; } || skip "/dev/shm is no tmpfs that may be written"
other=/dev/shm/sonde-other-$$ own=/dev/shm/sonde-own-$$
trap 'rm -f "$other" "$own"' EXIT

beside() { # NAME COMMAND: which is recorded while another process writes 64 MiB and shares 32 MiB more
	rm -f begun
	(
		wait_for 30 test -e begun
		exec python3 -c '
import mmap, sys
f = open(sys.argv[1], "w+b")
f.write(bytes(1 << 26))
f.truncate(3 << 25)
m = mmap.mmap(f.fileno(), 3 << 25)
m[1 << 26:] = b"x" * (1 << 25)
open("made", "w").close()
sys.stdin.read()' "$other"
	) < <(sleep 1000) &
	local writer=$! segment
	(wait_for 30 test -e begun && exec "$PROGRAMS/mem" sysv 32 5000) >/dev/null & # which it takes away itself
	segment=$!
	"$SONDE" run -q -i 100ms -o "$1" -- sh -c "touch begun; until [ -e made ]; do sleep 0.1; done; $2; sleep 2.5"
	kill $writer
	wait $writer $segment 2>/dev/null
	rm -f "$other" made
}

beside idle :
files=$(figure idle .job.peak_memory_files_bytes)
holds "files in memory of a job that wrote nothing: $files" "$files < 65536"
beside shares "$PROGRAMS/mem sysv 16 1500"
files=$(figure shares .job.peak_memory_files_bytes)
holds "files in memory of a job with a segment of 16 MiB: $files" "$files >= 16777216 && $files < 17825792"
beside removed "exec 5<>$own; rm $own; head -c 20971520 /dev/zero >&5"
files=$(figure removed .job.peak_memory_files_bytes)
holds "files in memory of a job with 20 MiB in a removed one: $files" "$files >= 20905984 && $files <= 22282240"
beside busy "head -c 20971520 /dev/zero >$own; head -c 41943040 /dev/zero >disk"
files=$(figure busy .job.peak_memory_files_bytes)
holds "files in memory of a job that wrote 20 MiB: $files" "$files >= 20905984 && $files <= 22282240" # a directory's page went to storage, too
