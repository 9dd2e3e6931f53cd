/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/touched.h"

#include "base/clock.h"
#include "base/random.h"
#include "unwind/interpreted.h"
#include "unwind/pagemap.h"
#include "unwind/space.h"
#include "unwind/touch.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PROCESSES_MAX = 1024,
	TOUCHES_MAX = 32768, /* of all processes together */
	TOUCHES_LEAST = 64,  /* of a process, however many there are */
	SEEN_MAX = 64,       /* looks after which a page that is still there has stayed */
	SHARE = 3000,        /* of a core, in millionths, for looks */
	LOOK_MS = 20,        /* while there are pages that were not seen so often, */
	CHURN_MS = 40,       /* while they are samples of windows, */
	IDLE_MS = 250,       /* and else */
	ALL_MS = 1000,       /* between looks at those that were */
	TOLD_LEAST_MS = 1000,
	TOLD_PART = 64,    /* of the time so far passes before the next that is told */
	LOW_PERCENT = 5,   /* a look that is due waits until memory is as low as it was lately, */
	LOW_MS = 300,      /* at most so long: what comes and goes is not there then */
	PEAK_PERCENT = 2,  /* by which memory grew since: it is told at once */
	AROUND_MAX = 16,   /* pages of a file that the kernel maps at one fault */
	RANGES_MAX = 1024, /* of pages that are asked for at a time */
	CREDIT_MS = 10,    /* of CPU time that a sample is worth to those who look for lines */
};

struct toucher {
	pid_t pid;
	struct touch *touch;         /* those that were not seen to be gone */
	uint32_t n, cap, young;      /* young: to be looked at often */
	uint64_t resident, of_files; /* pages; at the last look */
	uint64_t huge;               /* of those, in huge ones that a sample stands for */
	uint64_t usual;              /* faults that a sample stands for by now */
	bool placed;                 /* where its pages are is known */
	bool refused;
};

struct touched {
	struct stacks_page *page;
	struct spaces *spaces;
	struct profile *profile;
	struct gate *gate;
	struct python_merge python;
	bool has_python; /* there is a process of it */
	struct pids pids;
	struct toucher process[PROCESSES_MAX + 1]; /* by row of pids */
	uint32_t nprocesses;
	struct random random;
	uint64_t page_bytes;
	int64_t began_ns, due_ns, all_ns, told_ns;
	uint64_t most; /* pages of all processes, of what was told */
	uint64_t low;  /* likewise, the least since that */
	struct pagemap_range range[RANGES_MAX];
};

struct touched *touched_make(struct stacks_page *page, struct spaces *spaces,
			     struct profile *profile, struct gate *gate)
{
	struct touched *t = calloc(1, sizeof *t);

	if (!t || python_merge_init(&t->python, spaces->modules) ||
	    pids_make(&t->pids, PROCESSES_MAX)) {
		free(t);
		return NULL;
	}
	t->page = page;
	t->spaces = spaces;
	t->profile = profile;
	t->gate = gate;
	t->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	t->began_ns = clock_mono_ns();
	t->random.state = (uint64_t)t->began_ns;
	t->due_ns = INT64_MAX;
	return t;
}

/* ---- what was touched ---- */

/* Where its thread is by now, if it is one of Python. */
static const struct stack *with_lines(struct touched *t, const struct record_sample *s,
				      const struct stack *native)
{
	struct python *python = python_of(t->spaces->modules, spaces_get(t->spaces, (pid_t)s->pid),
					  t->python.codes);

	t->has_python = t->has_python || python;
	return python ? python_merge_running(&t->python, python, (pid_t)s->tid, s->time_ns, native)
		      : native;
}

/* Of pages that were gone before they were looked at: as others of that place were. */
static uint16_t pages_like(const struct toucher *p, const struct touch *like)
{
	for (uint32_t i = p->n; i-- > 0;)
		if (p->touch[i].node == like->node && p->touch[i].pages)
			return p->touch[i].pages;
	return 1;
}

/* Once for each, as soon as the size of its pages is known, or never will be. */
static void put_flow(struct touched *t, const struct toucher *p, const struct touch *x,
		     uint16_t pages)
{
	profile_time(t->profile, spaces_get(t->spaces, p->pid), (int64_t)t->page_bytes,
		     &(struct timed){ p->pid, x->tid, x->node, x->at_ns, x->at_ns,
				      (uint64_t)x->faults * pages + x->lost });
}

static void forget(struct touched *t, struct toucher *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (!p->touch[i].pages)
			put_flow(t, p, &p->touch[i], pages_like(p, &p->touch[i]));
	p->n = p->young = 0;
}

