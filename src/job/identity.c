/* SPDX-License-Identifier: Apache-2.0 */
#include "job/identity.h"

#include "base/clock.h"
#include "base/hash.h"
#include "job/scheduler/row.h"
#include "job/scheduler/scheduler.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void copy_id(char *out, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n + 1 < size; text++)
		out[n++] = (isalnum((unsigned char)*text) || *text == '-' || *text == '.') ? *text
											   : '_';
	out[n] = '\0';
	if (out[0] == '.')
		out[0] = '_';
}

static int64_t cores_allowed(void)
{
	enum { CPUS = 8192 };
	cpu_set_t *set = CPU_ALLOC(CPUS);
	int64_t n = 0;

	if (set && !sched_getaffinity(0, CPU_ALLOC_SIZE(CPUS), set))
		n = CPU_COUNT_S(CPU_ALLOC_SIZE(CPUS), set);
	CPU_FREE(set);
	return n;
}

/* The copies of one launch agree on it without a word; its id may be long, or of no one's business.
 */
static void find_launch(struct identity *id)
{
	struct batch_job *j = &id->job;
	bool alone = j->number[BATCH_RANKS] == j->number[BATCH_LOCAL_RANKS];
	char hydra[HYDRA_LAUNCH];

	if (j->scheduler || !j->launcher)
		return;
	if (!j->launch_id && mpi_copies_environment(j->launcher) &&
	    hydra_launch(getppid(), alone, hydra))
		j->launch_id = batch_word(j, "%s", hydra);
	if (j->launch_id)
		snprintf(id->launch, sizeof id->launch, "%.32s_%08x", j->launcher,
			 crc32c(0, j->launch_id, strlen(j->launch_id)));
}

void identity_find(struct identity *id, char *const *environment)
{
	*id = (struct identity){ 0 };
	if (gethostname(id->host, sizeof id->host - 1) || !id->host[0])
		snprintf(id->host, sizeof id->host, "localhost");
	id->cores_present = sysconf(_SC_NPROCESSORS_ONLN);
	id->cores_allowed = cores_allowed();
	batch_job_find(&id->job, environment, id->host);
	copy_id(id->id, sizeof id->id, id->job.id);
	find_launch(id);
	/* Several nodes on one host, as simulated clusters have them. */
	if (id->job.node_named)
		snprintf(id->host, sizeof id->host, "%.127s", id->job.node);
}

void identity_free(struct identity *id)
{
	batch_job_free(&id->job);
}

void identity_directory(const struct identity *id, int64_t utc_ns, char *out, size_t size)
{
	char stamp[CLOCK_STAMP];

	if (id->id[0] || id->launch[0]) {
		snprintf(out, size, "sonde_%s", id->id[0] ? id->id : id->launch);
		return;
	}
	snprintf(out, size, "sonde_%s_%d", clock_stamp(utc_ns, stamp), (int)getpid());
}
