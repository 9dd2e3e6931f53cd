/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trials.h - the trials of a benchmark or of a sweep, as a service gets them: one group, and each
 * trial by itself.
 *
 * Everything is borrowed from whoever filled it in. What is not known is not in a list.
 */
#ifndef SONDE_PUSH_TRIALS_H
#define SONDE_PUSH_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct push_text {
	const char *name, *text;
};

struct push_number {
	const char *name;
	double value; /* finite */
};

struct push_list {
	struct push_text *v; /* [n] no name twice */
	uint32_t n, cap;
};

struct push_file {
	const char *name; /* "locks/1a2b3c4d/requirements.lock" */
	const void *data;
	size_t length;
};

struct push_trial {
	const char *uid;  /* the same however often it is pushed */
	const char *name; /* "bench:3/2" */
	int64_t start_ms, end_ms;
	bool failed;
	struct push_list parameters, tags;
	const struct push_list *facts; /* of its machine and software; NULL: none */
	struct push_number *figure;    /* [nfigures] no name twice */
	uint32_t nfigures;
};

struct push_trials {
	const char *uid, *name, *note; /* note NULL: none */
	int64_t start_ms, end_ms;
	struct push_list tags;
	struct push_trial *trial; /* [n] */
	struct push_file *file;   /* [nfiles] */
	uint32_t n, cap, nfiles, file_cap, nskipped;
	bool is_sweep; /* nskipped: of its combinations */
};

#endif
