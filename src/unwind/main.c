/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-unwind - turns samples of the job's stacks into frames, in a process that may crash.
 *
 * Started by the source stacks: descriptors from STACKS_RINGS on are perf events with a ring each,
 * or it opens events itself (unwind/rounds.h). STACKS_SOCKET brings a byte for every question,
 * answers go into the memory of STACKS_MEMORY (source/program/stacks_page.h). It ends with its
 * parent. Started by hand it does nothing. With a socket as standard input it looks at blocked
 * threads instead (unwind/look.h), or names one place in a program (unwind/code.h).
 */
#include "base/clock.h"
#include "base/text/number.h"
#include "unwind/code.h"
#include "unwind/frame.h"
#include "unwind/interpreted.h"
#include "unwind/look.h"
#include "unwind/names.h"
#include "unwind/profile.h"
#include "unwind/records.h"
#include "unwind/rounds.h"
#include "unwind/touched.h"
#include "unwind/watch.h"
#include "unwind/work.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	WRITTEN_US = 500,    /* what is younger another CPU may not have written yet */
	NAMES_MS = 20,       /* how long names are waited for, */
	LAST_NAMES_MS = 350, /* and at the end */
	HELD_MAX = 3,
	LOST_MAX = 10000, /* that a sample may represent */
	WAIT_MS = 1000,
	FETCHED_PER_MS = 8192, /* bytes: a ring has room for three times what may come until then */
	STILL_MAX = 8,
	MAP_HEADER = 64, /* bytes of an MMAP2 record before its path */
	MEMORY_MAX = 1 << 30,
	TRIM_STEP = 4 << 20, /* by how much memory grows before free memory is given back */
	LEARN_AGAIN_S = 1,   /* what a process has where, if a stack leads elsewhere, */
	LEARN_ALWAYS_S = 10, /* and if no record tells of it */
};

struct unwinder {
	struct stacks_page *page;
	struct record_ring ring[STACKS_RINGS_MAX];
	struct modules modules;
	struct spaces spaces;
	struct rows *rows;
	struct names *names;
	struct profile *profile;
	struct watch *watch;     /* NULL: it takes samples */
	struct rounds *rounds;   /* NULL: not in rounds */
	struct touched *touched; /* NULL: samples are not of page faults */
	struct gate gate;        /* of those */
	struct interpreted *interpreted;
	struct stack stack;
	uint32_t missed[STACKS_RINGS_MAX]; /* samples that were lost before the next of a ring */
	uint32_t held;                     /* answers in a row that waited for names */
	int64_t trimmed_bytes;             /* its memory, when some was given back last */
	uint64_t heads;                    /* of all rings together, when they were read last */
	uint32_t still;                    /* times in a row that nothing had come to them */
};

/* ---- one sample ---- */

static bool is_left_out(const struct stacks_page *p, uint32_t pid)
{
	uint32_t n = atomic_load_explicit(&p->nleft_out, memory_order_acquire);

	for (uint32_t i = 0; i < n && i < STACKS_LEFT_OUT_MAX; i++)
		if (p->left_out[i] == (int32_t)pid)
			return true;
	return false;
}

static void unwind_sample(struct unwinder *u, struct space *x, const struct record_sample *sample)
{
	sample_unwind(&(struct sample_place){ &u->modules, u->rows, x }, sample, &u->stack);
}

static bool is_old(const struct space *x, int64_t seconds)
{
	return clock_mono_ns() - x->learnt_ns >= seconds * NS_PER_S;
}

/* In rounds no record tells what a process maps later on. */
static void learn(struct unwinder *u, struct space *x)
{
	if (!x->known || (u->rounds && is_old(x, LEARN_ALWAYS_S)))
		spaces_learn(&u->spaces, x, clock_mono_ns());
}

