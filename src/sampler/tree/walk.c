/* SPDX-License-Identifier: Apache-2.0 */
/* walk.c - PSS and USS within a budget: a walk of page tables costs the job, too, since it
 * holds the lock that mmap needs. A process is walked again only when its memory has changed. */
#include "sampler/tree/walk.h"

#include "base/clock.h"
#include "base/reserve.h"
#include "base/text/number.h"
#include "sampler/tree/tree_state.h"

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

/* Of every so many pages a random one: memory has patterns, as a page in each huge one. */
static void read_pages(struct pages *g, int fd, const struct areas *a, unsigned reads,
		       struct seen *s, struct pages_estimate *out)
{
	double step = fmax(1, (double)a->pages / reads);
	uint64_t base = 0, page;
	size_t i = 0;

	for (uint64_t n = 0, entry;; n++) {
		page = (uint64_t)(((double)n + random_unit(&g->random)) * step);
		if (page >= a->pages)
			break;
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

/* 0, or -errno: -EACCES when it is another user's, -E2BIG when it has too many areas. */
static int pages_take(struct pages *g, const struct root *proc, const struct pages_of *p,
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

/* Share out what several have: begin, add each estimate, then ask for each. */
static void pages_share_begin(struct pages *g)
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

static void pages_share_add(struct pages *g, const struct pages_estimate *x)
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

/* Its own, and its part of what it has with others. */
static int64_t pages_proportional(const struct pages *g, const struct pages_estimate *x)
{
	double sum = (double)x->exclusive_bytes;

	for (int i = 0; i < PAGES_SHARES && x->share[i].key; i++) {
		const struct pages_key *k = place_of(g, x->share[i].key);
		bool known = k && k->sum;

		sum += (double)x->share[i].bytes * (known ? (double)k->most / (double)k->sum : 1);
	}
	return (int64_t)sum;
}

enum {
	LONG_WALK_MS = 5, /* longer ones only once a minute, from a half of the budget ... */
	LONG_WALK_AGAIN_S = 60,
	LONGEST_WALK_MS = 250, /* ... and never longer than this: the job waits for them */
};

/* debt: so that all soon are read that share much */
static const int64_t budget_max_ns = 20 * NS_PER_MS, kept_for_new_ns = 2 * NS_PER_MS,
		     debt_ns = 10 * NS_PER_MS, matters_least = 4 << 20, matters_surely = 32 << 20;

/* So much more that one shares makes what is known of the others old: the job's sum would be up to
 * a thirty-second above what it has, or 4 MiB. */
static int64_t sharing_matters(const struct tree *t)
{
	int64_t part = t->parts[PART_PSS] / 32;

	return part < matters_least ? matters_least : part < matters_surely ? part : matters_surely;
}

static int64_t predict_ns(const struct tree *t, const struct process *p)
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;

	if (!p->walk_ns || p->walk_rss_bytes <= 0)
		return 15000 + rss / 1048576 * 11000;
	return (int64_t)((double)p->walk_cost_ns * ((double)rss / (double)p->walk_rss_bytes));
}

bool walk_is_old(const struct tree *t, const struct process *p)
{
	int64_t private = p->stat.rss_pages * t->reading.page_bytes - p->shared_bytes;

	return p->walk_outdated || p->walk_private_bytes != private ||
	       p->walk_minflt != p->stat.minflt;
}

static bool can_walk(const struct process *p)
{
	return !p->ended && !p->walk_refused && p->read_ns && p->stat.rss_pages && !p->memory_of;
}

/* Only a reading can show that memory has changed. */
static bool wants_walk(const struct tree *t, struct process *p)
{
	p->walk_due = p->walk_due && can_walk(p) && (!p->walk_ns || walk_is_old(t, p));
	return p->walk_due;
}

/* When it has had what it has, at the latest: who was walked after that has been walked with it. */
static int64_t had_since_ns(struct tree *t, struct process *p)
{
	return process_stands(&t->reading, p, KEEP_NONE) ? p->read_ns : clock_mono_ns();
}

/* Of what it touched first since it executed its program, each fault gave it many pages; or one
 * that forked it had such. */
static void note_huge(const struct tree *t, struct process *p)
{
	const struct process *parent = table_find(&t->table, p->ppid);
	bool forked = parent && parent->stack && parent->stack == p->stack;
	int64_t own = p->stat.rss_pages - p->shared_bytes / t->reading.page_bytes;

	p->huge_faults =
		p->huge_faults || p->anonymous_huge_bytes > 0 ||
		(forked ? parent->huge_faults
			: (p->executed || task_of(t, p->ppid)) && own / 16 > p->stat.minflt);
}

/* Was it walked for the first time, or does it share much more, however many readings ago it did
 * not? What nobody else has makes no difference to the others. */
static void note_more(struct tree *t, struct process *p, int64_t since_ns)
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;
	int64_t shared = p->uss_bytes > 0 && p->uss_bytes < rss ? rss - p->uss_bytes : rss;
	struct process *parent = table_find(&t->table, p->ppid);

	note_huge(t, p);
	if (parent && parent->stack && parent->stack == p->stack && !parent->has_forked) {
		parent->has_forked = true;
		process_changed(parent);
	}
	if (shared < p->noted_shared_bytes)
		p->noted_shared_bytes = shared;
	if (shared - p->noted_shared_bytes <= sharing_matters(t) || !sums_may_share(t, p))
		return;
	p->noted_shared_bytes = shared;
	if (since_ns > t->shared_since_ns)
		t->shared_since_ns = since_ns;
}

void walk_moved(struct tree *t, int64_t bytes, int64_t at_ns)
{
	if (bytes <= 0)
		return;
	number_add(&t->moved.fresh, bytes);
	t->moved.at_ns = at_ns;
}

/* Its part of what it shares, as walked; of those that are estimated all is divided again. */
static int64_t part_of_shared(const struct process *p)
{
	return p->paged || p->pss_bytes < 0 || p->memory_of ? 0 : p->pss_bytes - p->uss_bytes;
}

/* Returns what it cost. */
static int64_t walk(struct tree *t, struct process *p)
{
	int64_t before = clock_cpu_ns(), since_ns = had_since_ns(t, p), cost;
	int64_t had = part_of_shared(p), rss = p->stat.rss_pages * t->reading.page_bytes;
	int64_t lost = process_faulted_since_walk(&t->reading, p);
	int bad;

	if (p->walk_rss_bytes > rss)
		number_add(&lost, p->walk_rss_bytes - rss);
	bad = process_walk(&t->reading, p);
	had -= part_of_shared(p);
	if (!bad)
		walk_moved(t, had < lost ? had : lost, p->walk_ns);
	note_more(t, p, since_ns);
	cost = clock_cpu_ns() - before;
	p->walk_refused = bad == -EACCES || bad == -EPERM || bad == -ENOENT;
	p->walk_cost_ns = cost;
	t->walks_ns += cost;
	return cost;
}

static void long_walk(struct tree *t, struct process *p, int64_t cost)
{
	if (cost > LONGEST_WALK_MS * NS_PER_MS || t->now_ns < t->long_walk_ns ||
	    t->walks_share <= 0)
		return;
	if (p->walk_ns && t->now_ns - p->walk_ns < LONG_WALK_AGAIN_S * NS_PER_S)
		return;
	t->long_walk_ns = t->now_ns + (int64_t)((double)walk(t, p) / (t->walks_share / 2));
}

enum {
	ESTIMATE_MS = 1,
	FIRST_READS = 800, /* so that all of a short job are known soon */
	READS = 1500,
};

/* A walk divides a page by all that map it, an estimate by those that are estimated: who may share
 * memory with one of them is estimated, too. So is who was never read and shares memory, where the
 * budget has no room for a walk: until all are known, the sum is not. */
static bool is_for_pages(const struct tree *t, const struct process *p, int64_t cost)
{
	bool dear = !p->walk_ns && cost > ESTIMATE_MS * NS_PER_MS && cost > t->walk_budget_ns;

	if (p->pages_refused)
		return false;
	return p->paged || cost > LONG_WALK_MS * NS_PER_MS ||
	       ((t->paging || dear) && p->stat.rss_pages * t->reading.page_bytes > matters_surely &&
		sums_may_share(t, p));
}

/* Debts, so that all of a short job are known soon; who needs a long walk is not among many. */
static bool may_estimate(const struct tree *t, bool never, int64_t cost)
{
	if (!never)
		return t->walk_budget_ns >= -debt_ns;
	return cost > LONG_WALK_MS * NS_PER_MS || t->walk_budget_ns >= -2 * debt_ns;
}

/* Who came to share memory makes what is known of the others old: they have less of it now. */
static void relatives(struct tree *t)
{
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (!walk_is_outdated(t, p))
			continue;
		p->walk_due = true;
		p->walk_outdated = true; /* its estimate goes on from what was walked */
		process_changed(p);
	}
}

