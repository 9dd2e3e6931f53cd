/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/threads.h"

#include "base/clock.h"
#include "base/reserve.h"
#include "base/text/number.h"
#include "sampler/tree/tree_state.h"
#include "source/procfile.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ids go round, so that each bucket has its turn: all of them are memory in use some day. */
enum { BUCKETS = 8192 };

static void threads_free(struct threads *t)
{
	reserve_free(t->row, t->cap * sizeof *t->row);
	reserve_free(t->bucket, BUCKETS * sizeof *t->bucket);
	*t = (struct threads){ 0 };
}

/* 0 or -ENOMEM */
static int threads_init(struct threads *t)
{
	*t = (struct threads){ .used = 1, .cap = THREADS_CAP / reserve_parts() };
	t->row = reserve(t->cap * sizeof *t->row);
	t->bucket = reserve(BUCKETS * sizeof *t->bucket);
	if (t->row && t->bucket)
		return 0;
	threads_free(t);
	return -ENOMEM;
}

static uint32_t *bucket_of(const struct threads *t, pid_t tid)
{
	return &t->bucket[(uint32_t)tid % BUCKETS];
}

static uint32_t find(const struct threads *t, pid_t tid)
{
	uint32_t i = *bucket_of(t, tid);

	while (i && t->row[i].tid != tid)
		i = t->row[i].bucket_next;
	return i;
}

/* It was gone when it was looked at. */
static void threads_ended(struct thread *row, struct process *p)
{
	if (row->state < THREAD_STATES)
		p->threads_in[row->state]--;
	row->state = THREAD_STATES;
	p->part_due = true;
}

/* The row at *link, out of the chain of its process. */
static void drop(struct threads *t, struct process *p, uint32_t *link)
{
	uint32_t i = *link, *other = bucket_of(t, t->row[i].tid);

	threads_ended(&t->row[i], p);
	while (*other != i)
		other = &t->row[*other].bucket_next;
	*other = t->row[i].bucket_next;
	*link = t->row[i].next;
	t->row[i].next = t->spare;
	t->spare = i;
}

static void add(struct threads *t, struct table *processes, struct process *p, pid_t tid)
{
	uint32_t i = t->spare, *bucket = bucket_of(t, tid);

	if (i)
		t->spare = t->row[i].next;
	else if (t->used < t->cap)
		i = t->used++;
	else {
		t->refused++;
		return;
	}
	t->row[i] = (struct thread){ .tid = tid,
				     .owner = (uint32_t)(p - processes->row),
				     .bucket_next = *bucket,
				     .next = p->threads,
				     .pass = t->pass,
				     .state = THREAD_STATES };
	*bucket = i;
	p->threads = i;
}

/* Make anew which threads a process has: begin, each by its id, end. What was not listed has ended.
 * The owners' rows are those of `processes`: an id that moved to another process leaves the first.
 */
static void threads_list_begin(struct threads *t)
{
	t->pass++;
}

static void threads_list(struct threads *t, struct table *processes, struct process *p, pid_t tid)
{
	uint32_t i = find(t, tid);
	struct process *owner;
	uint32_t *link;

	if (i && t->row[i].owner == (uint32_t)(p - processes->row)) {
		t->row[i].pass = t->pass;
		return;
	}
	if (i) { /* it ended there, and the id was given out again */
		owner = &processes->row[t->row[i].owner];
		for (link = &owner->threads; *link != i; link = &t->row[*link].next)
			;
		drop(t, owner, link);
	}
	add(t, processes, p, tid);
}

static void threads_list_end(struct threads *t, struct process *p)
{
	for (uint32_t *link = &p->threads; *link;)
		if (t->row[*link].pass != t->pass)
			drop(t, p, link);
		else
			link = &t->row[*link].next;
}

/* all of its rows */
static void threads_forget(struct threads *t, struct process *p)
{
	while (p->threads)
		drop(t, p, &p->threads);
}

