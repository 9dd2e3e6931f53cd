/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c - what the processes of the job used together, the ended ones included. */
#include "sampler/tree/tree_state.h"

#include "base/clock.h"

#include <stdlib.h>

static void set(struct tree *t, enum job_metric row, int64_t value)
{
	t->job[row] = value;
	t->job_known[row] = true;
}

/* A counter that is summed up over what comes and goes: a moment's gap is no step back. */
static void raise_to(struct tree *t, enum job_metric row, int64_t value)
{
	set(t, row, t->job[row] > value ? t->job[row] : value);
}

static void io_parts(const struct process *p, int64_t part[PART_NUMBER_OF])
{
	const struct proc_io *io = &p->io, *base = &p->io_base;

	part[PART_READ] = io->rchar - base->rchar;
	part[PART_WRITTEN] = io->wchar - base->wchar;
	part[PART_READ_CALLS] = io->syscr - base->syscr;
	part[PART_WRITE_CALLS] = io->syscw - base->syscw;
	part[PART_STORAGE_READ] = io->read_bytes - base->read_bytes;
	part[PART_STORAGE_WRITTEN] = io->write_bytes - base->write_bytes;
	part[PART_NO_IO] = !p->io_known && p->read_ns;
}

/* Its time is on the way to its parent, or there already, with what was before the recording. */
static void before_parts(const struct process *p, int64_t part[PART_NUMBER_OF])
{
	const struct process nothing = { .io_base = p->io_base };

	part[PART_CPU] = -p->cpu_base_ns - p->children_base_ns;
	io_parts(&nothing, part);
}

bool sums_may_share(const struct tree *t, const struct process *p)
{
	const struct process *parent = table_find(&t->table, p->ppid);

	return p->has_forked || p->shared_bytes > (8 << 20) ||
	       (parent && parent->stack && parent->stack == p->stack);
}

/* As walked, and what its private memory grew by since; of one that ends, rss and shared may have
 * been read before and after its memory went. No PSS is above the RSS. */
static int64_t proportional(const struct process *p, int64_t rss)
{
	int64_t pss = p->pss_bytes + rss - p->shared_bytes - p->walk_private_bytes;

	return pss < rss ? pss : rss;
}

/* Pages that it shares it may have copied since it was walked, which no resident size shows. */
static int64_t copied(const struct tree *t, const struct process *p)
{
	int64_t most = p->walk_rss_bytes - p->walk_uss_bytes;
	int64_t bytes = (int64_t)(p->copies * (double)process_faulted_since_walk(&t->reading, p));

	return bytes < most ? bytes : most > 0 ? most : 0;
}

/* What of its resident set may count otherwise than as walked: what it gave back, which others may
 * have too, and shared files. What a process gets of its own by page faults is nobody else's; who
 * is forked later is walked, and makes this walk an old one. */
static int64_t unsure(const struct process *p, int64_t rss)
{
	int64_t less = p->walk_private_bytes - (rss - p->shared_bytes);
	int64_t shared = p->walk_rss_bytes - p->walk_private_bytes;

	return (less > 0 ? less : 0) + llabs(p->shared_bytes - shared);
}

static void memory_parts(const struct tree *t, const struct process *p,
			 int64_t part[PART_NUMBER_OF])
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;

	if (p->memory_of)
		return; /* it is that one's */
	part[PART_RESIDENT] = rss;
	part[PART_VIRTUAL] = p->stat.vsize_bytes;
	part[PART_SHARED] = p->shared_bytes;
	if (p->executed && p->shared_known && rss > p->shared_bytes)
		part[PART_PRIVATE] = rss - p->shared_bytes;
	part[PART_NO_SHARED] = !p->shared_known && rss;
	if (p->pss_bytes >= 0)
		part[PART_PSS] = proportional(p, rss);
	if (p->uss_bytes > 0)
		part[PART_USS] = p->uss_bytes;
	if (p->pss_bytes >= 0 && sums_may_share(t, p))
		part[PART_COPIED] = copied(t, p);
	if (p->pss_bytes >= 0 && sums_may_share(t, p))
		part[PART_UNSURE] = unsure(p, rss) + part[PART_COPIED];
	part[PART_NO_PSS] = p->pss_bytes < 0 ? rss : 0;
	if (p->swap_bytes > 0)
		part[PART_SWAP] = p->swap_bytes;
	part[PART_NO_SWAP] = p->swap_bytes < 0 && rss;
	part[PART_HUGETLB] = p->hugetlb_bytes;
	if (p->anonymous_huge_bytes > 0)
		part[PART_ANONYMOUS_HUGE] = p->anonymous_huge_bytes;
	part[PART_NO_ANONYMOUS_HUGE] = (p->anonymous_huge_bytes < 0 || p->paged) && rss;
	part[PART_SHARED_MEMORY] =
		p->shared_memory_bytes >= 0 && !p->paged ? p->shared_memory_bytes : p->shared_bytes;
}

