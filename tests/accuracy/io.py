# SPDX-License-Identifier: Apache-2.0
# alone
"""A program writes a given number of bytes in blocks of 64 KiB, syncs, and reads them back; a second one does so in a child that exits
before it is sampled."""
import os

import accuracy

BYTES, BLOCK = 20_000_000, 65536
LOADER = 64 << 10  # what the dynamic loader reads of libraries' headers
table = accuracy.Comparison("Input and output")

_, recording = accuracy.record("out", accuracy.program("io"), str(BYTES), "file")
job, of_io = recording.job, recording.finals("io")
table.row("job.written_bytes", "bytes passed to write(2)", job["written_bytes"], BYTES, apart=0)
table.row("job.read_bytes", "bytes read back, and the loader's own", job["read_bytes"], BYTES, above=LOADER)
table.row("process.written_bytes", "bytes passed to write(2)", of_io["process.written_bytes"], BYTES, apart=0)
table.row("process.write_calls", "calls of write(2)", of_io["process.write_calls"], -(-BYTES // BLOCK), apart=0)
table.row("process.read_calls", "calls of read(2), and the loader's own", of_io["process.read_calls"], -(-BYTES // BLOCK) + 1, above=20)
if of_io["process.storage_written_bytes"]:
    table.row("process.storage_written_bytes", "bytes written and synced, in whole pages, and the file system's own",
              of_io["process.storage_written_bytes"], BYTES, above=BYTES // 100 + (1 << 20))
else:
    table.left_out("process.storage_written_bytes", "the file system here is in memory")
table.row("size of the file", "as the program reports", os.path.getsize("file"), BYTES, apart=0)

_, short = accuracy.record("short", accuracy.program("spawner"), "5", accuracy.program("io"), "100000", "file", interval="10s")
table.row("job.written_bytes", "5 children of 100 kB each, never sampled; and the parent's line", short.job["written_bytes"], 500_000, above=100)
table.end()