/* Add to the process's sums what the thread has done since it was looked at last. */
static void threads_note(struct thread *row, struct process *p, const struct thread_reading *r)
{
	for (int i = 0; i < USE_NUMBER_OF; i++) {
		int64_t more = r->use[i] - row->use[i];

		if (r->use[i] < 0)
			continue;
		/* Another thread has the id by now, or its first one has executed a program. */
		p->used[i] += more < 0 ? r->use[i] : more;
		row->use[i] = r->use[i];
	}
	threads_ended(row, p);
	row->state = (uint8_t)r->state;
	if (r->state < THREAD_STATES)
		p->threads_in[r->state]++;
}

/*
 * The threads of the job, looked at in rounds: each file that is opened, read and closed costs the
 * kernel 5 to 15 us, and there may be hundreds of threads. So a round takes the processes that ran
 * since the last one, some threads in each sample, within a small share of one core; what they add
 * up to is put when it is over.
 */

enum {
	ROUND_LEAST_MS = 2000,
	FIRST_ROUNDS_MS = 500,
	FIRST_S = 10,
	SAID_MAX = 64, /* so often what the job may run on is said */
	/* Of one core, in millionths: what looking takes, and half of one for each thread */
	SHARE = 100,
	SHARE_MAX = 1000,
};

static const int64_t burst_least_ns = 50 * 1000, burst_most_ns = NS_PER_MS,
		     last_burst_ns = 20 * NS_PER_MS;

int looks_open(struct tree *t)
{
	struct looks *l = &t->looks;

	l->affinity = calloc(1, sizeof *l->affinity);
	l->thread_ns = 40 * 1000;
	l->budget_ns = burst_most_ns;
	return l->affinity && !threads_init(&l->threads) ? 0 : -ENOMEM;
}

void looks_close(struct tree *t)
{
	threads_free(&t->looks.threads);
	free(t->looks.affinity);
	t->looks.affinity = NULL;
}

/* In the first seconds more is looked at: a short job has several rounds, too. */
static bool is_first(const struct tree *t)
{
	return t->now_ns - t->opened_ns < FIRST_S * NS_PER_S;
}

static void earn(struct tree *t, bool last)
{
	struct looks *l = &t->looks;
	int64_t share = SHARE + t->parts[PART_THREADS] / 2, most = t->pace.interval_ns / 50;

	if (share > SHARE_MAX || is_first(t))
		share = SHARE_MAX;
	if (most < burst_least_ns)
		most = burst_least_ns;
	if (most > burst_most_ns)
		most = burst_most_ns;
	if (most < l->thread_ns) /* else a slow machine never has enough for one */
		most = l->thread_ns;
	if (l->paid_ns)
		l->budget_ns += (t->now_ns - l->paid_ns) * share / (1000000 * t->pace.rarer);
	l->paid_ns = t->now_ns;
	if (l->budget_ns > most)
		l->budget_ns = most;
	if (last)
		l->budget_ns = last_burst_ns;
}

static enum thread_state state_of_letter(char letter)
{
	switch (letter) {
	case 'R':
		return THREAD_RUNNING;
	case 'S':
	case 'I':
		return THREAD_SLEEPING;
	case 'D':
		return THREAD_BLOCKED;
	case 'T':
	case 't':
		return THREAD_STOPPED;
	default:
		return THREAD_STATES;
	}
}

struct text {
	char buf[8192];
};

/* The first thread's are those of the process, one directory nearer. */
static ssize_t read_of(const struct tree *t, pid_t pid, pid_t tid, const char *file,
		       struct text *out)
{
	char path[64];

	if (pid == tid)
		snprintf(path, sizeof path, "%d/%s", (int)pid, file);
	else
		snprintf(path, sizeof path, "%d/task/%d/%s", (int)pid, (int)tid, file);
	return root_read(t->reading.proc, path, out->buf, sizeof out->buf);
}

static void not_told(struct tree *t, enum thread_use use, const char *why)
{
	t->looks.unsupported[use] = true;
	sample_refuse(t->sample, t->job_slot + JOB_VOLUNTARY + use, STATE_UNSUPPORTED, why);
}

