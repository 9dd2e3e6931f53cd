/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/summary.h"
#include "report/judging/rules.h"
#include "report/steps/steps.h"
#include "report/summary/code.h"
#include "report/summary/ending.h"
#include "report/summary/filesused.h"
#include "report/summary/mpi.h"
#include "report/summary/parts.h"
#include "report/summary/peersused.h"
#include "report/summary/reason.h"
#include "report/summary/touched.h"
#include "report/summary/waittime.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double summary_grown(const struct summary *s, const char *metric)
{
	for (uint32_t i = 0; i < s->ngrowth; i++)
		if (strcmp(s->growth[i].metric, metric) == 0)
			return s->growth[i].grown;
	return NAN;
}

/* ---- ways to follow processes: metadata mechanism.NAME, "used" or "forbidden: why" ---- */

enum { OF_A_NODE_MAX = 64 }; /* recorders have a handful; a stranger's file may have any number */

static const char prefix[] = "mechanism.";

static bool is_mechanism(const struct run_meta *m)
{
	return m->type == META_TEXT && m->text && !strncmp(m->key, prefix, sizeof prefix - 1);
}

/* Where it goes: over what was said of it before, or behind the others; NULL when there are too
 * many. */
static struct summary_mechanism *place(struct summary *s, uint32_t node, const char *name)
{
	uint32_t i = s->nmechanisms, seen = 0;

	for (; i-- > 0 && s->mechanism[i].node == node; seen++)
		if (!strcmp(s->mechanism[i].name, name))
			return &s->mechanism[i];
	return seen < OF_A_NODE_MAX ? &s->mechanism[s->nmechanisms++] : NULL;
}

static void take(struct summary *s, const struct run_meta *m)
{
	const char *name = m->key + sizeof prefix - 1, *colon = strstr(m->text, ": ");
	struct summary_mechanism *to = place(s, m->node, name);
	int length = (int)(colon ? colon - m->text : (ptrdiff_t)strlen(m->text));

	if (!to)
		return;
	*to = (struct summary_mechanism){ .node = m->node, .name = name };
	snprintf(to->state, sizeof to->state, "%.*s", length, m->text);
	to->reason = colon ? colon + 2 : NULL;
}

static int mechanisms_make(struct summary *s, const struct run *r, struct err *e)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < r->nmetas; i++)
		n += is_mechanism(&r->metas[i]);
	s->nmechanisms = 0;
	s->mechanism = calloc(n + 1, sizeof *s->mechanism);
	if (!s->mechanism)
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	for (uint32_t i = 1; i < r->nmetas; i++)
		if (is_mechanism(&r->metas[i]) && r->metas[i].node < r->nnodes)
			take(s, &r->metas[i]);
	return 0;
}

/* ---- all of it ---- */

int64_t summary_end_ns(const struct run *r, uint32_t node)
{
	const struct run_meta *m = run_find_meta(r, node, "monitor.waited_ns");
	int64_t first = r->nodes[node].first_ns, last = r->nodes[node].last_ns;

	if (!m || m->type != META_INT || m->value <= 0 || m->value > last - first)
		return last;
	return last - m->value;
}

/* What rules look at: the metrics of expressions, and those of which they tell the time. */
struct looked_at {
	struct bytes names, told;
};

/* Samples miss processes that are short; the totals do not. A peak below the mean tells nothing but
 * that, unless by so little that it is a steady job. */
static double peak_beside(double peak, double mean)
{
	const double steady = 0.9;

	if (!(peak < mean))
		return peak;
	return peak >= steady * mean ? mean : NAN;
}

static void doubt_peaks(struct summary *s)
{
	s->cores_used_peak = peak_beside(s->cores_used_peak, s->cores_used_mean);
	s->host_cores_used_peak =
		peak_beside(s->host_cores_used_peak, s->cores_used_mean / fmax(s->nhosts, 1));
}

