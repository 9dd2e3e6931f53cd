/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amun.h - inspections of Amun become batches and trials of the store.
 *
 * A folder of an inspection holds build/specification and results/N/{result,hwinfo,log}; a folder
 * of such folders is taken, too, and so are single documents (amun_layout.h). Every byte is
 * hostile. What was imported before stays as it is.
 */
#ifndef SONDE_BENCH_AMUN_AMUN_H
#define SONDE_BENCH_AMUN_AMUN_H

#include "bench/trial.h"

struct amun {
	struct trial_store *store;
	trial_note *note; /* what is missing, or was left out */
	uint32_t inspections, trials, failed, there_already, left_out;
	uint32_t sweeps; /* reports of Dependency Monkey */
};

/* 0; -ENOENT: nothing of Amun's is there; -errno. */
int amun_import(struct amun *a, const char *path, struct err *e);

/* "2020-03-01T12:00:00.123456", UTC; 0: it is none. */
int64_t amun_time(const char *text);

#endif