/* Of pages that are estimated to be shared already, the estimates of all tell who has them. */
bool walk_is_outdated(const struct tree *t, const struct process *p)
{
	if (p->paged && p->uss_bytes <= sharing_matters(t))
		return false;
	return p->walk_ns && p->walk_ns < t->shared_since_ns && !p->ended &&
	       p->stat.rss_pages * t->reading.page_bytes > sharing_matters(t) &&
	       sums_may_share(t, p);
}

/* 0, or -errno: some pages of it cannot be read. */
static int estimate(struct tree *t, struct process *p)
{
	const struct pages_of of = { .pid = p->pid,
				     .resident_bytes = p->stat.rss_pages * t->reading.page_bytes,
				     .family = (uint64_t)p->stat.stack,
				     .reads = p->paged ? READS : FIRST_READS };
	struct pages_estimate *x = &t->estimate[p - t->table.row];
	int64_t before = clock_cpu_ns(), since_ns = had_since_ns(t, p);
	int bad = pages_take(&t->pages, t->reading.proc, &of, x);

	p->walk_cost_ns = clock_cpu_ns() - before;
	t->walks_ns += p->walk_cost_ns;
	t->walk_budget_ns -= p->walk_cost_ns;
	if (bad)
		return bad;
	/* Who was walked before has its part of what all map, and none of what the estimated divide
	 * among themselves: it is estimated, too. */
	if (!t->paging)
		t->shared_since_ns = clock_mono_ns();
	t->paging = true;
	p->paged = true;
	p->pages_error_bytes = x->error_bytes;
	p->uss_bytes = x->exclusive_bytes;
	note_more(t, p, since_ns);
	process_walked(&t->reading, p);
	t->shares_changed = true;
	return 0;
}

