/* SPDX-License-Identifier: Apache-2.0 */
#include "output/scannerfile.h"

#include "base/folder.h"
#include "output/outfile.h"
#include "sink/trace/scanner.h"

#include <errno.h>
#include <inttypes.h>

static int write_profile(struct scanner_export *x, uint32_t node, const char *directory,
			 struct written *w, struct err *e)
{
	struct outfile out;
	char name[64];
	int rc;

	scanner_export_name(x, node, name, sizeof name);
	rc = outfile_open(&out, directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, scanner_export_profile(x, node, out.file, e), e);
	if (!rc)
		written_add(w, out.path);
	return rc;
}

static int write_descriptor(struct scanner_export *x, const char *directory, const char *name,
			    int (*put)(struct scanner_export *x, FILE *out, struct err *e),
			    struct written *w, struct err *e)
{
	struct outfile out;
	int rc = outfile_open(&out, directory, name, e);

	if (rc)
		return rc;
	rc = outfile_close(&out, put(x, out.file, e), e);
	if (!rc)
		written_add(w, out.path);
	return rc;
}

static int write_job(struct scanner_export *x, const struct run *r, const char *directory,
		     struct written *w, struct err *e)
{
	char path[PATH_MAX], job[PATH_MAX];
	int rc = 0;

	if (snprintf(path, sizeof path, "%s/jobs", directory) >= PATH_MAX ||
	    snprintf(job, sizeof job, "%s/jobs/%" PRIu64, directory, scanner_export_job(x)) >=
		    PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%.200s...: the name is too long", directory);
	rc = folder_make(directory, e);
	rc = rc ? rc : folder_make(path, e);
	for (uint32_t i = 1; i < r->nnodes && !rc; i++)
		rc = write_profile(x, i, job, w, e);
	if (!rc)
		rc = write_descriptor(x, job, "descriptor.bin", scanner_export_descriptor, w, e);
	return rc ? rc
		  : write_descriptor(x, directory, "db_metadata.bin", scanner_export_database, w,
				     e);
}

int scannerfile_write(struct run *r, const char *directory, struct written *w, struct err *e)
{
	struct scanner_export *x;
	int rc = scanner_export_open(&x, r, e);

	if (!rc)
		rc = write_job(x, r, directory, w, e);
	scanner_export_close(x);
	return rc;
}
