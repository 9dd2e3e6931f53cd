/* SPDX-License-Identifier: Apache-2.0 */
#include "files/rings.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	CPUS_MOST = 64,
	IDS_MOST = 65536,
	PAGES_MOST = 256, /* of a ring */
	PAGES_LEAST = 8,
	STACK_BYTES = 1024, /* of the copy */
	QUEUE_MOST = 1 << 16,
	WRITTEN_NS = 200000, /* what is younger another CPU may not have written yet */
	HELD_NS = 20000000,  /* until it shows whether a name in memory was overwritten */
	RECORD_MOST = 65536,
};

/* Bits of the kernel's numbers of registers: AX DX SI DI SP R10, in the order of a record. */
enum { REGISTERS = 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 18 };
enum { AX, DX, SI, DI, SP, R10, NREGISTERS };

struct ring {
	int fd; /* of the event that has it; -1: this CPU has none */
	struct perf_event_mmap_page *page;
};

struct rings {
	struct calls_ids ids;
	uint8_t what[IDS_MOST]; /* of a tracepoint: index of its call * 2 + exit, + 1 */
	struct ring ring[CPUS_MOST];
	uint32_t ncpus;
	size_t bytes; /* of a ring's data */
	uint64_t lost;
	struct traced *queue;
	size_t n;
	_Alignas(8) uint8_t record[RECORD_MOST];
};

/* ---- opening ---- */

static void raise_limit(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most))
		return;
	most.rlim_cur = most.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &most);
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
	for (uint32_t i = 0; i < r->ncpus; i++)
		r->ring[i].fd = -1;
	bad = calls_find(&r->ids, e);
	for (uint32_t i = 0; i < ncalls && !bad; i++) {
		if (r->ids.exit[i] < IDS_MOST)
			r->what[r->ids.exit[i]] = (uint8_t)(i * 2 + 2);
		if (calls[i].timed && r->ids.enter[i] < IDS_MOST)
			r->what[r->ids.enter[i]] = (uint8_t)(i * 2 + 1);
	}
	raise_limit();
	return bad;
}

static bool is_named(const struct call *c)
{
	return c->kind == CALL_OPEN || c->kind == CALL_OPEN_AT || c->kind == CALL_STAT ||
	       c->kind == CALL_STAT_AT || c->kind == CALL_STAT_FD;
}

