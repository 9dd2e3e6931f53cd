/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - the launchers whose children are the job: one, or as many as share the recorder.
 * What a task used is what its launcher waited for and what is alive of it. */
#include "base/clock.h"
#include "base/hash.h"
#include "sampler/tree/tree_state.h"

#include <errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void tasks_close(struct tree *t)
{
	for (uint32_t i = 0; i < t->ntasks; i++)
		file_close(&t->task[i].io);
	free(t->task);
}

struct task *task_of(const struct tree *t, pid_t launcher)
{
	for (uint32_t i = 0; launcher && i < t->ntasks; i++)
		if (t->task[i].launcher == launcher)
			return &t->task[i];
	return NULL;
}

/* Members of struct proc_io, in order. */
static void io_numbers(const struct proc_io *io, int64_t out[6])
{
	const int64_t numbers[6] = { io->rchar, io->wchar,      io->syscr,
				     io->syscw, io->read_bytes, io->write_bytes };

	memcpy(out, numbers, sizeof numbers);
}

static struct proc_io io_of(const int64_t in[6])
{
	return (struct proc_io){ .rchar = in[0],
				 .wchar = in[1],
				 .syscr = in[2],
				 .syscw = in[3],
				 .read_bytes = in[4],
				 .write_bytes = in[5] };
}

void tasks_read(struct tree *t)
{
	for (uint32_t i = 0; i < t->ntasks && t->due & READ_IO; i++) {
		struct task *k = &t->task[i];
		struct proc_io io;
		char buf[512];

		if (k->io <= 0 || file_reread(k->io, buf, sizeof buf) <= 0 ||
		    proc_io_parse(buf, &io))
			continue;
		if (!k->io_known && !k->recorded[RECORDED_AT])
			k->io_base = io;
		k->io_known = true;
		k->io_now = io;
	}
}

void tasks_reaped(const struct tree *t, struct message *sum)
{
	*sum = (struct message){ .kind = MESSAGE_EXITED };
	for (uint32_t i = 0; i < t->ntasks; i++) {
		const struct message *m = &t->task[i].reaped;

		sum->total_user_ns += m->total_user_ns;
		sum->total_system_ns += m->total_system_ns;
		sum->total_minor_faults += m->total_minor_faults;
		sum->total_major_faults += m->total_major_faults;
		sum->total_voluntary_switches += m->total_voluntary_switches;
		sum->total_involuntary_switches += m->total_involuntary_switches;
	}
}

static void task_io(const struct task *k, int64_t out[6])
{
	int64_t base[6];

	io_numbers(&k->io_now, out);
	io_numbers(&k->io_base, base);
	for (int i = 0; i < 6; i++)
		out[i] -= base[i];
}

bool tasks_io(const struct tree *t, struct proc_io *sum)
{
	int64_t all[6] = { 0 }, one[6];

	for (uint32_t i = 0; i < t->ntasks; i++) {
		if (!t->task[i].io_known)
			return false;
		task_io(&t->task[i], one);
		for (int k = 0; k < 6; k++)
			all[k] += one[k];
	}
	*sum = io_of(all);
	return true;
}

bool tasks_lost(const struct tree *t)
{
	for (uint32_t i = 0; i < t->ntasks; i++)
		if (!t->task[i].launcher && t->task[i].reaped.kind != MESSAGE_ENDED)
			return true;
	return false;
}

void tree_reaped(struct tree *t, uint32_t task, const struct message *m)
{
	struct process *p;

	if (task >= t->ntasks)
		return;
	t->task[task].reaped = *m;
	p = m->kind == MESSAGE_EXITED ? table_find(&t->table, m->pid) : NULL;
	if (p && p->task == task) {
		p->waited = true;
		p->status = m->status;
		p->status_known = true;
	}
	if (m->children)
		unwaited_heard(&t->task[task], m);
	if (m->max_rss_bytes > t->max_rss_reaped)
		t->max_rss_reaped = m->max_rss_bytes;
	/* The kernel's peak is that of the largest of it and its children: it has none. */
	if (p && t->started == 1 && m->max_rss_bytes > p->peak_rss_bytes)
		p->peak_rss_bytes = m->max_rss_bytes;
}

