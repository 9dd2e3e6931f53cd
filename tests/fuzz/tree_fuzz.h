/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_fuzz.h - feeds files of /proc and /sys to a source: opened on some texts, then read on
 * others.
 *
 * The texts lie between form feeds, one for each path, then one for each again. The job is process
 * 7. Whatever the texts are, only values of series that were asked for come out, and counters are
 * never below 0.
 */
#ifndef SONDE_TESTS_FUZZ_TREE_FUZZ_H
#define SONDE_TESTS_FUZZ_TREE_FUZZ_H

#include "source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void tree_fuzz_write(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static inline void tree_fuzz_make_directories(const char *path)
{
	char dir[256];

	snprintf(dir, sizeof dir, "%s", path);
	for (char *slash = strchr(dir, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(dir, 0700);
		*slash = '/';
	}
}

/* The next text of each path. */
static inline void tree_fuzz_fill(const char *const *paths, const uint8_t **data, size_t *size)
{
	for (; *paths; paths++) {
		const uint8_t *feed = *size ? memchr(*data, '\f', *size) : NULL;
		size_t n = feed ? (size_t)(feed - *data) : *size;

		tree_fuzz_write(*paths, *data, n);
		*data += n + (feed != NULL);
		*size -= n + (feed != NULL);
	}
}

static inline void tree_fuzz_check(const struct sample *s)
{
	for (uint32_t i = 1; i < s->nslots; i++)
		if (s->state[i] != STATE_ABSENT &&
		    (s->state[i] != STATE_PRESENT || !s->slot[i].series ||
		     (s->value[i] < 0 && s->slot[i].metric->kind == KIND_COUNTER)))
			abort();
}

static inline void tree_fuzz_read(const struct source *k, void *state, struct sample *s)
{
	for (int64_t i = 1; i <= 3; i++) {
		sample_begin(s, i, s->mono_ns + INT64_C(10000000000));
		k->read(state, s);
		tree_fuzz_check(s);
	}
}

static inline size_t tree_fuzz_job(const void *tree, pid_t *out, size_t cap)
{
	(void)tree;
	if (cap)
		*out = 7;
	return cap != 0;
}

/* Paths below proc/ and sys/, the last is NULL. */
static inline int tree_fuzz(const struct source *k, const char *const *paths, const uint8_t *data,
			    size_t size)
{
	struct source_env env = { .interval_ns = 1000000000,
				  .job = { .tree = k, .pids = tree_fuzz_job } };
	void *state = calloc(1, k->size);
	struct sample s;

	for (const char *const *p = paths; *p; p++)
		tree_fuzz_make_directories(*p);
	mkdir("proc", 0700);
	tree_fuzz_fill(paths, &data, &size);
	if (!state || sample_init(&s, 16384, 4096) < 0 || root_open(&env.proc, "proc") < 0 ||
	    root_open(&env.sys, "sys") < 0)
		abort();
	sample_begin(&s, 1, 1);
	if (k->open(state, &env, &s, NULL) == 0) {
		tree_fuzz_check(&s);
		tree_fuzz_read(k, state, &s);
		if (size)
			tree_fuzz_fill(paths, &data, &size);
		tree_fuzz_read(k, state, &s);
		if (k->close)
			k->close(state);
	}
	root_close(&env.sys);
	root_close(&env.proc);
	sample_free(&s);
	free(state);
	return 0;
}

#endif
