/* SPDX-License-Identifier: Apache-2.0 */
#include "core/table/table_series.h"

int series_open(struct series *s, struct run *r, const struct selection *sel, struct err *e)
{
	int rc = derive_open(&s->derive, r, sel, e);

	s->windowed = sel->every_s > 0;
	s->derive.values_only = !s->windowed;
	if (!rc && s->windowed)
		rc = window_open(&s->window, &s->derive, sel->every_s, e);
	return rc;
}

int series_next(struct series *s, struct instant *out, struct err *e)
{
	return s->windowed ? window_next(&s->window, out, e) : derive_next(&s->derive, out, e);
}

int series_rewind(struct series *s)
{
	if (s->windowed)
		window_rewind(&s->window);
	return derive_rewind(&s->derive);
}

void series_close(struct series *s)
{
	window_close(&s->window);
	derive_close(&s->derive);
}
