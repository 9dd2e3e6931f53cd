/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/records.h"

#include "base/clock.h"
#include "source/program/stacks_events.h"
#include "unwind/names.h"
#include "unwind/work.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t get(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

bool record_sample(const struct record_view *r, uint32_t faults, struct record_sample *s)
{
	const uint8_t *at = r->body, *end = r->body + r->n;
	uint64_t abi, size, used;

	*s = (struct record_sample){ 0 };
	if (r->n < 32)
		return false;
	s->in_kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	memcpy(&s->pid, at, sizeof s->pid);
	memcpy(&s->tid, at + 4, sizeof s->tid);
	s->time_ns = (int64_t)get(at + 8);
	*(faults ? &s->address : (uint64_t *)&s->period) = get(at + 16);
	abi = get(at + 24);
	at += 32;
	if (abi) {
		if ((size_t)(end - at) < sizeof s->registers)
			return false;
		memcpy(s->registers, at, sizeof s->registers);
		s->has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
		at += sizeof s->registers;
	}
	if (end - at < 8)
		return false;
	size = get(at);
	at += 8;
	if (faults)
		s->period = faults_period(faults, size);
	if (!size)
		return true;
	if ((uint64_t)(end - at) < 8 || (uint64_t)(end - at) - 8 < size)
		return false;
	used = get(at + size);
	s->stack = at;
	s->stack_size = used < size ? used : size;
	return true;
}

/* In a sample it is behind pid and tid; elsewhere last. */
static int64_t time_of(const struct record_ring *r, uint64_t tail,
		       const struct perf_event_header *h)
{
	uint64_t at = h->type == PERF_RECORD_SAMPLE ? tail + 16 : tail + h->size - 8, v;

	if (h->size < 24)
		return 0;
	memcpy(&v, r->data + at % r->size, sizeof v);
	return (int64_t)v;
}

/* The header of the ring's first record; false: it has none. */
static bool peek(const struct record_ring *r, struct perf_event_header *h, int64_t *time_ns)
{
	uint64_t head, tail;

	if (!r->page)
		return false;
	head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	tail = r->page->data_tail;
	if (head - tail < sizeof *h)
		return false;
	memcpy(h, r->data + tail % r->size, sizeof *h);
	if (h->size < sizeof *h || h->size % 8 || h->size > head - tail) {
		/* Not a record: all there is is passed over. */
		__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
		return false;
	}
	*time_ns = time_of(r, tail, h);
	return true;
}

/* In one piece, where it wraps by a copy. */
static struct record_view view(const struct record_ring *r, const struct perf_event_header *h,
			       uint8_t *room)
{
	uint64_t at = r->page->data_tail % r->size, rest = r->size - at;
	const uint8_t *whole = r->data + at;

	if (rest < h->size) {
		memcpy(room, whole, rest);
		memcpy(room + rest, r->data, h->size - rest);
		whole = room;
	}
	return (struct record_view){ .body = whole + sizeof *h,
				     .n = h->size - sizeof *h,
				     .type = h->type,
				     .misc = h->misc };
}

void records_drain(const struct record_ring *rings, size_t n, int64_t until_ns,
		   void (*take)(void *context, const struct record_view *r), void *context)
{
	static uint8_t room[RECORD_MAX];

	for (;;) {
		const struct record_ring *from = NULL;
		struct perf_event_header best = { 0 }, h;
		int64_t earliest = INT64_MAX, time_ns;
		struct record_view v;

		for (size_t i = 0; i < n; i++) {
			if (!peek(&rings[i], &h, &time_ns) || (from && time_ns >= earliest))
				continue;
			from = &rings[i];
			earliest = time_ns;
			best = h;
		}
		if (!from || earliest > until_ns)
			return;
		v = view(from, &best, room);
		v.time_ns = earliest;
		v.ring = (uint32_t)(from - rings);
		take(context, &v);
		__atomic_store_n(&from->page->data_tail, from->page->data_tail + best.size,
				 __ATOMIC_RELEASE);
	}
}

int slot_event_open(struct slot_event *e, pid_t tid, int64_t period_ns, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = stacks_event_open(tid, period_ns, size);
	void *map;

	*e = (struct slot_event){ 0 };
	if (fd < 0)
		return fd == -EPERM ? -EACCES : fd;
	map = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int bad = -errno;

		close(fd);
		return bad;
	}
	*e = (struct slot_event){
		fd, size + page, { map, (const uint8_t *)map + page, size }, .lost = 0
	};
	return 0;
}

void slot_event_close(struct slot_event *e)
{
	if (e->ring.page)
		munmap(e->ring.page, e->ring.size + (size_t)sysconf(_SC_PAGESIZE));
	if (e->fd > 0)
		close(e->fd);
	*e = (struct slot_event){ 0 };
}

