/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "recording/format.h"
#include "recording/join_part.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A zeroed place behind the last of an array of the run, or return -ENOMEM. */
#define ADD(join, owner, array, count, item)                                                       \
	do {                                                                                       \
		void *moved_ = array_room((owner)->array, (owner)->count, &(join)->cap.array,      \
					  sizeof *(owner)->array);                                 \
		if (!moved_)                                                                       \
			return -ENOMEM;                                                            \
		(owner)->array = moved_;                                                           \
		(item) = &(owner)->array[(owner)->count++];                                        \
		memset((item), 0, sizeof *(item));                                                 \
	} while (0)

/* Each node's own copy, so that the pointer tells two recordings of one host apart. */
static const char *host_keep(struct join *j, const char *host)
{
	return pool_text(&j->pool, host, strlen(host));
}

static int node_add(struct join *j, uint32_t id)
{
	struct run_node *n;

	ADD(j, &j->run, nodes, nnodes, n);
	n->host = id == 1 ? host_keep(j, j->file->head.host) : "unknown";
	if (!n->host)
		return -ENOMEM;
	n->file = j->file->path;
	n->utc0_ns = j->file->head.utc_ns;
	n->mono0_ns = j->file->head.mono_ns;
	n->clock_error_ns = -1;
	n->first_series = n->behind_series = j->run.nseries;
	return idmap_put(&j->file->nodes, id, j->run.nnodes - 1);
}

uint32_t join_node(struct join *j, uint32_t id)
{
	uint32_t known = idmap_get(&j->file->nodes, id);

	if (known || !id || node_add(j, id))
		return known;
	return j->run.nnodes - 1;
}

/* Whether a row means the same, so that values may stand side by side. */
static bool metric_same(const struct metric *a, const struct metric *b)
{
	return !strcmp(a->name, b->name) && a->mul == b->mul && a->div == b->div &&
	       a->unit == b->unit && a->kind == b->kind && a->storage == b->storage &&
	       !a->formula == !b->formula && (!a->formula || !strcmp(a->formula, b->formula));
}

/* A copy of a row with texts that stay. */
static bool metric_keep(struct join *j, struct metric *to, const struct metric *from)
{
	*to = *from;
	to->name = join_text(j, from->name);
	to->domain = from->domain ? join_text(j, from->domain) : NULL;
	to->label = join_text(j, from->label);
	to->help = join_text(j, from->help);
	to->formula = from->formula ? join_text(j, from->formula) : NULL;
	return to->name && to->label && to->help && !to->domain == !from->domain &&
	       !to->formula == !from->formula;
}

/* The run's metric for this row, added when it is new. */
static int metric_find(struct join *j, const struct metric *m, uint32_t *id)
{
	uint32_t key = crc32c(0, m->name, strlen(m->name)) | 1;
	struct run_metric *added;

	for (; (*id = idmap_get(&j->metric_names, key)); key += 2) {
		if (metric_same(&j->run.metrics[*id].row, m))
			return 0;
	}
	if (j->run.nmetrics >= METRICS_MAX) {
		*id = 0;
		join_damage(j, j->file->path, 0, 0, "more metrics than a run may have");
		return 0;
	}
	ADD(j, &j->run, metrics, nmetrics, added);
	if (!metric_keep(j, &added->row, m))
		return -ENOMEM;
	*id = j->run.nmetrics - 1;
	return idmap_put(&j->metric_names, key, *id);
}

/* Recordings of a run mostly have one catalogue: what a row was taken for in the one before, if it
 * is the same; 0: it is not. */
static uint32_t as_before(const struct join *j, uint32_t file_id, const struct metric *m)
{
	uint32_t id = idmap_get(&j->metrics_before, file_id);
	const struct metric *row = &j->run.metrics[id].row;
	bool same = id && metric_same(row, m) && row->over_instances == m->over_instances &&
		    row->over_nodes == m->over_nodes;

	return same ? id : 0;
}

