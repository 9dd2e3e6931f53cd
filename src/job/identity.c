/* SPDX-License-Identifier: Apache-2.0 */
#include "job/identity.h"

#include "base/clock.h"
#include "base/number.h"

#include <ctype.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct scheduler {
	const char *name, *id, *cores, *memory_mib; /* variables; NULL: it sets none */
};

static const struct scheduler schedulers[] = {
	{ "slurm", "SLURM_JOB_ID", "SLURM_CPUS_ON_NODE", "SLURM_MEM_PER_NODE" },
	{ "pbs", "PBS_JOBID", "NCPUS", NULL },
	{ "oar", "OAR_JOB_ID", NULL, NULL },
	{ "lsf", "LSB_JOBID", NULL, NULL },
	{ "flux", "FLUX_JOB_ID", NULL, NULL },
	{ "sge", "JOB_ID", "NSLOTS", NULL },
};

static int64_t env_number(const char *name)
{
	const char *text = name ? getenv(name) : NULL;
	int64_t v;

	if (!text || !number_i64(&text, &v) || v < 0 || *text)
		return 0;
	return v;
}

static int64_t mebibytes(int64_t n)
{
	return n <= INT64_MAX >> 20 ? n << 20 : 0;
}

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

void identity_find(struct identity *id)
{
	*id = (struct identity){ 0 };
	if (gethostname(id->host, sizeof id->host - 1) || !id->host[0])
		snprintf(id->host, sizeof id->host, "localhost");
	id->cores_present = sysconf(_SC_NPROCESSORS_ONLN);
	id->cores_allowed = cores_allowed();
	for (size_t i = 0; i < sizeof schedulers / sizeof schedulers[0] && !id->scheduler; i++) {
		const char *text = getenv(schedulers[i].id);

		if (!text || !*text)
			continue;
		id->scheduler = schedulers[i].name;
		copy_id(id->id, sizeof id->id, text);
		id->cores_asked = env_number(schedulers[i].cores);
		id->memory_asked_bytes = mebibytes(env_number(schedulers[i].memory_mib));
	}
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
