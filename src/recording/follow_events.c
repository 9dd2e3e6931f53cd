/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a record does to the things that are followed. A record may come twice, from the tail and
 * from the block that its generation became: the second time changes nothing that stays.
 */
#include "base/array.h"
#include "base/hash.h"
#include "base/text/number.h"
#include "recording/follow_part.h"
#include "recording/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A metric's texts together: those of honest recorders are a few hundred bytes. */
enum { METRIC_TEXT_MAX = 16384 };

/* ---- metrics ---- */

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static bool text_same(const char *a, const char *b)
{
	return !a == !b && (!a || !strcmp(a, b));
}

static bool metric_same(const struct metric *a, const struct metric *b)
{
	return text_same(a->name, b->name) && text_same(a->domain, b->domain) &&
	       text_same(a->label, b->label) && text_same(a->help, b->help) &&
	       text_same(a->formula, b->formula) && a->mul == b->mul && a->div == b->div &&
	       a->unit == b->unit && a->kind == b->kind && a->storage == b->storage &&
	       a->over_instances == b->over_instances && a->over_nodes == b->over_nodes;
}

static const char *text_keep(struct pool *pool, const char *text, bool *failed)
{
	const char *copy = text ? pool_text(pool, text, strlen(text)) : NULL;

	*failed |= text && !copy;
	return copy;
}

static const struct metric *metric_keep(struct pool *pool, const struct metric *from)
{
	struct metric *to = pool_take(pool, sizeof *to);
	bool failed = false;

	if (!to)
		return NULL;
	*to = *from;
	to->name = text_keep(pool, from->name, &failed);
	to->domain = text_keep(pool, from->domain, &failed);
	to->label = text_keep(pool, from->label, &failed);
	to->help = text_keep(pool, from->help, &failed);
	to->formula = text_keep(pool, from->formula, &failed);
	return failed ? NULL : to;
}

/* Its index in the catalogue, where it is put when it is new; 0: there is no room for it. */
static int metric_find(struct follow_catalogue *c, const struct metric *m, uint32_t *index)
{
	uint32_t key = crc32c(0, m->name, strlen(m->name)) | 1;
	const struct metric **moved, *kept;

	for (; (*index = idmap_get(&c->names, key)); key += 2) {
		if (metric_same(c->metric[*index], m))
			return 0;
	}
	if (c->n > METRICS_MAX || text_size(m->name) + text_size(m->domain) + text_size(m->label) +
						  text_size(m->help) + text_size(m->formula) >
					  METRIC_TEXT_MAX)
		return 0;
	c->n += !c->n; /* index 0 stays free */
	moved = array_room(c->metric, c->n, &c->cap, sizeof(const struct metric *));
	if (!moved)
		return -ENOMEM;
	c->metric = moved;
	kept = metric_keep(&c->pool, m);
	if (!kept || idmap_put(&c->names, key, c->n))
		return -ENOMEM;
	*index = c->n;
	c->metric[c->n++] = kept;
	return 0;
}

