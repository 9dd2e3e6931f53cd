/* SPDX-License-Identifier: Apache-2.0 */
/* lightgbm_perf.c - what lightgbm-benchmark's perf.py saves: {"NODE": [record, ...]}, a record for
 * each sample with the keys below. */
#include "base/text/jsondoc.h"
#include "import/importer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MB 1048576.0

/* What a key is. Its counters are the machine's since it was started. */
static const struct record_key {
	const char *key;
	const char *metric;
	const char *instance; /* of metrics of devices */
	double factor;        /* value = what was read / factor */
	bool aside;
	const char *help; /* of what Sonde has no row of */
} keys[] = {
	{ "timestamp", NULL, NULL, 1, false, NULL },
	{ "cpu_pct_per_cpu_avg", "node.cpu_used_ratio", NULL, 100, false, NULL },
	{ "cpu_pct_per_cpu_min", "lightgbm.cpu_least_used_ratio", NULL, 100, false,
	  "Use of the CPU that was used least." },
	{ "cpu_pct_per_cpu_max", "lightgbm.cpu_most_used_ratio", NULL, 100, false,
	  "Use of the CPU that was used most." },
	{ "mem_percent", "node.memory_used_ratio", NULL, 100, false, NULL },
	{ "disk_usage_percent", "lightgbm.disk_used_ratio", NULL, 100, false,
	  "How full the root file system was." },
	{ "disk_io_read_mb", "disk.read_bytes", "all", 1 / MB, false, NULL },
	{ "disk_io_write_mb", "disk.written_bytes", "all", 1 / MB, false, NULL },
	{ "net_io_lo_sent_mb", "network.transmitted_bytes", "lo", 1 / MB, true, NULL },
	{ "net_io_ext_sent_mb", "network.transmitted_bytes", "all but lo", 1 / MB, false, NULL },
	{ "net_io_lo_recv_mb", "network.received_bytes", "lo", 1 / MB, true, NULL },
	{ "net_io_ext_recv_mb", "network.received_bytes", "all but lo", 1 / MB, false, NULL },
};
enum { KEYS = sizeof keys / sizeof keys[0], TIMESTAMP = 0 };

struct reading {
	const struct import *x;
	struct jsondoc json;
	uint32_t column[KEYS];
	uint64_t unknown;
	struct err *e;
};

static int find_key(const char *key)
{
	for (int i = 0; i < KEYS; i++)
		if (!strcmp(keys[i].key, key))
			return i;
	return -1;
}

/* A record, whose object has begun: a value of each column, or none. */
static int take_record(struct reading *r)
{
	double value[KEYS];
	enum jsondoc_token t;
	int rc = 0;

	for (int i = 0; i < KEYS; i++)
		value[i] = NAN;
	while ((t = jsondoc_next(&r->json, r->e)) != JSONDOC_OBJECT_END) {
		int key;

		if (t != JSONDOC_KEY)
			return -EINVAL;
		key = find_key(r->json.text);
		t = jsondoc_next(&r->json, r->e);
		r->unknown += key < 0;
		if (t == JSONDOC_NUMBER && key >= 0)
			value[key] = r->json.number;
		else if (!jsondoc_skip(&r->json, t, r->e))
			return -EINVAL;
	}
	for (int i = 0; i < KEYS && !rc; i++)
		rc = spool_put(&r->x->store->spool, r->column[i], value[i]);
	return rc ? err_set(r->e, rc, "cannot keep what was read: %s", strerror(-rc)) : 0;
}

static int add_series(struct reading *r, struct store_group *g, int key)
{
	const struct record_key *k = &keys[key];
	struct store_series *s = store_series(r->x->store, g);

	if (!s)
		return -ENOMEM;
	if (!r->x->find(k->metric, &s->metric))
		s->metric = (struct metric){ .label = k->key,
					     .help = k->help,
					     .unit = UNIT_RATIO,
					     .kind = KIND_GAUGE,
					     .over_nodes = COMBINE_MEAN };
	if (!s->metric.help)
		return -EINVAL;
	s->metric.kind = s->metric.kind == KIND_COUNTER ? KIND_COUNTER : KIND_GAUGE;
	s->metric.name = k->metric;
	s->metric.formula = NULL;
	s->metric.storage = STORE_REAL;
	s->metric.mul = s->metric.div = 0;
	s->instance = k->instance;
	s->aside = k->aside;
	s->factor = k->factor;
	s->values = r->column[key];
	return 0;
}

