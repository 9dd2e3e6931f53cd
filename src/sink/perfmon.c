/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/perfmon.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/text/json.h"
#include "core/frame/run.h"
#include "core/glob.h"
#include "sink/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_process(const struct run_instance *i)
{
	return i->domain && !strcmp(i->domain, "process");
}

static void put_parent(struct json *j, const struct run *r, uint32_t id)
{
	const struct run_instance *i = &r->instances[id];
	const char *pid = run_label(r, id, "pid");

	json_object(j);
	if (id) {
		json_key(j, "pid");
		json_text(j, pid);
		json_key(j, "name");
		json_text(j, i->name);
		json_key(j, "create_time");
		json_real(j, (double)run_utc_ns(r, i->node, i->birth_ns) / (double)NS_PER_S);
	}
	json_object_end(j);
}

static void put_child(struct json *j, const struct run *r, uint32_t id)
{
	const char *pid = run_label(r, id, "pid"), *name = r->instances[id].name;
	char text[256];

	snprintf(text, sizeof text, "%s %s", pid ? pid : "?", name ? name : "");
	json_text(j, text);
}

void perfmon_processes(struct json *j, const struct run *r, uint32_t node)
{
	uint32_t parent = 0, n = 0;

	for (uint32_t i = 1; i < r->ninstances; i++)
		if (r->instances[i].node == node && is_process(&r->instances[i]) &&
		    (!parent || r->instances[i].birth_ns < r->instances[parent].birth_ns))
			parent = i;
	json_key(j, "parent_proc_md");
	put_parent(j, r, parent);
	json_key(j, "child_proc_md");
	json_array(j);
	for (uint32_t i = 1; i < r->ninstances && n < PERFMON_PROCESSES; i++)
		if (i != parent && r->instances[i].node == node && is_process(&r->instances[i])) {
			put_child(j, r, i);
			n++;
		}
	json_array_end(j);
}

static void put_meta(struct json *j, const struct run_meta *m)
{
	json_key(j, m->key);
	switch (m->type) {
	case META_INT:
		json_int(j, m->value);
		break;
	case META_REAL:
		json_real(j, m->real);
		break;
	case META_BOOL:
		json_bool(j, m->value);
		break;
	default:
		json_text(j, m->text);
	}
}

/* What a document of hosts has. */
struct meta_document {
	const struct run *run;
	const char *keys; /* globs; NULL: none */
	struct run_index metas;
	uint32_t *rank;
};

/* The last text of a key counts. */
static void put_metas(struct json *j, const struct meta_document *t, uint32_t node)
{
	const struct run *r = t->run;
	const struct run_index *x = &t->metas;

	for (uint32_t i = x->first[node]; i < x->first[node + 1]; i++) {
		const struct run_meta *m = &r->metas[x->id[i]];

		if (m->key && t->keys && glob_match(t->keys, m->key) &&
		    run_find_meta(r, node, m->key) == m)
			put_meta(j, m);
	}
}

static int put_hosts(struct bytes *text, const struct meta_document *t, FILE *out, struct err *e)
{
	const struct run *r = t->run;
	struct json j = { .out = text };
	char host[256];
	int rc = 0;

	json_object(&j);
	json_key(&j, "host_names");
	json_array(&j);
	for (uint32_t n = 1; n < r->nnodes; n++) {
		run_host_name(r, n, t->rank[n], host, sizeof host);
		json_text(&j, host);
	}
	json_array_end(&j);
	for (uint32_t n = 1; n < r->nnodes && !rc; n++) {
		run_host_name(r, n, t->rank[n], host, sizeof host);
		json_key(&j, host);
		json_object(&j);
		put_metas(&j, t, n);
		json_object_end(&j);
		rc = text_flush(text, out, TEXT_BLOCK, e);
	}
	json_object_end(&j);
	bytes_u8(text, '\n');
	return rc ? rc : text_flush(text, out, 0, e);
}

int perfmon_meta_data(const struct run *r, const struct map *m, FILE *out, struct err *e)
{
	struct meta_document t = { r, m->machine, { 0 }, calloc(r->nnodes + 1u, sizeof *t.rank) };
	struct bytes text = { 0 };
	int rc;

	if (!t.rank || run_host_ranks(r, t.rank) || run_index_metas(&t.metas, r))
		rc = err_set(e, -ENOMEM, "out of memory");
	else
		rc = put_hosts(&text, &t, out, e);
	if (!rc && fflush(out))
		rc = err_set(e, -errno, "%s", strerror(errno));
	run_index_free(&t.metas);
	bytes_free(&text);
	free(t.rank);
	return rc;
}

enum { HOST = 0, TIME, FIRST_VALUE }; /* columns of a mapped table */

