/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wanted.h - which runs are compared, and which tell how much single runs vary.
 *
 * The latter are like one that is compared: of the same command and number of nodes, and ended
 * well. They are recordings, or what the history (store/history.h) keeps of such. {0} is empty and
 * safe to free.
 */
#ifndef SONDE_SESSION_WANTED_H
#define SONDE_SESSION_WANTED_H

#include "console/command.h"
#include "report/comparison/comparison.h"
#include "store/history.h"

enum { WANTED_MAX = 1000 };

struct wanted {
	struct {
		char *path;
		enum comparison_group group;
	} run[WANTED_MAX];
	uint32_t n;
	struct history past;
};

/* A,A2,...: recordings, or directories of several. 0, or -errno with a sentence. */
int wanted_list(struct wanted *w, const char *text, enum comparison_group group, struct err *e);
uint32_t wanted_count(const struct wanted *w, enum comparison_group group);
/* Where one run of a group tells no spread: like runs in these directories; of none of them beside
 * A, then in the history as far as it can be read. 0, or -errno with a sentence. */
int wanted_like(struct wanted *w, const struct option_list *directories, struct err *e);
void wanted_free(struct wanted *w);

#endif
