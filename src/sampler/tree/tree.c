/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/tree.h"

#include "base/clock.h"
#include "base/reserve.h"
#include "sampler/tree/tree_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_pss(struct tree *t)
{
	static const char *const pss[] = { "used: within the budget", "used: in every sample",
					   "off" };
	int fd = t->pss != PSS_OFF ? root_file(t->reading.proc, "self/smaps_rollup") : 0;

	if (fd == -EACCES || fd == -EPERM)
		discover_say(t, "mechanism.pss", fd, "/proc/PID/smaps_rollup may not be read");
	else
		sample_meta_text(t->sample, "mechanism.pss", pss[t->pss]);
	if (fd > 0)
		close(fd);
}

/* How processes are read, beside how they are found. */
static void say_readings(struct tree *t)
{
	const struct reading *r = &t->reading;

	discover_say(t, "mechanism.cpu_clock", r->clocks ? 0 : -EOPNOTSUPP,
		     "what is read is not the /proc of this process's own pids");
	discover_say(t, "mechanism.files_by_size", r->files_by_size ? 0 : -EOPNOTSUPP,
		     "open files are counted one by one");
	sample_meta_int(t->sample, "mechanism.files_kept_at_most", r->kept_max);
	say_pss(t);
}

static int estimates_open(struct tree *t)
{
	if (table_init(&t->table))
		return -ENOMEM;
	t->estimate = reserve(t->table.cap * sizeof *t->estimate);
	return t->estimate ? 0 : -ENOMEM;
}

int tree_open(struct tree **out, const struct tree_options *o, struct sample *s, struct err *e)
{
	struct tree *t = calloc(1, sizeof *t);
	int bad;

	*out = NULL;
	if (!t || estimates_open(t) || pages_open(&t->pages) || looks_open(t) ||
	    (!o->no_arguments && arguments_open(&t->arguments, o->secrets))) {
		tree_close(t);
		return err_set(e, -ENOMEM, "out of memory");
	}
	t->sample = s;
	t->launched = o->launcher != 0;
	t->follow = o->follow;
	t->pss = o->pss;
	t->pace = (struct cadence){ .refresh = REFRESH_SAMPLES,
				    .shared = REFRESH_SAMPLES,
				    .turns = 1,
				    .io_turns = 1,
				    .rarer = 1 };
	t->now_ns = t->walk_time_ns = t->opened_ns = clock_mono_ns();
	t->walk_budget_ns = 5 * NS_PER_MS;
	t->named_left_ns = NAMED_BURST * (NS_PER_S / NAMED_PER_S);
	t->recorder = reading_self(o->proc);
	reading_init(&t->reading, o->proc);
	t->cores = t->reading.clocks ? sysconf(_SC_NPROCESSORS_ONLN) : 0;
	memory_open(t, o->nroots ? o->roots[0] : 0, o->launcher);
	bad = tasks_init(t, o);
	if (bad)
		err_set(e, bad, "out of memory");
	else
		bad = discover_open(t, o, e);
	if (bad) {
		tree_close(t);
		return bad;
	}
	/* How old a value of an idle process can be: what its CPU clock says did not run is not
	 * read. */
	sample_meta_int(s, "process.refresh_samples", REFRESH_SAMPLES);
	sample_meta_int(s, "process.refresh_ns", REFRESH_SECONDS * NS_PER_S);
	say_readings(t);
	dump_open(t, o->reader);
	t->job_slot = sample_series(s, job_metrics, JOB_NUMBER_OF, 0);
	*out = t;
	return 0;
}

void tree_close(struct tree *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		process_close(&t->reading, &t->table.row[t->table.live[i]], KEEP_NONE);
		status_forget(t, &t->table.row[t->table.live[i]]);
	}
	memory_close(t);
	dump_close(t);
	exits_close(t->exits);
	connector_close(&t->connector);
	discover_close(t);
	looks_close(t);
	arguments_close(&t->arguments);
	tasks_close(t);
	reserve_free(t->estimate, t->table.cap * sizeof *t->estimate);
	table_free(&t->table);
	pages_close(&t->pages);
	free(t);
}

static void first_reading(struct tree *t, struct process *p)
{
	if (!p->before_us)
		return;
	p->cpu_base_ns = p->cpu_ns;
	p->children_base_ns = process_children_ns(&t->reading, p);
	p->io_base = p->io;
	p->utime_base = p->stat.utime;
	p->stime_base = p->stat.stime;
	p->minflt_base = p->stat.minflt;
	p->majflt_base = p->stat.majflt;
	t->departed_minflt -= p->stat.minflt + p->stat.cminflt;
	t->departed_majflt -= p->stat.majflt + p->stat.cmajflt;
}