static int take_catalogue(struct join *j, const struct record *r)
{
	const struct metric *m = r->event.metric;

	for (uint32_t i = 0;
	     m && i < r->event.count && r->metric_id && i < UINT32_MAX - r->metric_id; i++) {
		uint32_t id = as_before(j, r->metric_id + i, &m[i]);
		const char *fault = id ? NULL : record_metric_fault(&m[i]);
		int rc = 0;

		if (fault)
			join_damage(j, j->file->path, 0, 0, fault);
		else if (!id)
			rc = metric_find(j, &m[i], &id);
		if (!rc && id)
			rc = idmap_put(&j->file_metrics, r->metric_id + i, id);
		if (rc)
			return rc;
	}
	return 0;
}

static int take_node(struct join *j, const struct record *r)
{
	uint32_t node = join_node(j, r->event.id);

	if (!r->event.id)
		return 0;
	if (!node)
		return -ENOMEM;
	j->run.nodes[node].host = host_keep(j, r->event.name);
	return j->run.nodes[node].host ? 0 : -ENOMEM;
}

static int take_instance(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	struct run_instance *in;

	if (!e->id || idmap_get(&j->file_instances, e->id))
		return 0;
	ADD(j, &j->run, instances, ninstances, in);
	in->node = join_node(j, e->node);
	in->parent = idmap_get(&j->file_instances, e->parent);
	in->domain = join_text(j, e->domain);
	in->name = join_text(j, e->name);
	if (!in->domain || !in->name)
		return -ENOMEM;
	in->birth_ns = join_bounded(e->t0);
	in->end_ns = INT64_MAX;
	in->flags = e->flags;
	return idmap_put(&j->file_instances, e->id, j->run.ninstances - 1);
}

/* Its last name is the one that says what it did. */
static int take_name(struct join *j, const struct record *r)
{
	uint32_t instance = idmap_get(&j->file_instances, r->event.id);

	if (!instance)
		return 0;
	j->run.instances[instance].name = join_text(j, r->event.name);
	return j->run.instances[instance].name ? 0 : -ENOMEM;
}

static int take_label(struct join *j, const struct record *r)
{
	uint32_t instance = idmap_get(&j->file_instances, r->event.id);
	struct join_label *l;

	if (!instance)
		return 0;
	ADD(j, j, labels, nlabels, l);
	*l = (struct join_label){ instance,
				  { join_text(j, r->event.name), join_text(j, r->event.text) } };
	return l->label.key && l->label.value ? 0 : -ENOMEM;
}

static int take_final(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	uint32_t instance = idmap_get(&j->file_instances, e->id);

	for (uint32_t i = 0; instance && e->values && r->metric_id && i < e->count; i++) {
		uint32_t metric = idmap_get(&j->file_metrics, r->metric_id + i);
		struct join_final *f;

		if (!metric || !(e->mask >> i & 1))
			continue;
		ADD(j, j, finals, nfinals, f);
		*f = (struct join_final){ instance, { metric, e->values[i] } };
	}
	return 0;
}

static int take_end(struct join *j, const struct record *r)
{
	uint32_t instance = idmap_get(&j->file_instances, r->event.id);

	if (instance)
		j->run.instances[instance].end_ns = join_bounded(r->event.t0);
	return 0;
}

uint32_t join_series(const struct join_file *f, uint32_t id)
{
	uint32_t low = 0, high = f->nspans;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (f->spans[middle].id <= id)
			low = middle;
		else
			high = middle;
	}
	if (!f->nspans || id < f->spans[low].id || id - f->spans[low].id >= f->spans[low].count)
		return 0;
	return f->spans[low].run + (id - f->spans[low].id);
}

/* Ids of series grow: what is not behind the last one has been said already. */
static bool series_known(const struct join_file *f, uint32_t id)
{
	const struct join_span *last = f->nspans ? &f->spans[f->nspans - 1] : NULL;

	return last && id < last->id + last->count;
}

