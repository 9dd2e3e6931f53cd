/* SPDX-License-Identifier: Apache-2.0 */
#include "perfmon/results.h"

#include "base/clock.h"
#include "base/files.h"
#include "output/outfile.h"
#include "output/tablefile.h"
#include "recording/join.h"
#include "session/attached.h"
#include "sink/perfmon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern const char asset_perfmon_map[], asset_perfmon_map_end[];

int perfmonfile_map(struct map *m, struct err *e)
{
	return map_parse(m, "perfmon.map", asset_perfmon_map,
			 (size_t)(asset_perfmon_map_end - asset_perfmon_map), e);
}

/* The document of table t, or, of NULL, that of the machines. */
static int write_document(struct run *r, const struct map *m, const struct map_table *t,
			  const char *directory, struct outputs *w, struct err *e)
{
	struct outfile out;
	char name[128];
	int rc;

	snprintf(name, sizeof name, "%s.json", t ? t->name : PERFMON_META_DATA);
	rc = outfile_open(&out, directory, name, e);
	if (rc)
		return rc;
	rc = t ? perfmon_document(r, m, (uint32_t)(t - m->tables), directory, out.file, e)
	       : perfmon_meta_data(r, m, out.file, e);
	rc = outfile_close(&out, rc, e);
	if (!rc)
		outputs_add(w, out.path);
	return rc;
}

static int write_documents(struct run *r, const struct map *m, const char *directory,
			   struct outputs *w, struct err *e)
{
	int rc = write_document(r, m, NULL, directory, w, e);

	for (const struct map_table *t = m->tables; t < m->tables + m->ntables && !rc; t++) {
		if (!perfmon_applies(t, r))
			continue;
		rc = write_document(r, m, t, directory, w, e);
		if (!rc && (rc = r->rewind(r)))
			err_set(e, rc, "%s: %s", r->path, strerror(-rc));
	}
	return rc;
}

int perfmonfile_documents(struct run *r, const char *directory, struct outputs *w, struct err *e)
{
	char metrics[PATH_MAX];
	struct map m;
	int rc = perfmonfile_map(&m, e);

	if (!rc && snprintf(metrics, sizeof metrics, "%s/metrics", directory) >= PATH_MAX)
		rc = err_set(e, -ENAMETOOLONG, "%.200s...: the name is too long", directory);
	if (!rc)
		rc = folder_make(directory, e);
	if (!rc)
		rc = write_documents(r, &m, metrics, w, e);
	map_free(&m);
	return rc;
}

bool perfmonfile_has(const char *table)
{
	struct map m;
	bool has = !perfmonfile_map(&m, NULL) && map_table(&m, table);

	map_free(&m);
	return has;
}

/* A file of its own that holds the tables of many jobs. */
static int collect_table(const struct perfmonfile *x, const char *table, const struct sink *k,
			 struct frame *f, struct err *e)
{
	struct tablefile to = x->to;
	struct collection c;
	char path[PATH_MAX];
	int rc;

	if (snprintf(path, sizeof path, "%s/%s.%s", to.directory, table, sink_extension(k)) >=
	    PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%.200s...: the name is too long", to.directory);
	rc = folder_make(to.directory, e);
	if (!rc)
		rc = collection_open(&c, path, x->wait_ns, x->tell, e);
	if (rc)
		return rc;
	to.file = c.out.file;
	rc = collection_close(&c, tablefile_write(&to, table, k, f, e), e);
	if (!rc)
		outputs_add(to.written, path);
	return rc;
}

static int write_table(struct run *r, const struct perfmonfile *x, const struct map_table *t,
		       struct err *e)
{
	const struct selection sel = { .map = t, .from_s = x->from_s, .to_s = x->to_s };
	struct frame *f;
	int rc = frame_open(&f, r, &sel, e);

