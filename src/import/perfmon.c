/* SPDX-License-Identifier: Apache-2.0 */
/* perfmon.c - DIR/metrics/{meta_data,cpu_metrics,perf_metrics,nv_gpu_metrics}.json, of perfmon or
 * of `sonde export --to perfmon`: docs/perfmon-data.md. */
#include "import/perfmon.h"

#include "base/text/decimal.h"
#include "import/importer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_SIZE = 256 };

/* A document being read. */
struct reading {
	const struct import *x;
	const struct map_table *table; /* NULL: meta_data */
	struct jsondoc json;
	struct perfmon_host host;
	bool by_sonde;
	double interval_s;
	struct err *e;
};

static bool skip(struct reading *r, enum jsondoc_token begun)
{
	return jsondoc_skip(&r->json, begun, r->e);
}

static enum jsondoc_token next(struct reading *r)
{
	return jsondoc_next(&r->json, r->e);
}

/* Swap was declared to be text. */
static double text_number(const char *text)
{
	double v = decimal_of(text);

	return isfinite(v) ? v : (double)NAN;
}

/* The elements of an array of numbers into a column; what is none is absent. *n counts those that
 * are. 0 or -errno. */
static int take_values(struct reading *r, uint32_t column, uint64_t *n)
{
	enum jsondoc_token t;
	int rc = 0;

	while ((t = next(r)) != JSONDOC_ARRAY_END && !rc) {
		double v = NAN;

		if (t == JSONDOC_BAD)
			return -EINVAL;
		if (t == JSONDOC_NUMBER)
			v = r->json.number;
		else if (t == JSONDOC_STRING)
			v = text_number(r->json.text);
		else if (!skip(r, t))
			return -EINVAL;
		*n += isfinite(v) ? 1 : 0;
		if (column)
			rc = spool_put(&r->x->store->spool, column, v);
	}
	return rc ? err_set(r->e, rc, "cannot keep what was read: %s", strerror(-rc)) : 0;
}

static int take_array(struct reading *r, const char *key, unsigned place)
{
	struct store *s = r->x->store;
	uint32_t column = 0;
	uint64_t n = 0;
	int rc;

	if (!perfmon_key_is_series(key)) {
		rc = take_values(r, 0, &n);
		return rc;
	}
	if (perfmon_host_has(&r->host, key)) {
		store_leave_out(s, "%.100s: the key %.100s is there twice; the first counts",
				r->host.name, key);
	} else if (s->nseries < STORE_SERIES_MAX && r->host.nkeys < STORE_GROUP_SERIES_MAX) {
		column = spool_column(&s->spool);
		if (!column || perfmon_host_add(&r->host, s, key, column, place))
			return err_set(r->e, -ENOMEM, "out of memory");
		s->nseries++;
	} else {
		store_leave_out(s, "%.100s: too many keys; %.100s is left out", r->host.name, key);
	}
	rc = take_values(r, column, &n);
	if (column)
		r->host.key[r->host.nkeys - 1].present = n;
	return rc;
}

/* The members of a host, or of a group of it. */
static int take_members(struct reading *r, const char *group)
{
	enum jsondoc_token t;
	unsigned place = 0;
	int rc = 0;

	while (!rc && (t = next(r)) != JSONDOC_OBJECT_END) {
		char key[KEY_SIZE];

		if (t != JSONDOC_KEY)
			return -EINVAL;
		snprintf(key, sizeof key, "%s%s%.120s", group ? group : "", group ? "." : "",
			 r->json.text);
		t = next(r);
		if (t == JSONDOC_ARRAY)
			rc = take_array(r, key, place++);
		else if (t == JSONDOC_OBJECT && !group && perfmon_key_is_series(key))
			rc = take_members(r, key);
		else if (!skip(r, t))
			rc = -EINVAL;
	}
	return rc;
}

static int take_host(struct reading *r, const char *name)
{
	int rc;

	r->host = (struct perfmon_host){ .name = name, .table = r->table, .by_sonde = r->by_sonde };
	rc = take_members(r, NULL);
	if (!rc)
		rc = perfmon_host_keep(&r->host, r->x, r->e);
	perfmon_host_free(&r->host);
	return rc;
}

