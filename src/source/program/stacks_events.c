/* SPDX-License-Identifier: Apache-2.0 */
#include "source/program/stacks_events.h"

#include "base/clock.h"
#include "base/text/number.h"
#include "source/cpulist.h"
#include "source/program/stacks_page.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- Rings ---- */

static const char no_registers[] = "stacks are not sampled on this processor";
static const char not_available[] = "perf events are not available: %s";

enum {
	PAGES_MOST = 128, /* of a ring */
	PAGES_LEAST = 8,
	FAULTS_PAGES_MOST = 64, /* likewise, of page faults */
	FAULTS_FIRST = 128,     /* of them for a sample */
	PAGES_OF_EXITS = 50,    /* the rings of exit records, of a CPU (sampler/tree/exits.c) */
	SAMPLES_LEAST = 15,     /* that a ring should hold, at the most usual rate */
	SAMPLES_OF_SLOT = 6,    /* that of a thread */
	RING_LEAST = 32 << 10,
	STACK_MOST = 16 << 10,
	STACK_LEAST = 4 << 10,
	OTHERS = 256, /* bytes of a sample beside the stack */
	EVENTS_MAX = 16384,
	FORMAT_LOST = 1 << 4, /* PERF_FORMAT_LOST, since Linux 6.0 */
};

/* samples: else it only holds a ring. */
static void attr_of(struct perf_event_attr *a, const struct stacks_rings *r, bool samples)
{
	*a = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof *a,
		.config = samples ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_DUMMY,
		.sample_period = samples ? (uint64_t)r->period_ns : 0,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.read_format = FORMAT_LOST,
		.inherit = samples,
		.exclude_kernel = !r->in_kernel,
		.exclude_hv = 1,
		.mmap = samples,
		.mmap2 = samples,
		.comm = samples,
		.comm_exec = samples,
		.task = samples,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = r->bytes / 2,
		.sample_regs_user = STACKS_REGISTERS,
		.sample_stack_user = r->stack_bytes,
	};
	if (!r->faults_hz)
		return;
	/* By frequency, periods grow far beyond what they ought to be (seen on Linux 6.18). */
	a->sample_type = (a->sample_type | PERF_SAMPLE_ADDR) & ~(uint64_t)PERF_SAMPLE_PERIOD;
	a->wakeup_watermark = 1;
	a->sample_stack_user = faults_stack_bytes(r->stack_bytes, r->step);
	if (!samples)
		return;
	if (r->what == RINGS_SAMPLES)
		a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = 0;
	a->config = r->what == RINGS_TASKS ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_PAGE_FAULTS;
	a->sample_period = r->what == RINGS_TASKS ? 0 : faults_periods[r->step];
}

static int event_open(const struct perf_event_attr *a, pid_t tid, int cpu)
{
	long fd = syscall(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL && a->read_format) {
		struct perf_event_attr older = *a;

		older.read_format = 0;
		return event_open(&older, tid, cpu);
	}
	return fd < 0 ? -errno : (int)fd;
}

int64_t stacks_event_read(int fd, int64_t *lost)
{
	uint64_t told[2] = { 0 }; /* its count; what PERF_FORMAT_LOST adds */
	ssize_t n = read(fd, told, sizeof told);

	if (lost)
		*lost = n == (ssize_t)sizeof told ? (int64_t)told[1] : -1;
	return n > 0 ? (int64_t)told[0] : 0;
}

/* A user may lock so much for each CPU, and RLIMIT_MEMLOCK of a process beside it, of which half is
 * left to others. */
