/* SPDX-License-Identifier: Apache-2.0 */
#include "files/rings.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	CPUS_MOST = 64,
	PAGES_MOST = 1024, /* of a ring */
	PAGES_USUAL = 256,
	PAGES_LEAST = 8,
	PAGES_OF_ALL = 16384,
	STACK_BYTES = 1024, /* of the copy */
	QUEUE_MOST = 1 << 16,
	WRITTEN_NS = 200000, /* what is younger another CPU may not have written yet */
	TAKE_MS = 20,
	HELD_NS = 20000000, /* until it shows whether a name in memory was overwritten */
	RECORD_MOST = 65536,
	RING_QUEUE = 1 << 14,
	READERS = 6, /* of a ring, */
	READERS_OF_ALL = 48,
	LOOK_MS = 1000,
	READER_STACK = 256 * 1024,
};

struct ring {
	int fd; /* of the event that has it; -1: this CPU has none */
	struct perf_event_mmap_page *page;
	size_t bytes; /* of its data */
	int wakes;    /* an epoll: of the events that wake its readers */
	bool is_read; /* by readers */
	/* Of whoever holds it. */
	pthread_mutex_t lock;
	struct traced *queue;
	size_t n;
	uint64_t lost;
	_Alignas(8) uint8_t record[RECORD_MOST];
	uint64_t all_lost; /* when it was looked at last */
	/* What the reader needs of all of them. */
	const struct records *records;
	uint32_t cpu;
	int much; /* an eventfd: there is much */
};

struct rings {
	struct records records;
	struct ring ring[CPUS_MOST];
	uint32_t ncpus;
	size_t pages; /* of a ring, if the kernel lets this user have that many */
	int woken;    /* an eventfd */
	struct traced *queue;
	size_t n;
};

/* ---- opening ---- */

static void raise_limits(void)
{
	struct rlimit most;

	if (!getrlimit(RLIMIT_NOFILE, &most)) {
		most.rlim_cur = most.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &most);
	}
	if (!getrlimit(RLIMIT_MEMLOCK, &most)) {
		most.rlim_cur = most.rlim_max;
		(void)setrlimit(RLIMIT_MEMLOCK, &most);
	}
}

/* What may be locked in memory is for the rings of all CPUs: half of it for these. */
static size_t pages_of_ring(uint32_t ncpus)
{
	struct rlimit most;
	size_t pages = PAGES_MOST;
	rlim_t each;

	if (getrlimit(RLIMIT_MEMLOCK, &most))
		return PAGES_USUAL;
	each = most.rlim_cur / 2 / 4096 / ncpus;
	while (pages > PAGES_USUAL && (pages > each || pages * ncpus > PAGES_OF_ALL))
		pages /= 2;
	return pages;
}

int rings_new(struct rings **out, struct err *e)
{
	struct rings *r = calloc(1, sizeof *r);
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int bad;

	*out = r;
	if (r)
		r->queue = calloc(QUEUE_MOST, sizeof *r->queue);
	if (!r || !r->queue)
		return err_set(e, -ENOMEM, "out of memory for the records of system calls");
	if (cpus > CPUS_MOST)
		return err_set(e, -EOPNOTSUPP,
			       "on more than %d CPUs events of system calls would slow each start "
			       "of a process",
			       CPUS_MOST);
	r->ncpus = (uint32_t)cpus;
	r->woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (uint32_t i = 0; i < r->ncpus; i++) {
		struct ring *ring = &r->ring[i];

		ring->fd = -1;
		ring->cpu = i;
		ring->records = &r->records;
		ring->much = r->woken;
		ring->wakes = epoll_create1(EPOLL_CLOEXEC);
		(void)pthread_mutex_init(&ring->lock, NULL);
	}
	bad = records_open(&r->records, e);
	raise_limits();
	r->pages = pages_of_ring(r->ncpus);
	return bad;
}

static struct perf_event_attr attr_inherited(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){ .size = sizeof(struct perf_event_attr),
					 .type = type,
					 .config = config,
					 .exclude_kernel = 1,
					 .inherit = 1,
					 .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
					 .use_clockid = 1,
					 .clockid = CLOCK_MONOTONIC };
}

static struct perf_event_attr attr_of(const struct call *c, uint32_t id, bool leaves)
{
	struct perf_event_attr a = attr_inherited(PERF_TYPE_TRACEPOINT, id);