struct host {
	const char *name;  /* the table's own */
	uint32_t first;    /* of its columns in the spool, those of the table from TIME on */
	uint8_t *measured; /* [ncolumns]: it has a value */
	uint32_t node;     /* 0: it is a part of one */
};

struct document {
	struct run *run;
	const struct map *map;
	const struct map_table *table;
	const struct frame_schema *schema;
	struct spool spool;
	struct host *host;
	uint32_t nhosts, cap, last;
	FILE *out;
	struct bytes text;
	struct json json;
};

bool perfmon_applies(const struct map_table *t, const struct run *r)
{
	for (uint32_t i = 1; t->domain && i < r->ninstances; i++)
		if (r->instances[i].domain && !strcmp(r->instances[i].domain, t->domain))
			return true;
	return !t->domain;
}

static struct host *add_host(struct document *d, const char *name)
{
	struct host *h;

	if (d->nhosts == d->cap) {
		uint32_t cap = d->cap ? d->cap * 2 : 16;

		h = reallocarray(d->host, cap, sizeof *h);
		if (!h)
			return NULL;
		d->host = h;
		d->cap = cap;
	}
	h = &d->host[d->nhosts];
	*h = (struct host){ .name = name, .measured = calloc(d->schema->ncolumns, 1) };
	if (!h->measured)
		return NULL;
	d->nhosts++;
	for (uint32_t c = TIME; c < d->schema->ncolumns; c++) {
		uint32_t column = spool_column(&d->spool);

		if (!column)
			return NULL;
		h->first = h->first ? h->first : column;
	}
	return h;
}

/* Rows come in runs of one host, whose name is one pointer for all of them. */
static struct host *find_host(struct document *d, const char *name)
{
	if (d->last < d->nhosts && d->host[d->last].name == name)
		return &d->host[d->last];
	for (d->last = 0; d->last < d->nhosts; d->last++)
		if (d->host[d->last].name == name)
			return &d->host[d->last];
	return add_host(d, name);
}

static int spool_batch(struct document *d, const struct batch *b)
{
	int rc = 0;

	for (uint32_t row = 0; row < b->nrows && !rc; row++) {
		struct host *h = find_host(d, b->columns[HOST].s[row]);

		if (!h)
			return -ENOMEM;
		for (uint32_t c = TIME; c < d->schema->ncolumns && !rc; c++) {
			bool there = b->columns[c].state[row] == STATE_PRESENT;

			h->measured[c] |= there;
			rc = spool_put(&d->spool, h->first + c - TIME,
				       there ? b->columns[c].d[row] : (double)NAN);
		}
	}
	return rc;
}

static int spool_rows(struct document *d, struct frame *f, struct err *e)
{
	struct batch b;
	int rc;

	while ((rc = frame_next(f, &b, e)) > 0) {
		rc = spool_batch(d, &b);
		if (rc)
			return err_set(e, rc, "%s", strerror(-rc));
	}
	return rc;
}

static int flush(struct document *d, size_t most, struct err *e)
{
	return text_flush(&d->text, d->out, most, e);
}

/* The values of a column as an array. */
static int put_values(struct document *d, const struct host *h, uint32_t column, struct err *e)
{
	struct spool_cursor c;
	double v;
	int rc;

	json_array(&d->json);
	spool_read(&d->spool, h->first + column - TIME, &c);
	while ((rc = spool_next(&c, &v)) > 0) {
		json_real(&d->json, v);
		rc = flush(d, TEXT_BLOCK, e);
		if (rc)
			return rc;
	}
	json_array_end(&d->json);
	return rc ? err_set(e, rc, "%s", strerror(-rc)) : 0;
}

/* The key that a column is of. */
static bool is_optional(const struct map_table *t, const char *column)
{
	for (uint32_t k = 0; k < t->nkeys; k++)
		if (!strcmp(t->keys[k].key, column))
			return t->keys[k].optional;
	return true; /* of a * */
}

static size_t group_length(const char *key)
{
	const char *dot = strchr(key, '.');

	return dot ? (size_t)(dot - key) : 0;
}

static bool in_group(const char *key, const char *group, size_t n)
{
	return n && group_length(key) == n && !strncmp(key, group, n);
}

/* All columns of the group that this one is of, or itself when it is of none. */
static int put_group(struct document *d, const struct host *h, uint32_t column, struct err *e)
{
	const char *key = d->schema->columns[column].name;
	size_t n = group_length(key);
	int rc = 0;

	if (n) {
		char *group = strndup(key, n);

		json_key(&d->json, group ? group : "");
		free(group);
		json_object(&d->json);
	}
	for (uint32_t c = column; c < d->schema->ncolumns && !rc; c++) {
		const char *name = d->schema->columns[c].name;

		if ((c != column && !in_group(name, key, n)) ||
		    (is_optional(d->table, name) && !h->measured[c]))
			continue;
		json_key(&d->json, n ? name + n + 1 : name);
		rc = put_values(d, h, c, e);
	}
	if (n)
		json_object_end(&d->json);
	return rc;
}