static void choose_sizes(struct stacks_rings *r, size_t ncpus, int64_t lock_kb)
{
	int64_t hz = NS_PER_S / r->period_ns;
	int64_t held = SAMPLES_LEAST * (hz > STACKS_HZ_MOST ? hz : STACKS_HZ_MOST) / STACKS_HZ_MOST;
	int64_t page = sysconf(_SC_PAGESIZE), pages = lock_kb * 1024 / page - PAGES_OF_EXITS;
	struct rlimit lock = { 0, 0 };
	int64_t most = PAGES_MOST;

	getrlimit(RLIMIT_MEMLOCK, &lock);
	if (lock.rlim_cur > INT64_C(1) << 40)
		lock.rlim_cur = INT64_C(1) << 40;
	pages += (int64_t)lock.rlim_cur / 2 / page / (int64_t)ncpus;
	while (most > PAGES_LEAST && most >= pages)
		most /= 2;
	r->bytes = (uint32_t)(most * page);
	r->stack_bytes = STACK_MOST;
	while (r->stack_bytes > STACK_LEAST && r->bytes / (r->stack_bytes + OTHERS) < held)
		r->stack_bytes /= 2;
}

size_t stacks_ring_least(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return page > RING_LEAST ? page : RING_LEAST;
}

/* No records of memory that is mapped: they would cost all processes of the machine. */
static int thread_event_open(pid_t tid, int64_t period_ns, size_t ring, bool in_kernel)
{
	struct stacks_rings r = { .bytes = (uint32_t)ring,
				  .stack_bytes = STACK_MOST,
				  .period_ns = period_ns,
				  .in_kernel = in_kernel };
	struct perf_event_attr a;

	while (r.stack_bytes > STACK_LEAST && ring / (r.stack_bytes + OTHERS) < SAMPLES_OF_SLOT)
		r.stack_bytes /= 2;
	attr_of(&a, &r, true);
	a.inherit = a.mmap = a.mmap2 = a.task = 0;
	return event_open(&a, tid, -1);
}

/* Those within the kernel, too, where that is permitted: tried, since who may depends on much. */
int stacks_event_open(pid_t tid, int64_t period_ns, size_t ring)
{
	int fd = thread_event_open(tid, period_ns, ring, true);

	return fd == -EACCES ? thread_event_open(tid, period_ns, ring, false) : fd;
}

static int ring_open(struct stacks_rings *r, int cpu)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr a;
	void *map;
	int fd;

	attr_of(&a, r, false);
	fd = event_open(&a, 0, cpu);
	if (fd < 0)
		return fd;
	map = mmap(NULL, r->bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		int bad = -errno;

		close(fd);
		return bad;
	}
	r->fd[r->n] = fd;
	r->cpu[r->n] = cpu;
	r->map[r->n++] = map;
	return 0;
}

/* 0, or -errno; then nothing is open. */
static int rings_open(struct stacks_rings *r, const int *cpus, size_t n)
{
	int bad = 0;

	for (size_t i = 0; i < n && !bad; i++)
		bad = ring_open(r, cpus[i]);
	if (bad)
		stacks_rings_close(r);
	return bad;
}

/* May what system calls do be sampled, too? Tried, since who may depends on much. */
static bool kernel_is_permitted(const struct stacks_rings *like)
{
	struct stacks_rings r = *like;
	struct perf_event_attr a;
	int fd;

	r.in_kernel = true;
	attr_of(&a, &r, true);
	fd = event_open(&a, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int stacks_rings_open(struct stacks_rings *r, int64_t hz, int64_t lock_kb, struct err *e)
{
	int cpus[STACKS_CPUS_MAX], bad;
	size_t n = cpulist_possible(cpus, STACKS_CPUS_MAX);

	*r = (struct stacks_rings){ 0 };
	if (!STACKS_REGISTERS)
		return err_set(e, -EOPNOTSUPP, no_registers);
	if (!n || n > STACKS_CPUS_MAX)
		return err_set(e, -EOPNOTSUPP, "%zu CPUs are too many for inherited events", n);
	if (!hz)
		hz = n * STACKS_HZ_MOST > STACKS_HZ_OF_NODE ? (int64_t)(STACKS_HZ_OF_NODE / n)
							    : STACKS_HZ_MOST;
	r->period_ns = NS_PER_S / hz;
	choose_sizes(r, n, lock_kb);
	r->in_kernel = kernel_is_permitted(r);
	bad = rings_open(r, cpus, n);
	return bad ? err_set(e, bad, not_available, strerror(-bad)) : 0;
}

/* About a megabyte, of small pages, at the usual rate; a few faults where each may be of a huge
 * one.
 */
static uint32_t first_step(int64_t hz)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	int64_t period = FAULTS_FIRST * FAULTS_HZ / hz;
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t step = 0;

	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && strstr(text, "[always]"))
		period /= 4;
	if (fd >= 0)
		close(fd);
	while (step + 1 < FAULTS_STEPS && faults_periods[step + 1] <= period)
		step++;
	return step;
}