	a.sample_period = 1;
	a.sample_type |= PERF_SAMPLE_RAW;
	if (leaves && call_has_registers(c)) {
		a.sample_type |= PERF_SAMPLE_REGS_USER;
		a.sample_regs_user = RECORD_REGISTERS;
	}
	if (leaves && call_is_named(c)) {
		a.sample_type |= PERF_SAMPLE_STACK_USER;
		a.sample_stack_user = STACK_BYTES;
		a.watermark = c->kind == CALL_STAT_FD;
		a.wakeup_events = 1; /* its name may be gone soon */
	} else {
		a.watermark = 1;
		a.wakeup_watermark = 1 << 30;
	}
	return a;
}

/* Tells of starts and ends of tasks, and has the ring. */
static struct perf_event_attr attr_of_tasks(size_t bytes)
{
	struct perf_event_attr a = attr_inherited(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	a.task = a.comm = a.comm_exec = a.mmap = a.mmap2 = a.mmap_data = a.sample_id_all = 1;
	a.watermark = 1;
	a.wakeup_watermark = (uint32_t)(bytes / 16);
	return a;
}

static int open_event(struct perf_event_attr *a, pid_t tid, int cpu, int into)
{
	int fd = (int)syscall(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (into >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, into))
		return -errno;
	return fd;
}

static void start_readers(struct ring *ring, uint32_t rings);

/* What its tasks record wakes the readers, too. */
static void add_task(const struct ring *ring, int fd)
{
	struct epoll_event wakes = { .events = EPOLLIN | EPOLLET };

	(void)epoll_ctl(ring->wakes, EPOLL_CTL_ADD, fd, &wakes);
}

static int map_ring(struct ring *ring, size_t pages)
{
	void *memory = MAP_FAILED;

	ring->queue = calloc(RING_QUEUE, sizeof *ring->queue);
	if (!ring->queue)
		return -ENOMEM;
	for (; pages >= PAGES_LEAST; pages /= 2) {
		memory = mmap(NULL, (pages + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			      ring->fd, 0);
		if (memory != MAP_FAILED)
			break;
	}
	if (memory == MAP_FAILED)
		return -errno;
	ring->bytes = pages * 4096;
	ring->page = memory;
	return 0;
}

static int open_ring(struct rings *r, pid_t tid, uint32_t cpu)
{
	struct ring *ring = &r->ring[cpu];
	struct perf_event_attr a = attr_of_tasks(r->pages * 4096);
	int fd = open_event(&a, tid, (int)cpu, ring->page ? ring->fd : -1), bad = 0;

	if (fd < 0)
		return fd;
	if (!ring->page) {
		ring->fd = fd;
		bad = map_ring(ring, r->pages);
	}
	if (bad)
		return bad;
	add_task(ring, fd);
	if (!ring->is_read)
		start_readers(ring, r->ncpus);
	return 0;
}

static int add_on_cpu(struct rings *r, pid_t tid, uint32_t cpu)
{
	int bad = open_ring(r, tid, cpu);

	for (uint32_t i = 0; i < ncalls && bad >= 0; i++) {
		struct perf_event_attr a = attr_of(&calls[i], r->records.ids.exit[i], true);

		if (!r->records.ids.exit[i])
			continue;
		bad = open_event(&a, tid, (int)cpu, r->ring[cpu].fd);
		if (bad < 0 || !calls[i].timed)
			continue;
		a = attr_of(&calls[i], r->records.ids.enter[i], false);
		bad = open_event(&a, tid, (int)cpu, r->ring[cpu].fd);
	}
	return bad < 0 ? bad : 0;
}

int rings_add(struct rings *r, pid_t tid, struct err *e)
{
	int any = 0, bad = -ENODEV;

	for (uint32_t cpu = 0; cpu < r->ncpus; cpu++) {
		int one = add_on_cpu(r, tid, cpu);

		any += !one;
		if (one && one != -ENODEV) /* a CPU that is off */
			return err_set(e, one, "the kernel refuses events of system calls: %s",
				       strerror(-one));
		bad = any ? 0 : one;
	}
	return bad;
}

/* ---- reading ---- */

/* As much as there is room for. Its lock is held. */
static void read_ring(struct ring *ring)
{
	const uint8_t *data = (const uint8_t *)ring->page + 4096;
	uint64_t head = atomic_load_explicit((_Atomic uint64_t *)(void *)&ring->page->data_head,
					     memory_order_acquire),
		 at = ring->page->data_tail;

	while (at < head && ring->n < RING_QUEUE) {
		struct perf_event_header h;
		size_t from = (size_t)(at % ring->bytes), first = ring->bytes - from;

		memcpy(&h, data + from, sizeof h); /* they are aligned */
		if (h.size < sizeof h)
			break;
		if (first > h.size)
			first = h.size;
		memcpy(ring->record, data + from, first);
		memcpy(ring->record + first, data, h.size - first);
		ring->n += record_take(ring->records, ring->record, h.size, &ring->queue[ring->n],
				       &ring->lost);
		at += h.size;
		atomic_store_explicit((_Atomic uint64_t *)(void *)&ring->page->data_tail, at,
				      memory_order_release);
	}
}

/* On the CPU of its ring: the kernel lets it run as soon as a call has been recorded, before the
 * program goes on, and the names are still there. On another one it waits for its turn. It has a
 * turn only while it has used less than its share; so there are several, that take turns. */
static void *read_always(void *of)
{
	struct ring *ring = of;
	struct epoll_event woken;
	uint64_t one = 1;

	for (;;) {
		bool much;

		(void)epoll_wait(ring->wakes, &woken, 1, LOOK_MS);
		pthread_mutex_lock(&ring->lock);
		read_ring(ring);
		much = ring->n > RING_QUEUE / 2;
		pthread_mutex_unlock(&ring->lock);
		if (much)
			(void)!write(ring->much, &one, sizeof one);
	}
	return NULL;
}

static void start_readers(struct ring *ring, uint32_t rings)
{
	uint32_t each = rings < READERS_OF_ALL ? READERS_OF_ALL / rings : 1;
	pthread_attr_t a;
	pthread_t reader;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(ring->cpu, &cpu);
	if (pthread_attr_init(&a))
		return;
	(void)pthread_attr_setstacksize(&a, READER_STACK);
	(void)pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	if (!pthread_attr_setaffinity_np(&a, sizeof cpu, &cpu))
		for (uint32_t i = 0; i < each && i < READERS; i++)
			ring->is_read |= !pthread_create(&reader, &a, read_always, ring);
	(void)pthread_attr_destroy(&a);
}

bool rings_wait(struct rings *r, int fd, int timeout_ms)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
			       { .fd = r->woken, .events = POLLIN } };
	uint64_t times;