static void take_sample(struct unwinder *u, const struct record_view *v)
{
	struct record_sample sample;
	struct sampled who;
	struct space *x;

	if (!record_sample(v, u->touched ? u->page->stack_bytes : 0, &sample) ||
	    is_left_out(u->page, sample.pid))
		return;
	x = spaces_get(&u->spaces, (pid_t)sample.pid);
	learn(u, x);
	if (x->makes_code && !x->jit)
		x->jit = jit_open(x->pid);
	if (x->jit)
		jit_look(x->jit, sample.time_ns);
	unwind_sample(u, x, &sample);
	if (u->rounds && u->stack.flags & FRAME_LOST_WAY && is_old(x, LEARN_AGAIN_S)) {
		spaces_learn(&u->spaces, x, clock_mono_ns());
		unwind_sample(u, x, &sample);
	}
	who = (struct sampled){ (pid_t)sample.pid, (pid_t)sample.tid, sample.time_ns,
				sample.period };
	if (sample.in_kernel && !u->touched) {
		who.period = u->rounds ? rounds_period_ns(u->rounds, v->ring) : who.period;
		if (who.period)
			profile_add_kernel(u->profile, x, &who, &u->stack);
		return;
	}
	if (u->stack.flags & FRAME_CUT)
		atomic_fetch_add(&u->page->cut, 1);
	if (u->stack.flags & FRAME_LOST_WAY)
		atomic_fetch_add(&u->page->lost_way, 1);
	if (u->touched) {
		touched_sample(u->touched, &sample, u->missed[v->ring], &u->stack);
		u->missed[v->ring] = 0;
		return;
	}
	interpreted_sample(u->interpreted, x, &who);
	if (u->rounds)
		rounds_sample(u->rounds, v->ring, &u->stack);
	else
		profile_add(u->profile, x, &who, &u->stack);
}

/* ---- the other records ---- */

static uint32_t get_u32(const struct record_view *v, size_t at)
{
	uint32_t x = 0;

	if (at + sizeof x <= v->n)
		memcpy(&x, v->body + at, sizeof x);
	return x;
}

static uint64_t get_u64(const struct record_view *v, size_t at)
{
	uint64_t x = 0;

	if (at + sizeof x <= v->n)
		memcpy(&x, v->body + at, sizeof x);
	return x;
}