static void parts_of(const struct tree *t, const struct process *p, int64_t part[PART_NUMBER_OF])
{
	part[PART_OWN] = process_own_ns(p) - p->cpu_base_ns;
	if (p->ended || p->vanished) {
		before_parts(p, part);
		return;
	}
	part[PART_CPU] = part[PART_OWN] + process_children_ns(&t->reading, p) - p->children_base_ns;
	io_parts(p, part);
	part[PART_MINOR_FAULTS] = p->stat.minflt + p->stat.cminflt;
	part[PART_MAJOR_FAULTS] = p->stat.majflt + p->stat.cmajflt;
	for (int i = 0; i < USE_NUMBER_OF; i++)
		part[PART_VOLUNTARY + i] = p->used[i] - p->used_base[i];
	for (int i = 0; i < USE_REAPED; i++)
		part[PART_CHILDREN_VOLUNTARY + i] = p->used_children[i];
	if (proc_stat_ended(&p->stat))
		return;
	part[PART_LIVE] = 1;
	part[PART_THREADS] = p->stat.num_threads;
	for (int i = 0; i < THREAD_STATES; i++)
		part[PART_THREADS_RUNNING + i] = p->threads_in[i];
	part[PART_NO_THREADS] = p->looks_refused;
	part[PART_FILES] = p->files;
	part[PART_NO_FILES] = !p->files_known && p->read_ns;
	memory_parts(t, p, part);
}

static bool is_estimated(const struct tree *t, const struct process *p)
{
	return p->pss_bytes >= 0 && !p->ended && !p->vanished && !proc_stat_ended(&p->stat) &&
	       walk_is_old(t, p);
}

static void update(struct tree *t, struct process *p)
{
	int64_t part[PART_NUMBER_OF] = { 0 };

	parts_of(t, p, part);
	for (int i = 0; i < PART_NUMBER_OF; i++) {
		t->parts[i] += part[i] - p->part[i];
		if (t->ntasks)
			t->task[p->task].parts[i] += part[i] - p->part[i];
		p->part[i] = part[i];
	}
	if (part[PART_RESIDENT] + part[PART_HUGETLB] > t->largest_rss)
		t->largest_rss = part[PART_RESIDENT] + part[PART_HUGETLB];
	p->estimated_ns = is_estimated(t, p) ? p->walk_ns : 0;
	p->part_due = false;
}

void sums_leave(struct tree *t, const struct process *p)
{
	for (int i = 0; i < PART_NUMBER_OF; i++) {
		t->parts[i] -= p->part[i];
		if (t->ntasks)
			t->task[p->task].parts[i] -= p->part[i];
	}
}

static void sum_io(struct tree *t)
{
	const struct proc_io *d = &t->departed_io;
	const int64_t *part = t->parts, *had = &t->recorded[RECORDED_IO];
	struct proc_io l;

	if (!tasks_io(t, &l) || part[PART_NO_IO]) {
		for (int row = JOB_READ; row <= JOB_STORAGE_WRITTEN; row++)
			t->job_known[row] = false;
		return;
	}
	raise_to(t, JOB_READ, d->rchar + part[PART_READ] + l.rchar - had[0]);
	raise_to(t, JOB_WRITTEN, d->wchar + part[PART_WRITTEN] + l.wchar - had[1]);
	raise_to(t, JOB_READ_CALLS, d->syscr + part[PART_READ_CALLS] + l.syscr - had[2]);
	raise_to(t, JOB_WRITE_CALLS, d->syscw + part[PART_WRITE_CALLS] + l.syscw - had[3]);
	raise_to(t, JOB_STORAGE_READ,
		 d->read_bytes + part[PART_STORAGE_READ] + l.read_bytes - had[4]);
	raise_to(t, JOB_STORAGE_WRITTEN,
		 d->write_bytes + part[PART_STORAGE_WRITTEN] + l.write_bytes - had[5]);
}