/* Once in so many samples, not all of them in the same. */
static bool is_turn(const struct tree *t, const struct process *p, uint64_t samples)
{
	return (t->ticks + (uint64_t)p->pid) % samples == 0;
}

/* Has it run since the last sample? Its CPU clock tells; without clocks, everything may have. */
static int gate(struct tree *t, struct process *p, const struct task_sum *sum, bool *moved)
{
	int64_t ns = sum ? dump_cpu_ns(sum) : 0;
	int bad;

	*moved = true;
	if (!t->reading.clocks)
		return 0;
	bad = sum ? 0 : process_clock(p->pid, &ns);
	if (bad)
		return bad;
	if (p->read_ns && ns < p->cpu_ns)
		return -ESRCH; /* a clock never goes back: another process has the pid */
	*moved = !p->read_ns || ns != p->cpu_ns;
	p->cpu_ns = ns;
	p->clock_ns = t->now_ns;
	return 0;
}

/* So many files can be open; when there is no room, of the next few processes one that did not run
 * gives up its own. */
static void make_room(struct tree *t)
{
	for (int tries = 0; tries < 32; tries++) {
		uint32_t i = t->keep_hand++ % t->table.nlive;
		struct process *p = &t->table.row[t->table.live[i]];

		if (p->idle_samples && (p->kept[KEPT_STATM] > 0 || p->kept[KEPT_STAT] > 0)) {
			process_close(&t->reading, p, KEEP_NONE);
			return;
		}
	}
}

enum {
	OLDEST_ACTIVE = 1 << 7, /* of its history */
	CLOCK_NS = 700,         /* what reading one takes */
	PARENT_TURNS = 2,       /* who does not run may get another parent: once a minute */
};

/* Twice active of late: its files are worth holding open. */
static bool worth_keeping(const struct process *p)
{
	unsigned recent = p->history & 15;

	return (recent & (recent - 1)) != 0;
}

/* Of what is due in this sample, what it is this process's turn for. */
static unsigned due_of(const struct tree *t, const struct process *p)
{
	uint64_t pid = (uint64_t)p->pid, turns = t->pace.turns, io_turns = t->pace.io_turns;
	unsigned parts = 0;

	if (turns <= 1 && io_turns <= 1)
		return t->due;
	if ((t->dues[DUE_STAT] + pid) % turns == 0)
		parts |= READ_STAT;
	if ((t->dues[DUE_IO] + pid) % turns == 0)
		parts |= READ_STAT | READ_SHARED;
	if ((t->dues[DUE_IO] + pid) % io_turns == 0)
		parts |= READ_IO;
	if ((t->dues[DUE_FILES] + pid) % io_turns == 0)
		parts |= READ_FILES;
	return parts & t->due;
}

static int read_parts(struct tree *t, struct process *p, struct task_sum *sum, unsigned parts)
{
	enum keep keep = worth_keeping(p) ? KEEP_ACTIVE : KEEP_IDLE;
	struct told told;

	if (keep == KEEP_ACTIVE && p->kept[KEPT_STATM] > 0)
		process_close(&t->reading, p, keep);
	if (sum) {
		dump_tell(t, sum, &told);
		return process_take(&t->reading, p, &told, parts, keep);
	}
	if (keep == KEEP_ACTIVE && !reading_has_room(&t->reading))
		make_room(t);
	return process_read(&t->reading, p, parts, keep);
}

/* 0, or -errno when the process is gone. */
static int look_at(struct tree *t, struct process *p, bool all)
{
	struct task_sum *sum = dump_of(t, p);
	bool moved, first = !p->read_ns;
	unsigned parts;
	int bad = gate(t, p, sum, &moved);

	if (bad)
		return bad;
	t->dump.moved += moved && !first; /* at first all have */
	if (p->history == OLDEST_ACTIVE && !moved)
		process_close(&t->reading, p, KEEP_IDLE);
	p->history = (uint8_t)(p->history << 1 | moved);
	p->idle_samples = moved ? 0 : p->idle_samples + 1;
	if (moved)
		process_changed(p);
	p->look_due |= moved;
	if (moved || all)
		p->stale |= all ? READ_ALL : READ_STAT | READ_IO | READ_FILES;
	else if (is_turn(t, p,
			 t->pace.refresh)) /* memory may be reclaimed; the rest takes its running */
		p->stale |= READ_SHARED;
	if (is_turn(t, p, t->pace.shared))
		p->stale |= READ_SHARED;
	if (is_turn(t, p, t->pace.shared * PARENT_TURNS))
		p->stale |= READ_STAT;
	parts = first || all ? READ_ALL : p->stale & due_of(t, p);
	if (!parts)
		return 0;
	t->reads++;
	t->first_reads += first;
	bad = read_parts(t, p, sum, parts);
	if (bad)
		return bad == -EBADMSG ? 0 : bad;
	p->read_ns = t->now_ns;
	if (parts & READ_STAT)
		unwaited_note(t, p);
	if (first) {
		first_reading(t, p);
		memory_lend(t, p);
	}
	return 0;
}

