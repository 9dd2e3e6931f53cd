/* SPDX-License-Identifier: Apache-2.0 */
/* discover.c - the job's processes found in /proc: at attach, after lost records, or always
 * when exit records are not permitted. Then the pids given out since the last sample are looked at.
 */
#include "base/clock.h"
#include "base/reserve.h"
#include "base/text/number.h"
#include "sampler/tree/tree_state.h"
#include "source/kept.h"
#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * The most that the job can have started, where not every birth was seen.
 *
 * The kernel counts what was started on the whole machine, threads included. Of a pid namespace it
 * tells the last pid that was given out: less in a container, but the numbers begin again at
 * pid_max, and whether once or twice is only certain when there were fewer starts than numbers.
 *
 * And the most that exit records can have above what the kernel charged: what interrupts and a
 * hypervisor took meanwhile, on all CPUs.
 */

enum { PIDS_RESERVED = 300 }; /* where the numbers begin again (the kernel's RESERVED_PIDS) */

/* irq, softirq and steal of the first line; -1: not told. */
static int64_t taken_ticks(const char *text)
{
	enum { IRQ = 5, STEAL = 7 };
	const char *p = number_find_line(text, "cpu ");
	int64_t v, sum = 0;

	for (int i = 0; i <= STEAL; i++) {
		if (!p || !number_i64(&p, &v) || v < 0)
			return -1;
		if (i >= IRQ)
			number_add(&sum, v);
	}
	return sum;
}

/* Processes and threads that the machine has started, and ticks that were taken; -1: not told. */
static int64_t machine_counts(const struct root *proc, int64_t *taken)
{
	struct kept stat = { 0 };
	int64_t forks = -1;
	const char *p;

	*taken = -1;
	if (!kept_open(&stat, proc, "stat", 0, NULL)) {
		p = number_find_line(stat.text, "processes ");
		if (!p || !number_i64(&p, &forks))
			forks = -1;
		*taken = taken_ticks(stat.text);
	}
	kept_close(&stat);
	return forks;
}

static int64_t last_pid(const struct tree *t)
{
	char buf[128];
	pid_t last;

	if (t->loadavg <= 0 || file_reread(t->loadavg, buf, sizeof buf) <= 0 ||
	    proc_last_pid_parse(buf, &last))
		return -1;
	return last;
}

static int64_t pid_max(const struct root *proc)
{
	char buf[32];
	const char *p = buf;
	int64_t max = 0;

	if (root_read(proc, "sys/kernel/pid_max", buf, sizeof buf) > 0)
		number_i64(&p, &max);
	return max;
}

static void bound_begin(struct tree *t)
{
	t->forks_before = machine_counts(t->reading.proc, &t->taken_before);
	t->taken_ns = -1;
	t->pid_before = last_pid(t);
	t->started_at_most = -1;
}

void bound_end(struct tree *t)
{
	int64_t taken, forks = machine_counts(t->reading.proc, &taken), last = last_pid(t);
	int64_t numbers = pid_max(t->reading.proc) - PIDS_RESERVED;

	if (t->taken_before >= 0 && taken >= t->taken_before)
		t->taken_ns = (taken - t->taken_before) * t->reading.tick_ns;
	if (t->forks_before < 0 || forks < t->forks_before)
		return;
	t->started_at_most = forks - t->forks_before;
	if (t->pid_before < 0 || last < 0 || t->started_at_most >= numbers)
		return;
	last -= t->pid_before;
	if (last < 0)
		last += numbers;
	if (last < t->started_at_most)
		t->started_at_most = last;
}

/*
 * Exit records where they cost the job too much: the events that every task inherits take 0.3 to
 * 0.5 us of each context switch (Linux 6.18), a third of what passing a byte through a pipe takes,
 * and 13 us a CPU of each process start and end. A job that does so much of it is followed by the
 * proc connector instead, which takes nothing of a switch and a fifth of that of a start; and where
 * that is not permitted, for switches, by its new pids. Totals stay exact; what names the processes
 * that no sample saw is lost, so this waits until they do so little that it shows.
 */

