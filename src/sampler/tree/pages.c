/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/pages.h"

#include "base/reserve.h"
#include "base/text/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_LENGTH = 512 };

/* Addresses above are the kernel's (vsyscall), which pagemap does not have. */
static const uint64_t user_end = UINT64_C(1) << 56;

struct pages_area {
	uint64_t begin, end; /* pages */
	uint64_t key;
};

/* What all have of it together, and the most that one has. */
struct pages_key {
	uint64_t key;
	int64_t sum, most;
};

int pages_open(struct pages *g)
{
	g->area = reserve(PAGES_AREAS_MAX * sizeof *g->area);
	g->text = reserve(PAGES_TEXT);
	g->key = reserve(PAGES_KEYS * sizeof *g->key);
	g->random.state = (uint64_t)getpid();
	return g->area && g->text && g->key ? 0 : -ENOMEM;
}

void pages_close(struct pages *g)
{
	reserve_free(g->area, PAGES_AREAS_MAX * sizeof *g->area);
	reserve_free(g->text, PAGES_TEXT);
	reserve_free(g->key, PAGES_KEYS * sizeof *g->key);
	*g = (struct pages){ 0 };
}

/* ---- the areas of a process ---- */

static uint64_t mixed(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 32 | b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return (h ^ h >> 29) | 1;
}

static bool hex(const char **p, char end, uint64_t *out)
{
	char *rest;

	*out = strtoull(*p, &rest, 16);
	if (rest == *p || *rest != end)
		return false;
	*p = rest + 1;
	return true;
}

/* "7f00-7f01 rw-p 00000000 fe:00 1234   /name". False: nothing of it is resident memory. */
static bool parse_area(const char *line, uint64_t page_bytes, uint64_t family, struct pages_area *a)
{
	uint64_t offset, major, minor, inode;
	const char *p = line;

	if (!hex(&p, '-', &a->begin) || !hex(&p, ' ', &a->end) || a->end <= a->begin ||
	    a->end > user_end || strlen(p) < 5 || memcmp(p, "---", 3) == 0)
		return false;
	p += 5;
	if (!hex(&p, ' ', &offset) || !hex(&p, ':', &major) || !hex(&p, ' ', &minor))
		return false;
	inode = strtoull(p, NULL, 10);
	if (strstr(p, "/anon_hugepage") || strstr(p, "/hugepages/"))
		return false;
	a->begin /= page_bytes;
	a->end /= page_bytes;
	a->key = inode ? mixed(inode, major << 20 | minor) : mixed(family, 0);
	return true;
}

struct areas {
	size_t n;
	uint64_t pages;
};

/* Whole lines of the text; what is left of it is moved to the front. -E2BIG: too many. */
static int take_lines(struct pages *g, const struct pages_of *p, size_t *length, struct areas *out)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	char *line = g->text, *end;

	while ((end = memchr(line, '\n', (size_t)(g->text + *length - line)))) {
		struct pages_area a;

		*end = '\0';
		if (out->n == PAGES_AREAS_MAX)
			return -E2BIG;
		if (parse_area(line, page_bytes, p->family, &a)) {
			out->pages += a.end - a.begin;
			g->area[out->n++] = a;
		}
		line = end + 1;
	}
	*length -= (size_t)(line - g->text);
	memmove(g->text, line, *length);
	return *length < PAGES_TEXT / 2 ? 0 : -E2BIG; /* no path is so long */
}

static int read_areas(struct pages *g, const struct root *proc, const struct pages_of *p,
		      struct areas *out)
{
	size_t length = 0;
	char path[32];
	ssize_t n;
	int fd, bad = 0;

	*out = (struct areas){ 0 };
	snprintf(path, sizeof path, "%d/maps", (int)p->pid);
	fd = root_file(proc, path);
	if (fd < 0)
		return fd;
	while (!bad && (n = read(fd, g->text + length, PAGES_TEXT - length)) > 0) {
		length += (size_t)n;
		bad = take_lines(g, p, &length, out);
	}
	close(fd);
	return bad;
}

/* ---- their pages ---- */

struct seen {
	uint32_t present, exclusive, unkept; /* unkept: of shares there was no room for */
	uint32_t shared[PAGES_SHARES];
};

