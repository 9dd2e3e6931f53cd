/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - what of the tree becomes series and instances, and what only its command's
 * totals. */
#include "sampler/tree/series.h"

#include "base/clock.h"
#include "sampler/tree/tree_state.h"
#include "source/process.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct command_row *look_up(struct commands *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (!strncmp(c->row[i].name, name, COMMAND_NAME - 1))
			return &c->row[i];
	return NULL;
}

static struct command_row *find(struct commands *c, const struct command_use *use)
{
	const char *name = use->name;
	struct command_row *r = look_up(c, name);

	if (!r && c->n >= COMMANDS_MAX / 2) {
		name = use->comm;
		r = look_up(c, name);
	}
	if (r)
		return r;
	if (c->n == COMMANDS_MAX) {
		c->other = true;
		r = &c->row[COMMANDS_MAX];
		memcpy(r->name, "(other)", sizeof "(other)");
		return r;
	}
	r = &c->row[c->n++];
	*r = (struct command_row){ 0 };
	memcpy(r->name, name, strnlen(name, COMMAND_NAME - 1));
	return r;
}

static void commands_add(struct commands *c, const struct command_use *use)
{
	struct command_row *r = find(c, use);

	r->processes++;
	r->cpu_ns += use->cpu_ns;
	r->read_bytes += use->read_bytes;
	r->written_bytes += use->written_bytes;
	r->io_seen |= use->io_known;
	if (use->peak_rss_bytes > r->peak_rss_bytes)
		r->peak_rss_bytes = use->peak_rss_bytes;
}

static void put(struct command_row *r, struct sample *s)
{
	if (!r->slot)
		r->slot = sample_series(s, &process_metrics[COMMAND_PROCESSES], COMMAND_SERIES,
					sample_instance(s, "command", r->name, 0, s->mono_ns, 0));
	if (!r->slot)
		return;
	sample_put(s, r->slot, r->processes);
	if (r->cpu_ns)
		sample_put(s, r->slot + (COMMAND_CPU - COMMAND_PROCESSES), r->cpu_ns);
	if (r->io_seen) {
		sample_put(s, r->slot + (COMMAND_READ - COMMAND_PROCESSES), r->read_bytes);
		sample_put(s, r->slot + (COMMAND_WRITTEN - COMMAND_PROCESSES), r->written_bytes);
	}
	if (r->peak_rss_bytes)
		sample_put(s, r->slot + (COMMAND_PEAK_RESIDENT - COMMAND_PROCESSES),
			   r->peak_rss_bytes);
}

/* Put every row's totals; rows that are new become instances and series. */
static void commands_put(struct commands *c, struct sample *s)
{
	for (uint32_t i = 0; i < c->n; i++)
		put(&c->row[i], s);
	if (c->other)
		put(&c->row[COMMANDS_MAX], s);
}

enum { IDLE_SAMPLES = 16 };

/* who has not run for so many may cease to be series */

static struct proc_io own_io(const struct process *p)
{
	struct proc_io io = p->io;
	const struct proc_io *c = &p->io_children, *b = &p->io_base;

#define OWN(field) io.field = io.field > c->field + b->field ? io.field - c->field - b->field : 0
	OWN(rchar);
	OWN(wchar);
	OWN(syscr);
	OWN(syscw);
	OWN(read_bytes);
	OWN(write_bytes);
#undef OWN
	return io;
}

/* Values of a process, in the order of its rows; returns which are known, and none of the parts
 * that are stale. */
