/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - the figures of the job, the nodes and the monitor. */
#include "base/clock.h"
#include "report/judging/condition.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum take { TAKE_LAST, TAKE_MAX, TAKE_MIN, TAKE_MEAN };
/*
 * A host may have several recordings, which are steps of the job. OVER_HOST: its largest;
 * OVER_PEAK: what they had at the same time; these add up over hosts. OVER_SPAN: from the
 * first begin to the last end, of a host and of all.
 */
enum over { OVER_SUM, OVER_MAX, OVER_HOST, OVER_PEAK, OVER_SPAN };

enum {
#define NODES(id, ...) id,
#define NODE(id, ...)  id,
#include "report/summary/figures.def"
	FIGURES
};

static const struct figure {
	const char *meta;
	double scale;
	const char *metric;
	enum take take;
	enum over over;
} figures[] = {
#define NODES(id, member, name, unit, where, help, ...) [id] = { __VA_ARGS__ },
#define NODE(id, ...)                                   [id] = { __VA_ARGS__ },
#include "report/summary/figures.def"
};

struct node_figures {
	double v[FIGURES];       /* NAN: not known */
	const char *memory_kind; /* of v[PEAK_MEMORY] */
	bool cgroup_alone;       /* nothing but the job was in its control group */
	uint32_t host;           /* the first node of this one's host */
	uint32_t next;           /* the next node of this host; 0: none */
	double start_s;          /* since the run began */
};

static void take_meta(struct node_figures *n, const struct run_meta *m)
{
	if (strcmp(m->key, "job.peak_memory_kind") == 0 && m->type == META_TEXT)
		n->memory_kind = m->text;
	if (strcmp(m->key, "cgroup.owner") == 0 && m->type == META_TEXT)
		n->cgroup_alone = m->text && strcmp(m->text, "alone") == 0;
	for (size_t i = 0; i < FIGURES; i++)
		if (figures[i].meta && strcmp(figures[i].meta, m->key) == 0)
			n->v[i] = run_meta_number(m) * figures[i].scale;
}

/* The job's environment, much of what recordings say, is none of it. */
static bool may_be_figure(const struct run_meta *m)
{
	static const char others[] = "job.environment.";

	return strncmp(m->key, others, sizeof others - 1) != 0;
}

static const unsigned fields[] = { [TAKE_LAST] = SERIES_LAST,
				   [TAKE_MAX] = SERIES_MAX,
				   [TAKE_MIN] = SERIES_MIN,
				   [TAKE_MEAN] = SERIES_MEAN | SERIES_LAST };

void summary_job_ask(struct series_index *x)
{
	for (size_t i = 0; i < FIGURES; i++)
		if (figures[i].metric)
			series_index_ask(x, figures[i].metric, fields[figures[i].take]);
	series_index_ask(x, "cgroup.memory_peak_bytes", SERIES_MAX);
	series_index_ask(x, "cgroup.memory_file_bytes", SERIES_MAX);
	series_index_ask(x, "cgroup.memory_oom_kills", SERIES_LAST);
	series_index_ask(x, "cgroup.cpu_limit_cores", SERIES_MAX);
	series_index_ask(x, "cgroup.cpu_seconds", SERIES_RISE);
	series_index_ask(x, "cgroup.memory_limit_bytes", SERIES_MAX);
}

static double taken(const struct series_index *x, enum take take, uint32_t k)
{
	if (take == TAKE_MEAN) /* of a single value, which stood for no time, that */
		return series_index_value(x, k, SERIES_SECONDS) > 0
			       ? series_index_mean(x, k)
			       : series_index_value(x, k, SERIES_LAST);
	return series_index_value(x, k, (enum series_field)fields[take]);
}

/* Series fill what the recorder did not live to say. */
static void take_series(struct node_figures *nodes, const struct run *r,
			const struct series_index *x)
{
	uint32_t metric[FIGURES];

	for (size_t i = 0; i < FIGURES; i++)
		metric[i] = figures[i].metric ? run_find_metric(r, figures[i].metric) : 0;
	for (uint32_t k = x->first[0]; k; k = x->kept[k].next) {
		const struct run_series *row = &r->series[x->kept[k].series];

		for (size_t i = 0; i < FIGURES && row->node < r->nnodes; i++) {
			double *v = &nodes[row->node].v[i];

			if (metric[i] && metric[i] == row->metric && isnan(*v))
				*v = taken(x, figures[i].take, k);
		}
	}
}

