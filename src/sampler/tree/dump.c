/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c - the task iterator as a second way to read processes: all threads of the machine at
 * 0.9 us each, where the files of a process that ran take 8 us. So it is used for thousands of
 * active processes, and not for a few on a large machine.
 *
 * Its figures are those of /proc to the unit, but while threads start and end between the first and
 * the last of a process: what cannot be of one moment is not taken, and /proc is read. */
#include "sampler/tree/dump.h"

#include "base/clock.h"
#include "base/helper.h"
#include "base/process.h"
#include "base/reserve.h"
#include "base/text/number.h"
#include "sampler/tree/tree_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	BUFFER = 1 << 16,
	ITER_CREATE = 33, /* BPF_ITER_CREATE, which older headers do not have */
	SYS_ADMIN = 21,   /* CAP_ */
	PERFMON = 38,
	BPF = 39,
	PATIENCE_MS = 500, /* for one reading of all tasks */
	EMPTY_MAX = 64,    /* of a million kernel threads each */
	ANSWER_MS = 10000,
};

static const char kernel_types[] = "/sys/kernel/btf/vmlinux";

static uint64_t capabilities(void)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	const char *line;

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nCapEff:");
	return line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
}

static bool is_capable(void)
{
	uint64_t has = capabilities();

	return has >> SYS_ADMIN & 1 || (has >> PERFMON & 1 && has >> BPF & 1);
}

/* What is missing to use it here: 0, or -errno with a sentence. Nothing is started. */
static int iterator_missing(struct err *e)
{
	char path[PATH_MAX];

	if (access(kernel_types, F_OK))
		return err_set(e, -EOPNOTSUPP,
			       "the kernel has no %s (CONFIG_DEBUG_INFO_BTF, Linux 5.10 or later)",
			       kernel_types);
	if (!is_capable())
		return err_set(e, -EPERM, "CAP_BPF and CAP_PERFMON are missing");
	if (access(kernel_types, R_OK))
		return err_set(e, -errno, "%s cannot be read: %s", kernel_types, strerror(errno));
	return helper_find("iterator", "clang and libbpf-dev", path, sizeof path, e) ? -EOPNOTSUPP
										     : 0;
}

static int spawn(struct iterator *it, const char *path, int socket)
{
	char *const argv[] = { (char *)path, NULL };
	posix_spawn_file_actions_t files;
	int bad = posix_spawn_file_actions_init(&files);

	if (bad)
		return -bad;
	bad = posix_spawn_file_actions_adddup2(&files, socket, TASK_SOCKET);
	for (int fd = 0; fd < TASK_SOCKET && !bad; fd++)
		bad = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (!bad)
		bad = posix_spawn(&it->pid, path, &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return -bad;
}

int iterator_start(struct iterator *it, struct err *e)
{
	char path[PATH_MAX];
	int pair[2], bad = iterator_missing(e);

	*it = (struct iterator){ .started_ns = clock_mono_ns() };
	if (bad)
		return bad;
	bad = helper_find("iterator", NULL, path, sizeof path, e);
	if (bad)
		return bad;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_set(e, -errno, "cannot make a socket: %s", strerror(errno));
	it->socket = fcntl(pair[0], F_DUPFD_CLOEXEC, TASK_SOCKET); /* 0 is none */
	close(pair[0]);
	it->buffer = reserve(BUFFER);
	bad = it->socket < 0 ? -errno : !it->buffer ? -ENOMEM : spawn(it, path, pair[1]);
	close(pair[1]);
	if (!bad)
		return 0;
	it->pid = 0;
	iterator_close(it);
	return err_set(e, bad, "cannot start %s: %s", path, strerror(-bad));
}

/* The descriptor that came with a message; 0: none did. */
static int descriptor_of(struct msghdr *m)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fd = 0;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

static int take_answer(struct iterator *it, struct err *e)
{
	struct task_answer a = { 0 };
	struct iovec part = { &a, sizeof a };
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))];
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof room };
	ssize_t n = recvmsg(it->socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != (ssize_t)sizeof a)
		return err_set(e, -EPIPE,
			       "the helper sonde-iterator ended without an answer; is libbpf "
			       "installed?");
	it->link = descriptor_of(&m);
	a.text[sizeof a.text - 1] = '\0';
	if (a.code)
		return err_set(e, a.code < 0 ? a.code : -EPROTO, "%s", a.text);
	return it->link > 0 ? 1 : err_set(e, -EPROTO, "the helper sonde-iterator gave nothing");
}