enum {
	SWITCHES_PER_S = 10000, /* of one thread: half a per cent of it */
	SWITCHES_LEAST = 2000,  /* and it has gone on for a while */
	SWITCHES_SEEM = 100,    /* these are looked at again in the next sample */
	SWITCHES_MS = 10,
	START_NS = 13000,   /* a process start and its end, times the CPUs (bench/births.c) */
	COST_PERCENT = 2,   /* at most, of the job's CPU time */
	STARTS_PER_S = 300, /* fewer cost little, and their names are worth it */
	STARTS_MS = 500,
	STORM_LOOKS = 2, /* a script that begins with many is none */
};

static void cheaper_init(struct tree *t, bool may)
{
	t->cheaper = (struct cheaper){ .may = may, .started_ns = t->now_ns };
}

void cheaper_note(struct tree *t, int64_t switches, int64_t ns)
{
	if (switches < SWITCHES_SEEM || switches < ns / (NS_PER_S / SWITCHES_PER_S))
		return;
	t->cheaper.seems = t->exits && t->cheaper.may;
	if (switches >= SWITCHES_LEAST && ns >= SWITCHES_MS * NS_PER_MS)
		t->cheaper.wanted = true;
}

/* The CPU time of this sample is known, and what was started until then. */
void cheaper_count(struct tree *t)
{
	struct cheaper *c = &t->cheaper;
	int64_t ns = t->now_ns - c->started_ns, starts = t->started - c->started,
		used_ns = t->cpu_ns - c->cpu_ns;

	if (!c->may || !t->exits || ns < STARTS_MS * NS_PER_MS)
		return;
	c->started_ns = t->now_ns;
	c->started = t->started;
	c->cpu_ns = t->cpu_ns;
	if (starts > ns / (NS_PER_S / STARTS_PER_S) &&
	    starts * (int64_t)exits_cpus(t->exits) * START_NS > used_ns / 100 * COST_PERCENT)
		c->storm++;
	else
		c->storm = 0;
}

/* What the records tell until now, and the connector's from then on. */
static void change_over(struct tree *t, const char *why)
{
	const struct timespec written = { .tv_nsec = NS_PER_MS / 2 };
	char text[160];

	t->cheaper.since_ns = clock_mono_ns();
	nanosleep(&written, NULL);
	starts_drain(t, t->cheaper.since_ns);
	exits_close(t->exits);
	t->exits = NULL;
	for (int again = 0; again < 2; again++)
		starts_end_the_ended(t);
	t->rescan = tree_has_events(t);
	t->lost_records += !tree_has_events(t);
	unwaited_changed(t);
	snprintf(text, sizeof text, "used until %s", why);
	sample_meta_text(t->sample, "mechanism.exit_records", text);
}

void cheaper_step(struct tree *t)
{
	struct cheaper *c = &t->cheaper;
	struct err e = { "" };
	int bad;

	if (!c->may || !t->exits || (!c->wanted && c->storm < STORM_LOOKS))
		return;
	c->may = false;
	bad = connector_open(&t->connector, &e);
	discover_say(t, "mechanism.connector", bad, e.text);
	if (bad && !c->wanted)
		return;
	if (bad)
		discover_say(t, "mechanism.new_pids", 0, "");
	change_over(t, c->wanted ? "the job switched tasks too often for them"
				 : "the job started processes too often for them");
}

enum {
	ATTACH_TASKS_MAX = 256,
	AT_ONCE_S = 2,     /* in which a step's tasks are started */
	PROBE_MAX = 16384, /* a number that nobody has costs 0.3 us, a process of others 8 us */
	UNPLACED_MAX = 32768,
};

_Static_assert((int)PROBE_MAX <= (int)UNPLACED_MAX, "a range has room");

