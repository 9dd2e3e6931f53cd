/* SPDX-License-Identifier: Apache-2.0 */
#include "push/mlflow_points.h"

#include "base/clock.h"
#include "base/pool.h"
#include "core/table/table_series.h"
#include "report/machine.h"
#include "report/summary/own.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 251 /* with its NUL: MLflow's limit */, HOST_SIZE = 128, NAMES_SIZE = 1024 };

#define PERCENT 100.
#define MEGA    1e-6

/* MLflow's name <- ours. A sum is of all that counts of the node, what rose since it began. */
enum of { OF_NODE, OF_ROOT, OF_GPU, OF_SUM };
static const struct name {
	const char *ours, *theirs; /* OF_GPU: with a %u for its number */
	enum of of;
	double scale;
} names[] = {
	{ "node.cpu_used_ratio", "cpu_utilization_percentage", OF_NODE, PERCENT },
	{ "node.memory_used_bytes", "system_memory_usage_megabytes", OF_NODE, MEGA },
	{ "node.memory_used_ratio", "system_memory_usage_percentage", OF_NODE, PERCENT },
	{ "filesystem.used_ratio", "disk_usage_percentage", OF_ROOT, PERCENT },
	{ "filesystem.used_bytes", "disk_usage_megabytes", OF_ROOT, MEGA },
	{ "filesystem.available_bytes", "disk_available_megabytes", OF_ROOT, MEGA },
	{ "network.received_bytes_per_second", "network_receive_megabytes", OF_SUM, MEGA },
	{ "network.transmitted_bytes_per_second", "network_transmit_megabytes", OF_SUM, MEGA },
	{ "gpu.utilization_ratio", "gpu_%u_utilization_percentage", OF_GPU, PERCENT },
	{ "gpu.memory_used_ratio", "gpu_%u_memory_usage_percentage", OF_GPU, PERCENT },
	{ "gpu.memory_used_bytes", "gpu_%u_memory_usage_megabytes", OF_GPU, MEGA },
	{ "gpu.power_watts", "gpu_%u_power_usage_watts", OF_GPU, 1 },
	{ "gpu.power_used_ratio", "gpu_%u_power_usage_percentage", OF_GPU, PERCENT },
	/* what MLflow does not know: the job's own part of it */
	{ "job.cpu_cores", "job_cpu_cores", OF_NODE, 1 },
	{ "job.resident_bytes", "job_memory_megabytes", OF_NODE, MEGA },
};
enum { NNAMES = sizeof names / sizeof names[0] };

struct cell_name {
	const char *key; /* NULL: none of ours */
	double scale;
	uint8_t sum; /* 1 + its name; 0: it is a point itself */
};

struct pass {
	struct run *run;
	struct series series;
	struct pool keys;
	struct cell_name *cell;         /* [ncells] */
	double (*total)[NNAMES];        /* [nnodes] of sums so far */
	const char *(*sum_key)[NNAMES]; /* [nnodes] */
	int64_t *rows;                  /* [nnodes] */
	double every_s;
	const struct points_wish *wish;
};

static void public_name(const struct run_metric *m, char out[NAMES_SIZE])
{
	metric_rate_name(&m->row, out, NAMES_SIZE);
}

static void select_names(const struct run *r, char out[NAMES_SIZE])
{
	char name[NAMES_SIZE];
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < NNAMES; i++)
		for (uint32_t m = 1; m < r->nmetrics; m++) {
			public_name(&r->metrics[m], name);
			if (strcmp(name, names[i].ours))
				continue;
			n += (size_t)snprintf(out + n, NAMES_SIZE - n, "%s%s", n ? "," : "", name);
			break;
		}
}

/* GPUs are numbered in the order in which the node told of them. */
static unsigned gpu_number(const struct run *r, uint32_t instance)
{
	const struct run_instance *gpu = &r->instances[instance];
	unsigned n = 0;

	for (uint32_t i = 1; i < instance; i++)
		n += r->instances[i].node == gpu->node && r->instances[i].domain &&
		     !strcmp(r->instances[i].domain, gpu->domain) &&
		     !(r->instances[i].flags & INSTANCE_ASIDE);
	return n;
}

static bool suits(const struct run *r, uint32_t instance, enum of of)
{
	if (of == OF_NODE)
		return !instance;
	if (of == OF_ROOT)
		return instance && run_label(r, instance, "root");
	return instance && !(r->instances[instance].flags & INSTANCE_ASIDE);
}

/* Is the node's name in those of its metrics? */
static bool is_one_of_many(const struct tracking *t, const struct run *r, uint32_t node,
			   const struct points_wish *w)
{
	const char *host = r->nodes[node].host, *alone = w->follow ? w->follow->alone : NULL;

	return t->n > 1 && !(host && alone && !strcmp(host, alone));
}

