/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite_import.h - a file of another benchmark suite becomes batches and trials of the store.
 *
 * Each benchmark with its parameters is a batch, each value of it a trial. A batch is known by what
 * the file states of it, so the same again changes nothing. All of a file, or nothing.
 */
#ifndef SONDE_BENCH_SUITE_SUITE_IMPORT_H
#define SONDE_BENCH_SUITE_SUITE_IMPORT_H

#include "bench/suite/suite.h"

struct suite_import {
	struct trial_store *store;
	trial_note *note; /* what failed, or was left out */
	uint32_t benchmarks, trials, failed, there_already, left_out;
};

/* 0; -errno with a sentence. */
int suite_import(struct suite_import *x, const struct suite *suite, const char *path,
		 struct err *e);

#endif
