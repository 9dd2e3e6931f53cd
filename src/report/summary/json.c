/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "core/frame/run.h"
#include "report/judging/findings.h"
#include "report/summary/code.h"
#include "report/summary/own.h"
#include "report/summary/parts.h"
#include "report/summary/reason.h"
#include "report/summary/summary.h"
#include "report/text/metrics_json.h"

#include <math.h>

/* ---- marks and spans ---- */

static void put_seconds(struct json *j, const char *key, const struct run *r, uint32_t node,
			int64_t at_ns)
{
	json_key(j, key);
	json_real(j, at_ns == INT64_MAX ? NAN : run_seconds(r, node, at_ns));
}

static const char *name_of(const struct run *r, uint32_t instance)
{
	return instance ? r->instances[instance].name : NULL;
}

static void marks(struct json *j, const struct run *r)
{
	json_key(j, "marks");
	json_array(j);
	for (uint32_t i = 1; i < r->nmarks; i++) {
		const struct run_mark *m = &r->marks[i];

		json_object(j);
		json_put_text(j, "host", r->nodes[m->node].host);
		json_put_text(j, "track", name_of(r, m->instance));
		json_put_text(j, "name", m->name);
		json_put_text(j, "text", m->message);
		put_seconds(j, "at_seconds", r, m->node, m->at_ns);
		json_object_end(j);
	}
	json_array_end(j);
}

static void spans(struct json *j, const struct run *r)
{
	json_key(j, "spans");
	json_array(j);
	for (uint32_t i = 1; i < r->nspans; i++) {
		const struct run_span *s = &r->spans[i];

		json_object(j);
		json_put_text(j, "host", r->nodes[s->node].host);
		json_put_text(j, "track", name_of(r, s->track));
		json_put_text(j, "name", s->name);
		json_put_text(j, "text", s->detail);
		put_seconds(j, "begin_seconds", r, s->node, s->begin_ns);
		put_seconds(j, "end_seconds", r, s->node, s->end_ns);
		json_object_end(j);
	}
	json_array_end(j);
	json_key(j, "spans_in_bulk");
	json_int(j, (int64_t)r->npacked);
}

/* Keys "marks" and "spans" of the object that is open. */
static void events_json(struct json *j, const struct run *r)
{
	marks(j, r);
	spans(j, r);
}

/* ---- verdicts ---- */

/* "" becomes null: there is none. */
static void put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text && *text ? text : NULL);
}