static uint64_t values_of(const struct tree *t, const struct process *p, unsigned stale,
			  int64_t v[PROCESS_FINALS])
{
	const struct proc_io io = own_io(p);
	int64_t tick_hz = NS_PER_S / t->reading.tick_ns;
	bool read = p->read_ns && !(stale & READ_STAT),
	     io_known = p->io_known && !(stale & READ_IO);
	uint64_t known = 0;

#define PUT(row, cond, value)                                                                      \
	do {                                                                                       \
		v[row] = (value);                                                                  \
		if (cond)                                                                          \
			known |= UINT64_C(1) << (row);                                             \
	} while (0)
	PUT(PROCESS_CPU, process_own_ns(p), process_own_ns(p) - p->cpu_base_ns);
	PUT(PROCESS_CPU_USER, read, (p->stat.utime - p->utime_base) * 100 / tick_hz);
	PUT(PROCESS_CPU_SYSTEM, read, (p->stat.stime - p->stime_base) * 100 / tick_hz);
	PUT(PROCESS_THREADS, read, p->stat.num_threads);
	PUT(PROCESS_FILES, p->files_known && !(stale & READ_FILES), p->files);
	PUT(PROCESS_RESIDENT, read, p->stat.rss_pages * t->reading.page_bytes + p->hugetlb_bytes);
	PUT(PROCESS_VIRTUAL, read, p->stat.vsize_bytes);
	PUT(PROCESS_SHARED, read && p->shared_known, p->shared_bytes);
	PUT(PROCESS_SWAP, p->walked_now, p->swap_bytes);
	PUT(PROCESS_PSS, p->walked_now, p->pss_bytes + memory_hugetlb_of(t, p));
	PUT(PROCESS_USS, p->walked_now, p->uss_bytes);
	PUT(PROCESS_READ, io_known, io.rchar);
	PUT(PROCESS_WRITTEN, io_known, io.wchar);
	PUT(PROCESS_READ_CALLS, io_known, io.syscr);
	PUT(PROCESS_WRITE_CALLS, io_known, io.syscw);
	PUT(PROCESS_STORAGE_READ, io_known, io.read_bytes);
	PUT(PROCESS_STORAGE_WRITTEN, io_known, io.write_bytes);
	PUT(PROCESS_MINOR_FAULTS, read, p->stat.minflt - p->minflt_base);
	PUT(PROCESS_MAJOR_FAULTS, read, p->stat.majflt - p->majflt_base);
	for (int i = 0; i < USE_NUMBER_OF; i++)
		PUT(PROCESS_VOLUNTARY + i, p->looked_now && !t->looks.unsupported[i],
		    p->used[i] - p->used_base[i]);
	PUT(PROCESS_PEAK_RESIDENT, p->peak_rss_bytes > 0, p->peak_rss_bytes);
#undef PUT
	return known;
}

/* Once for each program that it executes, while it is there. */
static bool new_arguments(struct tree *t, struct process *p)
{
	bool due = p->arguments_due;

	p->arguments_due = false;
	if (due)
		crashes_program(t, p);
	return due && arguments_read(&t->arguments, t->reading.proc, p);
}

static void tell_arguments(struct tree *t, const struct process *p)
{
	sample_label(t->sample, p->instance, "command_line", t->arguments.line);
}

/* A process that executes another program goes by that program's name from then on. */
static void tell_name(struct tree *t, struct process *p)
{
	if (!strcmp(p->told, process_called(p)))
		return;
	if (p->told[0])
		sample_name(t->sample, p->instance, process_called(p));
	snprintf(p->told, sizeof p->told, "%s", process_called(p));
}

static void begin_instance(struct tree *t, struct process *p)
{
	char pid[16];

	/* The parent may have ended a moment ago. */
	p->instance = sample_instance(t->sample, "process", process_called(p),
				      tree_instance(t, p->ppid), p->birth_ns, 0);
	snprintf(pid, sizeof pid, "%d", (int)p->pid);
	if (p->instance)
		sample_label(t->sample, p->instance, "pid", pid);
	if (p->instance && p->goes_on)
		sample_label(t->sample, p->instance, "goes_on", "1");
	tell_name(t, p);
}

/* After those of its ancestors, also if no sample has seen these: who started it must be known.
 * They count as named. */
static void make_instance(struct tree *t, struct process *p)
{
	enum { DEPTH_MAX = 128 };
	struct process *chain[DEPTH_MAX] = { p }, *parent = table_find(&t->table, p->ppid);
	unsigned n = 1;

	while (parent && parent != chain[n - 1] && !parent->instance && n < DEPTH_MAX) {
		chain[n++] = parent;
		t->named_left_ns -= NS_PER_S / NAMED_PER_S;
		parent = table_find(&t->table, parent->ppid);
	}
	while (n--)
		if (!chain[n]->instance)
			begin_instance(t, chain[n]);
}