/* Those that are estimated share what several of them have. */
static void share_out(struct tree *t)
{
	pages_share_begin(&t->pages);
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < t->table.nlive; i++) {
			struct process *p = &t->table.row[t->table.live[i]];
			const struct pages_estimate *x = &t->estimate[p - t->table.row];

			if (!p->paged || p->ended)
				continue;
			if (turn == 0)
				pages_share_add(&t->pages, x);
			else
				p->pss_bytes = pages_proportional(&t->pages, x);
			process_changed(p);
		}
	t->shares_changed = false;
}

static void walk_all(struct tree *t)
{
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (can_walk(p))
			walk(t, p);
	}
}

/* Does the job's sum wait for it to be walked again? */
static bool is_unsure(const struct tree *t, const struct process *p)
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;

	return p->walk_outdated || p->part[PART_COPIED] > sharing_matters(t) ||
	       (llabs(rss - p->walk_rss_bytes) > sharing_matters(t) && sums_may_share(t, p));
}

/* Those that were never walked, or the others: as far as the budget goes, of which a part is kept
 * for the former. Without one of them, or of those that came to share memory, the job's sum is not
 * known; the others' are estimated meanwhile. */
static void walk_some(struct tree *t, bool never)
{
	uint32_t n = t->table.nlive, from = never ? 0 : t->walk_cursor;
	bool left = false;

	for (uint32_t i = 0; i < n; i++) {
		struct process *p = &t->table.row[t->table.live[(from + i) % n]];
		int64_t cost;

		if (!p->walk_due || (p->walk_ns == 0) != never || !wants_walk(t, p))
			continue;
		cost = predict_ns(t, p);
		if (is_for_pages(t, p, cost)) {
			if (!may_estimate(t, never, cost))
				continue;
			p->pages_refused = estimate(t, p) != 0;
			continue;
		}
		if (cost > LONG_WALK_MS * NS_PER_MS) {
			long_walk(t, p, cost);
			continue;
		}
		if (cost >
		    t->walk_budget_ns + (never || is_unsure(t, p) ? debt_ns : -kept_for_new_ns)) {
			if (never)
				return;
			if (!left) /* its turn comes first next time */
				t->walk_cursor = (from + i) % n;
			left = true;
			continue;
		}
		t->walk_budget_ns -= walk(t, p);
	}
}

void walk_step(struct tree *t)
{
	const int64_t before_ns = t->shared_since_ns;

	if (t->pss == PSS_OFF || !(t->due & READ_STAT))
		return;
	if (t->pss == PSS_ALWAYS) {
		walk_all(t);
		return;
	}
	t->walk_budget_ns += (int64_t)((double)(t->now_ns - t->walk_time_ns) * t->walks_share / 2);
	if (t->walk_budget_ns > budget_max_ns)
		t->walk_budget_ns = budget_max_ns;
	t->walk_time_ns = t->now_ns;
	if (t->moved.fresh > sharing_matters(t)) {
		if (t->moved.at_ns > t->shared_since_ns)
			t->shared_since_ns = t->moved.at_ns;
		number_add(&t->moved.due, t->moved.fresh);
		t->moved.fresh = 0;
	}
	if (t->shared_since_ns != before_ns)
		relatives(t);
	walk_some(t, true);
	walk_some(t, false);
	if (t->shares_changed)
		share_out(t);
	if (t->shared_since_ns != before_ns)
		relatives(t);
}
