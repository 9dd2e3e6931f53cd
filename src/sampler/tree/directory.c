/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/directory.h"

#include "recording/join.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_MAX = 4 };

static const char claim_name[] = ".sonde-claim";

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

/* Make the directory, and as mkdir -p does those above it; errno is of the first that cannot be. */
static bool make_whole(const char *path)
{
	char parent[PATH_MAX];

	if (!mkdir(path, 0700))
		return true;
	if (errno != ENOENT || (size_t)snprintf(parent, sizeof parent, "%s", path) >= sizeof parent)
		return false;
	for (char *slash = parent; (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		if (mkdir(parent, 0777) && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return !mkdir(path, 0700);
}

/* Which job it is, whatever the node. */
static void claim_text(const struct identity *who, char *out, size_t size)
{
	const char *cluster = who->job.text[BATCH_CLUSTER];

	snprintf(out, size, "%s %s %s %s", who->id, who->launch,
		 who->id[0] ? batch_job_system(&who->job) : "", cluster ? cluster : "");
}

/* Jobs that begin at once on several nodes: a link is made and read as a whole, and on one of the
 * nodes only, also where a network file system has no locks. One that was left behind by a job
 * that did not live to take it away stands for a minute. Whether another job has it. */
static bool is_claimed(const struct identity *who, int fd)
{
	enum { STALE_S = 60 };
	char mine[512], there[512];
	struct stat st;
	ssize_t n;

	claim_text(who, mine, sizeof mine);
	if (!fstatat(fd, claim_name, &st, AT_SYMLINK_NOFOLLOW) &&
	    time(NULL) - st.st_mtime > STALE_S)
		unlinkat(fd, claim_name, 0);
	if (!symlinkat(mine, fd, claim_name) || errno != EEXIST)
		return false;
	n = readlinkat(fd, claim_name, there, sizeof there - 1);
	return n >= 0 && (there[n] = '\0', strcmp(there, mine) != 0);
}

/* Of several jobs that begin at once, one has the directory; the lock, on one machine, or else the
 * claim is held until its recording is there to be seen. Where a file system has neither, they are
 * the user's business. */
static bool is_taken(const struct directory_wish *w, int fd)
{
	enum whose whose;
	bool claimed;

	if (w->force)
		return false;
	if (!is_batch(w->who) && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return true;
	claimed = is_batch(w->who) && is_claimed(w->who, fd);
	whose = whose_directory(w->path, w->who);
	return whose == ANOTHERS || (claimed && whose != OURS);
}

void directory_settled(int fd, const struct identity *who)
{
	char mine[512], there[512];
	ssize_t n;

	flock(fd, LOCK_UN);
	if (!is_batch(who))
		return;
	claim_text(who, mine, sizeof mine);
	n = readlinkat(fd, claim_name, there, sizeof there - 1);
	if (n >= 0 && (there[n] = '\0', !strcmp(there, mine)))
		unlinkat(fd, claim_name, 0);
}

int directory_open(const struct directory_wish *w, bool *made, struct err *e)
{
	int fd;

	*made = make_whole(w->path);
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
	directory_settled(fd, w->who);
	close(fd);
	return err_set(e, -EEXIST, "%s holds the recording of another job; %s%s", w->path,
		       w->elsewhere, w->anyway ? w->anyway : "");
}

int directory_open_beside(struct directory_wish *w, bool *made, bool *moved, struct err *said,
			  struct err *e)
{
	struct directory_wish beside = *w;
	int fd = directory_open(w, made, e), again;

	if (fd != -EEXIST || !w->instead)
		return fd;
	beside.path = w->instead;
	again = directory_open(&beside, made, &(struct err){ "" });
	if (again < 0)
		return fd;
	err_set(said, 0, "%.100s holds the recording of another job; this one is in %.160s",
		w->path, w->instead);
	*moved = true;
	w->path = w->instead;
	return again;
}
