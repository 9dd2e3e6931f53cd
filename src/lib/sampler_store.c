/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sampler_store.h"

#include <errno.h>
#include <stdlib.h>

int store_init(struct store *t, size_t max_length)
{
	size_t even = max_length + max_length % 2;

	*t = (struct store){ .cap = even, .length = 1 };
	if (even < max_length)
		return -ENOMEM;
	t->sample = calloc(even, sizeof *t->sample);
	t->slice = calloc(even, sizeof *t->slice);
	if (t->sample && t->slice)
		return 0;
	store_free(t);
	return -ENOMEM;
}

void store_free(struct store *t)
{
	free(t->sample);
	free(t->slice);
	*t = (struct store){ 0 };
}

static void halve(struct store *t)
{
	size_t n = 0;

	t->length *= 2;
	for (size_t i = 0; i < t->n; i++) {
		uint64_t slice = t->slice[i] / 2;

		if (n && t->slice[n - 1] == slice) {
			tracker_merge(&t->sample[n - 1], &t->sample[i]);
			continue;
		}
		t->sample[n] = t->sample[i];
		t->slice[n++] = slice;
	}
	t->n = n;
}

void store_add(struct store *t, const struct tracker_sample *s, uint64_t due)
{
	/* Far apart, two samples may not meet until slices are very long. */
	while (t->n == t->cap && due / t->length != t->slice[t->n - 1])
		halve(t);
	if (t->n && due / t->length == t->slice[t->n - 1]) {
		tracker_merge(&t->sample[t->n - 1], s);
		return;
	}
	t->sample[t->n] = *s;
	t->slice[t->n++] = due / t->length;
}
