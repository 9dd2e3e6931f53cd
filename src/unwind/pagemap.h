/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagemap.h - what a process has in memory: how much, and whether a page is there, from
 * /proc/PID/statm and /proc/PID/pagemap.
 *
 * Frame numbers are hidden from users, and not needed. Nothing of what is in the memory is read.
 */
#ifndef SONDE_UNWIND_PAGEMAP_H
#define SONDE_UNWIND_PAGEMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pagemap {
	pid_t pid;
	int fd;
	uint64_t page_bytes;
	uint64_t resident,
		of_files; /* pages; of_files: of these, those of files and shared memory */
};

enum pagemap_state { PAGEMAP_GONE, PAGEMAP_SWAPPED, PAGEMAP_HERE, PAGEMAP_OF_FILE };

/* 0; -ESRCH: it has ended; -EACCES: it must not be looked at, but resident and of_files are known;
 * or another -errno. Close it after 0. */
int pagemap_open(struct pagemap *m, pid_t pid);
void pagemap_close(struct pagemap *m);
enum pagemap_state pagemap_at(const struct pagemap *m, uint64_t address);
/* How many pages the one at this address is: more than 1 of a huge one. */
uint32_t pagemap_size(const struct pagemap *m, uint64_t address);

/* Pages that are there, and of no file. */
struct pagemap_range {
	uint64_t start, end;
	bool huge;
};
/* Those from *from on, as far as there is room, and where to go on; how many, or -errno: this
 * kernel does not tell (before Linux 6.7). */
int pagemap_ranges(const struct pagemap *m, uint64_t *from, uint64_t to, struct pagemap_range *out,
		   uint32_t most);

#endif
