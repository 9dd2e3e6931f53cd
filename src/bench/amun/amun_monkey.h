/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amun_monkey.h - a report of Dependency Monkey becomes a sweep of the store, whose combinations
 * are the stacks that it sent to Amun.
 *
 * It has no trials itself: those of an inspection that was imported are a combination's; one that
 * was not is skipped, with its name. The same report again finds what was imported since.
 */
#ifndef SONDE_BENCH_AMUN_AMUN_MONKEY_H
#define SONDE_BENCH_AMUN_AMUN_MONKEY_H

#include "bench/amun/amun.h"
#include "bench/amun/amun_layout.h"

/* Of the document with this digest, which is kept in the file of that path. */
int amun_monkey_import(struct amun *a, const struct amun_layout *l, const char *digest,
		       const char *path, struct err *e);

#endif