static int take_member(struct reading *r)
{
	char key[KEY_SIZE];
	enum jsondoc_token t;

	snprintf(key, sizeof key, "%s", r->json.text);
	t = next(r);
	if (!strcmp(key, "sampling_frequency") && t == JSONDOC_NUMBER) {
		if (r->json.number > 0 && r->json.number < 86400 * 366)
			r->x->store->interval_s = r->interval_s = r->json.number;
		return 0;
	}
	if (t != JSONDOC_OBJECT) {
		if (strcmp(key, "host_names") != 0)
			store_leave_out(r->x->store, "%.100s in %s is not an object of keys", key,
					r->table ? r->table->name : "meta_data");
		return skip(r, t) ? 0 : -EINVAL;
	}
	return r->table ? take_host(r, key)
			: perfmon_meta_take(&r->json, r->x, key, &r->by_sonde, r->e);
}

/* The length of intervals is said behind the hosts. */
static void set_intervals(struct reading *r)
{
	struct store *s = r->x->store;

	for (uint32_t i = 0; i < s->nnodes; i++)
		for (struct store_group *g = s->node[i].group; g; g = g->next)
			if (g->of_intervals && g->interval_s == 0)
				g->interval_s = r->interval_s;
}

static int take_document(struct reading *r)
{
	enum jsondoc_token t = next(r);
	int rc = 0;

	if (t == JSONDOC_BAD)
		return -EINVAL;
	if (t != JSONDOC_OBJECT)
		return err_set(r->e, -EINVAL, "it is not an object of hosts");
	while (!rc && (t = next(r)) != JSONDOC_OBJECT_END)
		rc = t == JSONDOC_KEY ? take_member(r) : -EINVAL;
	if (!rc && next(r) != JSONDOC_END)
		rc = -EINVAL;
	return rc;
}

/* What a damaged document held until there is kept. *found: it is there. 0 or -errno; -EINVAL is
 * noted and no error. */
static int read_document(struct reading *r, const char *name, bool *found)
{
	struct err why = { "" }, *e = r->e;
	char path[PATH_MAX];
	int fd, rc;

	if (snprintf(path, sizeof path, "%s/%s.json", r->x->path, name) >= PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%.200s...: the name is too long", r->x->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(e, -errno, "cannot read %s: %s", path, strerror(errno));
	*found = true;
	r->e = &why;
	rc = jsondoc_open(&r->json, fd);
	rc = rc ? err_set(&why, rc, "out of memory") : take_document(r);
	set_intervals(r);
	jsondoc_close(&r->json);
	close(fd);
	r->e = e;
	if (rc == -EINVAL) {
		store_leave_out(r->x->store, "%.200s: %.150s; what is behind it is left out", path,
				why.text);
		return 0;
	}
	return rc ? err_set(e, rc, "%.250s: %.200s", path, why.text) : 0;
}

static int read_documents(struct reading *r)
{
	const struct map *m = r->x->map;
	bool meta = false, any = false;
	int rc = read_document(r, "meta_data", &meta);

	for (uint32_t t = 0; t < m->ntables && !rc; t++) {
		r->table = &m->tables[t];
		r->interval_s = 0;
		rc = read_document(r, m->tables[t].name, &any);
	}
	if (!rc && !any)
		rc = err_set(
			r->e, -ENOENT,
			"%s has no cpu_metrics.json, perf_metrics.json or nv_gpu_metrics.json; "
			"name the directory that perfmon wrote, or its metrics/",
			r->x->path);
	if (!rc && !r->by_sonde)
		store_note(r->x->store,
			   "these are perfmon's own numbers: what is known to be wrong "
			   "of them is under names that begin with perfmon");
	return rc;
}

static int import_perfmon(const struct import *x, struct err *e)
{
	struct import below = *x;
	struct reading r = { .x = &below, .e = e };
	char metrics[PATH_MAX];

	if (snprintf(metrics, sizeof metrics, "%s/metrics", x->path) < PATH_MAX &&
	    !access(metrics, X_OK))
		below.path = metrics;
	return read_documents(&r);
}

const struct importer importer_perfmon = {
	.name = "perfmon",
	.operand = "DIR",
	.what = "perfmon's metrics/*.json",
	.run = import_perfmon,
};
