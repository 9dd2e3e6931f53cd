/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostlist.h - names of nodes in their order, and the short form that Slurm writes them in:
 * "a[01-03,7]b[1-2],c" is a01b1 a01b2 a02b1 a02b2 a03b1 a03b2 a7b1 a7b2 c.
 *
 * Text is hostile: the number of names and their length are bounded before anything is made, and an
 * error says at which byte. {0} is empty and safe to free.
 */
#ifndef SONDE_CORE_HOST_HOSTLIST_H
#define SONDE_CORE_HOST_HOSTLIST_H

#include "base/bytes.h"
#include "base/err.h"

enum { HOSTLIST_MAX = 65536, HOSTLIST_NAME = 256 };

struct hostlist {
	struct bytes text; /* the names, each with its NUL */
	uint32_t *start;   /* of each name in text */
	uint32_t n, cap;
	uint32_t *slot; /* by the name's checksum: 1 + its place, 0: none; for hostlist_add_once */
	uint32_t nslots, found; /* found: how many of the names are in there */
};

void hostlist_free(struct hostlist *h);

/* Add the names of a list; on an error h is as it was. -EINVAL: no list; -E2BIG: more than
 * HOSTLIST_MAX names or a name too long; -ENOMEM. */
int hostlist_expand(struct hostlist *h, const char *list, struct err *e);
/* Add one name. The same errors. */
int hostlist_add(struct hostlist *h, const char *name, size_t len, struct err *e);
/* Add it unless it is there. near: the place to look at first, then the one behind it, as lists of
 * slots repeat names; its place is there afterwards. */
int hostlist_add_once(struct hostlist *h, const char *name, size_t len, uint32_t *near,
		      struct err *e);

/* Borrowed until the list changes. */
const char *hostlist_name(const struct hostlist *h, uint32_t i);
/* The place of a name: as it is written, else one whose first label (up to a dot) is the same when
 * one of both has no more than that. -1: it is not there. */
int64_t hostlist_find(const struct hostlist *h, const char *name);

/* The list as Slurm would write it, in its order: runs of numbers become ranges. */
void hostlist_compress(const struct hostlist *h, struct bytes *out);

#endif