/* The records of a node, whose array has begun. */
static int take_node(struct reading *r, uint32_t node)
{
	struct store *s = r->x->store;
	struct store_group *g = store_group(s, node);
	enum jsondoc_token t;
	int rc = g ? 0 : -ENOMEM;

	for (int i = 0; i < KEYS && !rc; i++) {
		r->column[i] = spool_column(&s->spool);
		rc = !r->column[i] ? -ENOMEM : i == TIMESTAMP ? 0 : add_series(r, g, i);
	}
	if (rc)
		return err_set(r->e, rc, "out of memory");
	g->times = r->column[TIMESTAMP];
	while (!rc && (t = jsondoc_next(&r->json, r->e)) != JSONDOC_ARRAY_END) {
		if (t == JSONDOC_OBJECT)
			rc = take_record(r);
		else if (!jsondoc_skip(&r->json, t, r->e))
			rc = -EINVAL;
		else
			r->unknown++;
	}
	return rc;
}

/* Its key is the node's place in the job, as trackers have it. */
static void say_place(struct store *s, uint32_t node, const char *key)
{
	char *end;
	unsigned long place = strtoul(key, &end, 10);

	if (*key >= '0' && *key <= '9' && !*end && place < UINT32_MAX)
		store_meta_number(s, node, "job.node_index", (double)place, true);
}

static int take_member(struct reading *r)
{
	struct store *s = r->x->store;
	char host[128];
	uint32_t before = s->nnodes;
	enum jsondoc_token t;
	int64_t node;

	snprintf(host, sizeof host, "node-%.100s", r->json.text);
	t = jsondoc_next(&r->json, r->e);
	if (t != JSONDOC_ARRAY) {
		r->unknown++;
		return jsondoc_skip(&r->json, t, r->e) ? 0 : -EINVAL;
	}
	node = s->nseries + KEYS > STORE_SERIES_MAX ? -1 : store_node(s, host);
	if (node < 0 || (uint64_t)node < before) {
		store_leave_out(s, "%s is there twice, or one node too many", host);
		return jsondoc_skip(&r->json, t, r->e) ? 0 : -EINVAL;
	}
	say_place(s, (uint32_t)node, host + strlen("node-"));
	return take_node(r, (uint32_t)node);
}

static int take_document(struct reading *r)
{
	enum jsondoc_token t = jsondoc_next(&r->json, r->e);
	int rc = 0;

	if (t == JSONDOC_BAD)
		return -EINVAL;
	if (t != JSONDOC_OBJECT)
		return err_set(r->e, -EINVAL, "it is not an object of nodes");
	while (!rc && (t = jsondoc_next(&r->json, r->e)) != JSONDOC_OBJECT_END)
		rc = t == JSONDOC_KEY ? take_member(r) : -EINVAL;
	return !rc && jsondoc_next(&r->json, r->e) != JSONDOC_END ? -EINVAL : rc;
}

/* What a file held until it was damaged is kept. */
static int import_lightgbm_perf(const struct import *x, struct err *e)
{
	struct err why = { "" };
	struct reading r = { .x = x, .e = &why };
	int fd = open(x->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	if (fd < 0)
		return err_set(e, -errno, "cannot read %s: %s", x->path, strerror(errno));
	rc = jsondoc_open(&r.json, fd);
	rc = rc ? err_set(&why, rc, "out of memory") : take_document(&r);
	jsondoc_close(&r.json);
	close(fd);
	if (r.unknown)
		store_note(x->store, "unknown keys of samples left out: %llu",
			   (unsigned long long)r.unknown);
	if (x->store->nnodes)
		store_note(x->store,
			   "the file does not say how many CPUs a node has: node_cpu_hours "
			   "and node_unused_cpu_hours are not known");
	if (rc == -EINVAL && x->store->nnodes) {
		store_leave_out(x->store, "%.150s; what is behind it is left out", why.text);
		rc = 0;
	}
	if (!rc && !x->store->nnodes)
		rc = err_set(&why, -EINVAL, "it holds no node's samples");
	return rc ? err_set(e, rc, "%.250s: %.200s", x->path, why.text) : 0;
}

const struct importer importer_lightgbm_perf = {
	.name = "lightgbm-perf",
	.operand = "FILE",
	.what = "the JSON of lightgbm-benchmark's perf.py",
	.run = import_lightgbm_perf,
};
