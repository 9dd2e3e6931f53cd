/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/exits.h"

#include "base/clock.h"
#include "source/cpulist.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	RECORD_PAGES = 32, /* 900 processes on one CPU, and these are taken out within 20 ms */
	COUNT_PAGES = 16,
	RING_PAGES_MIN = 4,
	RECORD_MAX = 256,
	EVENTS_MAX = 1024,
	LATER_TASKS_MAX = 1024,
};

struct ring {
	int cpu, fd;
	bool counts;     /* of READ records, else of all others */
	int64_t missing; /* counts that should have come */
	size_t first;    /* its first event, in fd[] */
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size, tail;
};

struct exits {
	struct ring ring[EXITS_FDS_MAX];
	int ring_fd[EXITS_FDS_MAX];
	size_t nrings, ncpus;
	struct {
		int fd;
		int ring; /* -1: writes into none */
	} * event;
	size_t nevents, events_max;
};

static size_t ring_pages(bool counts)
{
	return counts ? COUNT_PAGES : RECORD_PAGES;
}

static void event_attr(struct perf_event_attr *a, bool counts)
{
	*a = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof *a,
		.config = counts ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.inherit = 1,
		.inherit_stat = counts,
		.task = !counts,
		.comm = !counts,
		.comm_exec = !counts,
		.exclude_kernel =
			1, /* what paranoid 2 asks for; the task clock counts both modes anyway */
		.exclude_hv = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)sysconf(_SC_PAGESIZE),
	};
}

static int event_open(const struct perf_event_attr *a, pid_t tid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int ring_map(struct ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t pages = ring_pages(r->counts); pages >= RING_PAGES_MIN; pages /= 2) {
		void *m = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd,
			       0);

		if (m == MAP_FAILED)
			continue;
		r->page = m;
		r->data = (const uint8_t *)m + page;
		r->size = pages * page;
		r->tail = 0;
		return 0;
	}
	return -errno;
}

static void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, r->size + (size_t)sysconf(_SC_PAGESIZE));
	r->page = NULL;
}

