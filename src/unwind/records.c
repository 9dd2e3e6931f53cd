/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/records.h"

#include "source/program/stacks_events.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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