/* Parents come before their children, as they started: a child that ends in between is missing
 * for one sample, and not counted twice, as itself and in what its parent has waited for. */
static void look_at_all(struct tree *t, bool all)
{
	for (uint32_t i = 0; i < t->table.nlive;) {
		struct process *p = &t->table.row[t->table.live[i]];

		bool gone;

		/* The row of the next one comes near while the kernel tells of this one. */
		if (i + 1 < t->table.nlive)
			__builtin_prefetch(&t->table.row[t->table.live[i + 1]]);
		gone = !p->ended && look_at(t, p, all);

		/* With exit records its last figures are on their way; they come with the next
		 * drain. */
		if (gone && tree_has_events(t) && !p->vanished && !all) {
			p->vanished = true;
			process_changed(p);
			t->vanished_ns = clock_mono_ns();
		} else if (gone)
			starts_end(t, p, t->now_ns); /* the next one takes its place */
		i += i < t->table.nlive && &t->table.row[t->table.live[i]] == p;
	}
}

/* The rest is the clocks, and there are as many of them as processes, or the task iterator. */
static void look_and_measure(struct tree *t, bool all)
{
	uint64_t had = t->first_reads;
	int64_t before, took;

	dump_step(t);
	before = clock_cpu_ns();
	look_at_all(t, all);
	took = clock_cpu_ns() - before;
	if (!t->dump.used)
		took -= (int64_t)t->table.nlive * CLOCK_NS;
	t->files_cpu_ns = t->first_reads > had ? -1 : took > 0 ? took : 0;
}

int64_t tree_files_ns(const struct tree *t)
{
	return t->files_cpu_ns;
}

void tree_pace(struct tree *t, const struct cadence *c, double walks_share)
{
	t->pace = *c;
	t->walks_share = walks_share;
}

int64_t tree_walks_ns(const struct tree *t)
{
	return t->walks_ns;
}

/* Samples are not quite on time: what is due within half an interval is due now. */
static void find_due(struct tree *t, bool last)
{
	static const unsigned parts[] = { [DUE_STAT] = READ_STAT,
					  [DUE_IO] = READ_STAT | READ_IO | READ_SHARED,
					  [DUE_FILES] = READ_FILES };
	const int64_t every[] = { [DUE_STAT] = t->pace.stat_ns,
				  [DUE_IO] = t->pace.io_ns,
				  [DUE_FILES] = t->pace.files_ns };
	int64_t now = t->now_ns + t->pace.interval_ns / 2;

	t->due = 0;
	for (int i = 0; i < DUE_NUMBER_OF; i++) {
		if (!last && now - t->due_ns[i] < every[i])
			continue;
		t->due |= parts[i];
		t->due_ns[i] = t->now_ns;
		t->dues[i]++;
	}
}

void tree_sample(struct tree *t, struct sample *s, bool last)
{
	int64_t before = t->now_ns;

	t->now_ns = s->mono_ns;
	t->ticks++;
	t->named_left_ns += t->now_ns - before;
	if (t->named_left_ns > NAMED_BURST * (NS_PER_S / NAMED_PER_S))
		t->named_left_ns = NAMED_BURST * (NS_PER_S / NAMED_PER_S);
	find_due(t, last);
	starts_step(t, last);
	tasks_read(t);
	look_and_measure(t, last);
	starts_catch_up(t);
	memory_step(t, last);
	walk_step(t);
	looks_step(t, last);
	if (last)
		unwaited_last(t);
	sums_make(t);
	if (last) {
		bound_end(t);
		unwaited_compare(t);
		series_last(t);
	}
	series_put(t, s);
}

void tree_drain(struct tree *t)
{
	if (tree_has_events(t))
		starts_drain(t, 0);
}

uint64_t tree_records(const struct tree *t)
{
	return t->records;
}

const int *tree_fds(const struct tree *t, size_t *n)
{
	*n = t->connector.fd > 0;
	return t->exits ? exits_fds(t->exits, n) : &t->connector.fd;
}