int iterator_wait(struct iterator *it, int patience_ms, struct err *e)
{
	struct pollfd p = { .fd = it->socket, .events = POLLIN };
	int got;

	if (it->link > 0)
		return 1;
	if (patience_ms)
		poll(&p, 1, patience_ms);
	got = take_answer(it, e);
	if (!got && clock_mono_ns() - it->started_ns < ANSWER_MS * NS_PER_MS)
		return 0;
	if (!got)
		got = err_set(e, -ETIME, "the helper sonde-iterator does not answer");
	child_end(it->pid);
	it->pid = 0;
	close(it->socket);
	it->socket = 0;
	return got;
}

void iterator_close(struct iterator *it)
{
	if (it->pid > 0)
		child_end(it->pid);
	if (it->socket > 0)
		close(it->socket);
	if (it->link > 0)
		close(it->link);
	reserve_free(it->buffer, BUFFER);
	*it = (struct iterator){ 0 };
}

/* 0, or -EBADMSG: records come whole. */
static int take_records(const char *data, size_t n, iterator_take *take, void *ctx)
{
	struct task_thread t;
	struct task_process p;

	for (size_t at = 0; at < n; at += t.size) {
		if (n - at < sizeof t)
			return -EBADMSG;
		memcpy(&t, data + at, sizeof t);
		if (t.size > n - at || (t.size != TASK_THREAD_SIZE && t.size != TASK_PROCESS_SIZE))
			return -EBADMSG;
		if (t.size == TASK_PROCESS_SIZE)
			memcpy(&p, data + at + sizeof t, sizeof p);
		take(ctx, &t, t.size == TASK_PROCESS_SIZE ? &p : NULL);
	}
	return 0;
}

/* Every task, by thread id. 0, or -errno: what was taken is not all. */
static int iterator_read(const struct iterator *it, iterator_take *take, void *ctx)
{
	const struct {
		uint32_t link, flags;
	} create = { (uint32_t)it->link, 0 };
	int64_t until_ns = clock_mono_ns() + PATIENCE_MS * NS_PER_MS;
	int fd = (int)syscall(SYS_bpf, ITER_CREATE, &create, sizeof create), bad = 0;
	int empty = 0;

	if (fd < 0)
		return -errno;
	while (!bad) {
		ssize_t n = read(fd, it->buffer, BUFFER);

		if (n == 0)
			break;
		if (n > 0)
			bad = take_records(it->buffer, (size_t)n, take, ctx);
		else if (errno != EAGAIN || ++empty > EMPTY_MAX)
			bad = -errno;
		if (!bad && clock_mono_ns() > until_ns)
			bad = -ETIME;
	}
	close(fd);
	return bad;
}

enum {
	FILES_NS = 8000, /* what the files of a process that ran take */
	CLOCK_NS = 800,  /* and the clock of one */
	TASK_NS = 1000,  /* what a task of the machine takes */
	WORTH = 2,       /* so many times cheaper, to begin with it */
	WORTH_MS = 2,    /* in a sample, of /proc: loading takes 20 ms */
	START_MS = 1000, /* who asks for it waits so long for the helper, and goes on without */
	SEEN_CAP = THREADS_CAP,
	/* of task_struct's state, as the kernel shows it in fs/proc/array.c */
	STATE_SHOWN = 0x7f,
	STATE_IDLE = 0x402,
	STATE_UNINTERRUPTIBLE = 0x2,
	STATE_SHOWN_AS_THAT = 0x1000 | 0x8000, /* TASK_RTLOCK_WAIT, TASK_FROZEN */
};