/* A process whose parent is not known; most are others'. */
struct unplaced {
	pid_t pid, ppid;
};

bool discover_is_ours(const struct tree *t, pid_t ppid)
{
	return task_of(t, ppid) || table_find(&t->table, ppid);
}

static void adopt(struct tree *t, const struct process *look)
{
	struct process *p = starts_add(t, look->pid, look->ppid, t->now_ns);

	if (!p)
		return;
	process_name(p, look->comm);
	p->found_ns = clock_mono_ns();
	p->goes_on = tasks_have_recorded(t, p, look->start_ticks);
	t->started -= p->goes_on;
	p->tasks_live = (int32_t)look->stat.num_threads;
}

/* Is pid a process of the job? Adds it; -EAGAIN when its parent is not known (yet). */
static int probe(struct tree *t, pid_t pid, pid_t *ppid)
{
	struct process look = { .pid = pid };
	int64_t ns;
	int bad;

	if (table_find(&t->table, pid) || task_of(t, pid) || pid == t->recorder)
		return 0;
	if (t->reading.clocks && process_clock(pid, &ns))
		return -ESRCH; /* gone, or a thread */
	bad = process_read(&t->reading, &look, READ_STAT, KEEP_NONE);
	if (bad)
		return bad;
	/* Its end was seen, and its parent has not waited for it yet: it was counted. */
	if (proc_stat_ended(&look.stat) && table_removed(&t->table, pid))
		return -ESRCH;
	*ppid = look.ppid;
	if (!discover_is_ours(t, look.ppid))
		return -EAGAIN;
	adopt(t, &look);
	return 0;
}

/* Children can have lower pids than their parents: go round until nothing is added. */
static void place(struct tree *t, size_t n)
{
	const struct unplaced *list = t->unplaced;

	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			pid_t ppid;

			if (table_find(&t->table, list[i].pid) ||
			    !discover_is_ours(t, list[i].ppid))
				continue;
			more |= !probe(t, list[i].pid, &ppid) && table_find(&t->table, list[i].pid);
		}
	}
}

/* Of less than PROBE_MAX numbers, so that there is room for each. */
static void scan_range(struct tree *t, pid_t from, pid_t to)
{
	size_t n = 0;

	for (pid_t pid = from; pid <= to; pid++)
		if (probe(t, pid, &t->unplaced[n].ppid) == -EAGAIN)
			t->unplaced[n++].pid = pid;
	place(t, n);
}

static bool entry_pid(const char *name, pid_t *pid)
{
	int64_t v;

	if (!number_i64(&name, &v) || *name || v <= 0 || v > INT32_MAX)
		return false;
	*pid = (pid_t)v;
	return true;
}

/* Every process there is. Whether there was room for each whose parent is not known. */
static bool scan_all(struct tree *t)
{
	char buf[8192] __attribute__((aligned(8)));
	size_t n = 0, unplaced = 0;
	long got;

	if (lseek(t->reading.proc->fd, 0, SEEK_SET) < 0)
		return true;
	while ((got = syscall(SYS_getdents64, t->reading.proc->fd, buf, sizeof buf)) > 0)
		for (long at = 0; at < got;) {
			struct unplaced found;
			unsigned short length;

			memcpy(&length, buf + at + 16, sizeof length);
			if (entry_pid(buf + at + 19, &found.pid) &&
			    probe(t, found.pid, &found.ppid) == -EAGAIN &&
			    unplaced++ < UNPLACED_MAX)
				t->unplaced[n++] = found;
			at += length;
		}
	place(t, n);
	return n == unplaced;
}

/* Those there was no room for are looked at again when more are known that may be their parents. */
void discover_all(struct tree *t)
{
	uint32_t before;

	do
		before = t->table.nlive;
	while (!scan_all(t) && t->table.nlive != before);
}