/* As large as there is room for beside the rings of other sources. */
int stacks_rings_open_faults(struct stacks_rings *r, int64_t hz, struct err *e)
{
	int cpus[STACKS_RINGS_MAX], bad = -ENOMEM;
	size_t n = cpulist_possible(cpus, STACKS_RINGS_MAX);
	int64_t page = sysconf(_SC_PAGESIZE);

	*r = (struct stacks_rings){ 0 };
	if (!STACKS_REGISTERS)
		return err_set(e, -EOPNOTSUPP, no_registers);
	if (!n || n > STACKS_RINGS_MAX)
		return err_set(e, -EOPNOTSUPP, "%zu CPUs are too many for inherited events", n);
	for (int64_t pages = FAULTS_PAGES_MOST; pages >= PAGES_LEAST && bad; pages /= 2) {
		r->faults_hz = (uint32_t)hz;
		r->step = first_step(hz);
		r->bytes = (uint32_t)(pages * page);
		r->stack_bytes = pages > PAGES_LEAST ? STACK_MOST / 2 : STACK_LEAST;
		r->in_kernel = kernel_is_permitted(r);
		bad = rings_open(r, cpus, n);
		if (bad != -EPERM && bad != -ENOMEM)
			break;
	}
	return bad ? err_set(e, bad, not_available, strerror(-bad)) : 0;
}

void stacks_rings_close(struct stacks_rings *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < r->nevents; i++)
		close(r->event[i]);
	for (size_t i = 0; i < r->n; i++) {
		munmap(r->map[i], r->bytes + page);
		close(r->fd[i]);
	}
	free(r->event);
	memset(r, 0, sizeof *r);
}

static int64_t lost_of(const struct stacks_rings *r, size_t n)
{
	int64_t sum = 0, lost;

	for (size_t i = 0; i < n; i++) {
		stacks_event_read(r->event[i], &lost);
		number_add(&sum, lost > 0 ? lost : 0);
	}
	return sum;
}

int64_t stacks_rings_lost(const struct stacks_rings *r)
{
	int64_t sum = r->lost;

	number_add(&sum, lost_of(r, r->nevents));
	return sum;
}

bool stacks_rings_again(struct stacks_rings *r, uint32_t step, bool (*add)(void *of), void *of)
{
	size_t had = r->nevents, from, n;
	uint32_t step_had = r->step;
	bool all;

	r->step = step;
	all = add(of);
	from = all ? 0 : had;
	n = all ? had : r->nevents - had;
	if (all)
		number_add(&r->lost, lost_of(r, had));
	else
		r->step = step_had;
	for (size_t i = from; i < from + n; i++)
		close(r->event[i]);
	r->nevents -= n;
	memmove(r->event + from, r->event + from + n, (r->nevents - from) * sizeof *r->event);
	return all;
}

static bool make_room(struct stacks_rings *r)
{
	size_t cap = r->events_cap ? 2 * r->events_cap : 64;
	struct rlimit files; /* a quarter of them: the rest is for others */
	int *grown;

	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur != RLIM_INFINITY &&
	    r->nevents + r->n > files.rlim_cur / 4)
		return false;
	if (r->nevents + r->n <= r->events_cap)
		return true;
	if (cap > EVENTS_MAX)
		return false;
	grown = reallocarray(r->event, cap, sizeof *grown);
	if (!grown)
		return false;
	r->event = grown;
	r->events_cap = cap;
	return true;
}