static int room(struct tree *t)
{
	struct dump *d = &t->dump;

	d->rows = t->table.cap;
	d->seen_max = SEEN_CAP / reserve_parts();
	d->sum = reserve(d->rows * sizeof *d->sum);
	d->seen = reserve(d->seen_max * sizeof *d->seen);
	return d->sum && d->seen ? 0 : -ENOMEM;
}

/* From now on the files of /proc are read. */
static void give_up(struct tree *t, int bad, const char *why)
{
	struct dump *d = &t->dump;

	discover_say(t, "mechanism.task_iterator", bad, why);
	if (d->reader == TREE_BPF)
		snprintf(d->complaint, sizeof d->complaint, "--tree bpf: %.180s; /proc is read",
			 why);
	d->reader = TREE_PROC;
	dump_close(t);
}

static void start(struct tree *t)
{
	struct dump *d = &t->dump;
	struct err e = { "what is read is not the /proc of this process's own pids" };
	int bad = t->reading.clocks ? room(t) : -EOPNOTSUPP;

	d->started = true;
	if (bad == -ENOMEM)
		err_set(&e, bad, "out of memory");
	if (!bad)
		bad = iterator_start(&d->iterator, &e);
	if (bad)
		give_up(t, bad, e.text);
}

static bool is_ready(struct tree *t, int patience_ms)
{
	struct dump *d = &t->dump;
	struct err e = { "" };
	bool before = d->iterator.link > 0;
	int got = iterator_wait(&d->iterator, patience_ms, &e);

	if (got < 0)
		give_up(t, got, e.text);
	else if (got && !before)
		discover_say(t, "mechanism.task_iterator", 0, "");
	return got > 0;
}

void dump_open(struct tree *t, enum tree_reader reader)
{
	t->dump.reader = reader;
	if (reader != TREE_BPF)
		return;
	start(t);
	if (t->dump.reader == TREE_BPF)
		is_ready(t, START_MS);
}

void dump_close(struct tree *t)
{
	struct dump *d = &t->dump;

	iterator_close(&d->iterator);
	reserve_free(d->sum, d->rows * sizeof *d->sum);
	reserve_free(d->seen, d->seen_max * sizeof *d->seen);
	d->sum = NULL;
	d->seen = NULL;
	d->used = false;
}

const char *tree_complaint(const struct tree *t)
{
	return t->dump.complaint;
}

/* All threads there are, kernel threads included: the last of loadavg's "running/all". */
static int64_t machine_tasks(const struct tree *t)
{
	char text[128];
	int64_t n = 0;
	const char *p;

	if (t->loadavg <= 0 || file_reread(t->loadavg, text, sizeof text) <= 0)
		return -1;
	p = strchr(text, '/');
	p = p ? p + 1 : text;
	return number_i64(&p, &n) ? n : -1;
}

/* Whether it is cheaper than /proc, by the processes that ran in the last sample. */
static bool is_worth(struct tree *t)
{
	struct dump *d = &t->dump;
	int64_t files = (int64_t)d->moved * FILES_NS + (int64_t)t->table.nlive * CLOCK_NS;
	bool begun = d->iterator.link > 0;

	if (files < WORTH_MS * NS_PER_MS / (begun ? WORTH : 1))
		return false;
	if (!d->tasks || !begun)
		d->tasks = machine_tasks(t);
	return d->tasks > 0 && files > d->tasks * TASK_NS * (begun ? 1 : WORTH);
}

static void add_used(struct task_used *to, const struct task_used *more)
{
	to->user_ns += more->user_ns;
	to->system_ns += more->system_ns;
	to->run_ns += more->run_ns;
	to->minor_faults += more->minor_faults;
	to->major_faults += more->major_faults;
	for (int i = 0; i < TASK_IO; i++)
		to->io[i] += more->io[i];
}