static int series_put(struct join_file *f, uint32_t id, uint32_t run)
{
	struct join_span *last = f->nspans ? &f->spans[f->nspans - 1] : NULL, *moved;

	if (last && id == last->id + last->count && run == last->run + last->count) {
		last->count++;
		return 0;
	}
	moved = array_room(f->spans, f->nspans, &f->span_cap, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	f->spans = moved;
	f->spans[f->nspans++] = (struct join_span){ id, 1, run };
	return 0;
}

static void series_note(struct run *r, uint32_t id)
{
	struct run_node *n = &r->nodes[r->series[id].node];

	if (n->first_series == n->behind_series)
		n->first_series = id;
	n->behind_series = id + 1;
}

static int take_series(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	uint32_t instance = idmap_get(&j->file_instances, e->parent);

	for (uint32_t i = 0; i < e->count && r->metric_id; i++) {
		uint32_t metric = idmap_get(&j->file_metrics, r->metric_id + i);
		struct run_series *s;
		int rc;

		/* Without its metric or its instance a number means nothing; it is not shown as the
		 * node's. */
		if (!metric || !e->id || (e->parent && !instance) ||
		    series_known(j->file, e->id + i))
			continue;
		ADD(j, &j->run, series, nseries, s);
		s->node = join_node(j, e->node);
		series_note(&j->run, j->run.nseries - 1);
		s->metric = (uint16_t)metric;
		s->instance = instance;
		s->state = STATE_PRESENT;
		rc = series_put(j->file, e->id + i, j->run.nseries - 1);
		if (rc)
			return rc;
	}
	return 0;
}

static int take_state(struct join *j, const struct record *r)
{
	uint32_t id = join_series(j->file, r->event.id);
	struct run_series *s = &j->run.series[id];
	struct run_refusal *refusal;

	if (!id)
		return 0;
	s->state = (uint8_t)r->event.state;
	if (s->state == STATE_PRESENT) {
		s->refusal = 0;
		return 0;
	}
	if (!s->refusal) {
		ADD(j, &j->run, refusals, nrefusals, refusal);
		s->refusal = j->run.nrefusals - 1;
	}
	refusal = &j->run.refusals[s->refusal];
	refusal->reason = join_text(j, r->event.text);
	refusal->at_ns = join_bounded(r->event.t0);
	return refusal->reason ? 0 : -ENOMEM;
}

/* The file holds a timeline of a node that another file, read before it, records: what follows is
 * that node's, on its clock. Said first, or not at all; without that file it is a node of its own.
 */
static bool is_of_other_file(struct join *j, const struct event *e)
{
	struct run *r = &j->run;
	uint32_t own = idmap_get(&j->file->nodes, 1), node = 0;

	if (j->file->spoken || strcmp(e->name, FORMAT_TIMELINE_OF) != 0 || own + 1 != r->nnodes)
		return false;
	for (const struct join_file *f = j->files; f < j->file && !node; f++)
		if (!strcmp(f->sonde, e->text))
			node = idmap_get(&f->nodes, 1);
	if (!node || idmap_put(&j->file->nodes, 1, node))
		return false;
	r->nnodes--;
	return true;
}

static int take_meta(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	struct run_meta *m;

	if (is_of_other_file(j, e))
		return 0;
	ADD(j, &j->run, metas, nmetas, m);
	*m = (struct run_meta){ .node = join_node(j, e->node),
				.type = e->meta_type,
				.key = join_text(j, e->name),
				.text = join_text(j, e->text) };
	if (m->type == META_REAL)
		m->real = e->real;
	else
		m->value = e->value;
	return m->key && m->text ? 0 : -ENOMEM;
}

static int take_mark(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	struct run_mark *m;

	ADD(j, &j->run, marks, nmarks, m);
	*m = (struct run_mark){ join_node(j, e->node), idmap_get(&j->file_instances, e->parent),
				join_bounded(e->t0), join_text(j, e->name), join_text(j, e->text) };
	return m->name && m->message ? 0 : -ENOMEM;
}

/* The span that was said to have begun, where this is its end; else NULL. */
static struct run_span *begun_before(struct join *j, const struct run_span *ended)
{
	for (uint32_t i = j->nbegun; i--;) {
		struct run_span *s = &j->run.spans[j->begun[i]];

		if (s->begin_ns != ended->begin_ns || s->node != ended->node ||
		    s->track != ended->track || strcmp(s->name, ended->name) != 0)
			continue;
		j->nbegun--;
		memmove(&j->begun[i], &j->begun[i + 1], (j->nbegun - i) * sizeof j->begun[0]);
		return s;
	}
	return NULL;
}

static int take_span(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	struct run_span span = {
		join_node(j, e->node), idmap_get(&j->file_instances, e->parent),
		join_bounded(e->t0),   e->t1 == INT64_MAX ? INT64_MAX : join_bounded(e->t1),
		join_text(j, e->name), join_text(j, e->text)
	};
	struct run_span *s = NULL;

	if (!span.name || !span.detail)
		return -ENOMEM;
	if (span.end_ns != INT64_MAX)
		s = begun_before(j, &span);
	if (!s) {
		ADD(j, &j->run, spans, nspans, s);
		if (span.end_ns == INT64_MAX && j->nbegun < JOIN_BEGUN_MAX)
			j->begun[j->nbegun++] = j->run.nspans - 1;
	}
	*s = span;
	return 0;
}

static int take_word(struct join *j, const struct record *r)
{
	const char **word;

	if (!r->event.id)
		return 0;
	ADD(j, j, words, nwords, word);
	*word = join_text(j, r->event.name);
	return *word ? idmap_put(&j->file_words, r->event.id, j->nwords) : -ENOMEM;
}

/* From then on they are held as packs: as many as phases are made of. */
enum { SPANS_KEPT = 250000 };

static int take_spans(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	uint32_t node = join_node(j, e->node), track = idmap_get(&j->file_instances, e->parent);

	if (j->run.nspans > SPANS_KEPT)
		return join_hold(j, e);
	for (uint32_t i = 0; e->spans && i < e->count; i++) {
		const struct event_span *from = &e->spans[i];
		int64_t begin_ns = join_bounded(from->begin_ns),
			end_ns = join_bounded(from->end_ns);
		uint32_t word = idmap_get(&j->file_words, from->word);
		struct run_span *s;

		ADD(j, &j->run, spans, nspans, s);
		*s = (struct run_span){ node,
					track,
					begin_ns,
					end_ns < begin_ns ? begin_ns : end_ns,
					word ? j->words[word - 1] : "",
					"" };
	}
	return 0;
}

/* A value that is not a number, or whose counter is unknown, is none. */
static int take_points(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	uint32_t instance = idmap_get(&j->file_instances, e->parent);

	for (uint32_t i = 0; e->points && instance && i < e->count; i++) {
		struct run_point *p;

		if (!isfinite(e->points[i].value) || j->run.npoints == UINT32_MAX)
			continue;
		ADD(j, &j->run, points, npoints, p);
		*p = (struct run_point){ instance, join_bounded(e->points[i].at_ns),
					 e->points[i].value };
	}
	return 0;
}

static int take_clock(struct join *j, const struct record *r)
{
	const struct event *e = &r->event;
	uint32_t node = join_node(j, e->node);
	struct run_node *n = &j->run.nodes[node];

	if (!node)
		return -ENOMEM;
	if (e->t0 < 0 || e->t0 > MONO_MAX || e->t1 < 0 || e->t1 > UTC_MAX)
		return 0;
	if (!n->clock_known) {
		n->utc0_ns = e->t1;
		n->mono0_ns = e->t0;
		n->clock_known = true;
	}
	n->clock_error_ns = e->value < 0 ? -1 : e->value;
	n->synchronised = e->state == STATE_PRESENT;
	return 0;
}

int join_event(struct join *j, const struct record *r)
{
	static int (*const take[EVENT_KIND_NUMBER_OF])(struct join *, const struct record *) = {
		[EVENT_NODE] = take_node,
		[EVENT_INSTANCE] = take_instance,
		[EVENT_LABEL] = take_label,
		[EVENT_FINAL] = take_final,
		[EVENT_END] = take_end,
		[EVENT_SERIES] = take_series,
		[EVENT_STATE] = take_state,
		[EVENT_META] = take_meta,
		[EVENT_MARK] = take_mark,
		[EVENT_SPAN] = take_span,
		[EVENT_CLOCK] = take_clock,
		[EVENT_CATALOGUE] = take_catalogue,
		[EVENT_NAME] = take_name,
		[EVENT_WORD] = take_word,
		[EVENT_SPANS] = take_spans,
		[EVENT_POINTS] = take_points,
		[EVENT_MODULE] = join_take_module,
		[EVENT_FRAME] = join_take_frame,
		[EVENT_STACKS] = join_take_stacks,
		[EVENT_SAMPLES] = join_take_samples,
	};
	int rc;

	if (!r->event.node || !join_node(j, r->event.node))
		return r->event.node ? -ENOMEM : 0;
	rc = take[r->event.kind] ? take[r->event.kind](j, r) : 0;
	j->file->spoken = true;
	return rc;
}

/* ---- labels and finals, side by side per instance ---- */

/* What is said again replaces what was said before. */
static void label_put(struct run_label *own, uint32_t *n, const struct run_label *label)
{
	enum { LOOKED_AT = 16 };

	for (uint32_t i = *n; i > 0 && *n - i < LOOKED_AT; i--)
		if (!strcmp(own[i - 1].key, label->key)) {
			own[i - 1] = *label;
			return;
		}
	own[(*n)++] = *label;
}

static int labels_sort(struct join *j)
{
	struct run *r = &j->run;
	uint32_t at = 1;

	r->labels = calloc((size_t)j->nlabels + 1, sizeof *r->labels);
	if (!r->labels)
		return -ENOMEM;
	r->labels[0] = (struct run_label){ "", "" };
	r->nlabels = j->nlabels + 1;
	for (uint32_t i = 0; i < j->nlabels; i++)
		r->instances[j->labels[i].instance].nlabels++;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		r->instances[i].first_label = at;
		at += r->instances[i].nlabels;
		r->instances[i].nlabels = 0;
	}
	for (uint32_t i = 0; i < j->nlabels; i++) {
		struct run_instance *in = &r->instances[j->labels[i].instance];

		label_put(&r->labels[in->first_label], &in->nlabels, &j->labels[i].label);
	}
	return 0;
}

static int finals_sort(struct join *j)
{
	struct run *r = &j->run;
	uint32_t at = 1;

	r->finals = calloc((size_t)j->nfinals + 1, sizeof *r->finals);
	if (!r->finals)
		return -ENOMEM;
	r->nfinals = j->nfinals + 1;
	for (uint32_t i = 0; i < j->nfinals; i++)
		r->instances[j->finals[i].instance].nfinals++;
	for (uint32_t i = 1; i < r->ninstances; i++) {
		r->instances[i].first_final = at;
		at += r->instances[i].nfinals;
		r->instances[i].nfinals = 0;
	}
	for (uint32_t i = 0; i < j->nfinals; i++) {
		struct run_instance *in = &r->instances[j->finals[i].instance];

		r->finals[in->first_final + in->nfinals++] = j->finals[i].final;
	}
	return 0;
}

int join_sort(struct join *j)
{
	int rc = labels_sort(j);

	if (!rc)
		rc = finals_sort(j);
	free(j->labels);
	free(j->finals);
	j->labels = NULL;
	j->finals = NULL;
	j->nlabels = j->nfinals = 0;
	return rc;
}