/* The job's own control group: groups above it are aside. */
static void take_cgroup(struct node_figures *nodes, const struct run *r,
			const struct series_index *x)
{
	uint32_t peak = run_find_metric(r, "cgroup.memory_peak_bytes");
	uint32_t cache = run_find_metric(r, "cgroup.memory_file_bytes");
	uint32_t kills = run_find_metric(r, "cgroup.memory_oom_kills");
	uint32_t cores = run_find_metric(r, "cgroup.cpu_limit_cores");
	uint32_t cpu = run_find_metric(r, "cgroup.cpu_seconds");
	uint32_t memory = run_find_metric(r, "cgroup.memory_limit_bytes");

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *g = &r->instances[i];
		double *v = g->node < r->nnodes ? nodes[g->node].v : NULL, killed;

		if (!v || !g->domain || strcmp(g->domain, "cgroup") != 0 ||
		    g->flags & INSTANCE_ASIDE)
			continue;
		v[PEAK_CGROUP] = series_index_max(x, i, peak);
		v[CACHE_CGROUP] = series_index_max(x, i, cache);
		v[CPU_CGROUP] = series_index_grown(x, i, cpu);
		v[CORES_LIMIT] = series_index_max(x, i, cores);
		v[MEMORY_LIMIT] = series_index_max(x, i, memory);
		killed = series_index_last(x, i, kills) - v[OOM_KILLS_BEFORE];
		v[OOM_KILLS] = killed >= 0 ? killed : NAN;
	}
}

/* Was it estimated from samples of what each page counts for, rather than added up? */
static bool is_estimated(const char *kind)
{
	return kind && (!strcmp(kind, "pss") || !strcmp(kind, "pages"));
}

/* The kernel's own peak misses nothing, and is the job's when nothing else is in the group, at most
 * a twentieth of it was reached before the recording, and no more of it can be page cache and
 * Sonde itself: any file that the job reads fills a group with cache, which is not its need.
 * Then it still bounds what was in use. Huge pages of hugetlbfs are not in it, nor are pages that
 * processes elsewhere had touched first. */
static void take_cgroup_peak(struct node_figures *n)
{
	double peak = n->v[PEAK_CGROUP], other = n->v[CACHE_CGROUP] + n->v[MONITOR_RSS];

	if (!n->cgroup_alone || !(peak >= 20 * n->v[PEAK_CGROUP_BEFORE]) || !(peak > 0) ||
	    n->v[PEAK_HUGETLB] > 0 || (is_estimated(n->memory_kind) && n->v[PEAK_MEMORY] >= peak))
		return;
	if (n->v[PEAK_MEMORY_AT_MOST] > peak)
		n->v[PEAK_MEMORY_AT_MOST] = peak;
	if (!(other <= peak / 20))
		return;
	n->v[PEAK_MEMORY] = n->v[PEAK_MEMORY_AT_MOST] = n->v[PEAK_CGROUP];
	n->v[PEAK_MEMORY_ERROR] = n->v[PEAK_IS_BOUND] = NAN;
	n->memory_kind = "cgroup";
}

/* Where unwaited children are missing, the group's account is the job's, with Sonde's own. */
static void take_cgroup_cpu(struct node_figures *n)
{
	double used = n->v[CPU_CGROUP] - n->v[MONITOR_CPU];

	if (!n->cgroup_alone || !(n->v[CPU_IS_BOUND] > 0) || !(used > 0))
		return;
	n->v[CPU] = fmax(n->v[CPU], used);
	n->v[CPU_IS_BOUND] = 0;
}

/* Where many processes share much, resident sizes add up to more than anybody had in use on the
 * node, file cache included. */
static void bound_by_node(struct node_figures *n)
{
	double most = n->v[MEMORY] - n->v[NODE_FREE];

	if (!n->memory_kind || strcmp(n->memory_kind, "rss") != 0 || !(n->v[PEAK_MEMORY] > most))
		return;
	n->v[PEAK_MEMORY] = n->v[PEAK_MEMORY_AT_MOST] = most;
	n->memory_kind = "node";
}

