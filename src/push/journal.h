/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - what of a push has arrived, kept beside the recording, so that the next push goes on
 * where the last one ended and two of them do not interleave.
 *
 * A file of lines "key value", mode 0600, one for each service and target (the server's whole
 * address, and what in it); lines are added, and one that was cut off does not count. It holds no
 * passwords. Locked while it is open.
 */
#ifndef SONDE_PUSH_JOURNAL_H
#define SONDE_PUSH_JOURNAL_H

#include "base/bytes.h"
#include "base/err.h"

#include <limits.h>

struct journal {
	int fd;
	struct bytes text; /* what was read, and what was added since */
	char path[PATH_MAX];
};

/* target: one line. 0, -EAGAIN when another push to the same target is at work, or -errno. Close in
 * either case. */
int journal_open(struct journal *j, const char *directory, const char *service, const char *target,
		 struct err *e);
void journal_close(struct journal *j);
/* The last value of key; false when there is none, or it does not fit. */
bool journal_find(const struct journal *j, const char *key, char *out, size_t size);
/* The same as a number; 0 when there is none. */
uint64_t journal_number(const struct journal *j, const char *key);
/* Whether this very line is there. */
bool journal_has(const struct journal *j, const char *key, const char *value);
int journal_add(struct journal *j, const char *key, const char *value, struct err *e);
int journal_add_number(struct journal *j, const char *key, uint64_t value, struct err *e);
/* In the place of the key's last number, when that was set so, too: for one that changes without
 * end. */
int journal_set_number(struct journal *j, const char *key, uint64_t value, struct err *e);

#endif
