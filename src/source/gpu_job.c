/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu_job.h"

#include "base/number.h"
#include "source/cuda_visible.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void look_at_environment(struct gpu_job *j, const struct root *proc, pid_t pid)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%d/environ", (int)pid);
	fd = root_file(proc, path);
	if (fd < 0)
		return;
	n = file_reread(fd, j->environ, sizeof j->environ);
	file_close(&fd);
	if (n > 0)
		j->visible = environ_find(j->environ, (size_t)n, "CUDA_VISIBLE_DEVICES");
}

/* The N of "/dev/nvidiaN"; false for anything else, such as /dev/nvidiactl. */
static bool minor_of(int dir, const char *name, uint64_t *minor)
{
	static const char device[] = "/dev/nvidia";
	char target[32];
	const char *p = target + sizeof device - 1;
	ssize_t n = readlinkat(dir, name, target, sizeof target - 1);

	if (n < (ssize_t)sizeof device || memcmp(target, device, sizeof device - 1) != 0)
		return false;
	target[n] = '\0';
	return *p >= '0' && *p <= '9' && number_u64(&p, minor) && !*p && *minor < 64;
}

static void look_at_files(struct gpu_job *j, const struct root *proc, pid_t pid)
{
	_Alignas(struct dirent64) char buf[2048];
	char path[32];
	int dir, looked = 0;
	ssize_t n;

	snprintf(path, sizeof path, "%d/fd", (int)pid);
	dir = root_file(proc, path);
	while (dir >= 0 && looked < GPU_JOB_FILES && (n = getdents64(dir, buf, sizeof buf)) > 0)
		for (ssize_t at = 0; at < n; looked++) {
			const struct dirent64 *entry =
				(const struct dirent64 *)(const void *)(buf + at);
			uint64_t minor;

			if (minor_of(dir, entry->d_name, &minor))
				j->minors |= UINT64_C(1) << minor;
			at += entry->d_reclen;
		}
	if (dir >= 0)
		file_close(&dir);
}

bool gpu_job_look(struct gpu_job *j, const struct source_env *env)
{
	size_t n = env->job.tree ? env->job.pids(env->job.tree, j->pids, GPU_JOB_PIDS) : 0;
	pid_t pid;

	j->visible = NULL;
	j->minors = 0;
	if (!n)
		return false;
	pid = j->pids[j->turn++ % n];
	look_at_environment(j, &env->proc, pid);
	look_at_files(j, &env->proc, pid);
	return true;
}