static void fill_derived(struct node_figures *n, const struct run *r, uint32_t node_id)
{
	const struct run_node *node = &r->nodes[node_id];

	if (isnan(n->v[WALL]) && node->rows)
		n->v[WALL] = (double)(summary_end_ns(r, node_id) - node->first_ns) * 1e-9;
	if (isnan(n->v[MONITOR_SAMPLES]))
		n->v[MONITOR_SAMPLES] = (double)node->rows;
	if (n->v[LIVE] == 0 && n->v[STARTED] > 0)
		n->v[LIVE] = NAN;         /* no sample saw a process: that is no peak */
	if (isnan(n->v[STARTED_AT_MOST])) /* the recorder did not live to say */
		n->v[STARTED_AT_MOST] = n->v[STARTED_EXACT] == 0 ? INFINITY : n->v[STARTED];
	if (isnan(n->v[PEAK_MEMORY_AT_MOST]))
		n->v[PEAK_MEMORY_AT_MOST] = n->v[PEAK_MEMORY];
	take_cgroup_peak(n);
	take_cgroup_cpu(n);
	if (!isnan(n->v[PEAK_MEMORY]))
		return;
	n->memory_kind = isnan(n->v[PEAK_PSS]) ? "rss" : "pss";
	n->v[PEAK_MEMORY] = isnan(n->v[PEAK_PSS]) ? n->v[PEAK_RSS] : n->v[PEAK_PSS];
	if (!(n->v[PEAK_MEMORY] > 0)) /* nor is this */
		n->v[PEAK_MEMORY] = NAN, n->memory_kind = NULL;
}

static int place(struct node_figures *nodes, const struct run *r)
{
	uint32_t *first = calloc(r->nnodes + 1, 2 * sizeof *first), *last = first + r->nnodes + 1;

	if (!first || run_hosts(r, first)) {
		free(first);
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < r->nnodes; i++) {
		uint32_t host = first[i];

		nodes[i].host = host;
		if (host != i)
			nodes[last[host]].next = i;
		last[host] = i;
		nodes[i].start_s = r->nodes[i].rows ? run_seconds(r, i, r->nodes[i].first_ns) : NAN;
		if (nodes[i].v[RECORDER_LOST] >= 0) /* since the run began, from here on */
			nodes[i].v[RECORDER_LOST] =
				run_seconds(r, i, (int64_t)nodes[i].v[RECORDER_LOST]);
	}
	free(first);
	return 0;
}

/* What all steps of a host that ran when this one began had at most. */
static double at_once(const struct node_figures *nodes, uint32_t node, size_t figure)
{
	double now = nodes[node].start_s, all = nodes[node].v[figure];

	for (uint32_t i = nodes[node].host; i; i = nodes[i].next)
		if (i != node && nodes[i].start_s <= now &&
		    now < nodes[i].start_s + nodes[i].v[WALL])
			all += nodes[i].v[figure];
	return all;
}

/* Of all steps of a host; the host is its first. */
static double over_steps(const struct node_figures *nodes, uint32_t host, size_t figure)
{
	double start = NAN, all = NAN;

	for (uint32_t i = host; i; i = nodes[i].next)
		start = fmin(start, nodes[i].start_s);
	for (uint32_t i = host; i; i = nodes[i].next) {
		double v = nodes[i].v[figure];

		if (figures[figure].over == OVER_SPAN)
			v += nodes[i].start_s - start;
		else if (figures[figure].over == OVER_PEAK)
			v = at_once(nodes, i, figure);
		all = fmax(all, v);
	}
	return all;
}

/* By the nodes' clocks, as all that is drawn over time. */
static double whole_span(const struct run *r, const struct node_figures *nodes, size_t figure)
{
	double start = NAN, end = NAN, longest = NAN;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		start = fmin(start, nodes[i].start_s);
		end = fmax(end, nodes[i].start_s + nodes[i].v[figure]);
		longest = fmax(longest, nodes[i].v[figure]);
	}
	return fmax(end - start, longest);
}

