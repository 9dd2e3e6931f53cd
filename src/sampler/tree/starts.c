/* SPDX-License-Identifier: Apache-2.0 */
/* starts.c - who starts, is renamed and ends, by the exit records. */
#include "base/clock.h"
#include "sampler/tree/tree_state.h"
#include "source/procfile.h"

#include <errno.h>
#include <string.h>

void io_add(struct proc_io *to, const struct proc_io *io, int sign)
{
	to->rchar += sign * io->rchar;
	to->wchar += sign * io->wchar;
	to->syscr += sign * io->syscr;
	to->syscw += sign * io->syscw;
	to->read_bytes += sign * io->read_bytes;
	to->write_bytes += sign * io->write_bytes;
}

struct process *starts_add(struct tree *t, pid_t pid, pid_t ppid, int64_t at_ns)
{
	struct process *parent = table_find(&t->table, ppid);
	struct task *task = parent ? NULL : task_of(t, ppid);
	struct process *p = table_add(&t->table, pid, ppid);

	t->started++;
	if (!p)
		return NULL;
	t->alive++;
	if (t->alive > t->alive_peak)
		t->alive_peak = t->alive;
	p->task = task ? (uint32_t)(task - t->task) : parent ? parent->task : 0;
	p->birth_ns = at_ns;
	p->tasks_live = 1;
	p->copies = 1; /* until it was seen twice */
	p->pss_bytes = p->uss_bytes = p->swap_bytes = -1;
	p->anonymous_huge_bytes = p->shared_memory_bytes = p->parent_given = -1;
	process_name(p, parent ? parent->comm : "sonde");
	if (parent) {
		p->ignores_children = parent->ignores_children;
		memcpy(p->script, parent->script, sizeof p->script);
		p->stack = parent->stack;
		p->program = parent->program;
	}
	status_watch(t, p);
	return p;
}

static bool has_launcher(const struct tree *t, const struct process *p)
{
	return t->ntasks && (t->task[p->task].launcher || p->waited);
}

static struct gone *gone_of(struct tree *t, pid_t pid)
{
	return &t->gone[(uint32_t)pid % GONE_MAX];
}

/* Who has the time of what ended and had this parent: the parent, or the nearest above it of those
 * that are there, when it has ended between the same two samples. */
static struct process *heir_of(struct tree *t, pid_t ppid)
{
	for (int i = 0; i < GONE_MAX; i++) {
		struct process *heir = table_find(&t->table, ppid);
		const struct gone *gone = gone_of(t, ppid);

		if (heir || gone->pid != ppid || gone->ticks + 1 < t->ticks)
			return heir;
		ppid = gone->ppid;
	}
	return NULL;
}

/* Where the time of a process goes that is gone: to whom its parent is, to the launcher, or to
 * somebody we do not see; then it is kept here. */
static void settle(struct tree *t, struct process *p, struct process *heir, bool unwaited)
{
	int64_t base = p->cpu_base_ns + p->children_base_ns;
	int64_t all = process_own_ns(p) + process_children_ns(&t->reading, p) - base;

	if (heir) {
		io_add(&heir->io_children, &p->io, 1);
		if (heir->pid == p->ppid)
			unwaited_count(t, heir, p);
		process_changed(heir);
		t->departed_cpu_ns -= base;
		io_add(&t->departed_io, &p->io_base, -1);
	} else if (unwaited || !has_launcher(t, p)) {
		t->departed_cpu_ns += all;
		t->unwaited_ns += unwaited ? all : 0;
		io_add(&t->departed_io, &p->io, 1);
		io_add(&t->departed_io, &p->io_base, -1);
		t->departed_minflt += p->stat.minflt + p->stat.cminflt;
		t->departed_majflt += p->stat.majflt + p->stat.cmajflt;
	}
	*gone_of(t, p->pid) = (struct gone){ .pid = p->pid, .ppid = p->ppid, .ticks = t->ticks };
}

