/* SPDX-License-Identifier: Apache-2.0 */
#include "job/identity.h"

#include "base/clock.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
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

void identity_find(struct identity *id, char *const *environment)
{
	*id = (struct identity){ 0 };
	if (gethostname(id->host, sizeof id->host - 1) || !id->host[0])
		snprintf(id->host, sizeof id->host, "localhost");
	id->cores_present = sysconf(_SC_NPROCESSORS_ONLN);
	id->cores_allowed = cores_allowed();
	batch_job_find(&id->job, environment, id->host);
	copy_id(id->id, sizeof id->id, id->job.id);
	/* Several nodes on one host, as simulated clusters have them. */
	if (id->job.node_told)
		snprintf(id->host, sizeof id->host, "%.127s", id->job.node);
}

void identity_free(struct identity *id)
{
	batch_job_free(&id->job);
}

void identity_directory(const struct identity *id, int64_t utc_ns, char *out, size_t size)
{
	time_t seconds = (time_t)(utc_ns / NS_PER_S);
	char stamp[32] = "";
	struct tm tm;

	if (id->id[0]) {
		snprintf(out, size, "sonde_%s", id->id);
		return;
	}
	if (gmtime_r(&seconds, &tm))
		strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
	snprintf(out, size, "sonde_%s_%d", stamp, (int)getpid());
}
