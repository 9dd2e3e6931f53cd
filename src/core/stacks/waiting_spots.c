/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_spots.c - what each thread waited at each place, as rows. */
#include "core/stacks/waiting.h"

#include "core/stacks/stacks_part.h"

#include <errno.h>
#include <stdlib.h>

static int by_thread(const void *a, const void *b)
{
	const struct waiting_spot *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Each row by where it was before; NULL: no memory. */
static const struct waiting_row **by_id(const struct waiting_rows *rows)
{
	const struct waiting_row **row = calloc(rows->n + 1u, sizeof(void *));

	for (uint32_t i = 0; row && i < rows->n; i++)
		row[rows->row[i].id] = &rows->row[i];
	return row;
}

int waiting_spots_make(struct waiting *w, const struct tally *keys, const struct waiting_time *time)
{
	const struct waiting_row **thread = by_id(&w->rows[WAITING_BY_THREAD]);
	const struct waiting_row **place = by_id(&w->rows[WAITING_BY_PLACE]);

	w->spots = calloc(keys->n + 1u, sizeof *w->spots);
	for (uint32_t i = 0; w->spots && thread && place && i < keys->n; i++)
		w->spots[w->nspots++] = (struct waiting_spot){ thread[keys->row[i].key.a],
							       place[keys->row[i].key.b],
							       waiting_waited(&time[i]) };
	if (w->spots && w->nspots)
		qsort(w->spots, w->nspots, sizeof *w->spots, by_thread);
	free(thread);
	free(place);
	return w->spots && w->nspots == keys->n ? 0 : -ENOMEM;
}