static void drop(struct touched *t, uint32_t row)
{
	struct toucher *p = &t->process[row];

	forget(t, p);
	free(p->touch);
	*p = (struct toucher){ 0 };
	pids_drop(&t->pids, row);
	t->nprocesses--;
}

/* Half of them by chance, which count twice. */
static void thin(struct touched *t, struct toucher *p)
{
	uint32_t n = 0;

	p->young = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		struct touch *x = &p->touch[i];

		if (!x->pages) {
			x->pages = pages_like(p, x);
			put_flow(t, p, x, x->pages);
		}
		if (random_unit(&t->random) < 0.5)
			continue;
		p->touch[n] = *x;
		p->touch[n].faults *= x->faults < UINT32_MAX / 2 ? 2 : 1;
		p->touch[n].lost *= x->lost < UINT32_MAX / 2 ? 2 : 1;
		p->young += x->seen < SEEN_MAX;
		n++;
	}
	p->n = n;
}

static bool make_room(struct touched *t, struct toucher *p)
{
	uint32_t most = TOUCHES_MAX / t->nprocesses, cap = p->cap ? 2 * p->cap : TOUCHES_LEAST;
	struct touch *grown;

	if (most < TOUCHES_LEAST)
		most = TOUCHES_LEAST;
	while (p->n >= most)
		thin(t, p);
	if (p->n < p->cap)
		return true;
	grown = reallocarray(p->touch, cap, sizeof *grown);
	if (!grown)
		return false;
	p->touch = grown;
	p->cap = cap;
	return true;
}

static uint32_t faults_of(int64_t n)
{
	return n < 0 ? 0 : n > INT32_MAX ? INT32_MAX : (uint32_t)n;
}

void touched_sample(struct touched *t, const struct record_sample *s, uint32_t missed,
		    const struct stack *stack)
{
	bool fresh = false;
	uint32_t row = pids_get(&t->pids, (pid_t)s->pid, &fresh);
	uint32_t node = profile_seen(t->profile, with_lines(t, s, stack), CREDIT_MS * NS_PER_MS);
	struct toucher *p = &t->process[row];
	struct touch x = { .address = s->address,
			   .at_ns = s->time_ns,
			   .node = node,
			   .tid = (pid_t)s->tid,
			   .faults = faults_of(s->period),
			   .lost = faults_of(s->period * missed) };
	uint64_t more;

	if (!row || !node)
		return;
	more = gate_sample(t->gate, (pid_t)s->pid, x.faults, fresh, s->time_ns);
	x.lost += faults_of((int64_t)more);
	if (fresh) {
		*p = (struct toucher){ .pid = (pid_t)s->pid };
		t->nprocesses++;
	}
	p->usual = x.faults + more;
	if (!make_room(t, p)) {
		put_flow(t, p, &x, 1);
		return;
	}
	p->touch[p->n++] = x;
	p->young++;
	if (t->due_ns > s->time_ns + IDLE_MS * NS_PER_MS)
		t->due_ns = clock_mono_ns() + LOOK_MS * NS_PER_MS;
}

void touched_exec(struct touched *t, pid_t pid)
{
	bool fresh = false;
	uint32_t row = pids_get(&t->pids, pid, &fresh);

	if (fresh)
		pids_drop(&t->pids, row);
	else if (row)
		drop(t, row);
}

/* ---- where they are ---- */

static int by_address(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* By address. */
static void place(struct touched *t, struct toucher *p, const struct pagemap *m)
{
	struct touch_places places = { .x = p->touch,
				       .n = p->n,
				       .page_bytes = t->page_bytes,
				       .usual = p->usual,
				       .blind = t->gate->blind };
	uint64_t from = 0, to;
	int n = 0;

	p->huge = 0;
	p->placed = p->n > 0;
	if (!p->n)
		return;
	touch_place_begin(&places);
	/* As far as there may be memory. */
	to = (p->touch[p->n - 1].address | ((UINT64_C(1) << 47) - 1)) & ~(t->page_bytes - 1);
	while (n >= 0 && from < to) {
		n = pagemap_ranges(m, &from, to, t->range, RANGES_MAX);
		for (int i = 0; i < n; i++)
			touch_place(&places, &t->range[i]);
	}
	touch_place_end(&places);
	p->huge = places.huge;
	if (n >= 0) /* as of now: some may have gone since the look at it */
		p->resident = p->of_files + places.all;
	p->placed = n >= 0;
}

/* ---- looks ---- */

/* False: its pages are gone. */
static bool look_at(struct touched *t, const struct toucher *p, const struct pagemap *m,
		    struct touch *x)
{
	enum pagemap_state is = pagemap_at(m, x->address);

	x->here = is == PAGEMAP_HERE || is == PAGEMAP_OF_FILE;
	x->of_file = is == PAGEMAP_OF_FILE;
	if (!x->pages) {
		x->pages = is == PAGEMAP_HERE ? (uint16_t)pagemap_size(m, x->address)
			   : x->of_file       ? 1
					      : pages_like(p, x);
		put_flow(t, p, x, x->pages);
	}
	x->seen = (uint8_t)(x->seen + (x->seen < SEEN_MAX));
	return is != PAGEMAP_GONE;
}

/* Nobody may look: as far as the process has so much, all that it has touched is there. */
static void take_for_here(struct touched *t, struct toucher *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct touch *x = &p->touch[i];

		x->here = true;
		if (!x->pages) {
			x->pages = 1;
			put_flow(t, p, x, 1);
		}
	}
	p->young = 0;
}

