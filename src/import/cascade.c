/* SPDX-License-Identifier: Apache-2.0 */
/* cascade.c - the start-up events of Batch Shipyard pools: all are gathered and checked, then each
 * node becomes a recording whose marks they are. */
#include "core/phase/cascade.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text/decimal.h"
#include "base/text/textfile.h"
#include "core/sample.h"
#include "import/cascade_dump.h"
#include "import/importer.h"
#include "recording/writer.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	DUMP_MAX = 512 << 20,
	EVENTS_MAX = 8000000,
	NODES_MAX = 16384,
	NAME_MAX_BYTES = 255, /* of what a mark or a node is called */
	MESSAGE_MAX = 16000,  /* what a mark may say */
	BATCH = 512,          /* events that wait to be written */
	SAME_TIME_MAX = 16, /* events of a node at one time, among which repeated ones are found */
};
/* A node is not started for longer: a time that is further away from its others is none. */
#define SPAN_MOST_NS (INT64_C(10) * 365 * 86400 * NS_PER_S)
#define SECONDS_MAX  9e9

struct cascade_event {
	int64_t utc_ns;
	uint32_t order;
	const char *pool, *node, *name, *message; /* message "": none */
};

struct gathering {
	const struct import *x;
	char path[PATH_MAX]; /* of the file that is read */
	struct cascade_event *event;
	uint32_t n, cap;
	uint32_t twice; /* events that were there before */
	uint32_t nodes;
	struct err *e;
};

/* ---- one record ---- */

/* What is wrong with a record; NULL: nothing. As graph.py reads it, the key is known to the
 * microsecond. */
static const char *fault_of(const char *const f[CASCADE_FIELDS], int64_t *utc_ns)
{
	char *behind;
	double s;

	if (!f[CASCADE_KEY])
		return "it has no RowKey";
	s = decimal_parse(f[CASCADE_KEY], &behind);
	if (behind == f[CASCADE_KEY] || *behind || !(s > 0 && s < SECONDS_MAX))
		return "its RowKey is not a time";
	*utc_ns = cascade_key_ns(s);
	if (!f[CASCADE_EVENT] || !*f[CASCADE_EVENT])
		return "it has no Event";
	if (!f[CASCADE_NODE] || !*f[CASCADE_NODE])
		return "it has no NodeId";
	if (!f[CASCADE_PARTITION] || !*f[CASCADE_PARTITION])
		return "it has no PartitionKey";
	if (strlen(f[CASCADE_EVENT]) > NAME_MAX_BYTES || strlen(f[CASCADE_NODE]) > NAME_MAX_BYTES)
		return "its Event or NodeId has more than 255 bytes";
	if (f[CASCADE_MESSAGE] && strlen(f[CASCADE_MESSAGE]) > MESSAGE_MAX)
		return "its Message has more than 16000 bytes";
	return NULL;
}

static void take_fault(void *ctx, uint64_t offset, const char *what)
{
	struct gathering *g = ctx;

	store_leave_out(g->x->store, "%.200s at byte %" PRIu64 ": %s", g->path, offset, what);
}

/* By the name of the pool, or by ACCOUNT$POOL. */
static bool is_wanted(const char *pool, const char *partition)
{
	const char *behind = strrchr(partition, '$');

	return !pool || !strcmp(pool, partition) || (behind && !strcmp(pool, behind + 1));
}

static int take_entity(void *ctx, uint64_t offset, const char *const f[CASCADE_FIELDS])
{
	struct gathering *g = ctx;
	struct store *s = g->x->store;
	struct cascade_event ev = { .order = g->n }, *more;
	const char *why = fault_of(f, &ev.utc_ns);

	if (why) {
		store_leave_out(s, "%.200s at byte %" PRIu64 ": the record with RowKey %.60s: %s",
				g->path, offset, f[CASCADE_KEY] ? f[CASCADE_KEY] : "-", why);
		return 0;
	}
	if (!is_wanted(g->x->job, f[CASCADE_PARTITION]))
		return 0;
	if (g->n == EVENTS_MAX)
		return -E2BIG;
	more = array_room(g->event, g->n, &g->cap, sizeof *more);
	if (!more)
		return -ENOMEM;
	g->event = more;
	ev.pool = store_text(s, f[CASCADE_PARTITION]);
	ev.node = store_text(s, f[CASCADE_NODE]);
	ev.name = store_text(s, f[CASCADE_EVENT]);
	ev.message = f[CASCADE_MESSAGE] ? store_text(s, f[CASCADE_MESSAGE]) : "";
	if (!ev.pool || !ev.node || !ev.name || !ev.message)
		return -ENOMEM;
	g->event[g->n++] = ev;
	return 0;
}