/* A file that is missing says nothing of the kernel when its thread has just ended. */
static bool is_there(const struct tree *t, pid_t pid, pid_t tid, struct text *text)
{
	return read_of(t, pid, tid, "status", text) > 0;
}

static int64_t waited(struct tree *t, pid_t pid, pid_t tid, bool has_run, struct text *text)
{
	int64_t ns = -1;
	ssize_t n;
	int bad;

	if (t->looks.unsupported[USE_WAITED])
		return -1;
	n = read_of(t, pid, tid, "schedstat", text);
	bad = n < 0 ? (int)n : thread_schedstat_parse(text->buf, &ns);
	if (bad == -EOPNOTSUPP && !has_run) /* nor did it wait to its end */
		return 0;
	if (bad == -EOPNOTSUPP || (bad == -ENOENT && is_there(t, pid, tid, text)))
		not_told(t, USE_WAITED,
			 "this kernel does not account the time tasks wait for a CPU");
	return ns;
}

static int64_t migrations(struct tree *t, pid_t pid, pid_t tid, struct text *text)
{
	int64_t moves = -1;
	ssize_t n;

	if (t->looks.unsupported[USE_MIGRATIONS])
		return -1;
	n = read_of(t, pid, tid, "sched", text);
	if (n == -ENOENT && is_there(t, pid, tid, text))
		not_told(t, USE_MIGRATIONS,
			 "this kernel has no /proc/PID/sched (CONFIG_SCHED_DEBUG)");
	else if (n > 0)
		thread_sched_parse(text->buf, &moves);
	return moves;
}

/* Since it was looked at last, or since it started, where that is known. While it waits for a CPU
 * it can switch no more, so that time does not count. On a crowded machine others take the core
 * from a thread that only computes, some thousand times in a second in which it runs; one that
 * yields its core does so a hundred thousand times. */
enum { INVOLUNTARY_ARE = 8 /* as one that it wanted */ };

static void note_switches(struct tree *t, const struct process *p, const struct thread *row,
			  const struct thread_status *st, int64_t waited_ns)
{
	int64_t switches = st->voluntary - row->use[USE_VOLUNTARY] +
			   (st->involuntary - row->use[USE_INVOLUNTARY]) / INVOLUNTARY_ARE;
	int64_t since = row->looked_ns;
	int64_t queued_ns = waited_ns > row->use[USE_WAITED] ? waited_ns - row->use[USE_WAITED] : 0;

	if (!since && row->tid != p->pid)
		since = p->looked_ns; /* then it was not there */
	if (!since && !p->found_ns && !p->before_us)
		since = p->birth_ns;
	if (since && st->voluntary >= 0 && st->involuntary >= 0)
		cheaper_note(t, switches, t->now_ns - since - queued_ns);
}

/* What the first thread's file says of the whole process. */
static void first_told(struct tree *t, struct process *p, const struct thread_status *st)
{
	unwaited_reported(p, st->ignores_children);
	peak_told(t, p, st->high_water_bytes);
}

/* Its files say what a dump does not: what it may run on, what this kernel does not tell. These are
 * asked when it comes, and now and then; and the first thread's, which speak of the whole process,
 * whenever the kernel has noted a new peak of memory or it ignores its children. */
static bool is_told(const struct tree *t, const struct process *p, const struct thread *row)
{
	enum { FILES_EVERY = 8 };
	const struct task_sum *sum = row->tid == p->pid ? dump_of(t, p) : NULL;
	int64_t peak = sum ? sum->process.high_water_pages * t->reading.page_bytes : 0;

	if (!row->looked_ns || ((uint64_t)row->tid + t->looks.rounds) % FILES_EVERY == 0)
		return false;
	return row->tid != p->pid || (sum && peak <= p->peak_rss_bytes &&
				      (bool)sum->process.ignores_children == p->ignores_children);
}