/* A sum is known when all of its parts are; a largest value when any is. */
static double over_nodes(const struct run *r, const struct node_figures *nodes, size_t figure)
{
	enum over over = figures[figure].over;
	double all = NAN;

	if (over == OVER_SPAN)
		return whole_span(r, nodes, figure);
	for (uint32_t i = 1; i < r->nnodes; i++) {
		double v = nodes[i].v[figure];

		if (over != OVER_SUM && over != OVER_MAX) {
			if (nodes[i].host != i)
				continue;
			v = over_steps(nodes, i, figure);
		}
		all = over == OVER_MAX ? fmax(all, v) : i == 1 ? v : all + v;
	}
	return all;
}

/* Of nodes on which no sample saw the job's memory the others' is a lower bound. */
static void bound_memory(double v[FIGURES], const struct run *r, const struct node_figures *nodes)
{
	double known = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		double has = nodes[i].host == i ? over_steps(nodes, i, PEAK_MEMORY) : 0;

		if (isnan(has) && !r->nodes[i].complete)
			return; /* what its recording lost is not known to be little */
		known += fmax(0, has);
	}
	if (isnan(v[PEAK_MEMORY]) && known > 0)
		v[PEAK_MEMORY] = known, v[PEAK_IS_BOUND] = 1;
}

/* The kind that promises least is the kind of a sum of several. */
static const char *memory_kind(const struct run *r, const struct node_figures *nodes)
{
	static const char *const weakest_first[] = { "process", "private", "node",  "rss",
						     "pages",   "pss",     "cgroup" };

	for (size_t k = 0; k < sizeof weakest_first / sizeof weakest_first[0]; k++)
		for (uint32_t i = 1; i < r->nnodes; i++)
			if (nodes[i].memory_kind &&
			    strcmp(nodes[i].memory_kind, weakest_first[k]) == 0)
				return weakest_first[k];
	return NULL;
}

/* Whether another recorder went on where this one was lost. */
static bool gone_on(const struct node_figures *nodes, uint32_t node)
{
	double start = fmax(0, nodes[node].start_s);

	for (uint32_t i = nodes[node].host; i; i = nodes[i].next)
		if (nodes[i].v[RECORDER_LOST] >= start && nodes[i].start_s > start)
			return true;
	return false;
}

static double of_host(const struct node_figures *nodes, uint32_t host, size_t figure)
{
	double all = 0;

	if (figures[figure].over != OVER_SUM)
		return over_steps(nodes, host, figure);
	for (uint32_t i = host; i; i = nodes[i].next)
		all += nodes[i].v[figure];
	return all;
}

static double memory_limit(const struct node_figures *nodes, uint32_t host)
{
	double limit = of_host(nodes, host, MEMORY_LIMIT);
	double asked = of_host(nodes, host, MEMORY_ASKED);

	return fmin(isnan(limit) ? asked : limit, of_host(nodes, host, MEMORY));
}

static void fill_host(struct summary_host *h, const struct run *r, const struct node_figures *nodes,
		      uint32_t host)
{
	enum { LATE_S = 10 };
	double start_s = INFINITY;
	bool of_node = false; /* a bound by what others use, too, is near to no limit of the job */

	*h = (struct summary_host){
		.node = host,
		.host = r->nodes[host].host,
		.cpu_s = of_host(nodes, host, CPU),
		.peak_memory_bytes = of_host(nodes, host, PEAK_MEMORY),
		.read_bytes = of_host(nodes, host, READ),
		.written_bytes = of_host(nodes, host, WRITTEN),
		.energy_j = NAN,
		.energy_job_j = NAN,
		.held_bytes = of_host(nodes, host, PEAK_RSS),
		.limit_bytes = memory_limit(nodes, host),
		.oom_kills = of_host(nodes, host, OOM_KILLS),
		.late_s = NAN,
		.unseen_s = over_steps(nodes, host, UNSEEN),
	};
	for (uint32_t i = host; i; i = nodes[i].next) {
		if (r->nodes[i].rows)
			start_s = fmin(start_s, nodes[i].start_s);
		h->lost |= !r->nodes[i].complete && !gone_on(nodes, i);
		h->restarted |= !isnan(nodes[i].v[RECORDER_LOST]);
		of_node |= nodes[i].memory_kind && !strcmp(nodes[i].memory_kind, "node");
	}
	/* A worker or node of another tool's data begins with its first event. */
	if (start_s > LATE_S && isfinite(start_s) && !run_find_text(r, host, "import.from"))
		h->late_s = start_s;
	h->limit_ratio =
		h->limit_bytes > 0 && !of_node ? h->peak_memory_bytes / h->limit_bytes : NAN;
}

