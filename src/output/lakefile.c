/* SPDX-License-Identifier: Apache-2.0 */
#include "output/lakefile.h"

#include "base/clock.h"
#include "output/outfile.h"
#include "sink/lake.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* What a name of a file or folder may be made of, and no hidden one. */
static void put_plain(char *to, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++, n++)
		to[n] = strchr(NAME_CHARACTERS, *text) || (n && strchr(".-", *text)) ? *text : '_';
	to[n] = '\0';
}

static const char *cluster_name(const struct run *r)
{
	static const char *const keys[] = { "job.cluster", "job.environment.SLURM_CLUSTER_NAME" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *name = run_find_text(r, 0, keys[i]);

		if (name)
			return name;
	}
	return "unknown";
}

/* ROOT/cluster=NAME/date=DATE; the last folder is made with the file. */
static int make_folders(const char *root, const struct run *r, char path[PATH_MAX], struct err *e)
{
	char cluster[128], date[40];
	int n;

	put_plain(cluster, sizeof(cluster), cluster_name(r));
	clock_iso(r->t0_utc_ns, date, sizeof(date));
	n = snprintf(path, PATH_MAX, "%s/cluster=%s", root, cluster);
	if (n < 0 || (size_t)n + sizeof("/date=2026-11-21") > PATH_MAX)
		return err_set(e, -ENAMETOOLONG, "%s: the name is too long", root);
	if ((mkdir(root, 0700) && errno != EEXIST) || (mkdir(path, 0700) && errno != EEXIST))
		return err_set(e, -errno, "cannot make the directory %s: %s", path,
			       strerror(errno));
	snprintf(path + n, PATH_MAX - (size_t)n, "/date=%.10s", date);
	return 0;
}

int lakefile_write(const char *root, const char *job, const struct run *r, struct frame *f,
		   char written[PATH_MAX], struct err *e)
{
	char directory[PATH_MAX], plain[180], name[200];
	struct outfile out;
	int rc = make_folders(root, r, directory, e);

	put_plain(plain, sizeof(plain), job);
	snprintf(name, sizeof(name), "%s.parquet", plain);
	if (!rc)
		rc = outfile_open(&out, directory, name, e);
	if (rc)
		return rc;
	rc = outfile_close(&out, lake_write(f, job, out.file, e), e);
	snprintf(written, PATH_MAX, "%s", out.path);
	return rc;
}