void starts_bound(struct process *p, int64_t at_ns, int64_t cpus)
{
	int64_t from = p->clock_ns ? p->clock_ns : p->found_ns ? 0 : p->birth_ns;
	int64_t most = p->cpu_ns;

	if (!from || p->counted_ns <= p->cpu_ns)
		return;
	if (at_ns > from)
		most += (at_ns - from) * (p->has_threads || p->stat.num_threads > 1 ? cpus : 1);
	if (p->counted_ns > most)
		p->counted_ns = most;
}

void starts_end(struct tree *t, struct process *p, int64_t at_ns)
{
	struct process *heir = unwaited_is(t, p) ? NULL : heir_of(t, p->ppid);
	bool unwaited = !heir && table_find(&t->table, p->ppid), lends = p->lends;
	pid_t pid = p->pid;

	if (t->exits)
		starts_bound(p, at_ns, (int64_t)exits_cpus(t->exits));
	status_take(t, p);
	crashes_threads(t, p);
	t->ended++;
	t->ending -= p->ended;
	t->alive -= !p->ended;
	t->attributed_ended_ns += process_own_ns(p) - p->cpu_base_ns;
	t->unread_ns += p->read_ns ? 0 : process_own_ns(p);
	if (t->ntasks)
		t->task[p->task].attributed_ended_ns += process_own_ns(p) - p->cpu_base_ns;
	unwaited_leaves(t, p);
	settle(t, p, heir, unwaited);
	looks_leave(t, p, heir);
	series_ended(t, p, at_ns);
	gone_of(t, p->pid)->instance = p->instance;
	process_close(&t->reading, p, KEEP_NONE);
	peak_ended(t, p, at_ns);
	sums_leave(t, p);
	t->shares_changed |= p->paged;
	table_remove(&t->table, p);
	if (lends)
		memory_lender_left(t, pid);
}

void tree_disown(struct tree *t, pid_t pid)
{
	struct process *p = table_find(&t->table, pid);

	if (!p)
		return;
	t->started--;
	status_forget(t, p);
	t->ending -= p->ended;
	t->alive -= !p->ended;
	if (p->instance)
		series_ended(t, p, t->now_ns);
	process_close(&t->reading, p, KEEP_NONE);
	sums_leave(t, p);
	table_remove(&t->table, p);
}

/* By the records before the connector took over. */
static bool was_told(const struct tree *t, int64_t at_ns)
{
	return !t->exits && at_ns <= t->cheaper.since_ns;
}

/* Both stamp a birth a moment apart. */
static bool is_told_twice(const struct tree *t, const struct process *p, int64_t at_ns)
{
	return !t->exits && p->birth_ns <= t->cheaper.since_ns && at_ns - p->birth_ns < NS_PER_MS;
}

static void on_fork(void *ctx, pid_t pid, pid_t ppid, pid_t tid, int64_t at_ns)
{
	struct tree *t = ctx;
	struct process *p = table_find(&t->table, pid);

	t->records++;
	if (was_told(t, at_ns))
		return;
	if (pid != tid) {
		if (p) {
			p->has_threads = true;
			p->tasks_live++;
			t->threads_started++;
		}
		return;
	}
	if (p && (at_ns <= p->found_ns || is_told_twice(t, p, at_ns)))
		return;
	if (p)
		starts_end(t, p, at_ns); /* the pid is used again: its exit record was lost */
	if (!t->exits && !discover_is_ours(t, ppid))
		return; /* the connector tells of every process of the machine */
	starts_add(t, pid, ppid, at_ns);
}

static void on_name(void *ctx, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	struct tree *t = ctx;
	struct process *p = table_find(&t->table, pid);

	if (!p || (pid != tid && !exec))
		return;
	process_name(p, comm ? comm : "?"); /* until it is read */
	if (exec) {
		p->tasks_live = 1; /* exec ends all other threads */
		p->executed = true;
		process_executes(p);
	}
}

/* The events of a task end with it, but also when it executes a set-uid program; and of a process
 * that was found, or after lost records, not every task is known. */