/* pid, tid, address, length, offset, major, minor, inode, generation, protection, flags, path. */
static void take_map(struct unwinder *u, const struct record_view *v)
{
	char path[STACKS_TEXT_MAX];
	struct module_seen seen = { .pid = (pid_t)get_u32(v, 0), .path = path };
	struct space *x;
	char *gone;

	if (v->n <= MAP_HEADER || v->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return;
	snprintf(path, sizeof path, "%.*s",
		 (int)strnlen((const char *)v->body + MAP_HEADER, v->n - MAP_HEADER),
		 (const char *)v->body + MAP_HEADER);
	gone = strstr(path, " (deleted)");
	if (gone && !gone[10])
		*gone = '\0';
	seen.start = get_u64(v, 8);
	seen.end = seen.start + get_u64(v, 16);
	seen.offset = get_u64(v, 24);
	seen.major = get_u32(v, 32);
	seen.minor = get_u32(v, 36);
	seen.inode = get_u64(v, 40);
	seen.now_ns = clock_mono_ns();
	if (is_left_out(u->page, (uint32_t)seen.pid))
		return;
	x = spaces_get(&u->spaces, seen.pid);
	if (x->known)
		spaces_map(&u->spaces, x, &seen);
}

static void take_command(struct unwinder *u, const struct record_view *v)
{
	pid_t pid = (pid_t)get_u32(v, 0), tid = (pid_t)get_u32(v, 4);
	struct space *x;

	if (v->misc & PERF_RECORD_MISC_COMM_EXEC && u->rounds)
		rounds_exec(u->rounds, v->ring);
	else if (v->misc & PERF_RECORD_MISC_COMM_EXEC)
		spaces_exec(&u->spaces, pid);
	if (v->misc & PERF_RECORD_MISC_COMM_EXEC && u->touched) {
		touched_exec(u->touched, pid);
		gate_started(&u->gate, pid, clock_mono_ns());
	}
	if (pid != tid || v->n < 8 + sizeof x->command)
		return;
	x = spaces_get(&u->spaces, pid);
	memcpy(x->command, v->body + 8, sizeof x->command);
	for (size_t i = strnlen(x->command, sizeof x->command - 1); i < sizeof x->command; i++)
		x->command[i] = '\0';
}

/* pid, ppid, tid, ptid. */
static void take_fork(struct unwinder *u, const struct record_view *v)
{
	pid_t pid = (pid_t)get_u32(v, 0), parent = (pid_t)get_u32(v, 4);

	if (pid == parent)
		return;
	atomic_fetch_add(&u->page->forks, 1);
	spaces_fork(&u->spaces, pid, parent);
	gate_started(&u->gate, pid, clock_mono_ns());
}

/* Of page faults the next sample of the same CPU represents them, too: mostly the same code goes on
 * touching. */
static void take_lost(struct unwinder *u, const struct record_view *v)
{
	uint64_t n = get_u64(v, 8);

	if (u->rounds) {
		rounds_lost(u->rounds, v->ring, n);
		return;
	}
	atomic_fetch_add(&u->page->lost, (int64_t)n);
	if (u->touched && v->ring < STACKS_RINGS_MAX)
		u->missed[v->ring] = n < LOST_MAX ? (uint32_t)n : LOST_MAX;
}

static void take_record(void *context, const struct record_view *v)
{
	struct unwinder *u = context;

	if (v->type != PERF_RECORD_LOST && (pid_t)get_u32(v, 0) <= 0)
		return; /* all others begin with a process */
	switch (v->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(u, v);
		break;
	case PERF_RECORD_MMAP2:
		take_map(u, v);
		break;
	case PERF_RECORD_COMM:
		take_command(u, v);
		break;
	case PERF_RECORD_FORK:
		take_fork(u, v);
		break;
	case PERF_RECORD_EXIT:
		if (get_u32(v, 0) == get_u32(v, 8))
			spaces_end(&u->spaces, (pid_t)get_u32(v, 0));
		break;
	case PERF_RECORD_LOST:
		take_lost(u, v);
		break;
	default:
		break;
	}
}

/* ---- the process ---- */

static struct stacks_page *map_page(void)
{
	struct stat st;
	void *memory;

	if (fstat(STACKS_MEMORY, &st) || st.st_size != (off_t)sizeof(struct stacks_page))
		return NULL;
	memory = mmap(NULL, sizeof(struct stacks_page), PROT_READ | PROT_WRITE, MAP_SHARED,
		      STACKS_MEMORY, 0);
	if (memory == MAP_FAILED)
		return NULL;
	return ((struct stacks_page *)memory)->layout == sizeof(struct stacks_page) ? memory : NULL;
}

static bool map_rings(struct unwinder *u)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = u->page->ring_bytes;

	if (u->page->nrings > STACKS_RINGS_MAX || (u->page->nrings && (!size || size & (size - 1))))
		return false;
	for (uint32_t i = 0; i < u->page->nrings; i++) {
		void *m = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_SHARED,
			       STACKS_RINGS + (int)i, 0);

		if (m == MAP_FAILED)
			return false;
		u->ring[i] = (struct record_ring){ m, (const uint8_t *)m + page, size };
	}
	return true;
}

static void weigh(struct unwinder *u)
{
	struct stacks_page *p = u->page;
	int64_t resident, files;

	atomic_store(&p->cpu_ns, clock_cpu_ns());
	if (!modules_resident(&resident, &files))
		return;
	atomic_store(&p->resident_bytes, resident);
	if (files > MODULES_RESIDENT_MAX || resident > u->trimmed_bytes + TRIM_STEP) {
		u->trimmed_bytes = resident;
		modules_let_go(&u->modules);
		names_let_go(u->names);
	}
}

static void drain(struct unwinder *u, bool all)
{
	const struct record_ring *rings = u->ring;
	uint32_t n = u->page->nrings;

	if (u->rounds)
		rings = rounds_rings(u->rounds, &n);
	records_drain(rings, n, all ? INT64_MAX : clock_mono_ns() - WRITTEN_US * 1000, take_record,
		      u);
}