/* The kernel refuses what is another user's or has more rights; a security module, what its rules
 * say. */
static const char *why_refused(const struct tree *t, const struct process *p)
{
	char pid[16];
	struct stat st;

	snprintf(pid, sizeof pid, "%d", (int)p->pid);
	if (!fstatat(t->reading.proc->fd, pid, &st, 0) && st.st_uid == geteuid())
		return "/proc/PID/io may not be read: the process has more rights, or a security "
		       "module (SELinux, AppArmor) refuses it";
	return "the process belongs to another user";
}

static void promote(struct tree *t, struct process *p)
{
	bool told = new_arguments(t, p);
	const char *why;

	if (!p->instance)
		make_instance(t, p);
	if (!p->instance)
		return;
	if (told)
		tell_arguments(t, p);
	status_say_now(t, p);
	p->slot = sample_series(t->sample, process_metrics, PROCESS_SERIES, p->instance);
	if (!p->slot)
		return;
	t->promoted++;
	process_changed(p);
	if (!p->io_refused)
		return;
	why = why_refused(t, p);
	for (uint32_t row = PROCESS_READ; row <= PROCESS_STORAGE_WRITTEN; row++)
		sample_refuse(t->sample, p->slot + row, STATE_FORBIDDEN, why);
}

static void demote(struct tree *t, struct process *p)
{
	sample_series_end(t->sample, p->slot, PROCESS_SERIES);
	p->slot = 0;
	t->promoted--;
}

/* Make room among the promoted: who has been idle longest goes, the smallest first. */
static void demote_idle(struct tree *t, uint32_t wanted)
{
	while (wanted--) {
		struct process *victim = NULL;

		for (uint32_t i = 0; i < t->table.nlive; i++) {
			struct process *p = &t->table.row[t->table.live[i]];

			if (!p->slot || p->idle_samples < IDLE_SAMPLES)
				continue;
			if (!victim || p->idle_samples > victim->idle_samples ||
			    (p->idle_samples == victim->idle_samples &&
			     p->stat.rss_pages < victim->stat.rss_pages))
				victim = p;
		}
		if (!victim)
			return;
		demote(t, victim);
	}
}

static void choose_promoted(struct tree *t)
{
	uint32_t waiting = 0;

	if (t->promoted == t->table.nlive)
		return;
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (p->slot || !p->read_ns || p->ended)
			continue;
		if (t->promoted >= PROMOTED_MAX && p->idle_samples)
			continue;
		if (proc_stat_ended(&p->stat))
			continue;
		if (t->promoted < PROMOTED_MAX)
			promote(t, p);
		else
			waiting++;
	}
	/* A few a sample: the next samples bring the others. */
	if (waiting)
		demote_idle(t, waiting < 8 ? waiting : 8);
}

/* What a row of the job is summed up from; 0: what every sample has. Open files are of the last
 * second: a job that is shorter has some, too. */
static unsigned job_part(uint32_t row)
{
	switch (row) {
	case JOB_THREADS:
	case JOB_RESIDENT:
	case JOB_VIRTUAL:
	case JOB_SHARED:
	case JOB_PSS:
	case JOB_PSS_AGE:
	case JOB_USS:
	case JOB_SWAP:
	case JOB_HUGETLB:
	case JOB_ANONYMOUS_HUGE:
	case JOB_MINOR_FAULTS:
	case JOB_MAJOR_FAULTS:
		return READ_STAT;
	case JOB_READ:
	case JOB_WRITTEN:
	case JOB_READ_CALLS:
	case JOB_WRITE_CALLS:
	case JOB_STORAGE_READ:
	case JOB_STORAGE_WRITTEN:
		return READ_IO;
	default:
		return 0;
	}
}

/* CPU time may become known late, when a process was waited for, or a reading be made long after
 * its sample began. What the machine cannot have done since the last sample is recorded with the
 * next ones, and all of it with the last. */