static bool runs_on(struct tree *t, struct process *p)
{
	struct process look = { .pid = p->pid, .start_ticks = p->start_ticks };
	int64_t ns;

	if (process_clock(p->pid, &ns) || process_read(&t->reading, &look, READ_STAT, KEEP_NONE))
		return false;
	if (!p->start_ticks && look.ppid != p->ppid && !task_of(t, look.ppid))
		return false; /* the pid was used again */
	if (proc_stat_ended(&look.stat)) {
		if (!p->status_known)
			p->status = (int)look.stat.status;
		p->status_known = true;
		p->cpu_ns = ns; /* nobody waited for it yet: its clock stands at what it used */
		p->clock_ns = clock_mono_ns();
		process_name(p, look.comm);
		return false;
	}
	p->tasks_live = (int32_t)look.stat.num_threads;
	t->unwatched |= t->exits != NULL;
	return true;
}

static void on_exit_record(void *ctx, pid_t pid, pid_t tid, int64_t at_ns)
{
	struct tree *t = ctx;
	struct process *p = table_find(&t->table, pid);

	t->records++;
	if (!p || was_told(t, at_ns))
		return;
	if (tid != pid)
		crashes_thread(t, tid, pid);
	p->tasks_live--;
	if (t->exits)
		p->counts_due += (int32_t)exits_cpus(t->exits);
	if (p->tasks_live > 0 || runs_on(t, p))
		return;
	p->end_ns = at_ns;
	if (!t->exits) {
		starts_end(t, p, at_ns); /* no counts will come */
		return;
	}
	p->ended = true;
	process_changed(p);
	t->ending++;
	t->alive--;
}

static void on_count(void *ctx, pid_t pid, int64_t cpu_ns)
{
	struct tree *t = ctx;
	struct process *p = table_find(&t->table, pid);

	if (!p)
		return;
	p->counted_ns += cpu_ns;
	process_changed(p);
	if (--p->counts_due <= 0 && p->ended)
		starts_end(t, p, p->end_ns);
}

/* A process that ended in an earlier drain gets no more counts. */
void starts_end_the_ended(struct tree *t)
{
	for (uint32_t i = t->ending ? t->table.nlive : 0; i-- > 0;) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (p->ended && p->vanished)
			starts_end(t, p, p->end_ns);
		else if (p->ended)
			p->vanished = true;
	}
}

/* Take the records until then; the connector's, which come in order, as they are there. */
static void drain(struct tree *t, int64_t until_ns)
{
	const struct exits_handler handler = {
		.ctx = t,
		.forked = on_fork,
		.named = on_name,
		.exited = on_exit_record,
		.counted = on_count,
	};
	uint64_t lost = t->exits ? exits_drain(t->exits, &handler, until_ns)
				 : connector_drain(&t->connector, &handler, until_ns == INT64_MAX);

	t->lost_records += lost;
	t->rescan |= lost > 0;
}

void starts_drain(struct tree *t, int64_t until_ns)
{
	starts_end_the_ended(t);
	drain(t, until_ns ? until_ns : clock_mono_ns() - NS_PER_MS / 2);
}

/* A pid was given out, and neither in this sample nor in the next was anything told: other
 * listeners can make the kernel forget that somebody listens. */
static void doubt_the_connector(struct tree *t)
{
	bool new_pid = discover_new_pid(t);

	if (t->records != t->told)
		t->silent = 0;
	else
		t->silent += new_pid || t->silent;
	t->told = t->records;
	if (t->silent < 2)
		return;
	connector_close(&t->connector);
	discover_say(t, "mechanism.connector", -EPIPE, "it fell silent");
	discover_say(t, "mechanism.new_pids", 0, "");
	t->lost_records++;
	t->rescan = true;
}

void starts_step(struct tree *t, bool last)
{
	t->asks = 0;
	if (!last)
		cheaper_step(t);
	if (!tree_has_events(t)) {
		discover_step(t);
		return;
	}
	starts_drain(t, last ? INT64_MAX : 0);
	if (t->connector.fd > 0)
		doubt_the_connector(t);
	if (t->rescan)
		discover_all(t);
	else if (t->unwatched)
		discover_step(t);
	t->rescan = false;
	if (last)
		for (int again = 0; again < 2; again++)
			starts_end_the_ended(t);
}

void starts_catch_up(struct tree *t)
{
	if (tree_has_events(t) && t->vanished_ns)
		drain(t, t->vanished_ns);
	t->vanished_ns = 0;
}
