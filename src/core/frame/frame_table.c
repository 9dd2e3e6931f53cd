/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/frame_table.h"

#include "core/frame/derive_plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int frame_column(struct frame *f, const struct column *c)
{
	if (!plan_grow((void **)&f->columns, f->ncolumns, &f->column_cap, sizeof(*f->columns)))
		return -ENOMEM;
	f->columns[f->ncolumns++] = *c;
	return 0;
}

int frame_columns(struct frame *f, const struct column *c, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = frame_column(f, &c[i]);
	return rc;
}

/* Eight at a time, which compilers make wide stores of. */
#define FILL(to, n, v)                                                                             \
	do {                                                                                       \
		uint32_t done = 0;                                                                 \
		for (; (n)-done >= 8; done += 8)                                                   \
			for (size_t i = 0; i < 8; i++)                                             \
				((to) + done)[i] = (v);                                            \
		for (; done < (n); done++)                                                         \
			(to)[done] = (v);                                                          \
	} while (0)

void frame_same_text(struct frame *f, uint32_t column, uint32_t n, const char *text)
{
	const struct cells c = frame_end(f, column);

	FILL(c.s, n, text);
	memset(c.state, frame_state(text), n);
}

void frame_same_int(struct frame *f, uint32_t column, uint32_t n, int64_t v)
{
	const struct cells c = frame_end(f, column);

	FILL(c.i, n, v);
	memset(c.state, STATE_PRESENT, n);
}

void frame_same_real(struct frame *f, uint32_t column, uint32_t n, double v)
{
	const struct cells c = frame_end(f, column);

	FILL(c.d, n, v);
	memset(c.state, frame_state(isfinite(v)), n);
}

void frame_finite(struct frame *f, uint32_t column, uint32_t n, const double *v)
{
	const struct cells c = frame_end(f, column);

	memcpy(c.d, v, n * sizeof(*v));
	memset(c.state, STATE_PRESENT, n);
}

void frame_reals(struct frame *f, uint32_t column, uint32_t n, const double *v)
{
	const struct cells c = frame_end(f, column);

	memcpy(c.d, v, n * sizeof(*v));
	for (uint32_t i = 0; i < n; i++)
		c.state[i] = frame_state(isfinite(v[i]));
}

void frame_time(struct frame *f, uint32_t column, uint32_t node, int64_t mono_ns)
{
	frame_int(f, column, run_utc_ns(f->run, node, mono_ns));
	frame_real(f, column + 1, run_seconds(f->run, node, mono_ns));
}

bool frame_selects(const struct frame *f, uint32_t node, int64_t begin_ns, int64_t end_ns)
{
	if (!node || node >= f->run->nnodes)
		return false;
	if (f->to_s > 0 && run_seconds(f->run, node, begin_ns) >= f->to_s)
		return false;
	return f->from_s <= 0 || end_ns == INT64_MAX ||
	       run_seconds(f->run, node, end_ns) >= f->from_s;
}

const char *frame_host(const struct frame *f, uint32_t node)
{
	return node < f->run->nnodes ? f->run->nodes[node].host : NULL;
}

int frame_key(struct frame *f, uint32_t id, const char **key)
{
	const struct run_instance *i = &f->run->instances[id];

	*key = NULL;
	if (!id || id >= f->run->ninstances)
		return 0;
	*key = i->name;
	if (!instance_is_numbered(i))
		return 0;
	if (!f->key[id] && asprintf(&f->key[id], "%s#%u", i->name ? i->name : "", id) < 0) {
		f->key[id] = NULL;
		return -ENOMEM;
	}
	*key = f->key[id];
	return 0;
}
