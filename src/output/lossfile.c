/* SPDX-License-Identifier: Apache-2.0 */
#include "output/lossfile.h"

#include "core/frame/losses.h"
#include "output/outfile.h"

#include <math.h>

enum { KIND, LOST, OF, WORDS, WHY, COLUMNS };

static const struct column columns[] = {
	[KIND] = { .name = "kind", .type = COLUMN_TEXT },
	[LOST] = { .name = "lost", .type = COLUMN_REAL },
	[OF] = { .name = "of", .type = COLUMN_REAL },
	[WORDS] = { .name = "words", .type = COLUMN_TEXT },
	[WHY] = { .name = "why", .type = COLUMN_TEXT },
};
_Static_assert(sizeof columns / sizeof columns[0] == COLUMNS, "a row for each");

/* A table of one batch. */
struct table {
	const char *text[COLUMNS][LOSSES_MAX];
	double number[COLUMNS][LOSSES_MAX];
	uint8_t state[COLUMNS][LOSSES_MAX];
	struct cells cells[COLUMNS];
	uint32_t nrows;
};

static void fill(struct table *t, const struct losses *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct loss *l = &x->row[i];

		t->text[KIND][i] = l->key;
		t->text[WORDS][i] = l->words;
		t->text[WHY][i] = l->why;
		t->number[LOST][i] = l->lost;
		t->number[OF][i] = l->of;
		t->state[OF][i] = (uint8_t)(isnan(l->of) ? STATE_ABSENT : STATE_PRESENT);
		t->state[KIND][i] = t->state[LOST][i] = t->state[WORDS][i] = t->state[WHY][i] =
			STATE_PRESENT;
	}
	for (int c = 0; c < COLUMNS; c++) {
		t->cells[c].state = t->state[c];
		if (columns[c].type == COLUMN_TEXT)
			t->cells[c].s = t->text[c];
		else
			t->cells[c].d = t->number[c];
	}
	t->nrows = x->n;
}

static int next(void *ctx, struct batch *b, struct err *e)
{
	struct table *t = ctx;

	(void)e;
	*b = (struct batch){ t->nrows, t->cells };
	t->nrows = 0;
	return b->nrows > 0;
}

static bool matters(const struct losses *x)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->row[i].matters)
			return true;
	return false;
}

int lossfile_write(const struct tablefile *to, const struct run *r, struct err *e)
{
	static const struct frame_schema schema = { .table = "losses",
						    .ncolumns = COLUMNS,
						    .columns = columns };
	struct table t = { 0 };
	struct losses x;
	struct outfile out;
	int rc = losses_make(&x, r);

	if (rc)
		return err_set(e, rc, "out of memory");
	if (!matters(&x) || !to->directory)
		return 0;
	fill(&t, &x);
	rc = outfile_open(&out, to->directory, "losses.csv", e);
	if (rc)
		return rc;
	rc = sink_pull(sink_find("csv"), &(struct table_source){ &schema, next, &t }, out.file, e);
	rc = outfile_close(&out, rc, e);
	if (!rc)
		written_add(to->written, out.path);
	return rc;
}