/* Is a directory its first argument? */
static bool is_at(const struct call *c)
{
	return c->kind == CALL_OPEN_AT || c->kind == CALL_STAT_AT;
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
	if (leaves) {
		a.sample_type |= PERF_SAMPLE_REGS_USER;
		a.sample_regs_user = REGISTERS;
	}
	if (leaves && is_named(c)) {
		a.sample_type |= PERF_SAMPLE_STACK_USER;
		a.sample_stack_user = STACK_BYTES;
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

	a.task = a.comm = a.comm_exec = a.sample_id_all = 1;
	a.watermark = 1;
	a.wakeup_watermark = (uint32_t)(bytes / 4);
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

static int open_ring(struct rings *r, pid_t tid, uint32_t cpu)
{
	size_t pages = r->bytes ? r->bytes / 4096 : PAGES_MOST;
	struct ring *ring = &r->ring[cpu];
	struct perf_event_attr a = attr_of_tasks(pages * 4096);
	void *memory = MAP_FAILED;
	int fd = open_event(&a, tid, (int)cpu, ring->page ? ring->fd : -1);

	if (fd < 0 || ring->page)
		return fd < 0 ? fd : 0;
	for (; pages >= PAGES_LEAST; pages /= 2) {
		memory = mmap(NULL, (pages + 1) * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (memory != MAP_FAILED || r->bytes)
			break;
	}
	if (memory == MAP_FAILED) {
		int bad = -errno;

		close(fd);
		return bad;
	}
	r->bytes = pages * 4096;
	ring->fd = fd;
	ring->page = memory;
	return 0;
}

static int add_on_cpu(struct rings *r, pid_t tid, uint32_t cpu)
{
	int bad = open_ring(r, tid, cpu);

	for (uint32_t i = 0; i < ncalls && bad >= 0; i++) {
		struct perf_event_attr a = attr_of(&calls[i], r->ids.exit[i], true);

		bad = open_event(&a, tid, (int)cpu, r->ring[cpu].fd);
		if (bad < 0 || !calls[i].timed)
			continue;
		a = attr_of(&calls[i], r->ids.enter[i], false);
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

struct sample_head {
	struct perf_event_header h;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t raw_bytes;
	uint16_t type;
};

struct task_record {
	struct perf_event_header h;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

static char *keep(const char *text)
{
	return strdup(text);
}

static void look_for_name(struct traced *t, const struct name_at *at)
{
	char text[NAME_MOST];

	if (name_read(at, text)) {
		t->name = keep(text);
		t->from_memory = !(at->address >= at->stack_at &&
				   at->address - at->stack_at < at->stack_bytes);
	}
	if (t->result >= 0 && (t->call->kind == CALL_OPEN || t->call->kind == CALL_OPEN_AT) &&
	    name_of_fd(t->pid, (int)t->result, text) > 0)
		t->link = keep(text);
	t->seen_ns = clock_mono_ns();
}

/* The kernel's answer, where it lies in the copy: struct stat begins with device and inode. */
static void take_inode(struct traced *t, const struct name_at *at)
{
	uint64_t to = t->arg[t->call->kind == CALL_STAT_FD ? 1 : 2], in = to - at->stack_at;

	if (t->result || strstr(t->call->name, "fstat") == NULL || to < at->stack_at ||
	    in + 16 > at->stack_bytes)
		return;
	memcpy(&t->device, at->stack + in, 8);
	memcpy(&t->inode, at->stack + in + 8, 8);
}

static void take_registers(struct traced *t, const uint8_t *at, size_t n)
{
	uint64_t word[1 + NREGISTERS + 1], stack = 0;
	const uint64_t *reg = word + 1;
	struct name_at name = { .pid = t->pid };

	if (n < (1 + NREGISTERS) * sizeof *word)
		return;
	memcpy(word, at, (1 + NREGISTERS) * sizeof *word);
	if (!word[0])
		return;
	t->result = (int64_t)reg[AX];
	t->arg[0] = reg[DI];
	t->arg[1] = reg[SI];
	t->arg[2] = reg[DX];
	t->arg[3] = reg[R10];
	if (!is_named(t->call))
		return;
	at += (1 + NREGISTERS) * sizeof *word;
	n -= (1 + NREGISTERS) * sizeof *word;
	if (n >= sizeof stack)
		memcpy(&stack, at, sizeof stack);
	name.stack = (const char *)at + sizeof stack;
	name.stack_bytes = n >= sizeof stack && stack <= n - sizeof stack ? (size_t)stack : 0;
	if (name.stack_bytes) { /* how much of it was there */
		uint64_t had = 0;

		if (n >= 2 * sizeof stack + stack)
			memcpy(&had, name.stack + stack, sizeof had);
		name.stack_bytes = had < stack ? (size_t)had : (size_t)stack;
	}
	name.stack_at = reg[SP];
	take_inode(t, &name);
	if (t->call->kind == CALL_STAT_FD)
		return;
	name.address = t->arg[is_at(t->call)];
	look_for_name(t, &name);
}

static bool take_sample(struct rings *r, const uint8_t *at, size_t n, struct traced *t)
{
	struct sample_head s;
	int32_t nr;
	size_t behind;
	uint8_t what;

	if (n < sizeof s + 12)
		return false;
	memcpy(&s, at, sizeof s);
	what = r->what[s.type];
	memcpy(&nr, at + offsetof(struct sample_head, type) + 8, sizeof nr);
	behind = offsetof(struct sample_head, type) + s.raw_bytes;
	if (!what || (what - 1) / 2 >= (int)ncalls || nr != calls[(what - 1) / 2].nr || behind > n)
		return false;
	*t = (struct traced){ .time_ns = (int64_t)s.time,
			      .pid = (pid_t)s.pid,
			      .tid = (pid_t)s.tid,
			      .kind = what % 2 ? TRACED_ENTER : TRACED_EXIT,
			      .call = &calls[(what - 1) / 2] };
	if (t->kind == TRACED_EXIT)
		take_registers(t, at + behind, n - behind);
	return true;
}

static bool take_record(struct rings *r, const uint8_t *at, struct traced *t)
{
	struct task_record task = { .time = 0 };
	uint64_t lost, time;

	memcpy(&task, at, sizeof task.h);
	if (task.h.type == PERF_RECORD_SAMPLE)
		return take_sample(r, at, task.h.size, t);
	if (task.h.type == PERF_RECORD_LOST && task.h.size >= sizeof task.h + 16) {
		memcpy(&lost, at + sizeof task.h + 8, sizeof lost);
		r->lost += lost;
		return false;
	}
	if (task.h.size < sizeof task.h + 24)
		return false;
	memcpy(&time, at + task.h.size - 8, sizeof time);
	if (task.h.type == PERF_RECORD_COMM && task.h.misc & PERF_RECORD_MISC_COMM_EXEC) {
		*t = (struct traced){ .kind = TRACED_EXEC, .time_ns = (int64_t)time };
		memcpy(&t->pid, at + sizeof task.h, sizeof t->pid);
		memcpy(t->comm, at + sizeof task.h + 8, sizeof t->comm - 1);
		return true;
	}
	if ((task.h.type != PERF_RECORD_FORK && task.h.type != PERF_RECORD_EXIT) ||
	    task.h.size < sizeof task)
		return false;
	memcpy(&task, at, sizeof task);
	*t = (struct traced){ .kind = task.h.type == PERF_RECORD_FORK ? TRACED_FORK : TRACED_END,
			      .time_ns = (int64_t)task.time,
			      .pid = (pid_t)task.pid,
			      .tid = (pid_t)task.tid,
			      .parent = (pid_t)task.parent };
	return true;
}

static void read_ring(struct rings *r, const struct ring *ring)
{
	const uint8_t *data = (const uint8_t *)ring->page + 4096;
	uint64_t head = atomic_load_explicit((_Atomic uint64_t *)(void *)&ring->page->data_head,
					     memory_order_acquire),
		 at = ring->page->data_tail;

	while (at < head && r->n < QUEUE_MOST) {
		struct perf_event_header h;
		size_t from = (size_t)(at % r->bytes), first = r->bytes - from;

		memcpy(&h, data + from, sizeof h); /* they are aligned */
		if (h.size < sizeof h)
			break;
		if (first > h.size)
			first = h.size;
		memcpy(r->record, data + from, first);
		memcpy(r->record + first, data, h.size - first);
		r->n += take_record(r, r->record, &r->queue[r->n]);
		at += h.size;
		atomic_store_explicit((_Atomic uint64_t *)(void *)&ring->page->data_tail, at,
				      memory_order_release);
	}
}

bool rings_wait(struct rings *r, int fd, int timeout_ms)
{
	struct pollfd p[CPUS_MOST + 1] = { { .fd = fd, .events = POLLIN } };

	for (uint32_t i = 0; i < r->ncpus; i++)
		p[i + 1] = (struct pollfd){ .fd = r->ring[i].fd, .events = POLLIN };
	if (poll(p, r->ncpus + 1, timeout_ms) <= 0)
		return false;
	for (uint32_t i = 0; i < r->ncpus; i++) /* whose tasks have all ended */
		if (p[i + 1].revents & (POLLHUP | POLLERR))
			(void)poll(NULL, 0, 1);
	return p[0].revents;
}

static int by_time(const void *x, const void *y)
{
	const struct traced *a = x, *b = y;

	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

void rings_take(struct rings *r, bool all,
		void (*take)(void *to, const struct traced *t, size_t later), void *to)
{
	int64_t until_ns = all ? INT64_MAX : clock_mono_ns() - WRITTEN_NS;
	size_t done = 0;

	for (uint32_t i = 0; i < r->ncpus; i++)
		if (r->ring[i].page)
			read_ring(r, &r->ring[i]);
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
	return r->lost;
}

bool traced_link_spoiled(const struct traced *t, size_t later)
{
	for (const struct traced *l = t + 1; later && l->time_ns <= t->seen_ns; l++, later--)
		if (l->pid == t->pid && l->kind == TRACED_EXIT && l->call->kind == CALL_CLOSE &&
		    l->arg[0] == (uint64_t)t->result)
			return true;
	return false;
}

bool traced_name_spoiled(const struct traced *t, size_t later)
{
	bool at = is_at(t->call);

	for (const struct traced *l = t + 1; t->from_memory && later; l++, later--)
		if (l->pid == t->pid && l->kind == TRACED_EXIT && is_named(l->call) &&
		    l->arg[is_at(l->call)] == t->arg[at] &&
		    (!l->name || !t->name || !strcmp(l->name, t->name)))
			return true;
	return false;
}