static int memory_make(struct summary *s, struct run *r, struct err *e)
{
	int rc = touched_make(&s->touched, r, s, e);
	const struct owner *leak = s->touched ? touched_leak(s->touched) : NULL;

	s->touched_growth_bytes = s->touched_all_bytes = NAN;
	if (!leak)
		return rc;
	s->touched_growth_bytes = owner_growth(leak->resident);
	s->touched_all_bytes = owner_growth(s->touched->owners.resident);
	touched_name(leak, s->touched_top, sizeof s->touched_top);
	return rc;
}

/* They used at least a tenth of the CPU time of the one that used most. */
static double others_at_work(const struct summary *s, uint32_t instance)
{
	double most = 0, n = 0;

	for (uint32_t i = 0; i < s->nprocesses; i++)
		most = fmax(most, s->processes[i].cpu_s);
	for (uint32_t i = 0; i < s->nprocesses; i++) {
		const struct summary_process *p = &s->processes[i];
		double end = isnan(p->end_s) ? s->wall_s : p->end_s;

		n += p->instance != instance && p->cpu_s > most / 10 &&
		     end - p->start_s >= s->wall_s / 2;
	}
	return n;
}

static int files_make(struct summary *s, struct run *r, struct err *e)
{
	int rc = files_used_make(&s->files_used, r, e);
	const struct files_used *u = s->files_used;
	bool known = u && u->n && !u->by_positions;

	s->small_files_opens = known ? u->small.opens : NAN;
	s->small_files_bytes = known ? u->small.bytes : NAN;
	s->again_times = known ? u->again.times : NAN;
	s->again_bytes = known ? u->again.bytes : NAN;
	s->names_missing = known ? u->missing.count : NAN;
	s->names_asked = known ? u->metadata : NAN;
	s->files_calls = known ? u->all_calls : NAN;
	s->writer_ratio = known ? u->writer.ratio : NAN;
	s->writer_seconds = known ? u->writer.seconds : NAN;
	s->writer_others = known ? others_at_work(s, u->writer.process) : NAN;
	s->blocks_writes = known ? u->blocks.writes : NAN;
	s->blocks_bytes = known ? u->blocks.bytes : NAN;
	s->blocks_processes = known ? u->blocks.processes : NAN;
	return rc;
}

static double peer_value(const struct peer_row *r, enum peer_used which)
{
	return r ? r->value[which] : 0;
}

static int peers_make(struct summary *s, struct run *r, struct err *e)
{
	int rc = peers_used_make(&s->peers_used, r, e);
	const struct peers_used *u = s->peers_used;
	bool known = u && u->n;

	s->reader_seconds = known ? peer_value(u->reader, PEER_RECEIVER) : NAN;
	s->reader_ratio =
		known && u->reader ? s->reader_seconds / u->reader->value[PEER_BUSY] : NAN;
	s->buffer_seconds = known ? peer_value(u->buffer, PEER_BUFFER) : NAN;
	s->buffer_ratio =
		known && u->buffer ? s->buffer_seconds / u->buffer->value[PEER_BUSY] : NAN;
	s->again_sent_bytes = known ? peer_value(u->again, PEER_RETRANSMITTED) : NAN;
	s->again_sent_ratio =
		known && u->again ? s->again_sent_bytes / u->again->value[PEER_SENT] : NAN;
	return rc;
}

