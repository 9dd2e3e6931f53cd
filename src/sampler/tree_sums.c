/* SPDX-License-Identifier: Apache-2.0 */
/* tree_sums.c - what the processes of the job used together, the ended ones included. */
#include "sampler/tree_state.h"

#include "base/clock.h"

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

struct sums {
	int64_t cpu, own, live, threads, files, rss, pss, swap, minflt, majflt;
	int64_t estimated_ns; /* the oldest walk that memory has changed since */
	struct proc_io io;
	bool io_known, files_known, pss_known, swap_known;
};

static void add_process(const struct tree *t, struct sums *u, const struct process *p)
{
	int64_t rss = p->stat.rss_pages * t->reading.page_bytes;

	u->own += process_own_ns(p) - p->cpu_base_ns;
	if (p->ended || p->vanished)
		return; /* its time is on the way to its parent, if not there already */
	u->cpu += process_own_ns(p) - p->cpu_base_ns + process_children_ns(&t->reading, p) -
		  p->children_base_ns;
	u->io_known &= p->io_known || !p->read_ns;
	u->io.rchar += p->io.rchar - p->io_base.rchar;
	u->io.wchar += p->io.wchar - p->io_base.wchar;
	u->io.syscr += p->io.syscr - p->io_base.syscr;
	u->io.syscw += p->io.syscw - p->io_base.syscw;
	u->io.read_bytes += p->io.read_bytes - p->io_base.read_bytes;
	u->io.write_bytes += p->io.write_bytes - p->io_base.write_bytes;
	u->minflt += p->stat.minflt + p->stat.cminflt;
	u->majflt += p->stat.majflt + p->stat.cmajflt;
	if (proc_stat_ended(&p->stat))
		return;
	u->live++;
	u->threads += p->stat.num_threads;
	u->files_known &= p->files_known || !p->read_ns;
	u->files += p->files;
	u->rss += rss;
	u->pss_known &= p->pss_bytes >= 0 || !rss;
	u->pss += p->pss_bytes >= 0 ? p->pss_bytes + rss - p->shared_bytes - p->walk_private_bytes
				    : 0;
	if (p->pss_bytes >= 0 && walk_is_old(t, p) && p->walk_ns < u->estimated_ns)
		u->estimated_ns = p->walk_ns;
	u->swap_known &= p->swap_bytes >= 0 || !rss;
	u->swap += p->swap_bytes > 0 ? p->swap_bytes : 0;
}

static void sum_counters(struct tree *t, const struct sums *u)
{
	const struct proc_io *d = &t->departed_io, *l = &t->launcher_now, *b = &t->launcher_base;
	const struct message *m = &t->reaped;
	int64_t attributed = t->attributed_ended_ns + u->own;
	int64_t cpu = t->departed_cpu_ns + u->cpu + m->total_user_ns + m->total_system_ns;

	raise_to(t, JOB_ATTRIBUTED_CPU, attributed);
	/* Children whose parent ignores SIGCHLD are in nobody's total, but their exit was recorded.
	 */
	t->cpu_ns = cpu > attributed ? cpu : attributed;
	/* What waited children add comes in whole ticks and a moment late; what is known process by
	 * process does not. So the series follows the latter, and what it misses is added as it
	 * shows. */
	if (t->cpu_ns - attributed > t->unattributed_ns)
		t->unattributed_ns = t->cpu_ns - attributed;
	raise_to(t, JOB_CPU, attributed + t->unattributed_ns);
	raise_to(t, JOB_MINOR_FAULTS, t->departed_minflt + u->minflt + m->total_minor_faults);
	raise_to(t, JOB_MAJOR_FAULTS, t->departed_majflt + u->majflt + m->total_major_faults);
	if (!u->io_known || (t->launcher && !t->launcher_io_known)) {
		for (int row = JOB_READ; row <= JOB_STORAGE_WRITTEN; row++)
			t->job_known[row] = false;
		return;
	}
	raise_to(t, JOB_READ, d->rchar + u->io.rchar + l->rchar - b->rchar);
	raise_to(t, JOB_WRITTEN, d->wchar + u->io.wchar + l->wchar - b->wchar);
	raise_to(t, JOB_READ_CALLS, d->syscr + u->io.syscr + l->syscr - b->syscr);
	raise_to(t, JOB_WRITE_CALLS, d->syscw + u->io.syscw + l->syscw - b->syscw);
	raise_to(t, JOB_STORAGE_READ,
		 d->read_bytes + u->io.read_bytes + l->read_bytes - b->read_bytes);
	raise_to(t, JOB_STORAGE_WRITTEN,
		 d->write_bytes + u->io.write_bytes + l->write_bytes - b->write_bytes);
}