/* "system/" when the run has one node without a name of its own, else "system/<node>/". */
static const char *prefix_of(const struct tracking *t, const struct run *r, uint32_t node,
			     const struct points_wish *w, char out[HOST_SIZE + 16])
{
	char host[HOST_SIZE];
	const char *id = is_one_of_many(t, r, node, w) ? r->nodes[node].host : w->node_id;

	if (!id || !*id)
		return "system/";
	snprintf(out, HOST_SIZE + 16, "system/%s/", tracker_key(host, sizeof host, id));
	return out;
}

static const char *make_key(struct pass *p, const char *prefix, const struct name *n, unsigned gpu)
{
	char name[KEY_SIZE + 64], key[KEY_SIZE], theirs[64];
	const char *number = strstr(n->theirs, "%u");

	if (number)
		snprintf(theirs, sizeof theirs, "%.*s%u%s", (int)(number - n->theirs), n->theirs,
			 gpu, number + 2);
	else
		snprintf(theirs, sizeof theirs, "%s", n->theirs);
	snprintf(name, sizeof name, "%s%s", prefix, theirs);
	tracker_key(key, sizeof key, name);
	return pool_text(&p->keys, key, strlen(key));
}

static int name_cell(struct pass *p, uint32_t cell, const struct tracking *t)
{
	const struct plan *plan = &p->series.derive.plan;
	const struct cell *c = &plan->cell[cell];
	const struct holder *h = &plan->holder[c->holder];
	char prefix[HOST_SIZE + 16];

	for (size_t i = 0; i < NNAMES && c->emitted; i++) {
		const struct name *n = &names[i];
		const char *key;

		if (strcmp(plan->quantity[c->quantity].name, n->ours) ||
		    !suits(p->run, h->instance, n->of))
			continue;
		key = make_key(p, prefix_of(t, p->run, h->node, p->wish, prefix), n,
			       n->of == OF_GPU ? gpu_number(p->run, h->instance) : 0);
		if (!key)
			return -ENOMEM;
		p->cell[cell] =
			(struct cell_name){ key, n->scale, n->of == OF_SUM ? (uint8_t)(i + 1) : 0 };
		if (n->of == OF_SUM)
			p->sum_key[h->node][i] = key;
		return 0;
	}
	return 0;
}

static bool is_wanted(const struct pass *p, const struct instant *in)
{
	const struct points_follow *f = p->wish->follow;

	return !f || (in->seconds >= f->from_s[in->node] && in->seconds < f->to_s[in->node]);
}

static int give(struct pass *p, const struct instant *in, const char *key, double value,
		struct err *e)
{
	const struct point point = {
		.key = key,
		.value = value,
		.time_ms = in->utc_ns / NS_PER_MS,
		.step = p->every_s > 0 ? (int64_t)(in->seconds / p->every_s + 0.5)
				       : p->rows[in->node] - 1,
	};

	return isfinite(value) && is_wanted(p, in) ? p->wish->take(p->wish->ctx, &point, e) : 0;
}

static int give_instant(struct pass *p, const struct instant *in, struct err *e)
{
	bool any[NNAMES] = { false };
	int rc = 0;

	p->rows[in->node]++;
	for (uint32_t i = 0; i < in->n && !rc; i++) {
		const struct reading v = instant_reading(in, i);
		const struct cell_name *c = &p->cell[v.cell];

		if (c->key && !c->sum) {
			rc = give(p, in, c->key, v.value * c->scale, e);
		} else if (c->key) {
			p->total[in->node][c->sum - 1] += v.value * v.seconds;
			any[c->sum - 1] = true;
		}
	}
	for (size_t i = 0; i < NNAMES && !rc; i++)
		if (any[i])
			rc = give(p, in, p->sum_key[in->node][i],
				  p->total[in->node][i] * names[i].scale, e);
	return rc;
}

/* So long that no metric gets too many points: several recordings of a host fill the same ones. */
static double window_of(const struct run *r, uint32_t nhosts)
{
	double begin = INFINITY, end = -INFINITY;
	uint64_t rows = 0;

	for (uint32_t i = 1; i < r->nnodes; i++) {
		if (!r->nodes[i].rows)
			continue;
		rows = r->nodes[i].rows > rows ? r->nodes[i].rows : rows;
		begin = fmin(begin, run_seconds(r, i, r->nodes[i].first_ns));
		end = fmax(end, run_seconds(r, i, r->nodes[i].last_ns));
	}
	if (r->nnodes - 1 == nhosts && rows <= POINTS_OF_A_METRIC)
		return 0;
	/* As many recordings as a host can have at most. */
	return fmax(end - begin, 1e-3) * (r->nnodes - nhosts) / (POINTS_OF_A_METRIC - 2);
}

