/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/directory.h"

#include "recording/join.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool holds_recordings(const char *path)
{
	DIR *d = opendir(path);
	bool found = false;

	for (struct dirent *entry; d && !found && (entry = readdir(d));) {
		size_t n = strlen(entry->d_name);

		found = !strncmp(entry->d_name, "node-", 5) && n > 11 &&
			!strcmp(entry->d_name + n - 6, ".sonde");
	}
	if (d)
		closedir(d);
	return found;
}

static bool same_job(const char *path, const char *job_id)
{
	const struct run_meta *m;
	struct run *r;
	bool same;

	if (!job_id[0] || run_open(&r, path, NULL))
		return false;
	m = run_find_meta(r, 0, "job.id");
	same = m && m->text && !strcmp(m->text, job_id);
	run_close(r);
	return same;
}

int directory_open(const char *path, const char *job_id, bool force, bool *made, struct err *e)
{
	int fd;

	*made = !mkdir(path, 0700);
	if (!*made && errno != EEXIST)
		return err_set(e, -errno, "cannot make the directory %s: %s; name another with -o",
			       path, strerror(errno));
	if (!*made && !force && holds_recordings(path) && !same_job(path, job_id))
		return err_set(
			e, -EEXIST,
			"%s holds the recording of another job; name another directory with -o, or "
			"add --force",
			path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "cannot open the directory %s: %s", path,
			       strerror(errno));
	return fd;
}
