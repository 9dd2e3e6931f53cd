/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwaited.c - children that nobody waits for. Who ignores SIGCHLD, or has set SA_NOCLDWAIT, is
 * given neither their CPU time nor what they read and wrote: the kernel forgets both at their end.
 * The first is told by /proc/PID/status (SigIgn). The second is not, but by what follows: a child
 * is gone, and its parent was given none of its page faults, of which each program has some. One
 * that waits for some of its children was given less than the one had that is gone. In the end exit
 * records tell, or what samples saw of each process, if they have more than was waited for: so of
 * those, too, that the kernel kills as the first process of their pid namespace ends.
 */
#include "base/clock.h"
#include "job/sentinel.h"
#include "sampler/tree/tree_state.h"
#include "source/procfile.h"

#include <stdio.h>

enum {
	ASKS_MAX = 16,    /* processes in a sample: each is a file that is opened and read */
	SUSPECTS_MAX = 4, /* and so many without a child that was seen */
	ASK_AGAIN_S = 1,  /* who has no child */
	GONE_SURELY = 3,  /* so many without a fault are none that failed to execute */
	SURELY_MS = 5,    /* of CPU: a vfork that fails to execute takes less, and may have none */
	LIVED_MS = 20,    /* as long as no such one is there */
};

void unwaited_say(struct tree *t)
{
	if (t->unwaited)
		return;
	t->unwaited = true;
	sample_meta_bool(t->sample, "job.io_is_lower_bound", true);
	unwaited_changed(t);
}

void unwaited_changed(struct tree *t)
{
	if (t->unwaited && (!t->exits || t->unwatched))
		sample_meta_bool(t->sample, "job.cpu_is_lower_bound", true);
}

void unwaited_reported(struct process *p, bool ignores)
{
	p->asked = true;
	p->asked_ns = clock_mono_ns();
	p->ignores_children = ignores;
}

static void ask(struct tree *t, struct process *p)
{
	char path[32], text[4096];

	snprintf(path, sizeof path, "%d/status", (int)p->pid);
	if (t->asks++ >= ASKS_MAX || root_read(t->reading.proc, path, text, sizeof text) <= 0)
		return;
	unwaited_reported(p, thread_ignores_children(text));
}

static bool had_faults(const struct process *p)
{
	int64_t from =
		p->found_ns ? p->end_ns : p->birth_ns; /* when a found one began is not known */

	return p->executed || p->stat.minflt > 0 || process_own_ns(p) > SURELY_MS * NS_PER_MS ||
	       p->end_ns - from > LIVED_MS * NS_PER_MS;
}

static bool was_given_faults(const struct proc_stat *st)
{
	return st->cminflt + st->cmajflt + st->cutime + st->cstime > 0;
}

static int64_t given_faults(const struct proc_stat *st)
{
	return st->cminflt + st->cmajflt;
}

void unwaited_note(struct tree *t, struct process *p)
{
	const struct process *parent = table_find(&t->table, p->ppid);

	p->parent_given = parent && parent->read_ns ? given_faults(&parent->stat) : -1;
}

static void depart(struct tree *t, int64_t cpu_ns, const struct proc_io *io)
{
	t->departed_cpu_ns += cpu_ns;
	t->unwaited_ns += cpu_ns;
	io_add(&t->departed_io, io, 1);
}

/* Also of one that has ended and is still there. */
static bool read_any(struct tree *t, const struct process *parent, struct process *look)
{
	*look = (struct process){ .pid = parent->pid, .start_ticks = parent->start_ticks };
	return !process_read(&t->reading, look, READ_STAT, KEEP_NONE);
}

static bool read_now(struct tree *t, const struct process *parent, struct process *look)
{
	return read_any(t, parent, look) && !proc_stat_ended(&look->stat);
}

/* A child of it is gone, and it was never given anything. Those that were gone before were not
 * waited for, either. */
static void judge(struct tree *t, struct process *parent)
{
	struct process look;

	if (!read_now(t, parent, &look))
		return;
	parent->judged = true;
	parent->never_waits = !was_given_faults(&look.stat);
	if (parent->never_waits)
		depart(t, parent->gone_ns, &parent->io_children);
}

static int64_t faults_of(const struct process *p)
{
	return p->stat.minflt + p->stat.majflt + given_faults(&p->stat);
}