/* The letter of /proc/PID/stat. */
static char letter_of(uint32_t state, uint32_t exit_state)
{
	uint32_t shown = (state | exit_state) & STATE_SHOWN;

	if ((state & STATE_IDLE) == STATE_IDLE)
		return 'I';
	if (state & STATE_SHOWN_AS_THAT)
		shown = STATE_UNINTERRUPTIBLE;
	return "RSDTtXZP"[shown ? 32 - __builtin_clz(shown) : 0];
}

static void note_thread(struct dump *d, struct task_sum *sum, const struct task_thread *t)
{
	struct task_seen *seen = &d->seen[d->nseen];

	if (d->nseen == d->seen_max)
		return;
	*seen = (struct task_seen){ .tid = (pid_t)t->tid,
				    .next = sum->thread,
				    .state = letter_of(t->state, t->exit_state),
				    .use = { [USE_VOLUNTARY] = (int64_t)t->voluntary,
					     [USE_INVOLUNTARY] = (int64_t)t->involuntary,
					     [USE_MIGRATIONS] = (int64_t)t->migrations,
					     [USE_WAITED] = (int64_t)t->waited_ns } };
	sum->thread = d->nseen++;
}

static void take_task(void *ctx, const struct task_thread *thread,
		      const struct task_process *process)
{
	struct tree *t = ctx;
	const struct process *p = table_find(&t->table, (pid_t)thread->pid);
	struct task_sum *sum = p ? &t->dump.sum[p - t->table.row] : NULL;

	t->dump.records++;
	if (!sum)
		return;
	if (sum->ticks != t->ticks || sum->pid != p->pid)
		*sum = (struct task_sum){ .ticks = t->ticks,
					  .pid = p->pid,
					  .user_ns = sum->user_ns,
					  .system_ns = sum->system_ns,
					  .start_ns = sum->start_ns };
	sum->counted++;
	add_used(&sum->used, &thread->used);
	note_thread(&t->dump, sum, thread);
	if (!process || thread->tid != thread->pid)
		return;
	sum->first = true;
	sum->process = *process;
	sum->state = thread->state;
	sum->exit_state = thread->exit_state;
	sum->flags = thread->flags;
	add_used(&sum->used, &process->ended);
}

void dump_step(struct tree *t)
{
	struct dump *d = &t->dump;
	bool worth = d->reader == TREE_BPF || (d->reader == TREE_AUTO && is_worth(t));
	int bad;

	d->moved = 0;
	d->used = false;
	if (!worth)
		return;
	if (!d->started)
		start(t);
	if (d->reader == TREE_PROC || !is_ready(t, 0))
		return;
	d->records = 0;
	d->nseen = 1;
	bad = iterator_read(&d->iterator, take_task, t);
	d->tasks = d->records;
	d->used = !bad;
	if (bad)
		give_up(t, bad, strerror(-bad));
}

/* Of one moment: as many threads as it has, none of them counted twice, in the one that began
 * then; and not before those of its parent, who may have taken them over in between. */
struct task_sum *dump_of(const struct tree *t, const struct process *p)
{
	struct task_sum *sum = t->dump.used ? &t->dump.sum[p - t->table.row] : NULL;

	if (!sum || sum->ticks != t->ticks || sum->pid != p->pid || !sum->first ||
	    sum->counted != sum->process.threads || sum->flags & TASK_EXITING || sum->exit_state ||
	    !(sum->process.has & TASK_HAS_RESIDENT))
		return NULL;
	if ((pid_t)sum->process.ppid >= p->pid || (int64_t)sum->used.run_ns < p->cpu_ns)
		return NULL;
	if (p->start_ticks && (int64_t)sum->process.start_ns / t->reading.tick_ns != p->start_ticks)
		return NULL;
	return sum;
}

