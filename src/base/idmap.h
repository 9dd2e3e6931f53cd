/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idmap.h - ids of a file to ids of a run. Both are 32 bits, 0 means none.
 *
 * Ids may be any, however far apart. {0} is empty and safe to free.
 */
#ifndef SONDE_BASE_IDMAP_H
#define SONDE_BASE_IDMAP_H

#include <stdint.h>

struct idmap {
	struct idmap_pair *pair;
	uint32_t n, cap; /* cap: 0 or a power of two */
};

/* Set what key stands for; key and id are not 0. 0 or -ENOMEM. */
int idmap_put(struct idmap *m, uint32_t key, uint32_t id);
uint32_t idmap_get(const struct idmap *m, uint32_t key); /* 0: unknown */
void idmap_free(struct idmap *m);

#endif
