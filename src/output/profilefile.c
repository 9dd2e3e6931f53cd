/* SPDX-License-Identifier: Apache-2.0 */
#include "output/profilefile.h"

#include "base/files.h"
#include "core/stacks/owners.h"
#include "output/outfile.h"
#include "report/summary/code.h"
#include "sink/profile/profile.h"
#include "sink/trace/scanner.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t profilefile_format(const char *name, size_t n)
{
	for (size_t i = 0; i < nprofiles; i++)
		if (strlen(profiles[i]->name) == n && !memcmp(profiles[i]->name, name, n))
			return UINT64_C(1) << i;
	return 0;
}

static int write_one(const struct profilefile *p, const struct profile *k,
		     const struct profile_data *d, const char *what, struct err *e)
{
	struct outfile out;
	char name[64];
	struct err why = { "" };
	int rc;

	if (!p->directory) {
		rc = k->write(d, stdout, &why);
		if (!rc && (fflush(stdout) || ferror(stdout)))
			rc = err_set(&why, -EIO, "output error");
		return rc ? err_set(e, rc, "cannot write to standard output: %s", why.text) : 0;
	}
	snprintf(name, sizeof name, "%s%s", what, k->file + strlen("stacks"));
	rc = outfile_open(&out, p->directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, k->write(d, out.file, e), e);
	if (!rc)
		outputs_add(p->written, out.path);
	return rc;
}

static int write_all(const struct profilefile *p, struct stacks *s, const char *what, struct err *e)
{
	struct profile_data d;
	int rc = profile_data_make(&d, s, e);

	for (size_t i = 0; i < nprofiles && !rc; i++)
		if (p->formats >> i & 1)
			rc = write_one(p, profiles[i], &d, what, e);
	profile_data_free(&d);
	return rc;
}

/* At the peak of each node, whatever the times. */
static int write_memory(const struct profilefile *p, struct run *r, const struct classes *c,
			struct err *e)
{
	struct stacks_selection sel = { .kind = SAMPLE_RESIDENT };
	struct owners owners = { 0 };
	struct stacks *s = NULL;
	int rc = stacks_open(&s, r, c, &sel, e);

	if (!rc)
		rc = owners_make(&owners, s, e);
	stacks_close(s);
	s = NULL;
	sel.at_ns = owners.at_ns[OWNERS_PEAK];
	if (!rc)
		rc = stacks_open(&s, r, c, &sel, e);
	if (!rc)
		rc = write_all(p, s, "memory", e);
	stacks_close(s);
	owners_free(&owners);
	return rc;
}

static int write_kind(const struct profilefile *p, struct run *r, const struct classes *c,
		      enum sample_kind kind, struct err *e)
{
	const char *what = kind == SAMPLE_WAITS    ? "waits"
			   : kind == SAMPLE_PYTHON ? "python-stacks"
						   : "stacks";
	const struct stacks_selection sel = { .kind = kind,
					      .from_s = p->from_s,
					      .to_s = p->to_s > 0     ? p->to_s
						      : p->from_s > 0 ? DBL_MAX
								      : 0 };
	struct stacks *s = NULL;
	int rc = stacks_open(&s, r, c, &sel, e);

	if (!rc)
		rc = write_all(p, s, what, e);
	stacks_close(s);
	return rc;
}

/* Python's functions have CPU time that the samples have, too: files of their own, so that no sum
 * has it twice. */
int profilefile_write(const struct profilefile *p, struct run *r, struct err *e)
{
	const char *what = p->kind == SAMPLE_WAITS      ? "waits"
			   : p->kind == SAMPLE_RESIDENT ? "memory"
							: "stacks";
	struct classes c = { 0 };
	int rc;

	if (!r->nsample_sets_of[p->kind])
		return err_set(e, -ENODATA, "%.300s has no %s; record them with --%s", r->path,
			       what, what);
	rc = code_classes(&c, NULL, e);
	if (!rc && p->kind == SAMPLE_RESIDENT)
		rc = write_memory(p, r, &c, e);
	else if (!rc)
		rc = write_kind(p, r, &c, p->kind, e);
	if (!rc && p->kind == SAMPLE_CPU && p->directory && r->nsample_sets_of[SAMPLE_PYTHON])
		rc = write_kind(p, r, &c, SAMPLE_PYTHON, e);
	classes_free(&c);
	return rc;
}

static int write_profile(struct scanner_export *x, uint32_t node, const char *directory,
			 struct outputs *w, struct err *e)
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
		outputs_add(w, out.path);
	return rc;
}

static int write_descriptor(struct scanner_export *x, const char *directory, const char *name,
			    int (*put)(struct scanner_export *x, FILE *out, struct err *e),
			    struct outputs *w, struct err *e)
{
	struct outfile out;
	int rc = outfile_open(&out, directory, name, e);

	if (rc)
		return rc;
	rc = outfile_close(&out, put(x, out.file, e), e);
	if (!rc)
		outputs_add(w, out.path);
	return rc;
}

static int write_job(struct scanner_export *x, const struct run *r, const char *directory,
		     struct outputs *w, struct err *e)
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

int scannerfile_write(struct run *r, const char *directory, struct outputs *w, struct err *e)
{
	struct scanner_export *x;
	int rc = scanner_export_open(&x, r, e);

	if (!rc)
		rc = write_job(x, r, directory, w, e);
	scanner_export_close(x);
	return rc;
}