	if (r->n && timeout_ms > TAKE_MS)
		timeout_ms = TAKE_MS;
	if (poll(p, 2, timeout_ms) <= 0)
		return false;
	if (p[1].revents)
		(void)!read(r->woken, &times, sizeof times);
	return p[0].revents;
}

/* All that is in it by now, behind the others: what comes after it is younger. */
static void collect(struct rings *r, struct ring *ring)
{
	size_t n;

	pthread_mutex_lock(&ring->lock);
	do {
		read_ring(ring);
		n = ring->n < QUEUE_MOST - r->n ? ring->n : QUEUE_MOST - r->n;
		memcpy(r->queue + r->n, ring->queue, n * sizeof *r->queue);
		memmove(ring->queue, ring->queue + n, (ring->n - n) * sizeof *ring->queue);
		r->n += n;
		ring->n -= n;
	} while (n == RING_QUEUE);
	ring->all_lost = ring->lost;
	pthread_mutex_unlock(&ring->lock);
}

static int by_time(const void *x, const void *y)
{
	const struct traced *a = x, *b = y;

	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

void rings_take(struct rings *r, bool all, void (*take)(void *to, struct traced *t, size_t later),
		void *to)
{
	int64_t until_ns = all ? INT64_MAX : clock_mono_ns() - WRITTEN_NS;
	size_t done = 0;

	for (uint32_t i = 0; i < r->ncpus; i++)
		if (r->ring[i].page)
			collect(r, &r->ring[i]);
	qsort(r->queue, r->n, sizeof *r->queue, by_time);
	for (; done < r->n; done++) {
		struct traced *t = &r->queue[done];

		if ((t->time_ns > until_ns ||
		     t->seen_ns > until_ns - (t->from_memory ? HELD_NS : 0)) &&
		    r->n < QUEUE_MOST)
			break;
		take(to, t, r->n - done - 1);
		free(t->name);
		free(t->link);
	}
	memmove(r->queue, r->queue + done, (r->n - done) * sizeof *r->queue);
	r->n -= done;
}

uint64_t rings_lost(const struct rings *r)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < r->ncpus; i++)
		lost += r->ring[i].all_lost;
	return lost;
}
