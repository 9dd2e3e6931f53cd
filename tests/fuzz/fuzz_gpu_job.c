/* SPDX-License-Identifier: Apache-2.0 */
/* What is looked at of a job's process to find its GPUs: its environment, and the names of its open
 * files, a line each before the first form feed. */
#include "source/gpu/gpu.h"
#include "tree_fuzz.h"

static size_t pids(const void *tree, pid_t *out, size_t cap)
{
	(void)tree;
	if (cap)
		*out = 7;
	return cap != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct gpu_job job;
	const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
	size_t n = feed ? (size_t)(feed - data) : 0;
	struct source_env env = { .job = { .tree = &job, .pids = pids } };
	char link[64], target[256];

	tree_fuzz_make_directories("proc/7/fd/x");
	tree_fuzz_write("proc/7/environ", feed ? feed + 1 : data, feed ? size - n - 1 : size);
	for (int i = 0; i < 8; i++) {
		const uint8_t *end = n ? memchr(data, '\n', n) : NULL;
		size_t length = end ? (size_t)(end - data) : n;

		snprintf(link, sizeof link, "proc/7/fd/%d", i);
		snprintf(target, sizeof target, "%.*s", (int)length, (const char *)data);
		unlink(link);
		if (*target && symlink(target, link) < 0)
			abort();
		data += length + (end != NULL);
		n -= length + (end != NULL);
	}
	if (root_open(&env.proc, "proc") < 0)
		abort();
	job = (struct gpu_job){ 0 };
	for (int i = 0; i < 2; i++)
		if (!gpu_job_look(&job, &env) ||
		    (job.visible &&
		     (job.visible < job.environ ||
		      job.visible >= job.environ + sizeof job.environ ||
		      !memchr(job.visible, '\0',
			      (size_t)(job.environ + sizeof job.environ - job.visible)))))
			abort();
	root_close(&env.proc);
	return 0;
}