/* Who is started by another as a child of that one's parent (CLONE_PARENT) is waited for there: if
 * that was taken for a child of nobody, the records of all that ended show that it is in it twice.
 */
static int64_t counted_once(const struct tree *t, int64_t cpu, int64_t attributed)
{
	bool complete = t->exits && !t->unwatched && !t->lost_records;

	if (!complete || !t->unwaited_ns || cpu <= attributed + attributed / 8 + 10 * NS_PER_MS)
		return cpu;
	return cpu - t->unwaited_ns;
}

static void sum_counters(struct tree *t)
{
	const int64_t *part = t->parts, *had = t->recorded;
	int64_t attributed = t->attributed_ended_ns + part[PART_OWN] - had[RECORDED_ATTRIBUTED_CPU];
	struct message m;
	int64_t cpu;

	tasks_reaped(t, &m);
	cpu = t->departed_cpu_ns + part[PART_CPU] + m.total_user_ns + m.total_system_ns -
	      had[RECORDED_CPU];
	cpu = counted_once(t, cpu, attributed);
	raise_to(t, JOB_ATTRIBUTED_CPU, attributed);
	/* Children whose parent ignores SIGCHLD are in nobody's total, but their exit was recorded.
	 */
	t->waited_ns = cpu;
	t->cpu_ns = cpu > attributed ? cpu : attributed;
	cheaper_count(t);
	/* What waited children add comes in whole ticks and a moment late; what is known process by
	 * process does not. So the series follows the latter, and what it misses is added as it
	 * shows. */
	if (t->cpu_ns - attributed > t->unattributed_ns)
		t->unattributed_ns = t->cpu_ns - attributed;
	raise_to(t, JOB_CPU, attributed + t->unattributed_ns);
	raise_to(t, JOB_MINOR_FAULTS,
		 t->departed_minflt + part[PART_MINOR_FAULTS] + m.total_minor_faults -
			 had[RECORDED_MINOR_FAULTS]);
	raise_to(t, JOB_MAJOR_FAULTS,
		 t->departed_majflt + part[PART_MAJOR_FAULTS] + m.total_major_faults -
			 had[RECORDED_MAJOR_FAULTS]);
	sum_io(t);
}

/* Of what is told apart. */
static void sum_apart(struct tree *t, int64_t huge)
{
	set(t, JOB_HUGETLB, huge);
	t->job_known[JOB_HUGETLB] = t->memory.huge_present;
	set(t, JOB_ANONYMOUS_HUGE, t->parts[PART_ANONYMOUS_HUGE]);
	t->job_known[JOB_ANONYMOUS_HUGE] = !t->parts[PART_NO_ANONYMOUS_HUGE] && t->pss != PSS_OFF;
	memory_sum(t);
	set(t, JOB_MEMORY_FILES, t->memory.files_bytes);
	t->job_known[JOB_MEMORY_FILES] = t->memory.files_known;
}

