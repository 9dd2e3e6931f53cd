/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/pagemap.h"

#include "base/text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HUGE_BYTES = 2 << 20, ENTRIES_MAX = 512, RANGES_MAX = 256 };
#define ENTRY_PRESENT UINT64_C(0x8000000000000000)
#define ENTRY_SWAPPED UINT64_C(0x4000000000000000)
#define ENTRY_OF_FILE UINT64_C(0x2000000000000000)

/* Of linux/fs.h, which has it since Linux 6.7. */
struct scan_region {
	uint64_t start, end, categories;
};
struct scan {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t inverted, mask, anyof_mask, return_mask;
};
#define SCAN    _IOWR('f', 16, struct scan)
#define IS_FILE (UINT64_C(1) << 2)
#define IS_HERE (UINT64_C(1) << 3)
#define IS_ZERO (UINT64_C(1) << 5) /* the page of zeros, which is nobody's */
#define IS_HUGE (UINT64_C(1) << 6)

static ssize_t read_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	n = n < 0 ? -errno : n;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

int pagemap_open(struct pagemap *m, pid_t pid)
{
	int64_t size, resident, of_files;
	char path[64], text[128];
	const char *at = text;

	*m = (struct pagemap){ .pid = pid,
			       .fd = -1,
			       .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE) };
	if (read_file(pid, "statm", text, sizeof text) <= 0 || !number_i64(&at, &size) ||
	    !number_i64(&at, &resident) || !number_i64(&at, &of_files) || resident <= 0)
		return -ESRCH; /* a zombie has nothing */
	m->resident = (uint64_t)resident;
	m->of_files = of_files < 0 ? 0 : of_files < resident ? (uint64_t)of_files : m->resident;
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
	m->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0)
		return errno == EPERM ? -EACCES : errno == ENOENT ? -ESRCH : -errno;
	return 0;
}

void pagemap_close(struct pagemap *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

enum pagemap_state pagemap_at(const struct pagemap *m, uint64_t address)
{
	uint64_t entry = 0;

	if (pread(m->fd, &entry, sizeof entry, (off_t)(address / m->page_bytes * sizeof entry)) !=
	    (ssize_t)sizeof entry)
		return PAGEMAP_GONE;
	if (entry & ENTRY_PRESENT)
		return entry & ENTRY_OF_FILE ? PAGEMAP_OF_FILE : PAGEMAP_HERE;
	return entry & ENTRY_SWAPPED ? PAGEMAP_SWAPPED : PAGEMAP_GONE;
}

/* Does the process have any huge pages? */
static bool has_huge(pid_t pid)
{
	char text[4096];
	const char *line, *at;
	int64_t kb;

	if (read_file(pid, "smaps_rollup", text, sizeof text) <= 0)
		return false;
	line = strstr(text, "\nAnonHugePages:");
	at = line ? line + strlen("\nAnonHugePages:") : NULL;
	return at && number_i64(&at, &kb) && kb > 0;
}

/* As far as an older kernel can say: all of the pages around it are there. */
static bool is_whole(const struct pagemap *m, uint64_t address)
{
	uint64_t entry[ENTRIES_MAX], n = HUGE_BYTES / m->page_bytes;
	off_t from = (off_t)(address / HUGE_BYTES * n * sizeof entry[0]);

	if (n < 2 || n > ENTRIES_MAX ||
	    pread(m->fd, entry, n * sizeof entry[0], from) != (ssize_t)(n * sizeof entry[0]))
		return false;
	for (uint64_t i = 0; i < n; i++)
		if (!(entry[i] & ENTRY_PRESENT))
			return false;
	return has_huge(m->pid);
}

uint32_t pagemap_size(const struct pagemap *m, uint64_t address)
{
	uint64_t start = address / m->page_bytes * m->page_bytes;
	struct scan_region region = { 0 };
	struct scan s = { .size = sizeof s,
			  .start = start,
			  .end = start + m->page_bytes,
			  .vec = (uint64_t)(uintptr_t)&region,
			  .vec_len = 1,
			  .mask = IS_HUGE,
			  .return_mask = IS_HUGE };
	int n = ioctl(m->fd, SCAN, &s);
	bool huge = n < 0 ? is_whole(m, address) : n > 0;

	return huge ? (uint32_t)(HUGE_BYTES / m->page_bytes) : 1;
}

int pagemap_ranges(const struct pagemap *m, uint64_t *from, uint64_t to, struct pagemap_range *out,
		   uint32_t most)
{
	struct scan_region region[RANGES_MAX];
	struct scan s = { .size = sizeof s,
			  .start = *from,
			  .end = to,
			  .vec = (uint64_t)(uintptr_t)region,
			  .vec_len = most < RANGES_MAX ? most : RANGES_MAX,
			  .inverted = IS_FILE | IS_ZERO,
			  .mask = IS_HERE | IS_FILE | IS_ZERO,
			  .return_mask = IS_HERE | IS_HUGE };
	int n = ioctl(m->fd, SCAN, &s);

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++)
		out[i] = (struct pagemap_range){ region[i].start, region[i].end,
						 (region[i].categories & IS_HUGE) != 0 };
	*from = s.walk_end > *from ? s.walk_end : to;
	return n;
}
