/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/run.h"
#include "recording/join.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sonde_version(void)
{
	return SONDE_VERSION;
}

void sonde_error_set(struct sonde_error *error, int code, const char *text)
{
	if (!error)
		return;
	error->code = code < 0 ? -code : code;
	snprintf(error->text, sizeof error->text, "%s", *text ? text : strerror(error->code));
}

struct sonde_run *sonde_open(const char *path, struct sonde_error *error)
{
	struct sonde_run *run = calloc(1, sizeof *run);
	struct err e = { "" };
	int rc = run ? run_open(&run->run, path, &e) : -ENOMEM;

	if (!rc)
		return run;
	sonde_error_set(error, rc, e.text);
	free(run);
	return NULL;
}

void sonde_close(struct sonde_run *run)
{
	if (!run)
		return;
	run_close(run->run);
	free(run);
}

int64_t sonde_start_utc_ns(const struct sonde_run *run)
{
	return run->run->t0_utc_ns;
}

/* Arrays of a run begin at 1. */
static size_t count(uint32_t n)
{
	return n ? n - 1 : 0;
}

static bool is_id(size_t id, uint32_t n)
{
	return id && id < n;
}

size_t sonde_damage_count(const struct sonde_run *run)
{
	return run->run->ndamages;
}

size_t sonde_node_count(const struct sonde_run *run)
{
	return count(run->run->nnodes);
}

bool sonde_node_get(const struct sonde_run *run, size_t id, struct sonde_node *out)
{
	const struct run *r = run->run;
	const struct run_node *n;

	if (!is_id(id, r->nnodes))
		return false;
	n = &r->nodes[id];
	*out = (struct sonde_node){
		.host = n->host,
		.samples = n->rows,
		.first_s = n->rows ? run_seconds(r, (uint32_t)id, n->first_ns) : (double)NAN,
		.last_s = n->rows ? run_seconds(r, (uint32_t)id, n->last_ns) : (double)NAN,
		.complete = n->complete,
	};
	return true;
}

size_t sonde_metric_count(const struct sonde_run *run)
{
	return count(run->run->nmetrics);
}

bool sonde_metric_get(const struct sonde_run *run, size_t id, struct sonde_metric *out)
{
	const struct metric *m;

	if (!is_id(id, run->run->nmetrics))
		return false;
	m = &run->run->metrics[id].row;
	*out = (struct sonde_metric){
		.name = m->name,
		.unit = unit_name(m->unit),
		.kind = kind_name(m->kind),
		.domain = m->domain,
		.label = m->label,
		.help = m->help,
		.formula = m->formula,
	};
	return true;
}

size_t sonde_instance_count(const struct sonde_run *run)
{
	return count(run->run->ninstances);
}

bool sonde_instance_get(const struct sonde_run *run, size_t id, struct sonde_instance *out)
{
	const struct run *r = run->run;
	const struct run_instance *i;

	if (!is_id(id, r->ninstances))
		return false;
	i = &r->instances[id];
	*out = (struct sonde_instance){
		.domain = i->domain,
		.name = i->name,
		.node = i->node,
		.parent = i->parent,
		.begin_s = run_seconds(r, i->node, i->birth_ns),
		.end_s = i->end_ns == INT64_MAX ? (double)NAN : run_seconds(r, i->node, i->end_ns),
	};
	return true;
}

const char *sonde_instance_label(const struct sonde_run *run, size_t id, const char *key)
{
	return is_id(id, run->run->ninstances) ? run_label(run->run, (uint32_t)id, key) : NULL;
}

static void meta_copy(const struct run_meta *m, struct sonde_meta *out)
{
	static const enum sonde_meta_type types[META_TYPE_NUMBER_OF] = {
		[META_TEXT] = SONDE_META_TEXT,
		[META_INT] = SONDE_META_INT,
		[META_REAL] = SONDE_META_REAL,
		[META_BOOL] = SONDE_META_BOOL,
	};

	*out = (struct sonde_meta){
		.node = m->node,
		.key = m->key,
		.text = m->type == META_TEXT ? m->text : NULL,
		.type = types[m->type],
		.integer = m->type == META_INT || m->type == META_BOOL ? m->value : 0,
		.real = m->type == META_REAL ? m->real : (double)NAN,
	};
}

size_t sonde_meta_count(const struct sonde_run *run)
{
	return count(run->run->nmetas);
}

bool sonde_meta_get(const struct sonde_run *run, size_t id, struct sonde_meta *out)
{
	if (!is_id(id, run->run->nmetas))
		return false;
	meta_copy(&run->run->metas[id], out);
	return true;
}

bool sonde_meta_find(const struct sonde_run *run, const char *key, struct sonde_meta *out)
{
	const struct run_meta *m = run_find_meta(run->run, 0, key);

	if (m)
		meta_copy(m, out);
	return m != NULL;
}