static void take_told(struct tree *t, struct process *p, struct thread *row,
		      const struct task_seen *seen)
{
	struct thread_reading r = { .state = state_of_letter(seen->state) };
	const struct thread_status st = { .voluntary = seen->use[USE_VOLUNTARY],
					  .involuntary = seen->use[USE_INVOLUNTARY] };

	for (int i = 0; i < USE_NUMBER_OF; i++)
		r.use[i] = t->looks.unsupported[i] ? -1 : seen->use[i];
	note_switches(t, p, row, &st, r.use[USE_WAITED]);
	threads_note(row, p, &r);
	row->looked_ns = t->now_ns;
	t->looks.looked++;
}

/* 0, or -errno when its files say nothing. */
static int look_at_thread(struct tree *t, struct process *p, struct thread *row)
{
	struct thread_reading r = { .use = { -1, -1, -1, -1 } };
	struct thread_status st;
	const struct task_seen *seen = dump_thread(t, row->tid);
	struct text text;
	ssize_t n;
	int bad;

	if (seen && is_told(t, p, row)) {
		take_told(t, p, row, seen);
		return 0;
	}
	n = read_of(t, p->pid, row->tid, "status", &text);
	bad = n < 0 ? (int)n : thread_status_parse(text.buf, &st);
	if (bad)
		return bad;
	if (row->tid == p->pid)
		first_told(t, p, &st);
	row->placed = affinity_of(t->looks.affinity, st.cpus, st.nodes);
	r.state = state_of_letter(st.state);
	r.use[USE_VOLUNTARY] = st.voluntary;
	r.use[USE_INVOLUNTARY] = st.involuntary;
	r.use[USE_WAITED] =
		waited(t, p->pid, row->tid, st.voluntary > 0 || st.involuntary > 0, &text);
	r.use[USE_MIGRATIONS] = migrations(t, p->pid, row->tid, &text);
	note_switches(t, p, row, &st, r.use[USE_WAITED]);
	threads_note(row, p, &r);
	row->looked_ns = t->now_ns;
	t->looks.looked++;
	return 0;
}

