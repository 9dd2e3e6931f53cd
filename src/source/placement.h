/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.h - on which NUMA nodes a process's pages are, numa_maps of numa(7): one line for each
 * mapping.
 *
 * Pure. Pages that several processes have are in each one's file. placement.c also has the source.
 */
#ifndef SONDE_SOURCE_PLACEMENT_H
#define SONDE_SOURCE_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

enum { NUMA_MAPS_NODES = 256 }; /* the memory of GPUs beside POWER9 is nodes 252 to 255 */

struct numa_maps {
	int64_t bytes[NUMA_MAPS_NODES];
};

/* Add up the whole lines of a text, which need not be all of the file: *used is how much of it they
 * are. page_bytes: of a mapping that does not tell the size of its pages. 0; -EBADMSG when a number
 * is none, or of a node beyond NUMA_MAPS_NODES. */
int numa_maps_add(struct numa_maps *m, const char *text, int64_t page_bytes, size_t *used);

#endif