/* What the job's threads waited for, and which are the job's from now on. */
static void tell_waits(struct unwinder *u, bool last)
{
	if (last)
		watch_look(u->watch);
	watch_hear(u->watch);
	watch_flush(u->watch, last);
}

/* Is there a record, which was too young to be taken? */
static bool has_more(const struct unwinder *u)
{
	for (uint32_t i = 0; i < u->page->nrings; i++)
		if (__atomic_load_n(&u->ring[i].page->data_head, __ATOMIC_RELAXED) !=
		    u->ring[i].page->data_tail)
			return true;
	return false;
}

/* How long nothing needs to be done. */
static int idle_ms(const struct unwinder *u)
{
	int64_t due_ns = u->watch     ? watch_due_ns(u->watch)
			 : u->rounds  ? rounds_due_ns(u->rounds)
			 : u->touched ? touched_due_ns(u->touched)
				      : INT64_MAX;
	int64_t python_ns = interpreted_due_ns(u->interpreted);
	int64_t gate_ns = gate_due_ns(&u->gate), left_ns;

	due_ns = gate_ns < due_ns ? gate_ns : due_ns;
	left_ns = (python_ns < due_ns ? python_ns : due_ns) - clock_mono_ns();

	if (u->touched && touched_is_urgent(u->touched) && has_more(u))
		return 1;
	return left_ns <= 0 ? 0 : left_ns >= NS_PER_S ? WAIT_MS : (int)(left_ns / NS_PER_MS) + 1;
}

/* All that there is, as far as there is room for it. A frame whose name is on its way would be told
 * twice: a few times the answer is put off instead. */
static void answer(struct unwinder *u, uint32_t question, bool last)
{
	drain(u, last);
	if (u->watch)
		tell_waits(u, last);
	if (u->rounds && last)
		rounds_finish(u->rounds);
	else if (u->rounds)
		rounds_hear(u->rounds);
	if (u->touched && last)
		touched_finish(u->touched);
	names_wait(u->names, (last ? LAST_NAMES_MS : NAMES_MS) * NS_PER_MS);
	if (last || !names_busy(u->names) || u->held++ == HELD_MAX) {
		u->held = 0;
		atomic_store(&u->page->left, !profile_tell(u->profile));
	}
	weigh(u);
	atomic_store_explicit(&u->page->answered, question, memory_order_release);
}

/* A task that ends wakes whoever polls an event that it has inherited, for nothing (seen with Linux
 * 6.18). So nobody does while records come, and for a little longer: the clock says when to read
 * them. Page faults may fill a ring before that. */
static bool is_fetching(struct unwinder *u)
{
	uint64_t before = u->heads;

	if (u->touched)
		return false;
	u->heads = 0;
	for (uint32_t i = 0; i < u->page->nrings; i++)
		u->heads += __atomic_load_n(&u->ring[i].page->data_head, __ATOMIC_RELAXED);
	u->still = u->heads != before ? 0 : u->still + 1;
	return u->still <= STILL_MAX;
}

static int fetch_ms(const struct unwinder *u, int idle)
{
	int ms = (int)(u->page->ring_bytes / FETCHED_PER_MS);

	return idle < ms ? idle : ms;
}

/* What wakes it besides the socket; *n: how many that is. */
static void wait_for(const struct unwinder *u, struct pollfd *wait, uint32_t *n)
{
	if (u->rounds)
		*n = rounds_poll(u->rounds, wait);
}

/* Those whose tasks are gone are not waited for any more. */
static void waited(struct unwinder *u, struct pollfd *wait, uint32_t n)
{
	if (u->rounds)
		rounds_polled(u->rounds, wait);
	for (uint32_t i = 0; i < n && !u->rounds; i++)
		if (wait[i].revents & (POLLHUP | POLLERR))
			wait[i].fd = -1;
}

static void look_if_due(struct unwinder *u)
{
	if (u->watch && clock_mono_ns() >= watch_due_ns(u->watch))
		watch_look(u->watch);
	if (u->rounds && clock_mono_ns() >= rounds_due_ns(u->rounds))
		rounds_look(u->rounds);
	gate_step(&u->gate, clock_mono_ns());
	if (u->touched && clock_mono_ns() >= touched_due_ns(u->touched))
		touched_look(u->touched);
	if (clock_mono_ns() >= interpreted_due_ns(u->interpreted))
		interpreted_look(u->interpreted);
}