/* By address, without those whose pages were given back and touched again since. */
static void drop_reused(const struct touched *t, struct toucher *p)
{
	uint32_t n = 0;

	if (!p->n)
		return;
	qsort(p->touch, p->n, sizeof *p->touch, by_address);
	touch_mark_reused(p->touch, p->n, t->page_bytes);
	p->young = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->touch[i].reused)
			continue;
		p->young += p->touch[i].seen < SEEN_MAX;
		p->touch[n++] = p->touch[i];
	}
	p->n = n;
}

static void look_at_process(struct touched *t, uint32_t row, bool all)
{
	struct toucher *p = &t->process[row];
	struct pagemap m;
	uint32_t n = 0;
	int bad = pagemap_open(&m, p->pid);

	if (bad == -ESRCH) {
		drop(t, row);
		return;
	}
	p->resident = m.resident;
	p->of_files = m.of_files;
	if (bad) {
		atomic_fetch_add(&t->page->touches.refused, !p->refused);
		p->refused = true;
		p->placed = false;
		p->huge = 0;
		take_for_here(t, p);
		return;
	}
	p->young = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		struct touch *x = &p->touch[i];

		if ((all || x->seen < SEEN_MAX) && !look_at(t, p, &m, x))
			continue;
		p->young += x->seen < SEEN_MAX;
		p->touch[n++] = *x;
	}
	p->n = n;
	if (all) {
		drop_reused(t, p);
		place(t, p, &m);
	}
	pagemap_close(&m);
}

/* ---- what is resident ---- */

/* How much of what samples represent is taken to be there: of pages that have stayed, of others,
 * and of those of files. */
struct parts {
	double stayed, young, of_file;
};

static double part(double has, double said)
{
	return said > has ? (has > 0 ? has / said : 0) : 1;
}

/* Of those that were counted by faults; huge ones, where they are known, are not. */
static double counted(const struct toucher *p, const struct touch *x)
{
	return x->here && (x->pages == 1 || !p->placed) ? (double)x->faults * x->pages + x->lost
							: 0;
}

/* Pages that have stayed go first. Of a file, one fault maps several. */
static struct parts parts_of(const struct toucher *p)
{
	double stayed = 0, young = 0, files = 0, has = (double)(p->resident - p->of_files);
	struct parts r;

	has = has > (double)p->huge ? has - (double)p->huge : 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct touch *x = &p->touch[i];
		double pages = counted(p, x);

		*(x->of_file ? &files : x->seen == SEEN_MAX ? &stayed : &young) += pages;
	}
	r.stayed = part(has, stayed);
	r.young = part(has - stayed * r.stayed, young);
	r.of_file = files > 0 ? (double)p->of_files / files : 0;
	if (r.of_file > AROUND_MAX)
		r.of_file = AROUND_MAX;
	return r;
}

static int by_node(const void *a, const void *b)
{
	const struct touch *x = a, *y = b;

	return x->node < y->node ? -1 : x->node > y->node;
}

static double pages_of(const struct toucher *p, const struct touch *x, const struct parts *parts)
{
	return x->huge + counted(p, x) * (x->of_file            ? parts->of_file
					  : x->seen == SEEN_MAX ? parts->stayed
								: parts->young);
}

/* As they were last told: by where they are, if that is known. */
static double placed_of(const struct toucher *p, const struct touch *x, const struct parts *parts)
{
	return p->placed && !x->of_file ? x->huge + (double)x->held : pages_of(p, x, parts);
}