/* The most that a host had of something. */
static double most_of_hosts(const struct run *r, const struct node_figures *nodes, size_t figure)
{
	double most = NAN;

	for (uint32_t i = 1; i < r->nnodes; i++)
		if (nodes[i].host == i)
			most = fmax(most, of_host(nodes, i, figure));
	return most;
}

static int fill_nodes(struct summary *s, const struct run *r, const struct node_figures *nodes)
{
	s->complete = true;
	s->nodes = calloc(r->nnodes ? r->nnodes : 1, sizeof *s->nodes);
	s->hosts = calloc(r->nnodes ? r->nnodes : 1, sizeof *s->hosts);
	if (!s->nodes || !s->hosts)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];
		bool lost = !n->complete && !gone_on(nodes, i), first = nodes[i].host == i;

		s->complete = s->complete && !lost;
		s->nodes[s->nnodes++] = (struct summary_node){
			.node = i,
			.host = n->host,
			.samples = n->rows,
			.cores = nodes[i].v[CORES_PRESENT],
			.memory_bytes = nodes[i].v[MEMORY],
			.signal = nodes[i].v[SIGNAL] > 0 ? nodes[i].v[SIGNAL] : NAN,
			.exit_code = nodes[i].v[EXIT_CODE],
			.end_s = nodes[i].start_s + nodes[i].v[WALL],
			.complete = n->complete,
			.lost = lost,
			.again = !first,
		};
		if (first)
			fill_host(&s->hosts[s->nhosts++], r, nodes, i);
	}
	summary_tightest_make(s);
	s->running = !s->complete && condition_of(r, clock_utc_ns()) == RUNNING;
	return 0;
}

static double recorded(const struct run *r)
{
	double rows = 0;

	for (uint32_t i = 1; i < r->nnodes; i++)
		rows += (double)r->nodes[i].rows;
	return rows;
}

/* How far the peak of memory is from what it was: an error of 19 of 20, and an upper bound. */
static void take_peak(struct summary *s, const double v[FIGURES])
{
	const char *kind = s->peak_memory_kind;
	bool sampled = is_estimated(kind);
	bool at_most = kind && (!strcmp(kind, "rss") || !strcmp(kind, "node"));

	s->peak_memory_is_bound = v[PEAK_IS_BOUND] > 0;
	s->peak_memory_age_s = sampled ? v[PEAK_MEMORY_AGE] : NAN;
	s->peak_memory_error_bytes = sampled ? v[PEAK_MEMORY_ERROR] : NAN;
	s->peak_memory_at_most = at_most && !s->peak_memory_is_bound ? v[PEAK_MEMORY] : NAN;
	if (sampled && !s->peak_memory_is_bound && v[PEAK_MEMORY_AT_MOST] > 1.02 * v[PEAK_MEMORY])
		s->peak_memory_at_most = v[PEAK_MEMORY_AT_MOST];
}

/* Of a lower bound no share is known, nor how many cores were used. */
static void take_bounds(struct summary *s, const double v[FIGURES])
{
	s->cpu_is_bound = v[CPU_IS_BOUND] > 0;
	s->io_is_bound = v[IO_IS_BOUND] > 0;
	if (s->cpu_is_bound)
		s->attributed_ratio = s->cores_used_mean = s->cores_used_peak =
			s->host_cores_used_peak = NAN;
}

static void fill_time(struct summary *s, const struct run *r, const double v[FIGURES])
{
	s->time_left_s = v[ENDS_AT] - (double)r->t0_utc_ns / 1e9 - v[WALL];
}

static bool is_a_step(const struct run *r)
{
	const char *part = run_find_text(r, 0, "job.part");

	return part && strcmp(part, "step") == 0;
}