static int take_catalogue(struct follow *f, struct follow_file *x, const struct record *r)
{
	const struct metric *m = r->event.metric;

	for (uint32_t i = 0; m && i < r->event.count && r->metric_id; i++) {
		uint32_t index = 0;
		int rc = 0;

		if (r->metric_id > METRICS_MAX - i || record_metric_fault(&m[i])) {
			x->node.damages++;
			continue;
		}
		rc = metric_find(&f->catalogue, &m[i], &index);
		if (!rc && index)
			rc = idmap_put(&x->metrics, r->metric_id + i, index);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- instances ---- */

/* Where the instance is, or would be. */
static uint32_t instance_at(const struct follow_instance *in, uint32_t n, uint32_t id)
{
	uint32_t low = 0;

	while (low < n) {
		uint32_t middle = low + (n - low) / 2;

		if (in[middle].id < id)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

static struct follow_instance *instance_find(const struct follow_file *x, uint32_t id)
{
	uint32_t at = instance_at(x->instance, x->ninstances, id);

	return at < x->ninstances && x->instance[at].id == id ? &x->instance[at] : NULL;
}

const struct follow_instance *follow_instance(const struct follow_node *n, uint32_t id)
{
	const struct follow_instance *in = instance_find((const struct follow_file *)n, id);

	return in && in->name ? in : NULL;
}

/* Domain and name in one piece of memory. */
static bool instance_call(struct follow_instance *in, const char *domain, const char *name)
{
	size_t n = strlen(domain) + 1, m = strlen(name) + 1;
	char *text = malloc(n + m);

	if (!text)
		return false;
	memcpy(text, domain, n);
	memcpy(text + n, name, m);
	free(in->domain);
	in->domain = text;
	in->name = text + n;
	return true;
}

static void ended_drop(struct follow_file *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->ninstances; i++) {
		if (x->instance[i].name)
			x->instance[n++] = x->instance[i];
	}
	x->ninstances = n;
	x->nended = 0;
}

static int take_instance(struct follow *f, struct follow_file *x, const struct record *r)
{
	const struct event *e = &r->event;
	struct follow_instance *moved;
	uint32_t at;

	(void)f;
	if (x->nended > x->ninstances / 2)
		ended_drop(x);
	at = instance_at(x->instance, x->ninstances, e->id);
	if (!e->id || x->ninstances == FOLLOW_INSTANCES_MAX ||
	    (at < x->ninstances && x->instance[at].id == e->id))
		return 0;
	moved = array_room(x->instance, x->ninstances, &x->cap.instance, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	x->instance = moved;
	memmove(moved + at + 1, moved + at, (x->ninstances - at) * sizeof *moved);
	moved[at] = (struct follow_instance){ .id = e->id,
					      .parent = e->parent,
					      .aside = e->flags & INSTANCE_ASIDE };
	x->ninstances++;
	return instance_call(&moved[at], e->domain, e->name) ? 0 : -ENOMEM;
}

static int take_label(struct follow *f, struct follow_file *x, const struct record *r)
{
	struct follow_instance *in = instance_find(x, r->event.id);
	const char *text = r->event.text;
	int64_t pid;

	(void)f;
	if (in && text && !strcmp(r->event.name, "pid") && number_i64(&text, &pid) && !*text)
		in->pid = pid;
	if (!in || !in->name || !text || strcmp(r->event.name, "command_line") != 0)
		return 0;
	free(in->command_line);
	in->command_line = strndup(text, FOLLOW_TEXT_MAX);
	return in->command_line ? 0 : -ENOMEM;
}

static int take_name(struct follow *f, struct follow_file *x, const struct record *r)
{
	struct follow_instance *in = instance_find(x, r->event.id);
	struct follow_instance old = in ? *in : (struct follow_instance){ 0 };

	(void)f;
	if (!old.name)
		return 0;
	in->domain = NULL;
	if (!instance_call(in, old.domain, r->event.name)) {
		*in = old;
		return -ENOMEM;
	}
	free(old.domain);
	return 0;
}

static int take_end(struct follow *f, struct follow_file *x, const struct record *r)
{
	struct follow_instance *in = instance_find(x, r->event.id);

	(void)f;
	if (!in || !in->name)
		return 0;
	free(in->domain);
	free(in->command_line);
	*in = (struct follow_instance){ .id = in->id };
	x->nended++;
	return 0;
}

/* ---- series ---- */

static uint32_t series_at(const struct follow_file *x, uint32_t id)
{
	uint32_t low = 0, high = x->node.nseries;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (x->node.series[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int series_add(struct follow_file *x, const struct follow_series *s)
{
	struct follow_node *n = &x->node;
	uint32_t at = series_at(x, s->id);
	struct follow_series *moved;

	if ((at < n->nseries && n->series[at].id == s->id) || n->nseries == 2 * COLUMNS_MAX)
		return 0;
	moved = array_room(n->series, n->nseries, &x->cap.series, sizeof *moved);
	if (!moved)
		return -ENOMEM;
	n->series = moved;
	memmove(moved + at + 1, moved + at, (n->nseries - at) * sizeof *moved);
	moved[at] = *s;
	n->nseries++;
	return 0;
}

static int take_series(struct follow *f, struct follow_file *x, const struct record *r)
{
	const struct event *e = &r->event;

	x->moved = true;
	if (!x->late)
		rows_open(&x->rows, e->id, e->count, e->mask, 0); /* or they are open already */
	for (uint32_t i = 0; i < e->count && e->id && r->metric_id; i++) {
		uint32_t metric = idmap_get(&x->metrics, r->metric_id + i);
		struct follow_series s = { .id = e->id + i,
					   .instance = e->parent,
					   .state = STATE_PRESENT };

		if (!metric)
			continue;
		s.metric = f->catalogue.metric[metric];
		if (series_add(x, &s))
			return -ENOMEM;
	}
	return 0;
}

static int take_series_end(struct follow *f, struct follow_file *x, const struct record *r)
{
	(void)f;
	x->moved = true;
	if (!x->late)
		rows_close(&x->rows, r->event.id, r->event.count);
	return 0;
}

static int take_state(struct follow *f, struct follow_file *x, const struct record *r)
{
	uint32_t at = series_at(x, r->event.id);

	(void)f;
	if (at < x->node.nseries && x->node.series[at].id == r->event.id)
		x->node.series[at].state = r->event.state;
	return 0;
}

void follow_places(struct follow_file *x)
{
	struct follow_series *s = x->node.series;
	uint32_t n = 0, from = 0;

	for (uint32_t i = 0; i < x->rows.n; i++) {
		while (from < x->node.nseries && s[from].id < x->rows.series[i])
			from++;
		x->rows.place[i] = 0;
		if (from == x->node.nseries || s[from].id != x->rows.series[i])
			continue;
		s[n++] = s[from++];
		x->rows.place[i] = n;
	}
	x->node.nseries = n;
	x->moved = false;
}

/* ---- metadata ---- */

static struct follow_meta *meta_find(const struct follow_node *n, const char *key)
{
	for (uint32_t i = 0; i < n->nmetas; i++) {
		if (!strcmp(n->metas[i].key, key))
			return &n->metas[i];
	}
	return NULL;
}

const struct follow_meta *follow_meta(const struct follow_node *n, const char *key)
{
	return meta_find(n, key);
}

static int meta_add(struct follow_file *x, const char *key)
{
	struct follow_node *n = &x->node;
	struct follow_meta *moved = array_room(n->metas, n->nmetas, &x->cap.metas, sizeof *moved);
	char *copy = strndup(key, FOLLOW_TEXT_MAX);

	n->metas = moved ? moved : n->metas;
	if (!moved || !copy) {
		free(copy);
		return -ENOMEM;
	}
	n->metas[n->nmetas++] = (struct follow_meta){ .key = copy };
	return 0;
}

static int take_meta(struct follow *f, struct follow_file *x, const struct record *r)
{
	const struct event *e = &r->event;
	struct follow_node *n = &x->node;
	struct follow_meta *m = (struct follow_meta *)(uintptr_t)follow_meta(n, e->name);
	char *text = NULL;

	(void)f;
	if (!m && n->nmetas == FOLLOW_METAS_MAX)
		return 0;
	if (!m && meta_add(x, e->name))
		return -ENOMEM;
	m = m ? m : &n->metas[n->nmetas - 1];
	if (e->meta_type == META_TEXT && !(text = strndup(e->text, FOLLOW_TEXT_MAX)))
		return -ENOMEM;
	free(m->text);
	*m = (struct follow_meta){ m->key, text, e->meta_type, e->value, e->real };
	return 0;
}

int follow_event(struct follow *f, struct follow_file *x, const struct record *r)
{
	static int (*const take[EVENT_KIND_NUMBER_OF])(struct follow *, struct follow_file *,
						       const struct record *) = {
		[EVENT_INSTANCE] = take_instance,   [EVENT_LABEL] = take_label,
		[EVENT_NAME] = take_name,           [EVENT_END] = take_end,
		[EVENT_SERIES] = take_series,       [EVENT_SERIES_END] = take_series_end,
		[EVENT_STATE] = take_state,         [EVENT_META] = take_meta,
		[EVENT_CATALOGUE] = take_catalogue,
	};

	return r->event.node == 1 && take[r->event.kind] ? take[r->event.kind](f, x, r) : 0;
}