static void list_directory(struct tree *t, struct process *p)
{
	struct looks *l = &t->looks;
	_Alignas(struct dirent64) char buf[4096];
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%d/task", (int)p->pid);
	fd = root_file(t->reading.proc, path);
	while (fd >= 0 && (n = getdents64(fd, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry =
				(const struct dirent64 *)(const void *)(buf + at);
			const char *name = entry->d_name;
			int64_t tid;

			if (number_i64(&name, &tid) && tid > 0 && tid <= INT32_MAX)
				threads_list(&l->threads, &t->table, p, (pid_t)tid);
			at += entry->d_reclen;
		}
	file_close(&fd);
}

/* Those of p that are there now; each is looked at in its turn. */
static void list(struct tree *t, struct process *p)
{
	struct looks *l = &t->looks;

	threads_list_begin(&l->threads);
	if (p->stat.num_threads > 1)
		list_directory(t, p);
	else
		threads_list(&l->threads, &t->table, p, p->pid);
	threads_list_end(&l->threads, p);
}

/* What its threads did before the recording is what the first looks at them found. */
static void take_before(struct process *p)
{
	if (!p->looked_ns && p->before_us)
		memcpy(p->used_base, p->used, sizeof p->used_base);
}

/* All threads of p have been looked at. */
static void finish(struct tree *t, struct process *p)
{
	take_before(p);
	p->looked_now = p->looked_now || p->threads;
	if (p->threads)
		p->looked_ns = t->now_ns;
	process_changed(p);
	t->looks.process = 0;
}

static bool can_look(const struct process *p)
{
	return p->look_due && !p->ended && !p->vanished && p->read_ns && !p->looks_refused &&
	       !proc_stat_ended(&p->stat);
}

/* The next whose turn it is. From the end on: who takes the place of one that is gone has had its
 * turn. */
static void next_process(struct tree *t)
{
	struct looks *l = &t->looks;

	if (l->left > t->table.nlive)
		l->left = t->table.nlive;
	while (l->left) {
		uint32_t i = t->table.live[--l->left];
		struct process *p = &t->table.row[i];

		if (!can_look(p))
			continue;
		p->look_due = false;
		list(t, p);
		l->process = i;
		l->thread = p->threads;
		return;
	}
}

/* One thread, or the list of one process. False at the end of the round. */
static bool look_on(struct tree *t)
{
	struct looks *l = &t->looks;
	struct process *p = &t->table.row[l->process];
	int bad;

	if (!l->process) {
		next_process(t);
		return l->process != 0;
	}
	if (!l->thread) {
		finish(t, p);
		return true;
	}
	bad = look_at_thread(t, p, &l->threads.row[l->thread]);
	if (bad == -EACCES || bad == -EPERM)
		p->looks_refused = p->part_due = true;
	else if (bad == -ENOENT || bad == -ESRCH)
		threads_ended(&l->threads.row[l->thread], p);
	l->thread = l->threads.row[l->thread].next;
	if (p->looks_refused)
		l->thread = 0;
	return true;
}

static void begin_round(struct looks *l, const struct tree *t)
{
	l->open = true;
	l->rounds++;
	l->began_ns = t->now_ns;
	l->left = t->table.nlive;
}

static void end_round(struct tree *t)
{
	struct looks *l = &t->looks;
	char text[512];

	l->open = false;
	l->complete = true;
	if (l->looked) /* else the job has not begun */
		l->again_ns =
			l->began_ns + (is_first(t) ? FIRST_ROUNDS_MS : ROUND_LEAST_MS) * NS_PER_MS;
	if (t->cheaper.seems) /* the next sample shows it */
		l->again_ns = t->now_ns;
	t->cheaper.seems = false;
	if (!affinity_tidy(l->affinity, &l->threads) || l->said++ >= SAID_MAX)
		return;
	affinity_text(&l->affinity->cpus, text, sizeof text);
	if (text[0])
		sample_meta_text(t->sample, "job.affinity", text);
	affinity_text(&l->affinity->nodes, text, sizeof text);
	if (text[0])
		sample_meta_text(t->sample, "job.memory_nodes", text);
}

/* As far as the budget goes. */
static void go_on(struct tree *t)
{
	struct looks *l = &t->looks;
	uint64_t before = l->looked;
	int64_t began = clock_cpu_ns(), cost;

	if (!l->open)
		begin_round(l, t);
	while (l->budget_ns > (int64_t)(l->looked - before) * l->thread_ns)
		if (!look_on(t)) {
			end_round(t);
			break;
		}
	if (l->process) /* half way: some of its threads count as they are now */
		t->table.row[l->process].part_due = true;
	cost = clock_cpu_ns() - began;
	l->budget_ns -= cost;
	if (l->looked > before)
		l->thread_ns = (l->thread_ns * 3 + cost / (int64_t)(l->looked - before)) / 4;
}

void looks_step(struct tree *t, bool last)
{
	struct looks *l = &t->looks;
	bool due = l->open || t->now_ns >= l->again_ns;

	l->complete = false;
	earn(t, last);
	if (last && l->open)
		go_on(t);
	if (last || (due && l->budget_ns >= l->thread_ns))
		go_on(t);
	if (last && l->open)
		end_round(t);
}

void looks_leave(struct tree *t, struct process *p, struct process *heir)
{
	struct looks *l = &t->looks;

	if (l->process && &t->table.row[l->process] == p)
		l->process = 0;
	threads_forget(&l->threads, p);
	take_before(p);
	for (int i = 0; i < USE_NUMBER_OF; i++)
		l->departed[i] += p->used[i] - p->used_base[i];
	/* The launcher, where no parent is seen, has waited for it. */
	for (int i = 0; i < USE_REAPED && heir; i++)
		heir->used_children[i] += p->used[i] - p->used_base[i] + p->used_children[i];
	if (heir)
		process_changed(heir);
}