static int make_parts(struct summary *s, struct run *r, struct series_index *x,
		      const struct summary_wish *w, struct err *e)
{
	int rc = summary_job_make(s, r, x, e);

	doubt_peaks(s);
	if (!rc)
		rc = summary_energy_make(s, r, x, e);
	if (!rc)
		rc = summary_nodes_make(s, r, w->compared, e);
	if (!rc)
		rc = summary_counters_make(s, r, x, e);
	if (!rc)
		rc = mechanisms_make(s, r, e);
	if (!rc)
		rc = summary_tasks_make(s, r, e);
	if (!rc)
		rc = summary_processes_make(s, r, x, e);
	if (!rc)
		rc = waittime_make(&s->waits, r, false, e);
	if (!rc)
		rc = memory_make(s, r, e);
	if (!rc)
		rc = files_make(s, r, e);
	if (!rc)
		rc = peers_make(s, r, e);
	if (!rc)
		rc = summary_mpi_make(s, r, x, e);
	if (!rc)
		rc = summary_code_make(s, r, w->classes, e);
	summary_work_make(s);
	if (!rc && summary_hot_make(s))
		rc = err_set(e, -ENOMEM, "out of memory for the code of %.300s", r->path);
	summary_tools_make(s);
	if (!rc)
		rc = summary_straggler_make(s, r, x, e);
	if (!rc && (summary_holdups_make(s, r) || summary_elsewhere_make(s, r) ||
		    summary_story_make(s, r) || summary_devices_make(s, r, x) ||
		    losses_make(&s->losses, r)))
		rc = err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	if (rc)
		return rc;
	summary_failure_make(s, r, x);
	summary_pauses_make(s, r);
	summary_unequal_make(s, r);
	rc = summary_standouts_make(s, r, x);
	if (!rc)
		rc = summary_movers_make(s, r, x);
	summary_ending_make(s, r, x);
	if (rc || summary_hidden_make(s, r, x) || summary_repeats_make(s, r) ||
	    summary_builds_make(s, r) || summary_account_make(s, r))
		return err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	summary_crashes_make(s, r);
	return summary_steps_make(s, r, e);
}

/* What another tool's data is best looked at with. */
static void find_views(struct summary *s, const struct run *r)
{
	const char *from = run_find_text(r, 0, "import.from");

	s->is_cascade = from && !strncmp(from, "cascade ", 8);
	s->is_timeline = from && !s->is_cascade && (r->npacked || r->nspans > 1);
}

static int make(struct summary *out, struct run *r, const struct rules *builtin,
		const struct looked_at *l, const struct summary_wish *w, struct err *e)
{
	const char *names = w->all ? NULL : (const char *)l->names.data;
	struct series_index x = { 0 };
	bool unasked = false;
	int rc;

	*out = (struct summary){ .path = r->path,
				 .start_utc_ns = r->t0_utc_ns,
				 .ndamages = r->ndamages };
	find_views(out, r);
	story_init(&out->story);
	out->verdicts = calloc(SUMMARY_VERDICTS, sizeof *out->verdicts);
	rc = out->verdicts && !series_index_make(&x, r, &unasked)
		     ? 0
		     : err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path);
	if (!rc)
		rc = summary_metrics_make(out, r, names, (const char *)l->told.data, &x, e);
	if (!rc)
		rc = make_parts(out, r, &x, w, e);
	if (w->public)
		out->reason = out->hidden_said = (struct summary_reason){ 0 };
	reason_find(&out->reason, w->site, builtin);
	reason_find(&out->hidden_said, w->site, builtin);
	summary_hidden_say(out);
	ending_make(out);
	if (!rc)
		rules_apply(builtin, out);
	if (!rc && unasked)
		rc = err_set(e, -EINVAL, "the summary reads a series that it did not ask for");
	series_index_free(&x);
	if (rc)
		summary_free(out);
	return rc;
}

/* What rules look at, and what is compared over nodes. */
static void look_at(struct looked_at *l, const struct run *r, const struct rules *builtin,
		    const struct summary_wish *w)
{
	bytes_puts(&l->names, summary_kills_metric);
	bytes_printf(&l->told, "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s", summary_cores_metric,
		     summary_waited_metric, summary_threads_metric, summary_blocked_metric,
		     summary_memory_metric, summary_kills_metric, summary_gpus_metric,
		     summary_ready_metric, summary_count_metric, summary_node_cores_metric,
		     summary_steal_metric, summary_shared_metric, summary_memory_files_metric);
	rules_metrics(builtin, &l->names, &l->told);
	if (w->site)
		rules_metrics(w->site, &l->names, &l->told);
	if (r->nnodes > 2)
		summary_compared(&l->names);
	if (w->compared)
		bytes_printf(&l->names, "%s%s", l->names.len ? "," : "", w->compared);
	bytes_u8(&l->told, 0);
	if (summary_is_short(r) && !l->told.failed)
		bytes_printf(&l->names, ",%s", (const char *)l->told.data);
	bytes_u8(&l->names, 0);
}