static int samples(struct pass *p, const struct tracking *t, struct err *e)
{
	char globs[NAMES_SIZE];
	struct selection sel = { .metrics = globs, .every_s = p->every_s };
	struct instant in;
	int rc;

	select_names(p->run, globs);
	if (!globs[0])
		return 0;
	rc = series_open(&p->series, p->run, &sel, e);
	if (rc)
		return rc;
	p->cell = calloc(p->series.derive.plan.ncells + 1u, sizeof *p->cell);
	p->total = calloc(p->run->nnodes + 1u, sizeof *p->total);
	p->sum_key = calloc(p->run->nnodes + 1u, sizeof *p->sum_key);
	p->rows = calloc(p->run->nnodes + 1u, sizeof *p->rows);
	if (!p->cell || !p->total || !p->sum_key || !p->rows)
		rc = -ENOMEM;
	for (uint32_t i = 1; !rc && i < p->series.derive.plan.ncells; i++)
		rc = name_cell(p, i, t);
	if (rc)
		return err_set(e, rc, "out of memory for %u series", p->run->nseries);
	while (!rc && (rc = series_next(&p->series, &in, e)) > 0)
		rc = give_instant(p, &in, e);
	return rc;
}

static int figures(struct pass *p, const struct tracking *t, struct err *e)
{
	int64_t end_ms = 0;
	int rc = 0;

	for (uint32_t i = 1; i < p->run->nnodes; i++) {
		int64_t ms = run_utc_ns(p->run, i, p->run->nodes[i].last_ns) / NS_PER_MS;

		end_ms = p->run->nodes[i].rows && ms > end_ms ? ms : end_ms;
	}
	for (uint32_t h = 0; h < t->n; h++)
		for (size_t f = 0; f < TRACKER_FIGURES && !rc; f++) {
			const struct tracker_figure *row = &tracker_figures[f];
			const struct point point = { row->name,
						     tracker_value(&t->host[h].tracker, row),
						     end_ms, t->host[h].step };

			if (isfinite(point.value))
				rc = p->wish->take(p->wish->ctx, &point, e);
		}
	return rc;
}

/* The job's own numbers: "epoch/loss" for the words of a mark, else the counter's name; of several
 * nodes with the host before it. A step is a value. */
static int give_own(struct pass *p, const struct own_series *s, const struct tracking *t,
		    struct err *e)
{
	const struct run_node *node = &p->run->nodes[s->node];
	bool of_many = is_one_of_many(t, p->run, s->node, p->wish);
	uint64_t each = p->wish->follow ? own_values_a_point(s) : 1;
	char name[HOST_SIZE + OWN_NAME + 2], key[KEY_SIZE], *blank;
	int rc = 0;

	snprintf(name, sizeof name, "%.*s%s%s", HOST_SIZE, of_many && node->host ? node->host : "",
		 of_many ? "/" : "", s->name);
	blank = s->mark ? strrchr(name, ' ') : NULL;
	if (blank)
		*blank = '/';
	tracker_key(key, sizeof key, name);
	for (uint32_t i = 0; i < s->npoints && !rc; i++) {
		int64_t start_ms = p->run->t0_utc_ns / NS_PER_MS;
		const struct point point = { key, s->value[i],
					     start_ms + (int64_t)(s->at_s[i] * 1e3),
					     (int64_t)(s->before + i * each) };

		rc = p->wish->take(p->wish->ctx, &point, e);
	}
	return rc;
}

static int own_numbers(struct pass *p, const struct tracking *t, struct err *e)
{
	const struct points_follow *f = p->wish->follow;
	const struct own_range range = { f ? f->own_from_s : NULL, f ? f->own_to_s : NULL };
	struct own own;
	int rc = own_make_between(&own, p->run, f ? &range : NULL, !f || f->last, e);

	for (uint32_t i = 0; i < own.nseries && !rc; i++)
		rc = give_own(p, &own.series[i], t, e);
	own_free(&own);
	return rc;
}

int mlflow_points(struct run *r, const struct tracking *t, const struct points_wish *w,
		  struct err *e)
{
	struct pass p = { .run = r,
			  .wish = w,
			  .every_s = w->follow ? w->follow->every_s : window_of(r, t->n) };
	int rc = samples(&p, t, e);

	if (!rc)
		rc = own_numbers(&p, t, e);
	if (!rc && (!w->follow || w->follow->last))
		rc = figures(&p, t, e);
	series_close(&p.series);
	pool_free(&p.keys);
	free(p.cell);
	free(p.total);
	free(p.sum_key);
	free(p.rows);
	return rc;
}