static int ring_share(const struct exits *x, const struct ring *r)
{
	int ring = (int)(r - x->ring);

	for (size_t i = r->first + 1; i < x->nevents; i++)
		if (x->event[i].ring == ring &&
		    ioctl(x->event[i].fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
			return -errno;
	return 0;
}

/* 0 or -errno; *out is its number. */
static int add_event(struct exits *x, const struct perf_event_attr *a, pid_t tid, int ring,
		     size_t *out)
{
	int fd;

	if (x->nevents == x->events_max)
		return -E2BIG;
	fd = event_open(a, tid, ring < 0 ? -1 : x->ring[ring].cpu);
	if (fd < 0)
		return fd;
	*out = x->nevents++;
	x->event[*out].fd = fd;
	x->event[*out].ring = ring;
	return 0;
}

/* What holds the ring of tasks that come later: it counts nothing, and is there as long as this
 * process is. */
static void holder_attr(struct perf_event_attr *a)
{
	event_attr(a, false);
	a->inherit = a->task = a->comm = a->comm_exec = 0;
}

/* One CPU: the first event has the ring, the others write into it. */
static int watch_cpu(struct exits *x, int cpu, bool counts, const pid_t *tids, size_t n)
{
	int ring = (int)x->nrings, bad = 0;
	struct ring *r = &x->ring[ring];
	struct perf_event_attr a;
	size_t at, mine = 0;

	*r = (struct ring){ .cpu = cpu, .counts = counts, .first = x->nevents };
	if (n)
		event_attr(&a, counts);
	else
		holder_attr(&a);
	for (size_t i = 0; i < (n ? n : 1); i++) {
		bad = add_event(x, &a, n ? tids[i] : 0, ring, &at);
		if (bad && bad != -ESRCH)
			return bad;
		mine += !bad;
	}
	if (!mine)
		return -ESRCH;
	r->fd = x->ring_fd[x->nrings++] = x->event[r->first].fd;
	bad = ring_map(r);
	return bad ? bad : ring_share(x, r);
}

/* Two tasks with equal inherited events swap them at a context switch, and a task that ends with
 * the original ones gives no READ record. One event that is not inherited keeps the originals in
 * their place. */
static int pin_task(struct exits *x, pid_t tid)
{
	const struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof a,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	size_t at;

	return add_event(x, &a, tid, -1, &at);
}

int exits_add(struct exits *x, pid_t tid)
{
	size_t had = x->nevents, at;
	int bad = pin_task(x, tid);

	for (size_t i = 0; i < x->nrings && !bad; i++) {
		struct perf_event_attr a;

		event_attr(&a, x->ring[i].counts);
		bad = add_event(x, &a, tid, (int)i, &at);
		if (!bad && ioctl(x->event[at].fd, PERF_EVENT_IOC_SET_OUTPUT, x->ring[i].fd))
			bad = -errno;
	}
	while (bad && x->nevents > had)
		close(x->event[--x->nevents].fd);
	return bad;
}

int exits_open(struct exits **out, const pid_t *tids, size_t n, size_t cpus_max, struct err *e)
{
	int cpus[EXITS_CPUS_MAX], bad = 0;
	size_t ncpus = cpulist_possible(cpus, EXITS_CPUS_MAX);
	struct exits *x;

	*out = NULL;
	if (!ncpus || ncpus > cpus_max)
		return err_set(e, -EOPNOTSUPP,
			       "%zu CPUs are too many to watch exits with perf events", ncpus);
	x = calloc(1, sizeof *x);
	if (x)
		x->events_max = n ? EVENTS_MAX : LATER_TASKS_MAX * (2 * ncpus + 1);
	if (x)
		x->event = calloc(x->events_max, sizeof *x->event);
	if (!x || !x->event) {
		free(x);
		return err_set(e, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < n && !bad; i++) {
		bad = pin_task(x, tids[i]);
		bad = bad == -ESRCH ? 0 : bad;
	}
	for (size_t i = 0; i < 2 * ncpus && !bad; i++)
		bad = watch_cpu(x, cpus[i / 2], i % 2, tids, n);
	x->ncpus = ncpus;
	if (bad) {
		exits_close(x);
		return err_set(e, bad, "perf events are not available: %s", strerror(-bad));
	}
	*out = x;
	return 0;
}

void exits_close(struct exits *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->nrings; i++)
		ring_unmap(&x->ring[i]);
	for (size_t i = 0; i < x->nevents; i++)
		close(x->event[i].fd);
	free(x->event);
	free(x);
}

const int *exits_fds(const struct exits *x, size_t *n)
{
	*n = x->nrings;
	return x->ring_fd;
}

size_t exits_cpus(const struct exits *x)
{
	return x->ncpus;
}

/* The kernel's records: all 64-bit aligned, so fields can be copied out of a flat buffer. */
struct record {
	struct perf_event_header header;
	union {
		struct {
			uint32_t pid, ppid, tid, ptid;
			uint64_t time;
		} task;
		struct {
			uint32_t pid, tid;
			char comm[16];
		} comm;
		struct {
			uint32_t pid, tid;
			uint64_t value;
		} read;
		struct {
			uint64_t id, lost;
		} lost;
		uint8_t raw[RECORD_MAX];
	};
};

/* Copy the record at the ring's tail; false when it holds none. Its time is in its last 8 bytes. */
static bool ring_peek(const struct ring *r, struct record *out, int64_t *time)
{
	uint64_t head, at, n;

	if (!r->page || !r->size)
		return false;
	head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	at = r->tail % r->size;
	if (head - r->tail < sizeof out->header)
		return false;
	memset(out, 0, sizeof out->header + sizeof out->task);
	memcpy(&out->header, r->data + at,
	       sizeof out->header); /* 8 bytes, 8-aligned: never wraps */
	n = out->header.size;
	if (n > sizeof *out)
		n = sizeof *out;
	for (uint64_t i = sizeof out->header; i + 8 <= n; i += 8)
		memcpy((uint8_t *)out + i, r->data + (at + i) % r->size, 8);
	*time = 0;
	if (out->header.size >= 16)
		memcpy(time, r->data + (at + out->header.size - 8) % r->size, 8);
	return true;
}

/* Past a record; past all there is when it has no size of a record. */
static void ring_advance(struct ring *r, uint64_t n)
{
	uint64_t there = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE) - r->tail;

	r->tail += n < sizeof(struct perf_event_header) || n % 8 || n > there ? there : n;
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

static uint64_t hand_out(const struct record *r, int64_t time, const struct exits_handler *h)
{
	char comm[17] = "";

	switch (r->header.type) {
	case PERF_RECORD_FORK:
		h->forked(h->ctx, (pid_t)r->task.pid, (pid_t)r->task.ppid, (pid_t)r->task.tid,
			  time);
		break;
	case PERF_RECORD_EXIT:
		h->exited(h->ctx, (pid_t)r->task.pid, (pid_t)r->task.tid, time);
		break;
	case PERF_RECORD_COMM:
		memcpy(comm, r->comm.comm, 16);
		h->named(h->ctx, (pid_t)r->comm.pid, (pid_t)r->comm.tid, comm,
			 r->header.misc & PERF_RECORD_MISC_COMM_EXEC);
		break;
	case PERF_RECORD_READ:
		h->counted(h->ctx, (pid_t)r->read.pid, (int64_t)r->read.value);
		break;
	case PERF_RECORD_LOST:
		return r->lost.lost;
	default:
		break;
	}
	return 0;
}

/* How many counts are missing in each ring, after this record of ring r. */
static void expect_counts(struct exits *x, struct ring *r, uint32_t type)
{
	if (type == PERF_RECORD_READ)
		r->missing--;
	for (size_t i = 0; i < x->nrings && type == PERF_RECORD_EXIT; i++)
		x->ring[i].missing += x->ring[i].counts;
}

/* A ring of counts that is empty though counts are missing is stuck. */
static void free_the_stuck(struct exits *x)
{
	for (size_t i = 0; i < x->nrings; i++) {
		struct ring *r = &x->ring[i];

		if (r->missing > 0 && r->page && r->page->data_head == r->tail) {
			ring_unmap(r);
			if (!ring_map(r))
				ring_share(x, r);
		}
		r->missing = 0;
	}
}

/* The kernel says what it lost with the next record that fits. There may be none: a ring without
 * room for one has lost some. */
static uint64_t full_rings(const struct exits *x)
{
	uint64_t n = 0;

	for (size_t i = 0; i < x->nrings; i++) {
		const struct ring *r = &x->ring[i];
		uint64_t head =
			r->page ? __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE) : 0;

		n += r->page && head - r->tail + RECORD_MAX > r->size;
	}
	return n;
}

uint64_t exits_drain(struct exits *x, const struct exits_handler *h, int64_t until_ns)
{
	struct record best = { 0 }, r = { 0 };
	uint64_t lost = full_rings(x);

	for (;;) {
		struct ring *from = NULL;
		int64_t earliest = INT64_MAX, time;

		for (size_t i = 0; i < x->nrings; i++) {
			if (!ring_peek(&x->ring[i], &r, &time) || (from && time >= earliest))
				continue;
			from = &x->ring[i];
			earliest = time;
			best = r;
		}
		if (!from || earliest > until_ns)
			break;
		ring_advance(from, best.header.size);
		lost += hand_out(&best, earliest, h);
		expect_counts(x, from, best.header.type);
	}
	free_the_stuck(x);
	return lost;
}

enum {
	BUFFER_BYTES = 1 << 20,
	DATAGRAM_MAX = 512,
	TRIES_MAX = 4096,
	EVENT_MIN = 16,
	RECORDS_LAST = 1 << 20
};

/* The kernel's layout, with nothing between: nlmsghdr 16 bytes, cn_msg 20, then the event. */
enum { CN_AT = sizeof(struct nlmsghdr), EVENT_AT = CN_AT + sizeof(struct cn_msg) };

/* The event of a datagram, zeroed where it is shorter than ours; false when there is none. */
static bool event_of(const void *datagram, size_t n, struct cn_msg *m, struct proc_event *out)
{
	struct nlmsghdr h;

	if (n < EVENT_AT)
		return false;
	memcpy(&h, datagram, sizeof h);
	memcpy(m, (const char *)datagram + CN_AT, sizeof *m);
	if (h.nlmsg_len > n || h.nlmsg_len < EVENT_AT || h.nlmsg_type != NLMSG_DONE)
		return false;
	if (m->id.idx != CN_IDX_PROC || m->id.val != CN_VAL_PROC || m->len < EVENT_MIN ||
	    m->len > h.nlmsg_len - EVENT_AT)
		return false;
	*out = (struct proc_event){ 0 };
	memcpy(out, (const char *)datagram + EVENT_AT, m->len < sizeof *out ? m->len : sizeof *out);
	return true;
}

void connector_parse(const void *datagram, size_t n, const struct exits_handler *h)
{
	struct proc_event ev;
	struct cn_msg m;
	int64_t at_ns;

	if (!event_of(datagram, n, &m, &ev))
		return;
	at_ns = (int64_t)ev.timestamp_ns;
	switch ((unsigned)ev.what) {
	case PROC_EVENT_FORK:
		h->forked(h->ctx, ev.event_data.fork.child_tgid, ev.event_data.fork.parent_tgid,
			  ev.event_data.fork.child_pid, at_ns);
		break;
	case PROC_EVENT_EXEC:
		h->named(h->ctx, ev.event_data.exec.process_tgid, ev.event_data.exec.process_pid,
			 NULL, true);
		break;
	case PROC_EVENT_EXIT:
		h->exited(h->ctx, ev.event_data.exit.process_tgid, ev.event_data.exit.process_pid,
			  at_ns);
		break;
	default:
		break;
	}
}

/* The length of the next datagram of the kernel, 0 for anybody else's, or -errno. */
static ssize_t receive(const struct connector *c, char buf[DATAGRAM_MAX])
{
	struct sockaddr_nl from = { 0 };
	socklen_t len = sizeof from;
	ssize_t n =
		recvfrom(c->fd, buf, DATAGRAM_MAX, MSG_DONTWAIT, (struct sockaddr *)&from, &len);

	if (n < 0)
		return -errno;
	return from.nl_pid ? 0 : n;
}

static int ask(const struct connector *c, enum proc_cn_mcast_op op, uint32_t mark)
{
	/* The form with a filter for kinds, new in 6.6, would save little: nearly all that comes
	 * are the three kinds that are wanted. */
	const struct nlmsghdr h = { .nlmsg_len = EVENT_AT + sizeof op, .nlmsg_type = NLMSG_DONE };
	const struct cn_msg m = { .id = { CN_IDX_PROC, CN_VAL_PROC },
				  .ack = mark,
				  .len = sizeof op };
	char q[EVENT_AT + sizeof op];

	memcpy(q, &h, sizeof h);
	memcpy(q + CN_AT, &m, sizeof m);
	memcpy(q + EVENT_AT, &op, sizeof op);
	return send(c->fd, q, sizeof q, MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* The kernel answers before send() returns, and only to those whose pids are its own. */
static bool acknowledged(const struct connector *c, uint32_t mark)
{
	char buf[DATAGRAM_MAX];

	for (int i = 0; i < TRIES_MAX; i++) {
		struct proc_event ev;
		struct cn_msg m;
		ssize_t n = receive(c, buf);

		if (n == -EAGAIN)
			return false;
		if (n > 0 && event_of(buf, (size_t)n, &m, &ev) && m.ack == mark + 1 &&
		    (unsigned)ev.what == PROC_EVENT_NONE)
			return !ev.event_data.ack.err;
	}
	return false;
}

static int open_socket(struct connector *c)
{
	const struct sockaddr_nl group = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const int bytes = BUFFER_BYTES, yes = 1;

	c->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	if (c->fd < 0)
		return -errno;
	if (setsockopt(c->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
		setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
	/* Else a full buffer looks to the kernel as if nobody listened any more. */
	setsockopt(c->fd, SOL_NETLINK, NETLINK_BROADCAST_ERROR, &yes, sizeof yes);
	return bind(c->fd, (const struct sockaddr *)&group, sizeof group) ? -errno : 0;
}

int connector_open(struct connector *c, struct err *e)
{
	uint32_t mark = (uint32_t)clock_mono_ns();
	int bad;

	*c = (struct connector){ 0 };
	bad = open_socket(c);
	if (!bad)
		bad = ask(c, PROC_CN_MCAST_LISTEN, mark);
	if (bad) {
		err_set(e, bad == -ECONNREFUSED || bad == -EPROTONOSUPPORT ? -EOPNOTSUPP : bad,
			"the proc connector is not available: %s", strerror(-bad));
	} else if (!acknowledged(c, mark)) {
		bad = err_set(e, -EPERM,
			      "the proc connector answers only in the initial pid and user "
			      "namespaces (not in a container)");
	}
	if (bad)
		connector_close(c);
	return bad;
}

void connector_close(struct connector *c)
{
	if (c->fd > 0) {
		/* Else every fork of the machine goes on being told, to nobody. */
		ask(c, PROC_CN_MCAST_IGNORE, 0);
		close(c->fd);
	}
	*c = (struct connector){ 0 };
}

uint64_t connector_drain(struct connector *c, const struct exits_handler *h, bool all)
{
	char buf[DATAGRAM_MAX];
	const uint32_t limit = all ? RECORDS_LAST : CONNECTOR_RECORDS_PER_S;
	int64_t now = clock_mono_ns();
	uint64_t lost = 0;

	if (all || now - c->second_ns >= NS_PER_S) {
		c->second_ns = now;
		c->taken = 0;
	}
	for (; c->taken < limit; c->taken++) {
		ssize_t n = receive(c, buf);

		if (n == -ENOBUFS)
			lost++;
		else if (n < 0 && n != -EINTR)
			break;
		else if (n > 0)
			connector_parse(buf, (size_t)n, h);
	}
	return lost;
}