static int64_t cpu_in_time(struct tree *t, bool last)
{
	int64_t cpu = t->job[JOB_CPU];
	int64_t most = t->reported_cpu_ns + t->cores * (t->now_ns - t->put_ns);

	if (t->cores && t->put_ns && !last && cpu > most)
		cpu = most;
	t->put_ns = t->now_ns;
	return t->reported_cpu_ns = cpu;
}

static void put_job(struct tree *t, struct sample *s)
{
	int64_t cpu = cpu_in_time(t, s->last), own = t->job[JOB_ATTRIBUTED_CPU];

	for (uint32_t row = 0; row < JOB_NUMBER_OF; row++)
		if (t->job_known[row] && (job_part(row) & ~t->due) == 0)
			sample_put(s, t->job_slot + row, t->job[row]);
	sample_put(s, t->job_slot + JOB_CPU, cpu);
	sample_put(s, t->job_slot + JOB_ATTRIBUTED_CPU, own < cpu ? own : cpu);
}

void series_put(struct tree *t, struct sample *s)
{
	choose_promoted(t);
	status_turn(t);
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];
		int64_t v[PROCESS_FINALS];
		uint64_t known;

		if (!p->slot || p->ended)
			continue;
		if (!p->fresh) {
			sample_hold(s, p->slot, PROCESS_SERIES);
			continue;
		}
		p->fresh--;
		if (new_arguments(t, p))
			tell_arguments(t, p);
		status_say_now(t, p);
		tell_name(t, p);
		known = values_of(t, p, p->stale, v);
		for (uint32_t row = 0; row < PROCESS_SERIES; row++)
			if (known >> row & 1)
				sample_put(s, p->slot + row, v[row]);
		p->walked_now = p->looked_now = false;
	}
	put_job(t, s);
	commands_put(&t->commands, s);
}

/* Short processes become instances of their own while there are not too many of them, and those
 * that an earlier recorder has, so that they are not counted twice. */
static bool worth_naming(struct tree *t, const struct process *p)
{
	if (p->instance || p->goes_on || process_own_ns(p) >= NAMED_ALWAYS_MS * NS_PER_MS)
		return true;
	if (t->named_left_ns < NS_PER_S / NAMED_PER_S)
		return false;
	t->named_left_ns -= NS_PER_S / NAMED_PER_S;
	return true;
}

/* How long its children ran that are in no recording by themselves: it may have waited for them. */
static void unnamed_ended(struct tree *t, const struct process *p, int64_t at_ns)
{
	struct process *parent = table_find(&t->table, p->ppid);
	int64_t from;

	if (!parent)
		return;
	from = p->birth_ns > parent->unnamed_until_ns ? p->birth_ns : parent->unnamed_until_ns;
	parent->unnamed_ns += at_ns > from ? at_ns - from : 0;
	parent->unnamed_until_ns = at_ns > from ? at_ns : from;
}

static void tell_unnamed(struct tree *t, const struct process *p)
{
	char text[24];

	if (!p->unnamed_ns)
		return;
	snprintf(text, sizeof text, "%.6f", (double)p->unnamed_ns / NS_PER_S);
	sample_label(t->sample, p->instance, "unnamed_children_seconds", text);
}

static void use_command(struct tree *t, const struct process *p)
{
	const struct proc_io io = own_io(p);
	const struct command_use use = {
		.name = process_called(p),
		.comm = p->comm,
		.cpu_ns = process_own_ns(p) - p->cpu_base_ns,
		.read_bytes = io.rchar,
		.written_bytes = io.wchar,
		.peak_rss_bytes = p->peak_rss_bytes,
		.io_known = p->io_known,
	};

	commands_add(&t->commands, &use);
}

static void put_finals(struct tree *t, struct process *p)
{
	int64_t v[PROCESS_FINALS];
	uint64_t known;

	p->looked_now = p->looked_ns != 0;
	known = values_of(t, p, 0, v);
	if (p->walk_ns)
		known |= UINT64_C(1) << PROCESS_PSS | UINT64_C(1) << PROCESS_USS |
			 UINT64_C(1) << PROCESS_SWAP;
	sample_final(t->sample, p->instance, process_metrics, PROCESS_FINALS, v, known);
}

