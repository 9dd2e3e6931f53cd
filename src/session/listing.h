/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - the recordings in a directory, each with what a list says of it.
 *
 * A damaged or unreadable recording is an entry like the others, with its reason. Text is hostile.
 */
#ifndef SONDE_SESSION_LISTING_H
#define SONDE_SESSION_LISTING_H

#include "report/judging/condition.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One recording; figures that are not known are NAN. */
struct recording {
	char *path, *command; /* command NULL: not known */
	char *note;           /* why it is damaged or unreadable; NULL: nothing to say */
	enum condition condition;
	int64_t start_utc_ns;
	double wall_s, exit_code, signal;
	uint32_t nodes;
};

struct listing {
	struct recording *entry;
	size_t n, cap;
	bool failed; /* out of memory, or a path too long: something is missing here */
};

/* Those right below dir, whatever their names, or dir itself when it is one; oldest first. 0,
 * -errno. */
int listing_find(struct listing *l, const char *dir);
void listing_free(struct listing *l);

#endif