static void begin(struct mlflow_batch *b)
{
	uint32_t left = b->ntags - b->tags_given, n = left < BATCH_TAGS ? left : BATCH_TAGS;

	if (b->body.len)
		return;
	b->json = (struct json){ .out = &b->body };
	json_object(&b->json);
	json_key(&b->json, "run_id");
	json_text(&b->json, b->run_id);
	if (n) {
		json_key(&b->json, "tags");
		json_array(&b->json);
		for (uint32_t i = 0; i < n; i++) {
			json_object(&b->json);
			json_key(&b->json, "key");
			json_text(&b->json, b->tags[b->tags_given].key);
			json_key(&b->json, "value");
			json_text(&b->json, b->tags[b->tags_given++].value);
			json_object_end(&b->json);
		}
		json_array_end(&b->json);
	}
	b->items = n;
	json_key(&b->json, "metrics");
	json_array(&b->json);
}

bool mlflow_batch_full(const struct mlflow_batch *b)
{
	return b->items >= BATCH_ITEMS || b->body.len >= BATCH_BYTES;
}

void mlflow_batch_point(struct mlflow_batch *b, const struct point *p)
{
	begin(b);
	json_object(&b->json);
	json_key(&b->json, "key");
	json_text(&b->json, p->key);
	json_key(&b->json, "value");
	json_real(&b->json, p->value);
	json_key(&b->json, "timestamp");
	json_int(&b->json, p->time_ms);
	json_key(&b->json, "step");
	json_int(&b->json, p->step);
	json_object_end(&b->json);
	b->items++;
	b->metrics++;
}

bool mlflow_batch_close(struct mlflow_batch *b)
{
	if (!b->body.len && b->tags_given >= b->ntags)
		return false;
	begin(b);
	json_array_end(&b->json);
	json_object_end(&b->json);
	return true;
}

void mlflow_batch_reset(struct mlflow_batch *b)
{
	bytes_reset(&b->body);
	b->items = b->metrics = 0;
}

static const struct {
	const char *tag, *metadata;
} rows[] = {
	{ "sonde.platform.cpu_model", "host.cpu_model" },
	{ "sonde.platform.cpus_count", "host.cpus_count" },
	{ "sonde.platform.cores_count", "host.cores_count" },
	{ "sonde.platform.memory_bytes", "node.memory_bytes" },
	{ "sonde.platform.gpus_count", "host.gpus_count" },
	{ "sonde.platform.gpu_model", "host.gpu0.model" },
	{ "sonde.platform.architecture", "host.architecture" },
};
_Static_assert(sizeof rows / sizeof rows[0] + 1 <= PLATFORM_TAGS, "and sonde.platform");

const char *mlflow_platform_tag(const char *metadata)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (!strcmp(rows[i].metadata, metadata))
			return rows[i].tag;
	return NULL;
}

/* With a separator between values. What has no room any more is left out whole. */
static void append(char *to, const char *separator, const char *value)
{
	size_t n = strlen(to), more = strlen(value) + (n ? strlen(separator) : 0);

	if (n + more < TAG_VALUE_SIZE)
		snprintf(to + n, TAG_VALUE_SIZE - n, "%s%s", n ? separator : "", value);
}

static bool has(const char *list, const char *value)
{
	size_t n = strlen(value);

	for (const char *at = list; at; at = strstr(at, "; ") ? strstr(at, "; ") + 2 : NULL)
		if (!strncmp(at, value, n) && (!at[n] || !strncmp(at + n, "; ", 2)))
			return true;
	return false;
}

static void take_value(const struct metadata *m, uint32_t node, const char *key, char *to)
{
	const char *text = metadata_text(m, node, key);
	double number = metadata_number(m, node, key);
	char shown[32];

	if (!text && isfinite(number)) {
		snprintf(shown, sizeof shown, "%.0f", number);
		text = shown;
	}
	if (text && !has(to, text))
		append(to, "; ", text);
}

static int take_words(const struct run *r, char *to)
{
	struct machines machines = { 0 };
	int rc = machines_make(&machines, r);

	for (uint32_t i = 0; i < machines.n && !rc; i++)
		append(to, " | ", machines.row[i].words);
	machines_free(&machines);
	return rc;
}

static struct batch_tag *begin_tag(struct batch_tag *tag, const char *key)
{
	snprintf(tag->key, sizeof tag->key, "%s", key);
	tag->value[0] = 0;
	return tag;
}

int mlflow_platform_tags(const struct run *r, struct batch_tag *tags, uint32_t *n)
{
	struct metadata m = { 0 };
	int rc = metadata_make(&m, r);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !rc; i++) {
		struct batch_tag *tag = begin_tag(&tags[*n], rows[i].tag);

		for (uint32_t node = 0; node < r->nnodes; node++)
			take_value(&m, node, rows[i].metadata, tag->value);
		*n += *tag->value != 0;
	}
	if (!rc)
		rc = take_words(r, begin_tag(&tags[*n], "sonde.platform")->value);
	*n += !rc && *tags[*n].value;
	metadata_free(&m);
	return rc;
}