/* Is the launcher itself a part of the job, as where one sonde runs another? */
static bool is_inside(struct tree *t, pid_t pid)
{
	enum { DEPTH_MAX = 128 };

	for (int depth = 0; depth < DEPTH_MAX && pid > 1; depth++) {
		struct process look = { .pid = pid };

		if (process_read(&t->reading, &look, READ_STAT, KEEP_NONE))
			return false;
		if (task_of(t, look.ppid))
			return true;
		pid = look.ppid;
	}
	return false;
}

static struct task *task_make(struct tree *t, pid_t launcher, const int64_t *recorded)
{
	struct task *k = &t->task[t->ntasks++];
	char path[32];

	*k = (struct task){ .launcher = launcher };
	snprintf(path, sizeof path, "%d/io", (int)launcher);
	k->io = root_file(t->reading.proc, path);
	if (!recorded)
		return k;
	memcpy(k->recorded, recorded, sizeof k->recorded);
	k->io_base = io_of(&recorded[RECORDED_OWN_IO]);
	for (int i = 0; i < RECORDED_AT; i++)
		t->recorded[i] += recorded[i];
	return k;
}

int tasks_init(struct tree *t, const struct tree_options *o)
{
	t->tasks_max = o->shared ? TREE_TASKS_MAX : t->launched;
	t->task = t->tasks_max ? calloc(t->tasks_max, sizeof *t->task) : NULL;
	if (t->tasks_max && !t->task)
		return -ENOMEM;
	if (t->launched && !o->shared)
		task_make(t, o->launcher, NULL);
	return 0;
}

/* Start times count from the boot, samples by the clock that stands still in a suspend. */
static int64_t since_boot_ns(int64_t mono_ns)
{
	return mono_ns + clock_boot_ns() - clock_mono_ns();
}

bool tasks_have_recorded(const struct tree *t, const struct process *p, int64_t start_ticks)
{
	int64_t at = t->ntasks ? t->task[p->task].recorded[RECORDED_AT] : 0;

	return at && start_ticks * t->reading.tick_ns < since_boot_ns(at);
}

/* What runs of it already started unseen, and its threads are not watched. */
static void find_what_runs(struct tree *t)
{
	t->lost_records++;
	t->unwatched = t->exits != NULL;
	discover_all(t);
}

int tree_task_add(struct tree *t, pid_t launcher, const int64_t *recorded, uint32_t *task)
{
	if (t->ntasks == t->tasks_max)
		return -ENOSPC;
	if (is_inside(t, launcher))
		return -EALREADY;
	*task = t->ntasks;
	t->now_ns = clock_mono_ns();
	task_make(t, launcher, recorded);
	if (t->exits && exits_add(t->exits, launcher)) {
		t->lost_records++;
		t->unwatched = true;
	}
	if (recorded && recorded[RECORDED_UNWAITED])
		unwaited_say(t);
	if (recorded && recorded[RECORDED_AT])
		find_what_runs(t);
	return 0;
}

void tree_task_over(struct tree *t, uint32_t task)
{
	int64_t ns;

	if (task >= t->ntasks)
		return;
	t->due |= READ_ALL;
	tasks_read(t);
	/* What came and went since the last sample is told first, while it has a launcher. */
	t->vanished_ns = clock_mono_ns();
	starts_catch_up(t);
	/* What is gone by now was waited for, unless the launcher was killed; what lives on will be
	 * by somebody else. */
	for (uint32_t i = 0; i < t->table.nlive && t->task[task].reaped.kind == MESSAGE_ENDED;
	     i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		p->waited |= p->task == task && (p->ended || process_clock(p->pid, &ns));
	}
	t->task[task].launcher = 0;
	file_close(&t->task[task].io);
}

