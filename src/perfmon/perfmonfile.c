/* SPDX-License-Identifier: Apache-2.0 */
#include "perfmon/perfmonfile.h"

#include "base/folder.h"
#include "output/collection.h"
#include "output/outfile.h"
#include "sink/perfmon.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

extern const char asset_perfmon_map[], asset_perfmon_map_end[];

int perfmonfile_map(struct map *m, struct err *e)
{
	return map_parse(m, "perfmon.map", asset_perfmon_map,
			 (size_t)(asset_perfmon_map_end - asset_perfmon_map), e);
}

/* The document of table t, or, of NULL, that of the machines. */
static int write_document(struct run *r, const struct map *m, const struct map_table *t,
			  const char *directory, struct written *w, struct err *e)
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
		written_add(w, out.path);
	return rc;
}

static int write_documents(struct run *r, const struct map *m, const char *directory,
			   struct written *w, struct err *e)
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

int perfmonfile_documents(struct run *r, const char *directory, struct written *w, struct err *e)
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
		written_add(to.written, path);
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