/* Nothing is written of what this host has none of, but by a key that is always there. */
static bool is_written(const struct document *d, const struct host *h, uint32_t column)
{
	const char *key = d->schema->columns[column].name;
	size_t n = group_length(key);

	for (uint32_t c = FIRST_VALUE; c < column; c++)
		if (in_group(d->schema->columns[c].name, key, n))
			return false; /* with the first of its group */
	for (uint32_t c = column; c < d->schema->ncolumns; c++) {
		const char *name = d->schema->columns[c].name;

		if ((c == column || in_group(name, key, n)) &&
		    (h->measured[c] || !is_optional(d->table, name)))
			return true;
	}
	return false;
}

/* By the interval of the recording, in seconds. */
static void put_frequency(struct document *d)
{
	const struct run_meta *m =
		d->map->interval ? run_find_meta(d->run, 0, d->map->interval) : NULL;

	json_key(&d->json, "sampling_frequency");
	if (m && m->type == META_INT && m->value > 0)
		json_real(&d->json, (double)m->value / (double)NS_PER_S);
	else
		json_null(&d->json);
}

static int put_host(struct document *d, const struct host *h, struct err *e)
{
	int rc;

	json_key(&d->json, h->name);
	json_object(&d->json);
	json_key(&d->json, "host_name");
	json_text(&d->json, h->name);
	put_frequency(d);
	if (!strcmp(d->table->name, PERFMON_CPU_METRICS) && h->node)
		perfmon_processes(&d->json, d->run, h->node);
	json_key(&d->json, "time_stamps");
	rc = put_values(d, h, TIME, e);
	for (uint32_t c = FIRST_VALUE; c < d->schema->ncolumns && !rc; c++)
		if (is_written(d, h, c))
			rc = put_group(d, h, c, e);
	json_object_end(&d->json);
	return rc;
}

static int find_nodes(struct document *d)
{
	uint32_t *rank = calloc(d->run->nnodes + 1u, sizeof *rank), from = 0;
	int rc = rank ? run_host_ranks(d->run, rank) : -ENOMEM;
	char name[256];

	for (uint32_t n = 1; n < d->run->nnodes && !rc; n++) {
		run_host_name(d->run, n, rank[n], name, sizeof name);
		for (uint32_t i = 0; i < d->nhosts; i++) {
			struct host *h = &d->host[(from + i) % d->nhosts]; /* they come in order */

			if (strcmp(h->name, name) != 0)
				continue;
			h->node = n;
			from = (from + i + 1) % d->nhosts;
			break;
		}
	}
	free(rank);
	return rc;
}

static int put_document(struct document *d, struct err *e)
{
	int rc = find_nodes(d);

	if (rc)
		return err_set(e, rc, "out of memory");

	json_object(&d->json);
	json_key(&d->json, "host_names");
	json_array(&d->json);
	for (uint32_t i = 0; i < d->nhosts; i++)
		json_text(&d->json, d->host[i].name);
	json_array_end(&d->json);
	for (uint32_t i = 0; i < d->nhosts && !rc; i++)
		rc = put_host(d, &d->host[i], e);
	put_frequency(d);
	json_object_end(&d->json);
	bytes_u8(&d->text, '\n');
	return rc ? rc : flush(d, 0, e);
}

static void document_free(struct document *d)
{
	spool_close(&d->spool);
	for (uint32_t i = 0; i < d->nhosts; i++)
		free(d->host[i].measured);
	free(d->host);
	bytes_free(&d->text);
}

int perfmon_document(struct run *r, const struct map *m, uint32_t t, const char *scratch, FILE *out,
		     struct err *e)
{
	const struct selection sel = { .map = &m->tables[t], .map_keys = true };
	struct document d = { .run = r, .map = m, .table = &m->tables[t], .out = out };
	struct frame *f = NULL;
	int rc = spool_open(&d.spool, scratch);

	d.json.out = &d.text;
	if (rc)
		return err_set(e, rc, "no temporary file in %s: %s", scratch, strerror(-rc));
	rc = frame_open(&f, r, &sel, e);
	if (!rc) {
		d.schema = frame_schema(f);
		rc = spool_rows(&d, f, e);
	}
	if (!rc)
		rc = put_document(&d, e);
	if (!rc && fflush(out))
		rc = err_set(e, -errno, "%s", strerror(errno));
	document_free(&d);
	frame_close(f);
	return rc;
}