int64_t dump_cpu_ns(const struct task_sum *sum)
{
	return (int64_t)sum->used.run_ns;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Ticks find a process in user or system mode; the scheduler counts how long it ran. The kernel
 * divides the latter by the former, and lets neither go back: cputime_adjust of
 * kernel/sched/cputime.c. It notes what it has told last; so does this. */
static void adjust(struct task_sum *sum)
{
	__extension__ typedef unsigned __int128 wide;
	const struct task_process *k = &sum->process;
	bool same = sum->start_ns == k->start_ns;
	int64_t user = larger((int64_t)k->before_user_ns, same ? sum->user_ns : 0);
	int64_t system = larger((int64_t)k->before_system_ns, same ? sum->system_ns : 0);
	int64_t run = (int64_t)sum->used.run_ns, now = (int64_t)sum->used.system_ns;

	sum->start_ns = k->start_ns;
	sum->user_ns = user;
	sum->system_ns = system;
	if (user + system >= run)
		return;
	if (!sum->used.user_ns)
		now = sum->used.system_ns ? run : 0;
	else if (now)
		now = (int64_t)((wide)sum->used.system_ns * (wide)run /
				(wide)(sum->used.system_ns + sum->used.user_ns));
	now = larger(now, system);
	sum->user_ns = run - now;
	sum->system_ns = now;
	if (sum->user_ns < user) {
		sum->user_ns = user;
		sum->system_ns = run - user;
	}
}

static void tell_times(const struct tree *t, struct task_sum *sum, struct proc_stat *st)
{
	const struct task_process *k = &sum->process;
	int64_t tick_ns = t->reading.tick_ns;

	if (k->has & TASK_HAS_BEFORE) {
		adjust(sum);
	} else {
		sum->user_ns = (int64_t)sum->used.user_ns;
		sum->system_ns = (int64_t)sum->used.system_ns;
	}
	st->utime = sum->user_ns / tick_ns;
	st->stime = sum->system_ns / tick_ns;
	st->cutime = (int64_t)k->children_user_ns / tick_ns;
	st->cstime = (int64_t)k->children_system_ns / tick_ns;
	st->starttime = (int64_t)k->start_ns / tick_ns;
}

static struct proc_io io_of(const uint64_t io[TASK_IO])
{
	return (struct proc_io){ .rchar = (int64_t)io[0],
				 .wchar = (int64_t)io[1],
				 .syscr = (int64_t)io[2],
				 .syscw = (int64_t)io[3],
				 .read_bytes = (int64_t)io[4],
				 .write_bytes = (int64_t)io[5],
				 .cancelled_write_bytes = (int64_t)io[6] };
}

void dump_tell(const struct tree *t, struct task_sum *sum, struct told *told)
{
	const struct task_process *k = &sum->process;
	struct proc_stat *st = &told->stat;

	*told = (struct told){ .io_known = k->has & TASK_HAS_IO,
			       .io = io_of(sum->used.io),
			       .files = k->files };
	*st = (struct proc_stat){ .pid = sum->pid,
				  .ppid = (pid_t)k->ppid,
				  .state = letter_of(sum->state, sum->exit_state),
				  .flags = sum->flags,
				  .minflt = (int64_t)sum->used.minor_faults,
				  .majflt = (int64_t)sum->used.major_faults,
				  .cminflt = (int64_t)k->children_minor_faults,
				  .cmajflt = (int64_t)k->children_major_faults,
				  .nice = k->nice,
				  .num_threads = k->threads,
				  .vsize_bytes = (int64_t)k->virtual_pages * t->reading.page_bytes,
				  .rss_pages = k->resident_pages,
				  .stack = (int64_t)k->stack };
	snprintf(st->comm, sizeof st->comm, "%.*s", (int)sizeof k->comm, k->comm);
	tell_times(t, sum, st);
}

bool dump_has_threads(const struct tree *t)
{
	return t->dump.used && t->dump.nseen < t->dump.seen_max;
}

const struct task_seen *dump_thread(const struct tree *t, pid_t tid)
{
	uint32_t low = 1, high = dump_has_threads(t) ? t->dump.nseen : 1;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (t->dump.seen[mid].tid == tid)
			return &t->dump.seen[mid];
		if (t->dump.seen[mid].tid < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}