static int64_t task_cpu(const struct task *k)
{
	return k->reaped.total_user_ns + k->reaped.total_system_ns + k->parts[PART_CPU];
}

int64_t tree_task_cpu_ns(const struct tree *t, uint32_t task)
{
	return task < t->ntasks ? task_cpu(&t->task[task]) : 0;
}

/* What the job's total has above what its tasks were waited for is told of those that go on. */
static void share_out(const struct tree *t, int64_t total_ns, int64_t *rows, uint32_t n)
{
	int64_t more = total_ns + t->recorded[RECORDED_CPU] - t->departed_cpu_ns;
	int64_t running = 0, left;

	for (uint32_t i = 0; i < n; i++) {
		int64_t cpu = rows[i * RECORDED_NUMBER_OF + RECORDED_CPU];

		more -= cpu;
		running += t->task[i].launcher ? cpu : 0;
	}
	left = more;
	for (uint32_t i = 0; i < n && more > 0; i++) {
		int64_t *cpu = &rows[i * RECORDED_NUMBER_OF + RECORDED_CPU], part;

		if (!t->task[i].launcher)
			continue;
		part = running ? (int64_t)((double)more * ((double)*cpu / (double)running)) : left;
		part = part < left ? part : left;
		*cpu += part;
		left -= part;
	}
}

/* What is known and will be recorded with the next samples only. */
static void hold_back(int64_t held_ns, int64_t *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n && held_ns > 0; i++) {
		int64_t *row = &rows[i * RECORDED_NUMBER_OF], *cpu = &row[RECORDED_CPU];
		int64_t part = held_ns < *cpu ? held_ns : *cpu;

		*cpu -= part;
		held_ns -= part;
		if (row[RECORDED_ATTRIBUTED_CPU] > *cpu)
			row[RECORDED_ATTRIBUTED_CPU] = *cpu;
	}
}

uint32_t tree_recorded(const struct tree *t, bool last, int64_t at_ns, int64_t *rows, uint32_t max)
{
	uint32_t n = t->ntasks < max ? t->ntasks : max;
	struct tree_totals totals;

	for (uint32_t i = 0; i < n; i++) {
		const struct task *k = &t->task[i];
		int64_t *row = &rows[i * RECORDED_NUMBER_OF];

		task_io(k, &row[RECORDED_IO]);
		for (int j = 0; j < 6; j++)
			row[RECORDED_IO + j] += k->parts[PART_READ + j];
		io_numbers(&k->io_base, &row[RECORDED_OWN_IO]);
		row[RECORDED_CPU] = task_cpu(k);
		row[RECORDED_ATTRIBUTED_CPU] = k->attributed_ended_ns + k->parts[PART_OWN];
		row[RECORDED_MINOR_FAULTS] =
			k->reaped.total_minor_faults + k->parts[PART_MINOR_FAULTS];
		row[RECORDED_MAJOR_FAULTS] =
			k->reaped.total_major_faults + k->parts[PART_MAJOR_FAULTS];
		row[RECORDED_AT] = at_ns;
		row[RECORDED_UNWAITED] = t->unwaited;
	}
	tree_totals(t, &totals);
	share_out(t, last ? totals.cpu_ns : t->job[JOB_CPU], rows, n);
	hold_back(last ? 0 : t->job[JOB_CPU] - t->reported_cpu_ns, rows, n);
	return n;
}

/*
 * How each process ended, and which limits it had of its own.
 *
 * The launcher knows that of what it waits for. Of others a pidfd tells it after their end (Linux
 * 6.15), without a privilege, if it was opened while they lived: so many are kept open at a time.
 */

enum { HANDLES_MAX = 256, HANDLES_SHARE = 8 /* of the files that may be open */ };

