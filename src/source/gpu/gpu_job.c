/* SPDX-License-Identifier: Apache-2.0 */
#include "source/gpu/gpu_job.h"

#include "source/fdlist.h"
#include "source/gpu/cuda_visible.h"

#include <stdio.h>

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

static void look_at_files(struct gpu_job *j, const struct root *proc, pid_t pid)
{
	enum { RENDER_FIRST = 128 };
	struct fdlist files = { 0 };
	char target[FDLIST_TARGET];
	uint64_t number;
	int looked = 0, fd;

	if (fdlist_open(&files, proc, pid) < 0)
		return;
	while (looked++ < GPU_JOB_FILES && fdlist_next(&files, &fd, target)) {
		if (fdlist_device(target, "/dev/nvidia", 0, &number) && number < 64)
			j->minors |= UINT64_C(1) << number;
		if (fdlist_device(target, "/dev/dri/renderD", RENDER_FIRST, &number) &&
		    number < RENDER_FIRST + 64)
			j->renders |= UINT64_C(1) << (number - RENDER_FIRST);
	}
	fdlist_close(&files);
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
