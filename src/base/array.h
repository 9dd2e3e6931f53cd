/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h - arrays that grow by one.
 */
#ifndef SONDE_BASE_ARRAY_H
#define SONDE_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* array with room for one more than n, moved if need be; NULL when out of memory (array stays). */
void *array_room(void *array, uint32_t n, uint32_t *cap, size_t size);

#endif
