/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <math.h>

uint64_t random_u64(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

double random_unit(struct random *r)
{
	return (double)(random_u64(r) >> 11) * 0x1p-53;
}

double random_normal(struct random *r)
{
	double x, y, square;

	do {
		x = 2 * random_unit(r) - 1;
		y = 2 * random_unit(r) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	return x * sqrt(-2 * log(square) / square);
}
