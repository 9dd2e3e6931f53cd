/* SPDX-License-Identifier: Apache-2.0 */
#include "core/frame/frame.h"

#include "core/frame/derive_plan.h"
#include "core/frame/frame_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_CELLS = 65536, EVERY_MAX_S = 366 * 86400 };
static const double every_min_s = 1e-6;

static const struct table *const tables[] = {
	[FRAME_SERIES] = &table_tidy,   [FRAME_INSTANCES] = &table_instances,
	[FRAME_MARKS] = &table_marks,   [FRAME_SPANS] = &table_spans,
	[FRAME_STATES] = &table_states, [FRAME_COUNTERS] = &table_counters,
};
_Static_assert(sizeof(tables) / sizeof(tables[0]) == FRAME_TABLE_NUMBER_OF,
	       "a table for each number");

static const struct table *find_table(const struct selection *sel)
{
	if (sel->map)
		return &table_mapped;
	return sel->table == FRAME_SERIES && sel->wide ? &table_wide : tables[sel->table];
}

static int check(const struct selection *sel, struct err *e)
{
	if ((unsigned)sel->table >= FRAME_TABLE_NUMBER_OF)
		return err_set(e, -EINVAL, "there is no table %d", (int)sel->table);
	if (!isfinite(sel->from_s) || !isfinite(sel->to_s) || sel->from_s < 0 || sel->to_s < 0)
		return err_set(e, -EINVAL,
			       "a time range is given in seconds since the run began, from 0 on");
	if (sel->to_s > 0 && sel->to_s <= sel->from_s)
		return err_set(e, -EINVAL, "the time range is empty: %g s is not before %g s",
			       sel->from_s, sel->to_s);
	if (isnan(sel->every_s) ||
	    (sel->every_s != 0 && (sel->every_s < every_min_s || sel->every_s > EVERY_MAX_S)))
		return err_set(e, -EINVAL, "a window is from 1 us to a year long, not %g s",
			       sel->every_s);
	if (sel->raw && sel->every_s > 0)
		return err_set(e, -EINVAL,
			       "raw counters have no mean over a window: ask for one of the two");
	return 0;
}

static int reserve_cells(struct frame *f)
{
	f->row_cap = f->ncolumns ? BATCH_CELLS / f->ncolumns : 1;
	if (f->row_cap > FRAME_BATCH_ROWS)
		f->row_cap = FRAME_BATCH_ROWS;
	if (!f->row_cap)
		f->row_cap = 1;
	f->cells = calloc(f->ncolumns + 1u, sizeof(*f->cells));
	f->given = calloc(f->ncolumns + 1u, sizeof(*f->given));
	if (!f->cells || !f->given)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->ncolumns; i++) {
		f->cells[i].i = calloc(f->row_cap, sizeof(int64_t));
		f->cells[i].state = calloc(f->row_cap, 1);
		if (!f->cells[i].i || !f->cells[i].state)
			return -ENOMEM;
	}
	return 0;
}

static int put_losses(struct frame *f)
{
	if (losses_make(&f->lost, f->run))
		return -ENOMEM;
	losses_words(&f->lost, true, &f->losses);
	bytes_u8(&f->losses, '\0');
	f->schema.losses = (const char *)f->losses.data;
	f->schema.lost = &f->lost;
	return f->losses.failed ? -ENOMEM : 0;
}

int frame_open(struct frame **out, struct run *r, const struct selection *sel, struct err *e)
{
	struct frame *f;
	int rc = check(sel, e);

	*out = NULL;
	if (rc)
		return rc;
	f = calloc(1, sizeof(*f));
	if (!f)
		return err_set(e, -ENOMEM, "out of memory for a table");
	f->run = r;
	f->from_s = sel->from_s;
	f->to_s = sel->to_s;
	f->table = find_table(sel);
	f->schema.table = f->table->name;
	f->state = calloc(1, f->table->size + 1);
	f->key = calloc(r->ninstances + 1u, sizeof(*f->key));
	if (!f->state || !f->key || put_losses(f))
		rc = err_set(e, -ENOMEM, "out of memory for a table");
	else
		rc = f->table->open(f, sel, e);
	if (!rc && reserve_cells(f))
		rc = err_set(e, -ENOMEM, "out of memory for a table of %u columns", f->ncolumns);
	if (rc) {
		frame_close(f);
		return rc;
	}
	f->schema.ncolumns = f->ncolumns;
	f->schema.columns = f->columns;
	*out = f;
	return 0;
}

const struct frame_schema *frame_schema(const struct frame *f)
{
	return &f->schema;
}

int frame_next(struct frame *f, struct batch *b, struct err *e)
{
	int rc;

	f->nrows = 0;
	for (uint32_t i = 0; i < f->ncolumns && !f->table->keeps; i++)
		memset(f->cells[i].state, STATE_ABSENT, f->row_cap);
	memcpy(f->given, f->cells, f->ncolumns * sizeof(*f->given));
	rc = f->table->fill(f, e);
	*b = (struct batch){ f->nrows, f->given };
	return rc < 0 ? rc : f->nrows > 0;
}

int frame_rewind(struct frame *f)
{
	return f->table->rewind(f);
}

void frame_close(struct frame *f)
{
	if (!f)
		return;
	if (f->state)
		f->table->close(f);
	for (uint32_t i = 0; f->cells && i < f->ncolumns; i++) {
		free(f->cells[i].i);
		free(f->cells[i].state);
	}
	for (uint32_t i = 0; f->key && i < f->run->ninstances; i++)
		free(f->key[i]);
	free(f->cells);
	free(f->given);
	bytes_free(&f->losses);
	free(f->columns);
	free(f->key);
	free(f->state);
	free(f);
}

/* ---- what tables fill it with ---- */

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
