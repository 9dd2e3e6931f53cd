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

/* The N of a path such as "/dev/nvidiaN", from first on; false for anything else: /dev/nvidiactl.
 */
static bool number_behind(const char *path, const char *device, uint64_t first, uint64_t *number)
{
	size_t n = strlen(device);
	const char *p = path + n;

	if (strncmp(path, device, n) != 0 || *p < '0' || *p > '9' || !number_u64(&p, number) || *p)
		return false;
	*number -= first;
	return *number < 64;
}

static void look_at_file(struct gpu_job *j, int dir, const char *name)
{
	char target[32];
	ssize_t n = readlinkat(dir, name, target, sizeof target - 1);
	uint64_t number;

	target[n > 0 ? n : 0] = '\0';
	if (number_behind(target, "/dev/nvidia", 0, &number))
		j->minors |= UINT64_C(1) << number;
	if (number_behind(target, "/dev/dri/renderD", 128, &number))
		j->renders |= UINT64_C(1) << number;
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

			look_at_file(j, dir, entry->d_name);
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
	j->minors = j->renders = 0;
	if (!n)
		return false;
	pid = j->pids[j->turn++ % n];
	look_at_environment(j, &env->proc, pid);
	look_at_files(j, &env->proc, pid);
	return true;
}