	for (size_t i = 0; i < nsinks && !rc; i++) {
		if (!(x->formats >> i & 1))
			continue;
		if (sinks[i]->collects && x->to.directory && !x->to.file)
			rc = collect_table(x, t->name, sinks[i], f, e);
		else
			rc = tablefile_write(&x->to, t->name, sinks[i], f, e);
	}
	frame_close(f);
	return rc;
}

int perfmonfile_tables(struct run *r, const struct perfmonfile *x, struct err *e)
{
	struct map m;
	int rc = perfmonfile_map(&m, e);
	const char *only = x->only;

	if (!only && !x->to.directory && !x->to.file && !rc)
		only = m.tables->name;
	for (const struct map_table *t = m.tables; !rc && t < m.tables + m.ntables; t++)
		if (only ? !strcmp(t->name, only) : perfmon_applies(t, r))
			rc = write_table(r, x, t, e);
	map_free(&m);
	return rc;
}

/* Other nodes begin and end a little later. Of one that is not closed, a sample has to come now and
 * then; and what is to be written has to be written before the scheduler ends the job. */
#define MISSING_NS (30 * NS_PER_S)
#define SILENT_NS  (10 * NS_PER_S)
#define MARGIN_NS  (10 * NS_PER_S)
#define LOCK_NS    (60 * NS_PER_S)
enum { LOOK_FIRST_MS = 200, LOOK_LAST_MS = 5000 };

struct others {
	int64_t hosts;    /* that have a recording */
	int64_t going_on; /* recordings that are not closed, and a sample came not long ago */
};

/* How many copies there are to be: as many as this step has tasks, where that is told. */
static int64_t hosts_expected(const struct batch_job *j)
{
	int64_t nodes = j->number[BATCH_NODES], ranks = j->number[BATCH_RANKS];

	if (nodes < 1)
		nodes = 1;
	return ranks >= 1 && ranks < nodes ? ranks : nodes;
}

static bool is_going_on(const struct run *r, uint32_t node, int64_t interval_ns)
{
	int64_t last_ns = run_utc_ns(r, node, r->nodes[node].last_ns);

	return !r->nodes[node].complete && clock_utc_ns() - last_ns < 2 * interval_ns + SILENT_NS;
}

static int look(struct others *o, struct run *r, int64_t interval_ns)
{
	uint32_t *first = calloc(r->nnodes, sizeof *first);
	int bad = first ? run_hosts(r, first) : -ENOMEM;

	*o = (struct others){ 0 };
	for (uint32_t i = 1; i < r->nnodes && !bad; i++) {
		o->hosts += first[i] == i;
		o->going_on += is_going_on(r, i, interval_ns);
	}
	free(first);
	return bad;
}

/* Is there nothing (more) to wait for? */
static bool is_enough(const struct perfmon_results *p, int64_t waited_ns, bool *told)
{
	int64_t expected = hosts_expected(p->job);
	struct others o = { 0 };
	struct run *r;
	bool enough;

	if (run_open(&r, p->recording, NULL))
		return true;
	enough = look(&o, r, p->interval_ns) != 0 ||
		 (!o.going_on && (o.hosts >= expected || waited_ns >= MISSING_NS));
	if (!enough && !*told)
		log_info(p->log, "Waiting for the other nodes: %lld of %lld have begun, %lld go on",
			 (long long)o.hosts, (long long)expected, (long long)o.going_on);
	if (enough && o.hosts < expected)
		log_warning(p->log, "%lld of %lld nodes have no recording; the others' is used",
			    (long long)(expected - o.hosts), (long long)expected);
	*told = true;
	run_close(r);
	return enough;
}

void perfmon_results_wait(const struct perfmon_results *p)
{
	int64_t begin = clock_mono_ns(), limit = attached_until_ns(p->ends_utc_ns, MARGIN_NS);
	int64_t signalled = attached_signalled() ? begin : 0;
	bool told = false;
	long ms = LOOK_FIRST_MS;

	while (!is_enough(p, clock_mono_ns() - begin, &told)) {
		int64_t now = clock_mono_ns();

		if (!signalled && attached_signalled())
			signalled = now;
		if ((limit && now - begin >= limit) ||
		    (signalled && now - signalled >= SILENT_NS)) {
			log_warning(p->log, "Not all nodes are closed; what is there is used");
			return;
		}
		nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * NS_PER_MS }, NULL);
		ms = ms * 3 / 2 > LOOK_LAST_MS ? LOOK_LAST_MS : ms * 3 / 2;
	}
}

/* All nodes see the same recordings, so that one of them finds itself the first. What ended before
 * this one began is another run of the job's. */
bool perfmon_results_are_ours(const struct perfmon_results *p)
{
	const char *first = NULL;
	int64_t first_ns = 0;
	bool ours = true;
	struct run *r;

	if (run_open(&r, p->recording, NULL))
		return true;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		const struct run_node *n = &r->nodes[i];
		int64_t began = hostlist_find(&p->job->nodes, n->host ? n->host : "") == 0
					? INT64_MIN /* it is the job's first */
					: run_utc_ns(r, i, n->first_ns);
		bool before = began < first_ns ||
			      (began == first_ns && first && n->host && strcmp(n->host, first) < 0);

		if (run_utc_ns(r, i, n->last_ns) < p->began_utc_ns || (first && !before))
			continue;
		first = n->host;
		first_ns = began;
	}
	ours = !first || !strcmp(first, p->host);
	run_close(r);
	return ours;
}