void series_ended(struct tree *t, struct process *p, int64_t at_ns)
{
	use_command(t, p);
	t->unknown_ends += !p->status_known;
	if (!worth_naming(t, p)) {
		unnamed_ended(t, p, at_ns);
		return;
	}
	if (!p->instance)
		make_instance(t, p);
	if (!p->instance)
		return;
	if (p->slot)
		demote(t, p);
	tell_name(t, p);
	put_finals(t, p);
	tell_unnamed(t, p);
	status_say(t, p);
	crashes_ended(t, p, at_ns);
	sample_end(t->sample, p->instance, at_ns);
}

void series_last(struct tree *t)
{
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (!p->instance)
			make_instance(t, p);
		if (!p->instance)
			continue;
		put_finals(t, p);
		tell_unnamed(t, p);
	}
}

static void label_number(struct sample *s, uint32_t instance, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	sample_label(s, instance, key, text);
}

void task_record_begin(struct sample *s, struct task_record *t, int64_t at_ns)
{
	char name[32] = "task";

	if (t->rank >= 0)
		snprintf(name, sizeof name, "rank %lld", (long long)t->rank);
	t->instance = sample_instance(s, "task", name, 0, at_ns, 0);
	if (!t->instance)
		return;
	if (t->rank >= 0)
		label_number(s, t->instance, "rank", t->rank);
	if (t->step[0])
		sample_label(s, t->instance, "step", t->step);
	if (t->pid > 0) /* by which its processes are known */
		label_number(s, t->instance, "command_pid", t->pid);
	if (t->goes_on)
		sample_label(s, t->instance, "goes_on", "1");
}

void task_record_started(struct sample *s, struct task_record *t, const struct message *m)
{
	if (m->kind != MESSAGE_STARTED || t->instance)
		return;
	t->pid = m->pid;
	task_record_begin(s, t, m->at_ns);
}

static void say_used(struct sample *s, struct task_record *t, int64_t cpu_ns, int64_t peak_bytes)
{
	const int64_t used[TASK_FINALS] = {
		[TASK_CPU - TASK_FIRST] = cpu_ns,
		[TASK_PEAK_RESIDENT - TASK_FIRST] = peak_bytes,
	};
	const uint64_t peak = UINT64_C(1) << (TASK_PEAK_RESIDENT - TASK_FIRST);
	const uint64_t all = (UINT64_C(1) << TASK_FINALS) - 1;

	sample_final(s, t->instance, &process_metrics[TASK_FIRST], TASK_FINALS, used,
		     peak_bytes < 0 ? all & ~peak : all);
	t->used_ns = cpu_ns;
}

void task_record_used(struct sample *s, struct task_record *t, int64_t cpu_ns)
{
	if (t->instance && cpu_ns > t->used_ns + t->used_ns / 20 + NS_PER_MS)
		say_used(s, t, cpu_ns, -1);
}

void task_record_end(struct sample *s, struct task_record *t, const struct message *m)
{
	if (!t->instance)
		task_record_begin(s, t, m->at_ns);
	if (!t->instance)
		return;
	if (WIFSIGNALED(m->status))
		label_number(s, t->instance, "signal", WTERMSIG(m->status));
	else
		label_number(s, t->instance, "exit_code", WEXITSTATUS(m->status));
	say_used(s, t, m->total_user_ns + m->total_system_ns,
		 m->max_rss_bytes > 0 ? m->max_rss_bytes : -1);
	sample_end(s, t->instance, m->at_ns);
}

void task_record_lost(struct sample *s, struct task_record *t, int64_t cpu_ns, int64_t now_ns)
{
	if (!t->instance)
		task_record_begin(s, t, now_ns);
	if (!t->instance)
		return;
	if (cpu_ns > t->used_ns)
		say_used(s, t, cpu_ns, -1);
	sample_end(s, t->instance, now_ns);
}