/* Its age is that of the oldest walk that memory has changed since. */
static void sum_memory(struct tree *t, int64_t estimated_ns)
{
	const int64_t *part = t->parts;
	int64_t age = estimated_ns < t->now_ns ? t->now_ns - estimated_ns : 0;
	bool pss_known = !part[PART_NO_PSS] && t->pss != PSS_OFF;

	int64_t huge = memory_hugetlb(t), resident = part[PART_RESIDENT] + huge;

	set(t, JOB_RESIDENT, resident);
	set(t, JOB_VIRTUAL, part[PART_VIRTUAL]);
	set(t, JOB_SHARED, part[PART_SHARED]);
	t->job_known[JOB_SHARED] = !part[PART_NO_SHARED];
	set(t, JOB_PSS, part[PART_PSS] + huge);
	set(t, JOB_USS, part[PART_USS]);
	set(t, JOB_SWAP, part[PART_SWAP]);
	set(t, JOB_PSS_AGE, (age + NS_PER_S - 1) / NS_PER_S);
	t->job_known[JOB_PSS] = t->job_known[JOB_PSS_AGE] = t->job_known[JOB_USS] = pss_known;
	t->job_known[JOB_SWAP] = !part[PART_NO_SWAP] && t->pss != PSS_OFF;
	sum_apart(t, huge);
	peak_raise_rss(t, resident);
	if (t->pss != PSS_OFF)
		peak_raise(t, age);
	t->samples_with_live += part[PART_LIVE] > 0;
	t->samples_with_pss += part[PART_LIVE] > 0 && pss_known;
}

/* Not where an earlier recorder has told of a part, which nobody knows. */
static void sum_switches(struct tree *t)
{
	int64_t reaped[USE_REAPED];
	struct message m;

	tasks_reaped(t, &m);
	reaped[0] = m.total_voluntary_switches;
	reaped[1] = m.total_involuntary_switches;
	for (int i = 0; i < USE_REAPED && t->launched && !t->recorded[RECORDED_CPU]; i++)
		raise_to(t, (enum job_metric)(JOB_VOLUNTARY_TOTAL + i),
			 reaped[i] + t->parts[PART_VOLUNTARY + i] +
				 t->parts[PART_CHILDREN_VOLUNTARY + i]);
}

static void sum_looks(struct tree *t)
{
	const struct looks *l = &t->looks;
	const int64_t *part = t->parts;
	/* What they did after they were looked at last is not known, and not 0. */
	bool all_ended = l->looked && !part[PART_LIVE];

	for (int row = JOB_VOLUNTARY; row <= JOB_LOOKS_AGE; row++)
		t->job_known[row] = false;
	if (!l->complete || part[PART_NO_THREADS] || l->threads.refused)
		return;
	for (int i = 0; i < USE_NUMBER_OF; i++) {
		raise_to(t, (enum job_metric)(JOB_VOLUNTARY + i),
			 l->departed[i] + part[PART_VOLUNTARY + i]);
		t->job_known[JOB_VOLUNTARY + i] = !l->unsupported[i] && !all_ended;
	}
	sum_switches(t);
	for (int i = 0; i < THREAD_STATES; i++)
		set(t, (enum job_metric)(JOB_THREADS_RUNNING + i), part[PART_THREADS_RUNNING + i]);
	set(t, JOB_LOOKS_AGE, (t->now_ns - l->began_ns + NS_PER_S - 1) / NS_PER_S);
	set(t, JOB_AFFINITY, cpulist_count(&l->affinity->cpus));
	t->job_known[JOB_AFFINITY] = l->affinity->whole && t->job[JOB_AFFINITY];
}

void sums_make(struct tree *t)
{
	int64_t estimated_ns = INT64_MAX;

	for (uint32_t i = 0; i < t->table.nlive; i++) {
		struct process *p = &t->table.row[t->table.live[i]];

		if (p->part_due)
			update(t, p);
		if (p->estimated_ns && p->estimated_ns < estimated_ns)
			estimated_ns = p->estimated_ns;
	}
	sum_counters(t);
	sum_memory(t, estimated_ns);
	set(t, JOB_PROCESSES_LIVE, t->parts[PART_LIVE]);
	raise_to(t, JOB_PROCESSES_STARTED, t->started);
	raise_to(t, JOB_PROCESSES_ENDED, t->ended);
	if (t->exits || t->connector.fd > 0)
		raise_to(t, JOB_THREADS_STARTED, t->threads_started);
	set(t, JOB_THREADS, t->parts[PART_THREADS]);
	set(t, JOB_FILES, t->parts[PART_FILES]);
	t->job_known[JOB_FILES] = !t->parts[PART_NO_FILES];
	sum_looks(t);
}