/* Its launcher still waits for its command. */
static bool task_runs(const struct tree *t, const struct process *p)
{
	const struct task *k = p->task < t->ntasks ? &t->task[p->task] : NULL;

	return k && k->launcher && !k->command && k->reaped.kind != MESSAGE_ENDED;
}

size_t tree_survivors(const struct tree *t, char *out, size_t size)
{
	size_t n = 0, len = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < t->table.nlive; i++) {
		const struct process *p = &t->table.row[t->table.live[i]];

		if (p->ended || proc_stat_ended(&p->stat) || task_runs(t, p))
			continue;
		n++;
		if (len + 100 < size)
			len += (size_t)snprintf(out + len, size - len, "%s%s (%d)", len ? ", " : "",
						process_called(p), (int)p->pid);
		else if (len + 5 < size && out[len - 1] != '.')
			len += (size_t)snprintf(out + len, size - len, ", ...");
	}
	return n;
}

size_t tree_busy(const struct tree *t, int64_t cpu_ns, pid_t *out, size_t cap)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->table.nlive && n < cap; i++) {
		const struct process *p = &t->table.row[t->table.live[i]];

		if (!p->ended && !proc_stat_ended(&p->stat) && p->cpu_ns >= cpu_ns)
			out[n++] = p->pid;
	}
	return n;
}

size_t tree_readers(const struct tree *t, int64_t least, pid_t *out, size_t cap)
{
	size_t n = 0;

	for (uint32_t i = t->table.nlive; i-- > 0 && n < cap;) {
		const struct process *p = &t->table.row[t->table.live[i]];

		if (!p->ended && !proc_stat_ended(&p->stat) && p->io_known && p->io.rchar >= least)
			out[n++] = p->pid;
	}
	return n;
}

size_t tree_callers(const struct tree *t, int64_t least, pid_t *out, size_t cap)
{
	size_t n = 0;

	for (uint32_t i = t->table.nlive; i-- > 0 && n < cap;) {
		const struct process *p = &t->table.row[t->table.live[i]];

		if (!p->ended && !proc_stat_ended(&p->stat) && p->io_known &&
		    p->io.syscr + p->io.syscw >= least)
			out[n++] = p->pid;
	}
	return n;
}

int64_t tree_read_bytes(const struct tree *t)
{
	return t->job[JOB_READ];
}

int64_t tree_calls(const struct tree *t)
{
	return t->job[JOB_READ_CALLS] + t->job[JOB_WRITE_CALLS];
}

size_t tree_pids(const struct tree *t, pid_t *out, size_t cap)
{
	return tree_busy(t, 0, out, cap);
}

bool tree_has_other_programs(struct tree *t)
{
	bool any = false;

	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		any |= !p->program_known;
		p->program_known = true;
	}
	return any;
}

int64_t tree_threads_running(const struct tree *t)
{
	return t->parts[PART_THREADS_RUNNING];
}

int64_t tree_cpu_ns(const struct tree *t)
{
	return t->cpu_ns;
}

int64_t tree_ran_ns(const struct tree *t, pid_t pid)
{
	const struct process *p = t->reading.clocks ? table_find(&t->table, pid) : NULL;

	return p && p->read_ns ? p->cpu_ns : -1;
}

const struct proc_stat *tree_stat(const struct tree *t, pid_t pid)
{
	const struct process *p = t->reading.clocks ? table_find(&t->table, pid) : NULL;

	return p && p->read_ns && !p->ended && !p->vanished && !(p->stale & READ_STAT) ? &p->stat
										       : NULL;
}

size_t tree_named(const struct tree *t, const char *beginning, pid_t *out, size_t cap)
{
	size_t n = 0, len = strlen(beginning);

	for (uint32_t i = 0; i < t->table.nlive && n < cap; i++)
		if (!strncmp(t->table.row[t->table.live[i]].comm, beginning, len))
			out[n++] = t->table.row[t->table.live[i]].pid;
	return n;
}

bool tree_has(const struct tree *t, pid_t pid)
{
	const struct process *p = table_find(&t->table, pid);

	return p && !p->ended;
}

uint32_t tree_instance(const struct tree *t, pid_t pid)
{
	const struct process *p = table_find(&t->table, pid);
	const struct gone *gone = &t->gone[(uint32_t)pid % GONE_MAX];

	if (p)
		return p->instance;
	return gone->pid == pid && pid > 0 ? gone->instance : 0;
}

bool tree_switches_often(const struct tree *t)
{
	return t->cheaper.wanted;
}