bool discover_new_pid(struct tree *t)
{
	char buf[128];
	pid_t before = t->last_pid;

	return t->loadavg > 0 && file_reread(t->loadavg, buf, sizeof buf) > 0 &&
	       !proc_last_pid_parse(buf, &t->last_pid) && t->last_pid != before;
}

/* The last pid given out tells whether anything started anywhere, and how much. */
void discover_step(struct tree *t)
{
	char buf[128];
	pid_t last;

	if (t->loadavg <= 0 || file_reread(t->loadavg, buf, sizeof buf) <= 0 ||
	    proc_last_pid_parse(buf, &last) || !t->reading.clocks) {
		discover_all(t);
		return;
	}
	if (last == t->last_pid)
		return;
	if (last > t->last_pid && last - t->last_pid < PROBE_MAX)
		scan_range(t, t->last_pid + 1, last);
	else
		discover_all(t); /* many, or the numbers began again */
	t->last_pid = last;
	unwaited_suspect(t);
}

static size_t list_tasks(const struct tree *t, pid_t *tids, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->table.nlive; i++) {
		char path[sizeof t->reading.proc->path + 32];
		DIR *d;

		snprintf(path, sizeof path, "%s/%d/task", t->reading.proc->path,
			 (int)t->table.row[t->table.live[i]].pid);
		d = opendir(path);
		for (struct dirent *entry; d && n < max && (entry = readdir(d));)
			n += entry_pid(entry->d_name, &tids[n]);
		if (d)
			closedir(d);
	}
	return n;
}

/* What runs already: its use until now is not the recording's. */
static int adopt_roots(struct tree *t, const struct tree_options *o, struct err *e)
{
	for (size_t i = 0; i < o->nroots; i++) {
		struct process look = { .pid = reading_process_of(t->reading.proc, o->roots[i]) };
		int bad = process_read(&t->reading, &look, READ_STAT, KEEP_NONE);

		if (bad && o->follow)
			continue;
		if (bad)
			return err_set(e, bad, "process %d: %s", (int)o->roots[i], strerror(-bad));
		if (!table_find(&t->table, look.pid))
			adopt(t, &look);
	}
	discover_all(t);
	for (uint32_t i = 0; i < t->table.nlive; i++)
		t->table.row[t->table.live[i]].before_us = true;
	t->started = 0;
	return 0;
}

/* Who started it may have ended since it was looked for last, and another process have taken it in,
 * as a batch system's that waits for all of a step does. That one starts the step's tasks at once
 * when it has begun itself. */
static bool may_be_orphan(struct tree *t, const struct process *look)
{
	static const char *const takes_in[] = { "slurmstepd", "systemd", "sonde" };
	struct process parent = { .pid = look->ppid };
	int64_t age;

	if (t->connector.fd > 0 && !t->lost_records)
		return false; /* each birth was told */
	if (look->ppid <= 1 || process_read(&t->reading, &parent, READ_STAT, KEEP_NONE))
		return true;
	age = (look->stat.starttime - parent.stat.starttime) * t->reading.tick_ns;
	for (size_t i = 0; i < sizeof takes_in / sizeof takes_in[0]; i++)
		if (!strcmp(parent.comm, takes_in[i]))
			return age > AT_ONCE_S * NS_PER_S;
	return false;
}

void tree_catch_up(struct tree *t)
{
	int64_t now = t->now_ns;

	t->now_ns = clock_mono_ns();
	tree_drain(t);
	if (!tree_has_events(t) || t->unwatched)
		discover_step(t);
	t->now_ns = now;
}

bool tree_adopt(struct tree *t, pid_t pid)
{
	struct process look = { .pid = pid }, *p;
	bool alone;

	if (table_find(&t->table, pid) || task_of(t, pid) || pid == t->recorder ||
	    process_read(&t->reading, &look, READ_STAT, KEEP_NONE))
		return false;
	alone = !discover_is_ours(t, look.ppid) && !may_be_orphan(t, &look);
	adopt(t, &look);
	p = table_find(&t->table, pid);
	if (!p)
		return false;
	p->birth_ns = p->found_ns; /* samples may be far apart */
	p->before_us = look.stat.starttime <= t->opened_ticks;
	t->started -= p->before_us;
	t->unwatched |= t->exits != NULL;
	return alone;
}