/* Until the parent has gone. */
static void serve(struct unwinder *u)
{
	struct pollfd wait[1 + STACKS_RINGS_MAX] = { { STACKS_SOCKET, POLLIN | POLLRDHUP, 0 } };
	uint32_t n = u->page->nrings, done = 0;
	char questions[64];

	for (uint32_t i = 0; i < n; i++)
		wait[1 + i] = (struct pollfd){ STACKS_RINGS + (int)i, POLLIN, 0 };
	for (;;) {
		bool fetching = is_fetching(u);
		int idle = idle_ms(u);
		uint32_t asked;

		wait_for(u, wait + 1, &n);
		if (poll(wait, fetching ? 1 : 1 + n, fetching ? fetch_ms(u, idle) : idle) < 0)
			continue;
		if (wait[0].revents & (POLLRDHUP | POLLHUP | POLLERR))
			return;
		if (wait[0].revents & POLLIN &&
		    read(STACKS_SOCKET, questions, sizeof questions) <= 0)
			return;
		if (!fetching)
			waited(u, wait + 1, n);
		drain(u, false);
		look_if_due(u);
		asked = atomic_load_explicit(&u->page->asked, memory_order_acquire);
		if (asked != done)
			answer(u, asked, atomic_load(&u->page->last));
		done = asked;
	}
}

static enum sample_kind kind_of(const struct stacks_page *p)
{
	return p->watch.hz ? SAMPLE_WAITS : p->touches.hz ? SAMPLE_FAULTS : SAMPLE_CPU;
}

/* Its tables and rings; false: there is no room, or nobody asks any more. */
static bool begin(struct unwinder *u)
{
	u->page = map_page();
	if (!u->page || getppid() != u->page->parent)
		return false;
	work_watch(u->page);
	u->modules.page = u->page;
	modules_init(&u->modules);
	u->spaces.modules = &u->modules;
	u->rows = rows_make();
	u->names = names_make(&u->modules);
	u->profile =
		u->names ? profile_make(u->page, u->names, &u->modules, kind_of(u->page)) : NULL;
	if (u->page->watch.hz && u->rows && u->profile)
		u->watch = watch_make(u->page, &u->spaces, u->rows, u->profile);
	u->interpreted = u->profile ? interpreted_make(&u->spaces, u->profile) : NULL;
	if (u->page->rounds.threads && u->rows && u->profile)
		u->rounds = rounds_make(u->page, &u->spaces, u->profile);
	if (u->page->touches.hz)
		gate_init(&u->gate, u->page);
	if (u->page->touches.hz && u->rows && u->profile)
		u->touched = touched_make(u->page, &u->spaces, u->profile, &u->gate);
	if (u->rows && u->interpreted && !u->touched == !u->page->touches.hz &&
	    !u->watch == !u->page->watch.hz && !u->rounds == !u->page->rounds.threads &&
	    map_rings(u))
		return true;
	atomic_store_explicit(&u->page->stage, STACKS_FAILED, memory_order_release);
	return false;
}

int main(void)
{
	struct unwinder *u;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-unwind");
	unsetenv("DEBUGINFOD_URLS"); /* nothing is ever downloaded */
	mallopt(M_ARENA_MAX, 1);
	/* Whatever files claim: it counts in the job's control group. Another one begins anew. */
	setrlimit(RLIMIT_DATA, &(struct rlimit){ MEMORY_MAX, MEMORY_MAX });
	if (look_is_asked())
		return code_is_asked() ? code_serve() : look_serve();
	u = calloc(1, sizeof *u);
	if (!u || !begin(u)) {
		free(u);
		return EXIT_FAILURE;
	}
	atomic_store_explicit(&u->page->stage, STACKS_READY, memory_order_release);
	serve(u);
	return EXIT_SUCCESS; /* its tables go with it */
}
