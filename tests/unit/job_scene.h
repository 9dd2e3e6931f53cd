/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_scene.h - for tests: a source of the job's processes over a made /proc and /sys, both in
 * scene.dir. Files whose path holds `forbidden` may not be opened.
 *
 * A test fills scene.dir and scene.pids after scene_begin, then opens the source.
 */
#ifndef SONDE_TESTS_UNIT_JOB_SCENE_H
#define SONDE_TESTS_UNIT_JOB_SCENE_H

#include "unit/one_source.h"
#include "unit/tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#include <cmocka.h>

struct scene {
	struct one one;
	char dir[64];
	pid_t pids[8];
	size_t npids;
};

static const char *forbidden, *counted; /* opened files whose path holds `counted` are counted */
static int opened;

int openat(int dir, const char *path, int flags, ...)
{
	if (forbidden && strstr(path, forbidden)) {
		errno = EACCES;
		return -1;
	}
	opened += counted && strstr(path, counted);
	return (int)syscall(SYS_openat, dir, path, flags, 0600);
}

static size_t scene_pids(const void *tree, pid_t *out, size_t cap)
{
	const struct scene *x = tree;

	assert_true(cap >= x->npids);
	memcpy(out, x->pids, x->npids * sizeof *out);
	return x->npids;
}

/* So many, from 500 on. */
static inline void scene_number(struct scene *x, size_t n)
{
	assert_true(n <= sizeof x->pids / sizeof x->pids[0]);
	for (size_t i = 0; i < n; i++)
		x->pids[i] = 500 + (pid_t)i;
	x->npids = n;
}

/* An open file of a process, /proc/PID/fd/FD. */
static inline void scene_put_link(const struct scene *x, int pid, int fd, const char *target)
{
	char path[160];

	snprintf(path, sizeof path, "%s/%d", x->dir, pid);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/%d/fd", x->dir, pid);
	mkdir(path, 0755);
	snprintf(path, sizeof path, "%s/%d/fd/%d", x->dir, pid, fd);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static inline struct scene *scene_begin(void)
{
	struct scene *x = calloc(1, sizeof *x);

	assert_non_null(x);
	snprintf(x->dir, sizeof x->dir, "sonde-scene-XXXXXX");
	assert_non_null(mkdtemp(x->dir));
	forbidden = counted = NULL;
	return x;
}

static inline void scene_open(struct scene *x, const struct source *source)
{
	one_open(&x->one, source, x->dir, x->dir);
	assert_int_equal(x->one.result, 0);
	x->one.n.env.job = (struct source_job){ .tree = x, .pids = scene_pids };
	opened = 0;
}

static inline int scene_end(void **state)
{
	struct scene *x = *state;
	char command[96];

	forbidden = NULL;
	one_close(&x->one);
	snprintf(command, sizeof command, "rm -rf %s", x->dir);
	assert_int_equal(system(command), 0);
	free(x);
	return 0;
}

static inline int64_t of(const struct scene *x, const char *metric, const char *instance)
{
	return node_value(&x->one.n, metric, instance);
}

static inline void read_for(struct scene *x, int seconds)
{
	for (int i = 0; i < seconds; i++)
		one_read(&x->one);
}

#endif