/* Was p, which is gone, given to its parent? It has p's page faults then, and those of p's
 * children. A parent that ignores SIGCHLD now may have waited a moment ago; what it was given
 * tells, read after p was gone. */
static bool was_forgotten(struct tree *t, const struct process *parent, const struct process *p)
{
	bool may_read = t->asks++ < ASKS_MAX;
	struct process look;

	if (may_read && !read_now(t, parent, &look))
		return false;
	if (!was_given_faults(may_read ? &look.stat : &parent->stat))
		return parent->ignores_children || parent->never_waits;
	if (!may_read || p->parent_given < 0)
		return false;
	return given_faults(&look.stat) - p->parent_given < faults_of(p);
}

/* As it ends, the kernel makes the first process of a pid namespace ignore SIGCHLD. */
static bool was_given_before_its_end(struct tree *t, const struct process *parent,
				     const struct process *p)
{
	struct process look;

	return p->parent_given >= 0 && read_any(t, parent, &look) && proc_stat_ended(&look.stat) &&
	       given_faults(&look.stat) - p->parent_given >= faults_of(p);
}

bool unwaited_is(struct tree *t, struct process *p)
{
	struct process *parent = table_find(&t->table, p->ppid);
	bool forgotten;
	int64_t ns;

	if (!parent || parent->ended || parent->vanished || !t->reading.clocks ||
	    !process_clock(p->pid, &ns)) /* it is there: somebody may still wait for it */
		return false;
	if (!parent->asked || parent->asked_ns < t->now_ns)
		ask(t, parent);
	if (!parent->judged && !parent->ignores_children && had_faults(p))
		judge(t, parent);
	forgotten = was_forgotten(t, parent, p);
	if (forgotten || (!t->unwaited && parent->asked && parent->ignores_children &&
			  !was_given_before_its_end(t, parent, p)))
		unwaited_say(t);
	return forgotten;
}

void unwaited_count(const struct tree *t, struct process *parent, const struct process *p)
{
	parent->gone_ns += process_own_ns(p) + process_children_ns(&t->reading, p);
	parent->gone++;
	parent->gone_surely |= had_faults(p);
}

void unwaited_leaves(struct tree *t, const struct process *p)
{
	struct task *k = task_of(t, p->ppid);

	if (!k || !p->gone || p->never_waits)
		return;
	k->left = (struct left){ .pid = p->pid,
				 .surely = p->gone_surely || p->gone >= GONE_SURELY,
				 .children = p->gone,
				 .cpu_ns = p->gone_ns,
				 .io = p->io_children };
}

void unwaited_heard(struct task *k, const struct message *m)
{
	k->command = m->pid;
	k->children = (int)m->children;
}

/* Did it, which no sample may have seen, lose what its children had? */
static bool may_have_lost(const struct tree *t, const struct task *k)
{
	return (k->children == CHILDREN_IGNORED || k->children == CHILDREN_IGNORED_LAST) &&
	       !(tree_has_events(t) && !t->unwatched);
}

/* All that its children had, as far as seen? Zombies that it left have come to the launcher, which
 * waited for them. */
static bool has_lost_all(const struct task *k)
{
	return k->left.pid == k->command && k->reaped.reaped <= k->left.children &&
	       (k->children == CHILDREN_IGNORED ||
		(k->children == CHILDREN_UNKNOWN && k->left.surely));
}

void unwaited_last(struct tree *t)
{
	for (uint32_t i = 0; i < t->ntasks; i++) {
		struct task *k = &t->task[i];
		bool all = has_lost_all(k);

		if (!k->children || (!all && !may_have_lost(t, k)))
			continue;
		unwaited_say(t);
		if (all)
			depart(t, k->left.cpu_ns, &k->left.io);
	}
}

void unwaited_compare(struct tree *t)
{
	if (!(t->exits && t->unwatched) && t->launched && !tasks_lost(t) && !t->table.nlive &&
	    !t->recorded[RECORDED_CPU] && !sums_account_stands(t))
		unwaited_say(t);
}

void unwaited_suspect(struct tree *t)
{
	uint32_t suspects = 0;

	for (uint32_t i = 0; i < t->table.nlive && suspects < SUSPECTS_MAX; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (p->ended || !(p->history & 1) ||
		    (p->asked && t->now_ns - p->asked_ns < ASK_AGAIN_S * NS_PER_S))
			continue;
		suspects++;
		ask(t, p);
		if (p->ignores_children)
			unwaited_say(t);
	}
}