void sums_make(struct tree *t)
{
	struct sums u = {
		.io_known = true,
		.files_known = true,
		.pss_known = true,
		.swap_known = true,
		.estimated_ns = INT64_MAX,
	};
	int64_t age;

	for (uint32_t i = 0; i < t->table.nlive; i++)
		add_process(t, &u, &t->table.row[t->table.live[i]]);
	sum_counters(t, &u);
	set(t, JOB_PROCESSES_LIVE, u.live);
	raise_to(t, JOB_PROCESSES_STARTED, t->started);
	raise_to(t, JOB_PROCESSES_ENDED, t->ended);
	set(t, JOB_THREADS, u.threads);
	set(t, JOB_FILES, u.files);
	set(t, JOB_RESIDENT, u.rss);
	set(t, JOB_PSS, u.pss);
	set(t, JOB_SWAP, u.swap);
	age = u.estimated_ns < t->now_ns ? t->now_ns - u.estimated_ns : 0;
	set(t, JOB_PSS_AGE, (age + NS_PER_S - 1) / NS_PER_S);
	t->job_known[JOB_FILES] = u.files_known;
	t->job_known[JOB_PSS] = t->job_known[JOB_PSS_AGE] = u.pss_known && t->pss != PSS_OFF;
	t->job_known[JOB_SWAP] = u.swap_known && t->pss != PSS_OFF;
	if (u.rss > t->peak_rss)
		t->peak_rss = u.rss;
	if (t->job_known[JOB_PSS] && u.pss > t->peak_pss) {
		t->peak_pss = u.pss;
		t->peak_pss_age_ns = age;
	}
	t->samples_with_live += u.live > 0;
	t->samples_with_pss += u.live > 0 && t->job_known[JOB_PSS];
}

/* A process's own high-water mark, from the kernel, is what no sampling can miss. It counts shared
 * pages in full: only when it exceeds the sampled PSS by more than those usually are was a peak
 * missed. */
static bool pss_missed_the_peak(const struct tree *t)
{
	const int64_t shared_pages = 8 << 20;

	return t->max_rss_reaped > t->peak_pss + t->peak_pss / 10 + shared_pages;
}

static void peak_memory(const struct tree *t, struct tree_totals *out)
{
	bool mostly_known = t->peak_pss && t->samples_with_pss * 10 >= t->samples_with_live * 9;

	if (mostly_known && !pss_missed_the_peak(t)) {
		out->peak_memory_bytes = t->peak_pss;
		out->peak_memory_kind = "pss";
		out->peak_memory_age_ns = t->peak_pss_age_ns;
		return;
	}
	out->peak_memory_bytes = t->peak_rss > t->max_rss_reaped ? t->peak_rss : t->max_rss_reaped;
	out->peak_memory_kind = out->peak_memory_bytes ? "rss" : NULL;
}

static const char *births_how(const struct tree *t)
{
	if (t->connector.fd > 0)
		return "the proc connector";
	if (!t->exits)
		return "new pids at each sample";
	return t->unwatched ? "exit records of perf events and new pids at each sample"
			    : "exit records of perf events";
}

void tree_totals(const struct tree *t, struct tree_totals *out)
{
	bool apart = t->launcher && !t->table.nlive;
	bool exact = tree_is_told(t) && !t->lost_records && !t->unwatched;

	*out = (struct tree_totals){
		.user_ns = apart ? t->reaped.total_user_ns : -1,
		.system_ns = apart ? t->reaped.total_system_ns : -1,
		.cpu_ns = t->cpu_ns,
		.attributed_ns = t->job[JOB_ATTRIBUTED_CPU],
		.live = t->job[JOB_PROCESSES_LIVE],
		.started = t->started,
		.ended = t->ended,
		.read_bytes = t->job[JOB_READ],
		.written_bytes = t->job[JOB_WRITTEN],
		.io_known = t->job_known[JOB_READ],
		.lost_records = t->lost_records,
		.exact_births = exact,
		.started_at_most = exact ? t->started : t->started_at_most,
		.births_how = births_how(t),
		.totals_how = t->launcher ? "wait4 totals" : "CPU clocks and waited children",
	};
	peak_memory(t, out);
}