static void put_numbers(struct json *j, const struct summary_verdict *v)
{
	json_key(j, "numbers");
	json_array(j);
	for (uint32_t i = 0; i < v->nnumbers; i++) {
		json_object(j);
		put_text(j, "name", v->number[i].name);
		json_key(j, "unit");
		json_text(j, unit_name(v->number[i].unit));
		json_put_real(j, "value", v->number[i].value);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_request(struct json *j, const struct summary_verdict *v)
{
	json_key(j, "request");
	if (!v->resource) {
		json_text(j, NULL);
		return;
	}
	json_object(j);
	put_text(j, "resource", resource_name(v->resource));
	json_put_real(j, "amount", v->amount);
	json_put_real(j, "margin", v->margin);
	put_text(j, "line", v->next);
	json_object_end(j);
}

static void verdicts_json(struct json *j, const struct summary *s, const struct run *r)
{
	json_array(j);
	for (uint32_t i = 0; i < s->nverdicts; i++) {
		const struct summary_verdict *v = &s->verdicts[i];

		json_object(j);
		put_text(j, "rule", v->rule);
		put_text(j, "severity", severity_name(v->severity));
		put_text(j, "confidence", confidence_name(v->confidence));
		put_text(j, "sentence", v->sentence);
		put_text(j, "metric", v->metric);
		put_text(j, "host", v->node && v->node < r->nnodes ? r->nodes[v->node].host : NULL);
		put_text(j, "instance", v->instance);
		json_put_real(j, "from_seconds", v->from_s);
		json_put_real(j, "to_seconds", v->to_s);
		json_put_real(j, "threshold", v->threshold);
		json_put_real(j, "cost_seconds", v->cost_s);
		json_put_real(j, "cost_ratio", v->cost_s / s->wall_s);
		put_numbers(j, v);
		put_request(j, v);
		json_object_end(j);
	}
	json_array_end(j);
}

/* ---- the document: docs/schema/show.json is its schema ---- */

/* null: no host's limit is known */
static void json_tightest(struct json *j, const struct summary *s)
{
	if (!s->tight_host) {
		json_null(j);
		return;
	}
	json_object(j);
	json_put_text(j, "host", s->tight_host);
	json_put_real(j, "peak_bytes", s->tight_peak_bytes);
	json_put_real(j, "limit_bytes", s->tight_limit_bytes);
	json_object_end(j);
}

static void json_start(struct json *j, const struct summary *s)
{
	json_time(j, s->start_utc_ns);
}

static void put_figure(struct json *j, const char *name, int where, double v)
{
	if (where & JSON)
		json_put_real(j, name, v);
}

static void put_job(struct json *j, const struct summary *s)
{
	json_key(j, "job");
	json_object(j);
#define NODES(id, member, name, unit, where, ...) put_figure(j, name, where, s->member);
#define MADE(member, name, unit, where, ...)      put_figure(j, name, where, s->member);
#define FLAG(member, name, ...)                   json_put_bool(j, name, s->member);
#define TEXT(member, name)                        json_put_text(j, name, s->member);
#define PART(name, put)                           json_key(j, name), put(j, s);
#include "report/summary/figures.def"
	json_object_end(j);
}

static void put_nodes(struct json *j, const struct summary *s, const struct metadata *m,
		      const struct page_nodes *detail)
{
	json_key(j, "nodes_in_detail");
	json_int(j, detail->n);
	json_key(j, "nodes");
	json_array(j);
	for (uint32_t i = 0; i < s->nnodes; i++) {
		json_object(j);
		json_put_text(j, "host", s->nodes[i].host);
		json_key(j, "samples");
		json_int(j, (int64_t)s->nodes[i].samples);
		json_put_real(j, "cores", s->nodes[i].cores);
		json_put_real(j, "memory_bytes", s->nodes[i].memory_bytes);
		json_put_bool(j, "complete", s->nodes[i].complete);
		json_key(j, "metadata");
		if (page_nodes_has(detail, s->nodes[i].node))
			metadata_json(j, m, s->nodes[i].node);
		else
			json_null(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_hosts(struct json *j, const struct summary *s)
{
	json_key(j, "hosts");
	json_array(j);
	for (uint32_t i = 0; i < s->nhosts; i++) {
		const struct summary_host *h = &s->hosts[i];

		json_object(j);
		json_put_text(j, "host", h->host);
		json_put_real(j, "cpu_seconds", h->cpu_s);
		json_put_real(j, "peak_memory_bytes", h->peak_memory_bytes);
		json_put_real(j, "memory_limit_bytes", h->limit_bytes);
		json_put_real(j, "read_bytes", h->read_bytes);
		json_put_real(j, "written_bytes", h->written_bytes);
		json_put_real(j, "energy_joules", h->energy_j);
		json_put_real(j, "late_seconds", h->late_s);
		json_put_bool(j, "lost", h->lost);
		json_put_bool(j, "restarted", h->restarted);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_names(struct json *j, const char *key, const struct hostlist *names)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < names->n; i++)
		json_text(j, hostlist_name(names, i));
	json_array_end(j);
}

static void put_comparisons(struct json *j, const struct summary *s)
{
	json_key(j, "comparisons");
	json_array(j);
	for (uint32_t i = 0; i < s->ncomparisons; i++) {
		const struct summary_comparison *c = &s->comparisons[i];

		json_object(j);
		json_put_text(j, "metric", c->metric);
		json_put_text(j, "of", c->of);
		json_put_text(j, "unit", unit_name(c->unit));
		json_key(j, "hosts");
		json_int(j, c->spread.n);
		json_put_real(j, "total", c->adds_up ? c->spread.total : NAN);
		json_put_real(j, "average", c->spread.mean);
		json_put_real(j, "least", c->spread.min);
		json_put_text(j, "least_host", s->hosts[c->spread.least].host);
		json_put_real(j, "most", c->spread.max);
		json_put_text(j, "most_host", s->hosts[c->spread.most].host);
		json_put_real(j, "imbalance_ratio", c->spread.imbalance);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_mechanisms(struct json *j, const struct summary *s, const struct run *r,
			   const struct page_nodes *detail)
{
	json_key(j, "mechanisms");
	json_array(j);
	for (uint32_t i = 0; i < s->nmechanisms; i++) {
		const struct summary_mechanism *m = &s->mechanism[i];

		if (!page_nodes_has(detail, m->node))
			continue;
		json_object(j);
		json_put_text(j, "host", r->nodes[m->node].host);
		json_put_text(j, "name", m->name);
		json_put_text(j, "state", m->state);
		json_put_text(j, "reason", m->reason);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_counters(struct json *j, const struct summary *s)
{
	json_key(j, "counters");
	json_object(j);
	json_put_real(j, "tasks_not_counted", s->tasks_not_counted);
	json_put_text(j, "refused", s->counters_refused);
	json_put_text(j, "refused_groups", *s->counters_missing ? s->counters_missing : NULL);
	json_key(j, "figures");
	json_array(j);
	for (uint32_t i = 0; i < s->ncounters; i++) {
		const struct summary_counter *c = &s->counters[i];

		json_object(j);
		json_put_text(j, "metric", c->metric);
		json_put_text(j, "what", c->words);
		json_put_text(j, "unit", unit_name(c->unit));
		json_put_real(j, "value", c->value);
		json_put_real(j, "counted_ratio", c->share);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void put_monitor(struct json *j, const struct summary *s)
{
	json_key(j, "monitor");
	json_object(j);
	json_put_real(j, "cpu_seconds", s->monitor_cpu_s);
	json_put_real(j, "samples", s->monitor_samples);
	json_put_real(j, "max_rss_bytes", s->monitor_rss_bytes);
	json_put_real(j, "bytes_written", s->monitor_bytes);
	json_put_real(j, "late_samples", s->monitor_late);
	json_put_real(j, "skipped_samples", s->monitor_skipped);
	json_put_real(j, "interval_seconds", s->interval_s);
	json_put_text(j, "reduced", s->reduced);
	json_object_end(j);
}

static void put_top(struct json *j, const char *key, const struct summary_process *top, uint32_t n)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < n; i++) {
		const struct summary_process *p = &top[i];

		json_object(j);
		json_put_text(j, "name", p->name);
		json_put_text(j, "command_line", p->command_line);
		json_put_real(j, "pid", p->pid);
		json_put_text(j, "host", p->host);
		json_put_real(j, "start_seconds", p->start_s);
		json_put_real(j, "end_seconds", p->end_s);
		json_put_real(j, "cpu_seconds", p->cpu_s);
		json_put_real(j, "peak_resident_bytes", p->peak_rss_bytes);
		json_put_real(j, "read_bytes", p->read_bytes);
		json_put_real(j, "written_bytes", p->written_bytes);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_commands(struct json *j, const struct summary *s)
{
	json_key(j, "commands");
	json_array(j);
	for (uint32_t i = 0; i < s->ncommands; i++) {
		const struct summary_command *c = &s->commands[i];

		json_object(j);
		json_put_text(j, "name", c->name);
		json_put_real(j, "processes", c->processes);
		json_put_real(j, "cpu_seconds", c->cpu_s);
		json_put_real(j, "peak_resident_bytes", c->peak_rss_bytes);
		json_put_real(j, "read_bytes", c->read_bytes);
		json_put_real(j, "written_bytes", c->written_bytes);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_tasks(struct json *j, const struct summary *s, const struct run *r)
{
	json_key(j, "tasks");
	json_array(j);
	for (uint32_t i = 0; i < s->ntasks; i++) {
		const struct summary_task *t = &s->tasks[i];

		json_object(j);
		json_put_text(j, "host", r->nodes[r->instances[t->instance].node].host);
		json_put_text(j, "step", t->step);
		json_key(j, "launch");
		json_int(j, t->launch);
		json_put_real(j, "rank", t->rank);
		json_put_real(j, "start_seconds", t->start_s);
		json_put_real(j, "wall_seconds", t->wall_s);
		json_put_real(j, "cpu_seconds", t->cpu_s);
		json_put_bool(j, "cpu_is_lower_bound", t->cpu_is_bound);
		json_put_real(j, "peak_resident_bytes", t->peak_rss_bytes);
		json_put_real(j, "exit_code", t->exit_code);
		json_put_real(j, "signal", t->signal);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_step_spread(struct json *j, const struct summary *s, const struct summary_step *x,
			    const char *key, const struct spread *spread)
{
	bool known = spread->n > 0;

	json_key(j, key);
	json_object(j);
	json_put_real(j, "average", spread->mean);
	json_put_real(j, "least", spread->min);
	json_put_real(j, "least_rank", known ? s->tasks[x->first + spread->least].rank : NAN);
	json_put_real(j, "most", spread->max);
	json_put_real(j, "most_rank", known ? s->tasks[x->first + spread->most].rank : NAN);
	json_put_real(j, "imbalance_ratio", spread->imbalance);
	json_object_end(j);
}

static void put_steps(struct json *j, const struct summary *s)
{
	json_key(j, "steps");
	json_array(j);
	for (uint32_t i = 0; i < s->nsteps; i++) {
		const struct summary_step *x = &s->steps[i];

		json_object(j);
		json_put_text(j, "step", s->tasks[x->first].step);
		json_key(j, "launch");
		json_int(j, s->tasks[x->first].launch);
		json_key(j, "tasks");
		json_int(j, x->n);
		put_step_spread(j, s, x, "cpu_seconds", &x->cpu);
		put_step_spread(j, s, x, "peak_resident_bytes", &x->memory);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_damage(struct json *j, const struct run *r)
{
	json_put_int(j, "damages", r->ndamages);
	json_key(j, "damaged_places");
	json_array(j);
	for (uint32_t i = 0; i < r->ndamages; i++) {
		const struct run_damage *d = &r->damages[i];

		json_object(j);
		json_put_text(j, "file", d->file);
		json_key(j, "offset");
		json_int(j, (int64_t)d->offset);
		json_key(j, "length");
		json_int(j, (int64_t)d->length);
		json_put_text(j, "what", d->what);
		json_object_end(j);
	}
	json_array_end(j);
}

void summary_json(const struct summary *s, struct run *r, FILE *out)
{
	struct bytes text = { 0 };
	struct json j = { .out = &text, .indent = true };
	struct metadata metadata = { 0 };
	struct findings findings = { 0 };
	struct page_nodes detail = { 0 };
	struct own own;
	struct err e;

	if (own_make(&own, r, &e) || metadata_make(&metadata, r) ||
	    findings_make(&findings, r, &metadata) ||
	    page_nodes_make(&detail, r, s, JSON_NODES_MAX))
		text.failed = true;
	json_object(&j);
	json_put_text(&j, "schema", "sonde/show/1");
	json_put_text(&j, "recording", s->path);
	put_job(&j, s);
	json_key(&j, "printed");
	reason_json(&s->reason, &j);
	json_key(&j, "where_time_went");
	account_json(&j, &s->account);
	put_nodes(&j, s, &metadata, &detail);
	put_hosts(&j, s);
	put_names(&j, "missing_hosts", &s->missing);
	json_put_real(&j, "clock_error_seconds", s->clock_error_s);
	put_names(&j, "unsynchronised_hosts", &s->unsynchronised);
	put_comparisons(&j, s);
	put_tasks(&j, s, r);
	put_steps(&j, s);
	put_mechanisms(&j, s, r, &detail);
	json_key(&j, "findings");
	findings_json(&j, &findings, r);
	put_counters(&j, s);
	put_monitor(&j, s);
	losses_json(&s->losses, &j);
	json_key(&j, "verdicts");
	verdicts_json(&j, s, r);
	json_key(&j, "processes");
	json_object(&j);
	put_top(&j, "by_cpu", s->by_cpu, s->nby_cpu);
	put_top(&j, "by_memory", s->by_memory, s->nby_memory);
	put_top(&j, "by_io", s->by_io, s->nby_io);
	json_object_end(&j);
	put_commands(&j, s);
	json_key(&j, "code");
	code_json_briefly(&j, s->code);
	events_json(&j, r);
	own_json(&j, &own, r);
	text.failed |= metrics_json(&j, s, r, &detail) != 0;
	put_damage(&j, r);
	json_object_end(&j);
	bytes_puts(&text, "\n");
	if (!text.failed)
		fwrite(text.data, 1, text.len, out);
	bytes_free(&text);
	own_free(&own);
	findings_free(&findings);
	metadata_free(&metadata);
	page_nodes_free(&detail);
}