/* Of linux/pidfd.h, which older systems lack. */
enum { INFO_EXIT = 1 << 3 };
struct pidfd_info {
	__u64 mask, cgroupid;
	__u32 pid, tgid, ppid, ids[8];
	__s32 exit_code;
};
_Static_assert(sizeof(struct pidfd_info) == 64, "as the kernel has it");
#define PIDFD_GET_INFO _IOWR(0xFF, 11, struct pidfd_info)

void status_watch(struct tree *t, struct process *p)
{
	struct rlimit files;

	if (!t->reading.clocks) /* pids are another machine's */
		return;
	if (!t->handles_max)
		t->handles_max = getrlimit(RLIMIT_NOFILE, &files) ||
						 files.rlim_cur / HANDLES_SHARE > HANDLES_MAX
					 ? HANDLES_MAX
					 : (uint32_t)(files.rlim_cur / HANDLES_SHARE);
	if (t->handles >= t->handles_max)
		return;
	p->handle = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->handle > 0)
		t->handles++;
	else
		p->handle = 0;
}

void status_forget(struct tree *t, struct process *p)
{
	if (!p->handle)
		return;
	close(p->handle);
	p->handle = 0;
	t->handles--;
}

void status_take(struct tree *t, struct process *p)
{
	struct pidfd_info info = { .mask = INFO_EXIT };

	if (p->handle && !p->status_known && !ioctl(p->handle, PIDFD_GET_INFO, &info) &&
	    info.mask & INFO_EXIT) {
		p->status = info.exit_code;
		p->status_known = true;
	}
	status_forget(t, p);
}

bool tree_failed(const struct tree *t)
{
	return t->any_failed;
}

static void label(struct tree *t, const struct process *p, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	sample_label(t->sample, p->instance, key, text);
}

void tree_limits(struct tree *t, const struct rlimit *limits)
{
	limits_take(limits, &t->limits);
	t->limits_known = true;
}

/* One process every two seconds: few programs set themselves a limit late. */
void status_turn(struct tree *t)
{
	if (!t->table.nlive || t->now_ns - t->limits_ns < 2 * NS_PER_S)
		return;
	t->limits_ns = t->now_ns;
	t->table.row[t->table.live[t->limits_turn++ % t->table.nlive]].limits_due = true;
}

/* What it has told once may have changed since, and is told again when it is another. */
static void say_limits(struct tree *t, struct process *p)
{
	struct limits own;
	bool again = p->limits_told;
	const char *key;
	uint32_t sum;

	if (!p->limits_due || !t->limits_known)
		return;
	p->limits_due = false;
	if (limits_read(t->reading.proc, p->pid, &own))
		return;
	sum = crc32c(0, &own, sizeof own);
	if (p->limits_sum == sum)
		return;
	p->limits_sum = sum;
	for (size_t i = 0; i < LIMIT_ROWS; i++) {
		if (own.value[i] == LIMIT_UNKNOWN || (own.value[i] == t->limits.value[i] && !again))
			continue;
		p->limits_told = true;
		key = limit_label(&limit_rows[i]);
		if (own.value[i] == LIMIT_NONE)
			sample_label(t->sample, p->instance, key, "unlimited");
		else
			label(t, p, key, own.value[i]);
	}
}

void status_say_now(struct tree *t, struct process *p)
{
	int64_t nice = p->stat.nice;

	if (!p->instance)
		return;
	say_limits(t, p);
	if (nice == p->nice_told || nice < PRIO_MIN || nice > PRIO_MAX)
		return;
	label(t, p, "nice", nice);
	p->nice_told = (int8_t)nice;
}

/* Most end with 0, of which nothing is said. */
void status_say(struct tree *t, const struct process *p)
{
	t->any_failed |= p->status != 0;
	if (WIFSIGNALED(p->status)) {
		label(t, p, "signal", WTERMSIG(p->status));
		if (WCOREDUMP(p->status))
			label(t, p, "core_dumped", 1);
	} else if (WIFEXITED(p->status) && WEXITSTATUS(p->status)) {
		label(t, p, "exit_code", WEXITSTATUS(p->status));
	}
}