/* ---- the dumps ---- */

static int take_text(struct gathering *g, const char *text, size_t n, struct err *e)
{
	const struct cascade_visitor v = { g, take_entity, take_fault };
	int rc = n ? cascade_dump_read(text, n, &v) : 0;

	return rc ? err_set(e, rc, "%.300s: %s", g->path, strerror(-rc)) : 0;
}

static int read_dump(struct gathering *g, struct err *e)
{
	struct bytes text = { 0 };
	uint32_t before = g->n;
	uint64_t faults = g->x->store->left_out;
	int rc = textfile_read(g->path, "dump", DUMP_MAX, &text, e);

	if (!rc)
		rc = take_text(g, (const char *)text.data, text.len, e);
	if (!rc && g->n == before && g->x->store->left_out == faults && !g->x->job)
		store_leave_out(g->x->store,
				"%.200s holds no record with PartitionKey, RowKey, Event and "
				"NodeId",
				g->path);
	bytes_free(&text);
	return rc;
}

/* Of the table itself; it may be empty. */
static int take_page(void *ctx, const char *name, const char *text, size_t n)
{
	struct gathering *g = ctx;

	snprintf(g->path, sizeof g->path, "%s", name);
	return take_text(g, text, n, g->e);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_dump(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return d->d_name[0] != '.' && dot &&
	       (!strcmp(dot, ".json") || !strcmp(dot, ".csv") || !strcmp(dot, ".jsonl"));
}

/* A file that cannot be read costs itself. */
static int read_directory(struct gathering *g, struct err *e)
{
	struct dirent **entry;
	int n = scandir(g->x->path, &entry, is_dump, by_name), rc = 0;

	if (n < 0)
		return err_set(e, -errno, "cannot read the directory %.300s: %s", g->x->path,
			       strerror(errno));
	for (int i = 0; i < n; i++) {
		struct err why = { "" };

		snprintf(g->path, sizeof g->path, "%s/%s", g->x->path, entry[i]->d_name);
		rc = rc == -ENOMEM || rc == -E2BIG ? rc : read_dump(g, &why);
		if (rc == -ENOMEM || rc == -E2BIG)
			err_set(e, rc, "%s", why.text);
		else if (rc)
			store_leave_out(g->x->store, "%s", why.text);
		free(entry[i]);
	}
	free(entry);
	if (!n)
		return err_set(e, -ENOENT, "the directory %.300s holds no *.json, *.jsonl or *.csv",
			       g->x->path);
	return rc == -ENOMEM || rc == -E2BIG ? rc : 0;
}

static int read_all(struct gathering *g, struct err *e)
{
	struct stat st;

	if (g->x->pages)
		return g->x->pages(g->x->pages_ctx, take_page, g, e);
	if (!stat(g->x->path, &st) && S_ISDIR(st.st_mode))
		return read_directory(g, e);
	snprintf(g->path, sizeof g->path, "%s", g->x->path);
	return read_dump(g, e);
}

/* ---- in order ---- */

static int by_node_and_time(const void *a, const void *b)
{
	const struct cascade_event *x = a, *y = b;
	int order = strcmp(x->pool, y->pool);

	if (!order)
		order = strcmp(x->node, y->node);
	if (order)
		return order;
	if (x->utc_ns != y->utc_ns)
		return x->utc_ns < y->utc_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool same_node(const struct cascade_event *a, const struct cascade_event *b)
{
	return !strcmp(a->pool, b->pool) && !strcmp(a->node, b->node);
}

/* Dumps may overlap. The table itself has no two events of a pool at one time. */
static bool same_event(const struct cascade_event *a, const struct cascade_event *b)
{
	return same_node(a, b) && a->utc_ns == b->utc_ns && !strcmp(a->name, b->name) &&
	       !strcmp(a->message, b->message);
}

/* Keys that differ by less than a microsecond lie beside each other. */
static bool is_repeated(const struct gathering *g, uint32_t kept, const struct cascade_event *ev)
{
	for (uint32_t i = 1; i <= kept && i <= SAME_TIME_MAX; i++) {
		const struct cascade_event *before = &g->event[kept - i];

		if (before->utc_ns != ev->utc_ns)
			return false;
		if (same_event(before, ev))
			return true;
	}
	return false;
}

static void drop_repeated(struct gathering *g)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < g->n; i++)
		if (is_repeated(g, kept, &g->event[i]))
			g->twice++;
		else
			g->event[kept++] = g->event[i];
	g->n = kept;
	if (g->twice)
		store_note(g->x->store, "events that were there twice and count once: %" PRIu32,
			   g->twice);
}