/* For those who choose how often there are samples: pages without any. */
static uint64_t weigh(struct touched *t)
{
	uint64_t all = 0, unseen = 0;

	for (uint32_t i = 1; i <= PROCESSES_MAX; i++) {
		struct toucher *p = &t->process[i];
		const struct parts parts = p->pid ? parts_of(p) : (struct parts){ 0 };
		double seen = 0;

		for (uint32_t k = 0; k < p->n; k++)
			seen += pages_of(p, &p->touch[k], &parts);
		all += p->resident;
		unseen += p->resident - (seen < (double)p->resident ? (uint64_t)seen : p->resident);
	}
	atomic_store(&t->page->touches.resident_bytes, (int64_t)(all * t->page_bytes));
	atomic_store(&t->page->touches.unseen_bytes, (int64_t)(unseen * t->page_bytes));
	return unseen;
}

static void put_resident(struct touched *t, struct toucher *p, int64_t now_ns)
{
	struct space *space = spaces_get(t->spaces, p->pid);
	const struct parts parts = parts_of(p);
	uint64_t rest = p->resident;
	const struct sampled whole = { p->pid, p->pid, now_ns, (int64_t)t->page_bytes };
	struct looked one = { .kind = SAMPLE_RESIDENT };

	if (p->n)
		qsort(p->touch, p->n, sizeof *p->touch, by_node);
	for (uint32_t i = 0; i < p->n;) {
		double pages = 0;

		one.node = p->touch[i].node;
		for (; i < p->n && p->touch[i].node == one.node; i++)
			pages += placed_of(p, &p->touch[i], &parts);
		one.weight = (uint64_t)(pages + 0.5) < rest ? (uint64_t)(pages + 0.5) : rest;
		rest -= one.weight;
		profile_look(t->profile, space, &whole, &one);
	}
	one.node = profile_unseen(t->profile);
	one.weight = rest;
	profile_look(t->profile, space, &whole, &one);
}

static uint64_t resident(const struct touched *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= PROCESSES_MAX; i++)
		sum += t->process[i].pid ? t->process[i].resident : 0;
	return sum;
}

static bool look_at_all(struct touched *t, bool all)
{
	bool young = false;

	for (uint32_t i = 1; i <= PROCESSES_MAX; i++)
		if (t->process[i].pid) {
			look_at_process(t, i, all);
			young |= t->process[i].young > 0;
		}
	atomic_fetch_add(&t->page->touches.looks, 1);
	if (all)
		t->all_ns = clock_mono_ns();
	return young;
}

/* Now and then, and when there was never as much. */
static bool is_worth_it(struct touched *t, int64_t now_ns)
{
	int64_t rest_ns = (now_ns - t->began_ns) / TOLD_PART, over_ns;
	uint64_t has = resident(t);

	if (rest_ns < TOLD_LEAST_MS * NS_PER_MS)
		rest_ns = TOLD_LEAST_MS * NS_PER_MS;
	over_ns = now_ns - t->told_ns - rest_ns;
	if (has < t->low)
		t->low = has;
	if (has > t->most + t->most * PEAK_PERCENT / 100)
		return true;
	return has && over_ns >= 0 &&
	       (over_ns >= LOW_MS * NS_PER_MS || has <= t->low + t->low * LOW_PERCENT / 100);
}

static void tell(struct touched *t)
{
	int64_t now_ns;
	uint64_t has;

	look_at_all(t, true);
	now_ns = clock_mono_ns();
	has = resident(t);
	(void)weigh(t);
	for (uint32_t i = 1; i <= PROCESSES_MAX; i++)
		if (t->process[i].pid)
			put_resident(t, &t->process[i], now_ns);
	t->told_ns = now_ns;
	t->low = has;
	if (has > t->most)
		t->most = has;
}

void touched_look(struct touched *t)
{
	int64_t began_ns = clock_cpu_ns(), now_ns = clock_mono_ns(), rest_ns, least_ns;
	bool young = look_at_all(t, now_ns - t->all_ns >= ALL_MS * NS_PER_MS);

	gate_look(t->gate, resident(t), t->gate->state == GATE_WINDOWS ? weigh(t) : 0, now_ns);
	if (is_worth_it(t, now_ns))
		tell(t);
	least_ns = (t->gate->state == GATE_WINDOWS ? CHURN_MS
		    : young                        ? LOOK_MS
						   : IDLE_MS) *
		   NS_PER_MS;
	rest_ns = (clock_cpu_ns() - began_ns) * 1000 / SHARE * 1000;
	t->due_ns = t->nprocesses ? clock_mono_ns() + (rest_ns > least_ns ? rest_ns : least_ns)
				  : INT64_MAX;
}

bool touched_is_urgent(const struct touched *t)
{
	return t->has_python;
}

int64_t touched_due_ns(const struct touched *t)
{
	return t->due_ns;
}

void touched_finish(struct touched *t)
{
	if (t->nprocesses)
		tell(t);
	for (uint32_t i = 1; i <= PROCESSES_MAX; i++)
		if (t->process[i].pid)
			drop(t, i);
}