static void see(struct seen *s, struct pages_estimate *out, uint64_t entry, uint64_t key)
{
	if (!(entry >> 63))
		return;
	s->present++;
	if (entry >> 56 & 1) {
		s->exclusive++;
		return;
	}
	for (int i = 0; i < PAGES_SHARES; i++) {
		if (out->share[i].key && out->share[i].key != key)
			continue;
		out->share[i].key = key;
		s->shared[i]++;
		return;
	}
	s->unkept++;
}

/* Every so many pages, from a random one on. */
static void read_pages(struct pages *g, int fd, const struct areas *a, unsigned reads,
		       struct seen *s, struct pages_estimate *out)
{
	double step = fmax(1, (double)a->pages / reads);
	double first = random_unit(&g->random) * step;
	uint64_t base = 0, page;
	size_t i = 0;

	for (uint64_t n = 0; (page = (uint64_t)(first + (double)n * step)) < a->pages; n++) {
		uint64_t entry;

		while (i < a->n && page - base >= g->area[i].end - g->area[i].begin) {
			base += g->area[i].end - g->area[i].begin;
			i++;
		}
		if (i == a->n)
			break;
		page += g->area[i].begin - base;
		if (pread(fd, &entry, sizeof entry, (off_t)(page * sizeof entry)) == sizeof entry)
			see(s, out, entry, g->area[i].key);
	}
}

/* What was seen stands for the resident set; what there was no room for counts in full. */
static void scale(const struct seen *s, int64_t resident, struct pages_estimate *out)
{
	double part = (double)(s->exclusive + s->unkept) / s->present;
	double each = (double)resident / s->present;

	out->exclusive_bytes = (int64_t)(part * (double)resident);
	out->error_bytes =
		(int64_t)(2 * sqrt(part * (1 - part) / s->present) * (double)resident + each);
	for (int i = 0; i < PAGES_SHARES; i++)
		out->share[i].bytes = (int64_t)(each * s->shared[i]);
}

int pages_take(struct pages *g, const struct root *proc, const struct pages_of *p,
	       struct pages_estimate *out)
{
	struct seen seen = { 0 };
	struct areas areas;
	char path[32];
	int bad = read_areas(g, proc, p, &areas), fd;

	*out = (struct pages_estimate){ 0 };
	if (bad)
		return bad;
	snprintf(path, sizeof path, "%d/pagemap", (int)p->pid);
	fd = root_file(proc, path);
	if (fd < 0)
		return fd;
	read_pages(g, fd, &areas, p->reads, &seen, out);
	close(fd);
	if (!seen.present)
		return -ESRCH;
	scale(&seen, p->resident_bytes, out);
	return 0;
}

/* ---- what several have ---- */

void pages_share_begin(struct pages *g)
{
	memset(g->key, 0, PAGES_KEYS * sizeof *g->key);
}

/* Its place, or an empty one; NULL: there is none. */
static struct pages_key *place_of(const struct pages *g, uint64_t key)
{
	for (uint32_t i = 0; i < PAGES_KEYS; i++) {
		struct pages_key *k = &g->key[(key + i) % PAGES_KEYS];

		if (!k->key || k->key == key)
			return k;
	}
	return NULL;
}

void pages_share_add(struct pages *g, const struct pages_estimate *x)
{
	for (int i = 0; i < PAGES_SHARES && x->share[i].key; i++) {
		struct pages_key *k = place_of(g, x->share[i].key);

		if (!k)
			continue;
		k->key = x->share[i].key;
		k->sum += x->share[i].bytes;
		if (x->share[i].bytes > k->most)
			k->most = x->share[i].bytes;
	}
}

int64_t pages_proportional(const struct pages *g, const struct pages_estimate *x)
{
	double sum = (double)x->exclusive_bytes;

	for (int i = 0; i < PAGES_SHARES && x->share[i].key; i++) {
		const struct pages_key *k = place_of(g, x->share[i].key);
		bool known = k && k->sum;

		sum += (double)x->share[i].bytes * (known ? (double)k->most / (double)k->sum : 1);
	}
	return (int64_t)sum;
}