static void wait_note(const char *path, int64_t wait_ns)
{
	(void)path;
	(void)wait_ns;
}

/* The tables of all jobs of a benchmark test are in one file. */
static int add_to_test(const struct perfmon_results *p, size_t sink, struct run *r,
		       struct perfmonfile *x, struct err *e)
{
	struct collection c;
	char path[PATH_MAX];
	int bad;

	if (snprintf(path, sizeof path, "%s/test.%s", p->place->directory,
		     sink_extension(sinks[sink])) >= PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%.200s...: the name is too long",
			       p->place->directory);
	bad = collection_open(&c, path, x->wait_ns, x->tell, e);
	if (bad)
		return bad;
	x->to.file = c.out.file;
	bad = collection_close(&c, perfmonfile_tables(r, x, e), e);
	x->to.file = NULL;
	if (!bad)
		outputs_add(x->to.written, path);
	return bad;
}

/* One format after the other: one that fails does not take the next one with it. */
static int export_one(const struct perfmon_results *p, size_t sink, struct run *r,
		      struct outputs *w, struct err *e)
{
	struct perfmonfile x = {
		.to = { .directory = p->place->directory, .job = p->id, .written = w },
		.formats = UINT64_C(1) << sink,
		.wait_ns = LOCK_NS,
		.tell = wait_note,
	};

	return p->place->benchmark && sinks[sink]->collects ? add_to_test(p, sink, r, &x, e)
							    : perfmonfile_tables(r, &x, e);
}

/* perfmon's own plots, and its report. Without the helper that draws, the page has all they say. */
static int report_on_paper(const struct perfmon_results *p, struct run *r, const struct summary *s,
			   struct outputs *w, struct err *e)
{
	struct plots_place to = { .format = PLOTS_PNG };
	struct outfile out;
	struct plots plots;
	int bad = plots_make(&plots, r, s, &plots_of_perfmon, NULL, e);

	if (!bad)
		bad = reportfile_plots(&plots, p->place->directory, &to, w, e);
	if (!bad)
		bad = reportfile_pdf(&out, &plots, p->id, p->place->directory, e);
	if (!bad)
		outputs_add(w, out.path);
	plots_free(&plots);
	if (bad != -ENOENT)
		return bad;
	log_warning(p->log, "No plots and no PDF: %s", e->text);
	return 0;
}

static int report(const struct perfmon_results *p, struct run *r, struct outputs *w, struct err *e)
{
	struct outfile out;
	struct summary s;
	int bad = summary_make(&s, r, e);

	if (!bad)
		bad = reportfile_page(&out, r, &s, NULL, p->place->directory, e);
	if (!bad)
		outputs_add(w, out.path);
	if (!bad)
		bad = report_on_paper(p, r, &s, w, e);
	summary_free(&s);
	return bad;
}

static bool done(const struct perfmon_results *p, int bad, const struct err *e)
{
	if (bad)
		log_error(p->log, "%s", e->text);
	return !bad;
}

static bool write_all(const struct perfmon_results *p, struct run *r, struct outputs *w)
{
	struct err e = { "" };
	bool good = done(p, perfmonfile_documents(r, p->place->directory, w, &e), &e);

	for (size_t i = 0; i < nsinks; i++)
		if (p->formats >> i & 1)
			good &= done(p, export_one(p, i, r, w, &e), &e);
	if (p->report)
		good &= done(p, report(p, r, w, &e), &e);
	return good;
}

static void log_written(const struct perfmon_results *p, const struct outputs *w)
{
	const char *path = (const char *)w->paths.data, *end = path + w->paths.len;

	for (; path && path < end; path += strlen(path) + 1)
		log_info(p->log, "Written: %s", path);
}

bool perfmon_results_write(const struct perfmon_results *p)
{
	struct outputs w = { .verb = "perfmon", .recording = p->recording, .keep = true };
	struct err e = { "" };
	struct run *r;
	bool good;

	if (!done(p, run_open(&r, p->recording, &e), &e))
		return false;
	for (uint32_t i = 1; i < r->nnodes; i++)
		if (!r->nodes[i].complete)
			log_warning(p->log, "The recording of %s was not closed: %s",
				    r->nodes[i].host, r->nodes[i].file);
	good = write_all(p, r, &w);
	log_written(p, &w);
	outputs_end(&w, r->ndamages);
	run_close(r);
	return good;
}
