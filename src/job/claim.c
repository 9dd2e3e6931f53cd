/* SPDX-License-Identifier: Apache-2.0 */
#include "job/claim.h"

#include "base/clock.h"
#include "base/root.h"
#include "job/election.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Until one that begins at the same moment listens. */
enum { TRIES = 50, PAUSE_MS = 20 };

/* Without symbolic links, and where it is missing yet, its parent so. */
static void resolve(const char *given, char out[PATH_MAX])
{
	char directory[PATH_MAX], parent[PATH_MAX], whole[PATH_MAX];
	const char *slash, *name;

	if (realpath(given, out))
		return;
	snprintf(directory, sizeof directory, "%s", given);
	for (size_t n = strlen(directory); n > 1 && directory[n - 1] == '/';)
		directory[--n] = '\0';
	slash = strrchr(directory, '/');
	name = slash ? slash + 1 : directory;
	snprintf(parent, sizeof parent, "%.*s", (int)(name - directory), directory);
	if (!realpath(parent[0] ? parent : ".", whole) ||
	    snprintf(out, PATH_MAX, "%s/%s", whole, name) >= PATH_MAX)
		snprintf(out, PATH_MAX, "%s", directory);
}

static void make_key(char *key, size_t size, const struct batch_job *job, const char *id,
		     const char *directory)
{
	const char *system = batch_job_system(job), *raw = job->text[BATCH_RAW_ID];
	bool is_own = !id || (raw && !strcmp(id, raw)); /* an element of an array has two ids */
	char whole[PATH_MAX];

	resolve(directory, whole);
	snprintf(key, size, "all of %s %s on %s\n%s", system ? system : "-", is_own ? job->id : id,
		 job->node, whole);
}

pid_t claim_take(const struct batch_job *job, const char *id, const char *directory, int *fd)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * NS_PER_MS };
	char key[2 * PATH_MAX];
	int how = -EAGAIN;
	pid_t holder = 0;

	make_key(key, sizeof key, job, id, directory);
	for (int i = 0; i < TRIES && how == -EAGAIN; i++) {
		if (i)
			nanosleep(&pause, NULL);
		how = election_try(key, fd, NULL);
	}
	if (how == ELECTION_CONNECTED)
		holder = election_peer(*fd);
	if (how != ELECTION_ELECTED)
		file_close(fd);
	return holder > 0 ? holder : 0;
}

pid_t claim_holder(const struct batch_job *job, const char *directory)
{
	char key[2 * PATH_MAX];

	make_key(key, sizeof key, job, NULL, directory);
	return election_holder(key);
}