/* What was recorded, or as the batch system says it. */
static void take_end(struct summary *s, const double *v)
{
	bool is_known = v[SIGNAL] > 0 || !isnan(v[EXIT_CODE]);
	double signal = v[is_known ? SIGNAL : SCHEDULER_SIGNAL];

	s->signal = signal > 0 ? signal : NAN;
	s->exit_code = isnan(s->signal) ? v[is_known ? EXIT_CODE : SCHEDULER_EXIT_CODE] : NAN;
}

static void fill_job(struct summary *s, const struct run *r, const struct node_figures *nodes)
{
	double v[FIGURES];

	for (size_t i = 0; i < FIGURES; i++)
		v[i] = over_nodes(r, nodes, i);
	bound_memory(v, r, nodes);
#define NODES(id, member, ...) s->member = v[id];
#include "report/summary/figures.def"
	s->host_threads_running_peak = most_of_hosts(r, nodes, THREADS_RUNNING);
	s->command = run_find_text(r, 0, "job.command");
	s->job_id = run_find_text(r, 0, "job.id");
	s->scheduler = run_find_text(r, 0, "job.scheduler");
	s->mechanisms = run_find_text(r, 0, "job.mechanisms");
	s->attempts_before = run_find_text(r, 0, "run.attempts_before");
	s->began_again = s->attempts_before != NULL;
	s->survivors = run_find_text(r, 0, "job.survivors");
	s->reduced = run_find_text(r, 0, "monitor.reduced");
	take_end(s, v);
	s->attributed_ratio = v[CPU] > 0 ? v[CPU_ATTRIBUTED] / v[CPU] : NAN;
	s->cores_used_mean = v[WALL] > 0 ? v[CPU] / v[WALL] : NAN;
	take_bounds(s, v);
	s->peak_memory_kind = isnan(v[PEAK_MEMORY]) ? NULL : memory_kind(r, nodes);
	take_peak(s, v);
	s->processes_peak = fmax(v[LIVE], v[LIVE_EXACT]);
	s->processes_peak_is_bound = isnan(v[LIVE_EXACT]);
	s->affinity_cpus = v[AFFINITY];
	s->memory_asked_per_core = run_find_text(r, 0, "job.environment.SLURM_MEM_PER_CPU") != NULL;
	s->of_step = is_a_step(r);
	s->layout_unknown = isnan(s->tasks_asked) && s->of_step;
	fill_time(s, r, v);
	s->monitor_cpu_s = v[MONITOR_CPU];
	s->monitor_rss_bytes = v[MONITOR_RSS];
	s->monitor_bytes = v[MONITOR_BYTES];
	s->monitor_samples = v[MONITOR_SAMPLES];
	s->monitor_late = v[MONITOR_LATE];
	s->monitor_skipped = v[MONITOR_SKIPPED];
	s->monitor_unwritten = v[MONITOR_SAMPLES] - recorded(r);
	s->interval_s = v[INTERVAL];
	s->recorder_lost_s = v[RECORDER_LOST];
}

int summary_job_make(struct summary *s, const struct run *r, const struct series_index *x,
		     struct err *e)
{
	struct node_figures *nodes = calloc(r->nnodes + 1, sizeof *nodes);
	int rc = nodes ? 0 : -ENOMEM;

	for (uint32_t n = 0; !rc && n < r->nnodes; n++)
		for (size_t i = 0; i < FIGURES; i++)
			nodes[n].v[i] = NAN;
	for (uint32_t i = 1; !rc && i < r->nmetas; i++)
		if (r->metas[i].node < r->nnodes && may_be_figure(&r->metas[i]))
			take_meta(&nodes[r->metas[i].node], &r->metas[i]);
	if (!rc) {
		take_series(nodes, r, x);
		take_cgroup(nodes, r, x);
		for (uint32_t i = 1; i < r->nnodes; i++) {
			fill_derived(&nodes[i], r, i);
			bound_by_node(&nodes[i]);
		}
		rc = place(nodes, r);
	}
	if (!rc)
		rc = fill_nodes(s, r, nodes);
	if (!rc)
		fill_job(s, r, nodes);
	free(nodes);
	return rc ? err_set(e, rc, "out of memory for the summary of %.300s", r->path) : 0;
}