int64_t slot_event_count_ns(const struct slot_event *e)
{
	return stacks_event_read(e->fd, NULL);
}

int64_t slot_event_lost(struct slot_event *e)
{
	int64_t lost, before = e->lost;

	stacks_event_read(e->fd, &lost);
	if (lost < 0)
		return -1;
	e->lost = lost;
	return lost - before;
}

void slot_event_period(const struct slot_event *e, int64_t period_ns)
{
	uint64_t period = (uint64_t)period_ns;

	(void)ioctl(e->fd, PERF_EVENT_IOC_PERIOD, &period); /* else it stays as it is */
}

enum {
	PERIOD_NS = 1000 * 1000,
	SAMPLED_NS = 20 * 1000 * 1000, /* in which one that has a core uses it, */
	TURNS = 50, /* and so often while one has none: it was in the kernel, or had no core */
};

/* Whose stack is walked, and what was copied of it. */
struct walked {
	const struct sample_place *in;
	const struct stack_copy *stack;
};

static bool place_of(const void *of, uint64_t pc, struct place *place)
{
	const struct walked *w = of;
	const struct space *space = w->in->space;
	uint64_t start;

	if (!walk_place(space, w->in->modules, pc, place))
		return false;
	if (place->module == MODULE_JIT) {
		place->function = space->jit ? jit_name(space->jit, pc, &start) : NULL;
		place->address = place->function ? start : pc & ~UINT64_C(4095);
	}
	return true;
}

static enum step step_from(const void *of, const struct place *place, uint64_t pc,
			   struct registers *r)
{
	const struct walked *w = of;
	struct module *m = &w->in->modules->row[place->module];
	const struct registers was = *r;
	enum step step = STEP_LOST;

	(void)pc;
	work_on(m);
	if (m->usable)
		step = frame_step(w->in->rows, m, place->module, place->address, r, w->stack);
	work_on(NULL);
	if (step != STEP_LOST)
		return step;
	*r = was;
	return frame_step_by_pointer(r, w->stack);
}

/* Where there are no lines, all of a function is one place: so each is in the tree once, and not
 * with every instruction until its name is known. */
static void join_places(const struct sample_place *in, struct stack *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct place *p = &s->place[i];
		struct module *m = &in->modules->row[p->module];

		if (p->module < MODULE_VDSO || !m->lineless)
			continue;
		work_on(m);
		p->address = frame_function(in->rows, m, p->module, p->address);
		work_on(NULL);
	}
}

void sample_unwind(const struct sample_place *in, const struct record_sample *sample,
		   struct stack *out)
{
	struct registers r;
	struct stack_copy copy = { 0, sample->stack, sample->stack_size };
	const struct walked w = { in, &copy };

	out->n = 0;
	out->flags = FRAME_LOST_WAY;
	if (!sample->has_registers)
		return;
	registers_of_sample(&r, sample->registers);
	copy.at = r.v[REG_SP];
	walk(out, &r, &(struct walker){ &w, place_of, step_from });
	out->n += out->n == 0;
	join_places(in, out);
}

/* ---- of threads that run now ---- */

struct taking {
	void (*take)(void *context, uint32_t i, const struct record_sample *sample);
	void *context;
	uint64_t taken; /* bit i: of the thread i */
};

static void take_record(void *of, const struct record_view *v)
{
	struct taking *t = of;
	struct record_sample sample;

	if (v->type != PERF_RECORD_SAMPLE || t->taken >> v->ring & 1 ||
	    !record_sample(v, 0, &sample))
		return;
	t->taken |= UINT64_C(1) << v->ring;
	t->take(t->context, v->ring, &sample);
}

void sample_threads(const pid_t *tid, uint32_t n,
		    void (*take)(void *context, uint32_t i, const struct record_sample *sample),
		    void *context)
{
	const struct timespec a_little = { .tv_nsec = SAMPLED_NS };
	struct slot_event event[SAMPLE_THREADS];
	struct record_ring ring[SAMPLE_THREADS] = { { 0 } };
	struct taking t = { take, context, 0 };
	uint64_t wanted = 0;

	n = n < SAMPLE_THREADS ? n : SAMPLE_THREADS;
	for (uint32_t i = 0; i < n; i++)
		if (!slot_event_open(&event[i], tid[i], PERIOD_NS, stacks_ring_least())) {
			ring[i] = event[i].ring;
			wanted |= UINT64_C(1) << i;
		}
	for (int turn = 0; turn < TURNS && (!turn || t.taken != wanted); turn++) {
		nanosleep(&a_little, NULL);
		records_drain(ring, n, INT64_MAX, take_record, &t);
	}
	for (uint32_t i = 0; i < n; i++)
		slot_event_close(&event[i]);
}
