/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_fuzz.h - feeds one file of /proc or /sys to a source: opened on one text, then read on
 * another, every 10 s, in which everything is due.
 *
 * The two texts are what is before and behind the first form feed; without one they are the same.
 * Whatever they are, only values >= 0 of series that were asked for come out.
 */
#ifndef SONDE_TESTS_FUZZ_SOURCE_FUZZ_H
#define SONDE_TESTS_FUZZ_SOURCE_FUZZ_H

#include "source/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEN_SECONDS INT64_C(10000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void source_fuzz_write(const char *path, const uint8_t *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static inline void source_fuzz_check(const struct sample *s)
{
	for (uint32_t i = 1; i < s->nslots; i++)
		if (s->state[i] != STATE_ABSENT &&
		    (s->state[i] != STATE_PRESENT || !s->slot[i].series || s->value[i] < 0))
			abort();
}

static inline void source_fuzz_run(const struct source *k, const char *path, const uint8_t *first,
				   size_t nfirst, const uint8_t *second, size_t nsecond)
{
	struct source_env env = { .interval_ns = 1000000000 };
	void *state = calloc(1, k->size);
	int64_t at = 1;
	struct sample s;

	source_fuzz_write(path, first, nfirst);
	if (!state || sample_init(&s, 4096, 4096) < 0 || root_open(&env.proc, ".") < 0 ||
	    root_open(&env.sys, ".") < 0)
		abort();
	sample_begin(&s, at, at);
	if (k->open(state, &env, &s, NULL) == 0) {
		source_fuzz_check(&s);
		for (int i = 0; i < 2; i++) {
			at += TEN_SECONDS;
			sample_begin(&s, at, at);
			k->read(state, &s);
			source_fuzz_check(&s);
			source_fuzz_write(path, second, nsecond);
		}
		at += TEN_SECONDS;
		sample_begin(&s, at, at);
		k->read(state, &s);
		source_fuzz_check(&s);
		k->close(state);
	}
	root_close(&env.sys);
	root_close(&env.proc);
	sample_free(&s);
	free(state);
}

static inline int source_fuzz(const struct source *k, const char *path, const uint8_t *data,
			      size_t size)
{
	const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
	size_t nfirst = feed ? (size_t)(feed - data) : size;

	mkdir("net", 0700);
	mkdir("pressure", 0700);
	if (feed)
		source_fuzz_run(k, path, data, nfirst, feed + 1, size - nfirst - 1);
	else
		source_fuzz_run(k, path, data, size, data, size);
	return 0;
}

#endif