/* ---- a node ---- */

struct writing {
	struct sample sample;
	struct writer *writer;
	int64_t begin_ns; /* of its first event, UTC */
	struct err *e;
};

static int flush(struct writing *w, int64_t utc_ns)
{
	sample_begin(&w->sample, utc_ns, utc_ns - w->begin_ns);
	return writer_sample(w->writer, &w->sample, w->e);
}

static int write_events(struct writing *w, const struct cascade_event *ev, uint32_t n)
{
	int rc = flush(w, w->begin_ns);

	for (uint32_t i = 0; i < n && !rc; i++) {
		sample_mark(&w->sample, 0, ev[i].utc_ns - w->begin_ns, ev[i].name, ev[i].message);
		if (i + 1 == n || w->sample.nevents >= BATCH ||
		    w->sample.text_len > w->sample.text_cap / 2)
			rc = flush(w, ev[i].utc_ns);
	}
	return rc;
}

static int write_node(const struct gathering *g, const struct cascade_event *ev, uint32_t n,
		      struct err *e)
{
	const struct writer_options o = { .sync_ns = 0 };
	struct writing w = { .begin_ns = ev->utc_ns, .e = e };
	struct writer_figures figures;
	char from[PATH_MAX + 16], name[300];
	int rc = sample_init(&w.sample, 16, 2 * BATCH);

	if (rc)
		return err_set(e, rc, "out of memory for a node");
	rc = writer_open(&w.writer, g->x->dirfd, ev->node, &o, e);
	if (!rc) {
		snprintf(from, sizeof from, "cascade %s", g->x->path);
		sample_clock(&w.sample, 0, w.begin_ns, -1, false);
		sample_meta_text(&w.sample, "import.from", from);
		sample_meta_text(&w.sample, "node.host", ev->node);
		sample_meta_text(&w.sample, CASCADE_POOL, ev->pool);
		rc = write_events(&w, ev, n);
		writer_figures(w.writer, &figures);
		snprintf(name, sizeof name, "%s", figures.name);
		if (rc)
			writer_close(w.writer, NULL);
		else
			rc = writer_close(w.writer, e);
	}
	if (!rc)
		g->x->wrote(g->x->ctx, name);
	sample_free(&w.sample);
	return rc;
}

/* Events years away from the node's others are left out: at most a half of them can be. */
static int write_known(struct gathering *g, struct cascade_event *ev, uint32_t n, struct err *e)
{
	int64_t middle = ev[n / 2].utc_ns;
	uint32_t first = 0, last = n;

	while (middle - ev[first].utc_ns > SPAN_MOST_NS)
		first++;
	while (ev[last - 1].utc_ns - middle > SPAN_MOST_NS)
		last--;
	for (uint32_t i = 0; i < n; i++)
		if (i < first || i >= last)
			store_leave_out(g->x->store,
					"%.100s: %.100s with RowKey %.6f lies years away from the "
					"node's other events and is left out",
					ev[i].node, ev[i].name,
					(double)ev[i].utc_ns / (double)NS_PER_S);
	return write_node(g, ev + first, last - first, e);
}

static int write_nodes(struct gathering *g, struct err *e)
{
	int rc = 0;
	uint32_t n;

	for (uint32_t i = 0; i < g->n && !rc; i += n) {
		for (n = 1; i + n < g->n && same_node(&g->event[i], &g->event[i + n]);)
			n++;
		if (++g->nodes > NODES_MAX)
			return err_set(e, -E2BIG,
				       "%.300s holds more than %d nodes; name one pool of them",
				       g->x->path, NODES_MAX);
		rc = write_known(g, &g->event[i], n, e);
	}
	return rc;
}

static int import_cascade(const struct import *x, struct err *e)
{
	struct gathering g = { .x = x, .e = e };
	int rc = read_all(&g, e);

	if (!rc && !g.n)
		rc = err_set(e, -ENODATA, "%.300s holds no start-up event%s%.100s", x->path,
			     x->job ? " of the pool " : "", x->job ? x->job : "");
	if (!rc && g.event) {
		qsort(g.event, g.n, sizeof *g.event, by_node_and_time);
		drop_repeated(&g);
		rc = write_nodes(&g, e);
	}
	free(g.event);
	return rc;
}

const struct importer importer_cascade = {
	.name = "cascade",
	.operand = "FILE|DIR|URL [POOL]",
	.what = "the start-up events of Batch Shipyard's pools",
	.has_jobs = true,
	.run = import_cascade,
};