int stacks_rings_add(struct stacks_rings *r, pid_t tid)
{
	size_t had = r->nevents;
	int bad = make_room(r) ? 0 : -EMFILE;

	for (size_t i = 0; i < r->n && !bad; i++) {
		struct perf_event_attr a;
		int fd;

		attr_of(&a, r, true);
		fd = event_open(&a, tid, r->cpu[i]);
		if (fd < 0) {
			bad = fd;
			break;
		}
		r->event[r->nevents++] = fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd[i]))
			bad = -errno;
	}
	while (bad && r->nevents > had)
		close(r->event[--r->nevents]);
	return bad;
}

/* ---- Rounds ---- */

enum { BYTES_MOST = 8 << 20 };

static size_t asked_for(void)
{
	const char *text = getenv("SONDE_STACKS_THREADS");
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n <= STACKS_SLOTS_MAX ? (size_t)n : 0;
}

static size_t cpus(void)
{
	return cpulist_possible(NULL, 0);
}

bool stacks_rounds_needed(void)
{
	return asked_for() || cpus() > STACKS_CPUS_MAX;
}

/* Of what a user may lock on this machine, and of RLIMIT_MEMLOCK of a process beside it, half is
 * left to others. */
static uint32_t bytes_of(int64_t lock_kb)
{
	int64_t kb = lock_kb < BYTES_MOST / 1024 ? lock_kb : BYTES_MOST / 1024, room;
	struct rlimit lock = { 0, 0 };

	getrlimit(RLIMIT_MEMLOCK, &lock);
	if (lock.rlim_cur > 2 * BYTES_MOST)
		lock.rlim_cur = 2 * BYTES_MOST;
	room = kb * 1024 * sysconf(_SC_NPROCESSORS_ONLN) / 2 + (int64_t)lock.rlim_cur / 2;
	return room < BYTES_MOST ? (uint32_t)room : BYTES_MOST;
}

/* A quarter of the files that a process may open: the rest is for others. */
static uint32_t threads_of(uint32_t bytes)
{
	size_t n = asked_for(),
	       room = bytes / (stacks_ring_least() + (size_t)sysconf(_SC_PAGESIZE));
	struct rlimit files;

	if (!n)
		n = STACKS_SLOTS_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &files) && n > files.rlim_cur / 4)
		n = files.rlim_cur / 4;
	return (uint32_t)(n < room ? n : room);
}

void stacks_rounds_rate(struct stacks_turns *t, int64_t hz)
{
	int64_t all = (hz ? hz : STACKS_HZ_MOST) * (int64_t)cpus();

	t->hz = (uint32_t)(hz ? hz : STACKS_HZ_MOST);
	t->hz_of_node = (uint32_t)(!hz && all > STACKS_HZ_OF_NODE ? STACKS_HZ_OF_NODE : all);
}

int stacks_rounds_plan(struct stacks_turns *t, int64_t lock_kb, struct err *e)
{
	int fd;

	*t = (struct stacks_turns){ .bytes = bytes_of(lock_kb) };
	if (!STACKS_REGISTERS)
		return err_set(e, -EOPNOTSUPP, no_registers);
	t->threads = threads_of(t->bytes);
	if (!t->threads)
		return err_set(e, -ENOMEM,
			       "there is no room for rings of perf events: raise RLIMIT_MEMLOCK or "
			       "kernel.perf_event_mlock_kb, or RLIMIT_NOFILE");
	fd = stacks_event_open(0, NS_PER_S, stacks_ring_least());
	if (fd >= 0)
		close(fd);
	return fd < 0 ? err_set(e, fd, not_available, strerror(-fd)) : 0;
}
