/* SPDX-License-Identifier: Apache-2.0 */
/* tree_tasks.c - the launchers whose children are the job: one, or as many as share the recorder.
 * What a task used is what its launcher waited for and what is alive of it. */
#include "sampler/tree/tree_state.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
