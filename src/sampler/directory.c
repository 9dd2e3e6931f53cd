/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/directory.h"

#include "recording/join.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOKS_MAX = 4 };

enum whose { NOBODYS, OURS, ANOTHERS, UNKNOWN };

static bool is_recording(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, "node-", 5) && n > 11 && !strcmp(name + n - 6, ".sonde");
}

/* Not told by both of them: no difference. */
static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

/* Of this batch job; outside of one, of this launch of mpirun. */
static bool is_ours(const struct run *r, const struct identity *who)
{
	const struct batch_job *job = &who->job;
	const char *id = run_find_text(r, 0, "job.id"), *launch = run_find_text(r, 0, "job.launch");

	if (!who->id[0])
		return who->launch[0] && launch && !strcmp(launch, who->launch);
	return id && !strcmp(id, job->id) &&
	       !differ(run_find_text(r, 0, "job.scheduler"), batch_job_system(job)) &&
	       !differ(run_find_text(r, 0, batch_text_key(BATCH_CLUSTER)),
		       job->text[BATCH_CLUSTER]);
}

static enum whose whose_recording(const char *path, const struct identity *who)
{
	enum whose whose = UNKNOWN; /* another node's may have begun this moment, and be empty */
	struct run *r;

	if (run_open(&r, path, NULL))
		return UNKNOWN;
	if (is_ours(r, who))
		whose = OURS;
	else if (run_find_text(r, 0, "job.id") || run_find_text(r, 0, "run.id"))
		whose = ANOTHERS;
	run_close(r);
	return whose;
}

static bool is_batch(const struct identity *who)
{
	return who->id[0] || who->launch[0];
}

/* As the first recording there that tells. */
static enum whose whose_directory(const char *path, const struct identity *who)
{
	enum whose whose = NOBODYS;
	DIR *d = opendir(path);
	struct dirent *entry;
	char file[PATH_MAX];

	for (int looks = 0; d && looks < LOOKS_MAX && (entry = readdir(d));) {
		if (!is_recording(entry->d_name) ||
		    (size_t)snprintf(file, sizeof file, "%s/%s", path, entry->d_name) >=
			    sizeof file)
			continue;
		looks++;
		whose = is_batch(who) ? whose_recording(file, who) : ANOTHERS;
		if (whose != UNKNOWN)
			break;
	}
	if (d)
		closedir(d);
	return whose;
}

/* As mkdir -p does. What is wrong is seen when the directory itself is made. */
static void make_parents(const char *path)
{
	char parent[PATH_MAX];

	if ((size_t)snprintf(parent, sizeof parent, "%s", path) >= sizeof parent)
		return;
	for (char *slash = parent; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(parent, 0777);
		*slash = '/';
	}
}

/* Of several that begin at once outside of a job, one has the directory; the lock is held until its
 * recording is there to be seen. Where directories have no locks, they are the user's business. */
static bool is_taken(const struct directory_wish *w, int fd)
{
	if (w->force)
		return false;
	if (!is_batch(w->who) && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return true;
	return whose_directory(w->path, w->who) == ANOTHERS;
}

void directory_settled(int fd)
{
	flock(fd, LOCK_UN);
}

int directory_open(const struct directory_wish *w, bool *made, struct err *e)
{
	int fd;

	*made = !mkdir(w->path, 0700);
	if (!*made && errno == ENOENT) {
		make_parents(w->path);
		*made = !mkdir(w->path, 0700);
	}
	if (!*made && errno != EEXIST)
		return err_set(e, -errno, "cannot make the directory %s: %s; %s", w->path,
			       strerror(errno), w->elsewhere);
	fd = open(w->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "cannot open the directory %s: %s; %s", w->path,
			       strerror(errno), w->elsewhere);
	if (faccessat(fd, ".", W_OK | X_OK, AT_EACCESS)) {
		int rc = err_set(e, -errno, "cannot write into the directory %s: %s; %s", w->path,
				 strerror(errno), w->elsewhere);

		close(fd);
		return rc;
	}
	if (!is_taken(w, fd))
		return fd;
	close(fd);
	return err_set(e, -EEXIST, "%s holds the recording of another job; %s%s", w->path,
		       w->elsewhere, w->anyway ? w->anyway : "");
}
