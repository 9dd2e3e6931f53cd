/* SPDX-License-Identifier: Apache-2.0 */
#include "output/tablefile.h"

#include "output/outfile.h"

#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

const char *tablefile_job(const struct run *r, const char *path)
{
	const char *id = run_find_text(r, 0, "job.id");
	const char *slash = strrchr(path, '/');

	if (id)
		return id;
	return slash && slash[1] ? slash + 1 : path;
}

/* As perfmon names the tables of its jobs: series_4711. */
static int add_table(const struct tablefile *to, const char *table, const struct sink *k,
		     struct frame *f, struct err *e)
{
	char name[256];
	char *c = name;

	snprintf(name, sizeof(name), "%s_%s", table, to->job);
	while (*(c += strspn(c, NAME_CHARACTERS)))
		*c = '_';
	return sink_run_as(k, f, name, to->file, e);
}

static int write_file(const struct tablefile *to, const char *table, const struct sink *k,
		      struct frame *f, struct err *e)
{
	struct outfile out;
	char name[128];
	int rc;

	snprintf(name, sizeof(name), "%s.%s", table, sink_extension(k));
	rc = outfile_open(&out, to->directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, sink_run(k, f, out.file, e), e);
	if (!rc)
		written_add(to->written, out.path);
	return rc;
}

static int write_output(const struct sink *k, struct frame *f, struct err *e)
{
	struct err why = { "" };
	int rc = sink_run(k, f, stdout, &why);

	return rc ? err_set(e, rc, "cannot write to standard output: %s", why.text) : 0;
}

int tablefile_write(const struct tablefile *to, const char *table, const struct sink *k,
		    struct frame *f, struct err *e)
{
	int rc;

	if (to->file)
		rc = add_table(to, table, k, f, e);
	else if (to->directory)
		rc = write_file(to, table, k, f, e);
	else
		rc = write_output(k, f, e);
	if (!rc && (rc = frame_rewind(f)))
		err_set(e, rc, "cannot read the recording again: %s", strerror(-rc));
	return rc;
}
