/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collection.h - a file that tables of several recordings are added to, one after the other.
 *
 * It is locked, copied, added to, and the copy takes its place when it is whole: who reads it
 * meanwhile has the old one, and so has everybody when something fails. The lock goes with its
 * holder.
 */
#ifndef SONDE_OUTPUT_COLLECTION_H
#define SONDE_OUTPUT_COLLECTION_H

#include "output/outfile.h"

#include <stdbool.h>
#include <stdint.h>

struct collection {
	struct outfile out; /* the copy */
	const char *path;
	int lock;
	bool made; /* there was nothing in it */
};

/* Wait for the lock for so long at most; tell() once when there is something to wait for. 0,
 * -EAGAIN when it was waited for in vain, or -errno. path is borrowed. */
int collection_open(struct collection *c, const char *path, int64_t wait_ns,
		    void (*tell)(const char *path, int64_t wait_ns), struct err *e);
/* As outfile_close. */
int collection_close(struct collection *c, int failed, struct err *e);

#endif