/* When all was waited for the kernel's account stands, unless more was recorded: children of a
 * parent that ignores SIGCHLD. Records of perf events also hold what interrupts and a hypervisor
 * took meanwhile, which the machine tells. Where it does not, they may have as much again as the
 * job had: if no such parent was found, only several times as much tells of one. */
bool sums_account_stands(const struct tree *t)
{
	int64_t more = t->cpu_ns - t->waited_ns, few = 10 * NS_PER_MS;
	bool childless = t->started <= 1 && !t->recorded[RECORDED_CPU];

	if (childless || more <= (t->unwaited ? few : t->waited_ns / 32 + few))
		return true;
	if (t->taken_ns >= 0)
		return more <= t->taken_ns + t->waited_ns / 32 + few;
	return more <= t->waited_ns / 8 || (!t->unwaited && more / 2 <= t->waited_ns);
}

/* What lives on, as does what was killed with the job and is about to end, used next to nothing
 * with all that it waited for: the launchers' account has the rest. */
static bool little_lives_on(const struct tree *t)
{
	return t->parts[PART_CPU] <= t->waited_ns / 100;
}

/* Where not all was waited for, it is what the samples have found, which never goes back. */
static int64_t cpu_total(const struct tree *t, bool waits)
{
	if (!waits || (t->table.nlive && !little_lives_on(t)))
		return t->job[JOB_CPU];
	return sums_account_stands(t) ? t->waited_ns : t->cpu_ns;
}

static const char *starts_how(const struct tree *t)
{
	if (t->cheaper.since_ns)
		return t->connector.fd > 0 ? "exit records of perf events, then the proc connector"
					   : "exit records of perf events, then new pids at each "
					     "sample";
	if (t->connector.fd > 0)
		return t->follow ? "the proc connector and a look for the job's members each second"
				 : "the proc connector";
	if (!t->exits)
		return "new pids at each sample";
	return t->unwatched ? "exit records of perf events and new pids at each sample"
			    : "exit records of perf events";
}

/* Of who ends without a parent that is seen, the last reading is the last that is known, unless its
 * end is told with what it used. */
static const char *totals_how(const struct tree *t, bool waits)
{
	if (t->unwaited)
		return t->exits && !t->unwatched
			       ? "wait4 totals and CPU clocks; input and output a lower bound: what "
				 "children did that nobody waited for is not known in full"
			       : "wait4 totals and CPU clocks, a lower bound: children that nobody "
				 "waited for are not counted in full";
	if (waits)
		return "wait4 totals";
	return t->exits && !t->unwatched
		       ? "CPU clocks and waited children"
		       : "CPU clocks and waited children, a lower bound: what orphans used "
			 "after the last sample that saw them is not in it";
}

void tree_totals(const struct tree *t, struct tree_totals *out)
{
	bool waits = t->launched && !tasks_lost(t), apart = waits && !t->table.nlive;
	bool split = apart && !t->recorded[RECORDED_CPU] && !t->unwaited && sums_account_stands(t);
	bool exact = tree_has_events(t) && !t->lost_records && !t->unwatched && !t->follow;

	struct message reaped;

	tasks_reaped(t, &reaped);
	*out = (struct tree_totals){
		.user_ns = split ? reaped.total_user_ns : -1,
		.system_ns = split ? reaped.total_system_ns : -1,
		.cpu_ns = cpu_total(t, waits),
		.attributed_ns = t->job[JOB_ATTRIBUTED_CPU],
		.live = t->job[JOB_PROCESSES_LIVE],
		.started = t->started,
		.ended = t->ended,
		.read_bytes = t->job[JOB_READ],
		.written_bytes = t->job[JOB_WRITTEN],
		.io_known = t->job_known[JOB_READ],
		.lost_records = t->lost_records,
		.exact_starts = exact,
		.unknown_ends = t->unknown_ends,
		.peak = exact ? t->alive_peak : -1,
		.started_at_most = exact ? t->started : t->started_at_most,
		.starts_how = starts_how(t),
		.totals_how = totals_how(t, waits),
	};
	if (out->attributed_ns > out->cpu_ns)
		out->attributed_ns = out->cpu_ns;
	peak_take(t, out);
}
