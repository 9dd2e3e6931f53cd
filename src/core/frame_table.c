/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame_table.h"

#include "core/derive_plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

void frame_row(struct frame *f)
{
	for (uint32_t i = 0; i < f->ncolumns; i++)
		f->cells[i].state[f->nrows] = STATE_ABSENT;
	f->nrows++;
}

static uint8_t present(bool there)
{
	return there ? STATE_PRESENT : STATE_ABSENT;
}

void frame_text(struct frame *f, uint32_t column, const char *text)
{
	f->cells[column].s[f->nrows - 1] = text;
	f->cells[column].state[f->nrows - 1] = present(text);
}

void frame_int(struct frame *f, uint32_t column, int64_t v)
{
	f->cells[column].i[f->nrows - 1] = v;
	f->cells[column].state[f->nrows - 1] = STATE_PRESENT;
}

void frame_real(struct frame *f, uint32_t column, double v)
{
	f->cells[column].d[f->nrows - 1] = v;
	f->cells[column].state[f->nrows - 1] = present(isfinite(v));
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
