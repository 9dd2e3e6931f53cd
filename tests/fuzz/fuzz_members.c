/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are the batch job's, told by what /proc says of them: group, environment, title,
 * program. Texts lie between form feeds. */
#include "sampler/tree/members.h"
#include "tree_fuzz.h"

enum { ITSELF, LOADAVG, FILES = 8 };

static const char *const *files(void)
{
	static char itself[32];
	static const char *paths[FILES + 1] = { NULL,
						"proc/loadavg",
						"proc/7/stat",
						"proc/7/cgroup",
						"proc/7/environ",
						"proc/7/cmdline",
						"proc/8/cgroup",
						"proc/8/stat",
						NULL };

	snprintf(itself, sizeof itself, "proc/%d/cgroup", (int)getpid());
	paths[ITSELF] = itself;
	return paths;
}

static void look(const struct root *proc, char *const *environment, const char *id)
{
	struct members m = { .npending = 0 };
	struct batch_job j;
	struct err e = { "" };
	pid_t out[4];

	batch_job_find(&j, environment, "n1");
	if (members_open(&m, proc, &j, id, &e) == 0) {
		size_t n = members_next(&m, out, 4);

		if (n > 4)
			abort();
		for (size_t i = 0; i < n; i++) {
			if (out[i] <= 0)
				abort();
			members_waits(&m, out[i]);
			members_is_own(&m, out[i]);
		}
	} else if (!*e.text) {
		abort();
	}
	batch_job_free(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *const slurm[] = { "SLURM_JOB_ID=4", "SLURM_STEP_ID=1", NULL };
	static char *const pbs[] = { "PBS_JOBID=0.phead", NULL };
	const char *const *paths = files();
	struct root proc;

	for (const char *const *p = paths; *p; p++)
		tree_fuzz_make_directories(*p);
	tree_fuzz_fill(paths, &data, &size);
	if (root_open(&proc, "proc") < 0)
		abort();
	look(&proc, slurm, NULL);
	look(&proc, slurm, "4");
	look(&proc, pbs, NULL);
	look(&proc, (char *[]){ NULL }, "4");
	root_close(&proc);
	return 0;
}