static int64_t ticks_since_boot(void)
{
	return clock_boot_ns() / (NS_PER_S / sysconf(_SC_CLK_TCK));
}

void discover_say(struct tree *t, const char *mechanism, int bad, const char *why)
{
	char text[600];

	snprintf(text, sizeof text, "%s%s%s", bad ? state_name(state_of(bad)) : "used",
		 bad ? ": " : "", bad ? why : "");
	sample_meta_text(t->sample, mechanism, text);
}

static void open_exits(struct tree *t, const pid_t *tids, size_t n, size_t cpus_max)
{
	struct err e = { "" };
	int bad;

	if (n == ATTACH_TASKS_MAX)
		bad = err_set(&e, -EOPNOTSUPP, "the job has too many threads to watch each");
	else
		bad = exits_open(&t->exits, tids, n, cpus_max, &e);
	discover_say(t, "mechanism.exit_records", bad, e.text);
}

/* Perf events first: they alone tell CPU time and names. They cost the job something for each CPU,
 * the connector does not. */
static void choose(struct tree *t, const struct tree_options *o, const pid_t *tids, size_t n)
{
	enum process_events how = o->process_events;
	struct err e = { SOURCE_NOT_THIS_KERNEL };
	int bad = -EOPNOTSUPP;

	if (!t->reading.clocks)
		how = PROCESS_EVENTS_POLLING;
	else if (o->follow && how == PROCESS_EVENTS_AUTO)
		how = PROCESS_EVENTS_CONNECTOR; /* perf events tell of those alone that are known
						   now */
	if (how == PROCESS_EVENTS_AUTO || how == PROCESS_EVENTS_PERF)
		open_exits(t, tids, n,
			   how == PROCESS_EVENTS_AUTO ? EXITS_CPUS_CHEAP : EXITS_CPUS_MAX);
	if (!t->exits && (how == PROCESS_EVENTS_AUTO || how == PROCESS_EVENTS_CONNECTOR)) {
		bad = connector_open(&t->connector, &e);
		discover_say(t, "mechanism.connector", bad, e.text);
	}
	if (!tree_has_events(t) && how == PROCESS_EVENTS_AUTO)
		open_exits(t, tids, n, EXITS_CPUS_MAX);
	if (!tree_has_events(t))
		discover_say(t, "mechanism.new_pids", 0, "");
	cheaper_init(t, how == PROCESS_EVENTS_AUTO);
}

void discover_close(struct tree *t)
{
	file_close(&t->loadavg);
	reserve_free(t->unplaced, UNPLACED_MAX * sizeof *t->unplaced);
}

int discover_open(struct tree *t, const struct tree_options *o, struct err *e)
{
	pid_t tids[ATTACH_TASKS_MAX] = { o->launcher };
	size_t n = !o->shared;
	char buf[128];

	t->unplaced = reserve(UNPLACED_MAX * sizeof *t->unplaced);
	if (!t->unplaced)
		return err_set(e, -ENOMEM, "out of memory");
	t->opened_ticks = ticks_since_boot();
	t->loadavg = root_file(t->reading.proc, "loadavg");
	if (t->loadavg > 0 && file_reread(t->loadavg, buf, sizeof buf) > 0)
		proc_last_pid_parse(buf, &t->last_pid);
	bound_begin(t);
	if (!o->launcher) {
		int bad = adopt_roots(t, o, e);

		if (bad)
			return bad;
		n = list_tasks(t, tids, ATTACH_TASKS_MAX);
	}
	choose(t, o, tids, n);
	if (!o->launcher && tree_has_events(t))
		discover_all(t); /* started between the list and the first record */
	return 0;
}
