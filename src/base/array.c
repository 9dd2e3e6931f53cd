/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdlib.h>

void *array_room(void *array, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 16;
	void *moved;

	if (n < *cap)
		return array;
	moved = more > *cap ? realloc(array, more * size) : NULL;
	if (moved)
		*cap = more;
	return moved;
}