int summary_make_as(struct summary *out, struct run *r, const struct summary_wish *w, struct err *e)
{
	const struct rules *builtin = w->builtin;
	struct looked_at l = { 0 };
	struct rules *read = NULL;
	int rc = builtin ? 0 : rules_builtin(&read, e);

	*out = (struct summary){ 0 };
	if (rc)
		return rc;
	if (!builtin)
		builtin = read;
	look_at(&l, r, builtin, w);
	rc = l.names.failed || l.told.failed
		     ? err_set(e, -ENOMEM, "out of memory for the summary of %.300s", r->path)
		     : make(out, r, builtin, &l, w, e);
	if (!rc && w->site)
		rules_apply(w->site, out);
	bytes_free(&l.names);
	bytes_free(&l.told);
	rules_free(read);
	return rc;
}

int summary_make(struct summary *out, struct run *r, struct err *e)
{
	return summary_make_as(out, r, &(struct summary_wish){ .all = true }, e);
}

void summary_free(struct summary *s)
{
	free(s->metrics);
	pool_free(&s->names);
	free(s->nodes);
	free(s->hosts);
	free(s->comparisons);
	hostlist_free(&s->missing);
	hostlist_free(&s->unsynchronised);
	free(s->processes);
	free(s->commands);
	free(s->tasks);
	free(s->steps);
	free(s->mechanism);
	free(s->growth);
	free(s->verdicts);
	timeline_free(&s->timeline);
	code_free(s->code);
	if (s->iterations)
		steps_free(s->iterations);
	free(s->iterations);
	waittime_free(s->waits);
	touched_free(s->touched);
	files_used_free(s->files_used);
	peers_used_free(s->peers_used);
	mpi_free(s->mpi);
	*s = (struct summary){ 0 };
}

/* ---- what it could use ---- */

static struct summary_whole whole_of(double asked, double allowed, double present)
{
	if (!isnan(asked))
		return (struct summary_whole){ asked, "requested" };
	if (allowed < present || isnan(present))
		return (struct summary_whole){ allowed, "allowed" };
	return (struct summary_whole){ present, "present" };
}

struct summary_whole summary_cores(const struct summary *s)
{
	return whole_of(s->cores_asked, fmin(s->cores_allowed, s->cores_limit), s->cores_present);
}

struct summary_whole summary_memory(const struct summary *s)
{
	return whole_of(s->memory_asked_bytes, s->memory_limit_bytes, s->memory_present);
}

struct summary_memory_kind summary_memory_kind(const struct summary *s)
{
	static const struct {
		const char *kind;
		struct summary_memory_kind as;
	} rows[] = {
		{ "cgroup", { "the cgroup's own peak, by the kernel", "the cgroup's own" } },
		{ "pss", { "sampled PSS, an estimate", "PSS" } },
		{ "pages", { "PSS, estimated from some pages", "PSS, estimated" } },
		{ "rss", { "RSS: shared pages count more than once", "RSS" } },
		{ "node",
		  { "all that the node had in use, file cache included; RSS counts shared pages more than "
		    "once",
		    "all that was in use" } },
		{ "process",
		  { "the largest process alone, as the kernel reports it",
		    "the largest process alone" } },
		{ "private", { "all private memory, and the shared of one process", "private" } },
	};

	for (size_t i = 0; s->peak_memory_kind && i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].kind, s->peak_memory_kind) == 0)
			return rows[i].as;
	return (struct summary_memory_kind){ NULL, NULL };
}
