/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/column.h"

#include "base/text/escape.h"
#include "base/text/json.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { CELLS_MAX = 1 << 20, ROWS_LEAST = 256 };

static uint32_t room_for(uint32_t ncolumns)
{
	uint32_t rows = CELLS_MAX / (ncolumns ? ncolumns : 1);

	rows = rows < ROWS_LEAST ? ROWS_LEAST : rows & ~7U;
	return rows < COLUMN_PAGE_ROWS ? rows : COLUMN_PAGE_ROWS;
}

static bool open_column(struct column_page *p, enum column_type type, uint32_t room)
{
	p->type = type;
	p->valid = calloc(room / 8 + 1, 1);
	if (type == COLUMN_TEXT) {
		p->code = calloc(room, sizeof(*p->code));
		p->cache = calloc(COLUMN_CACHE, sizeof(*p->cache));
		return p->valid && p->code && p->cache;
	}
	p->i = calloc(room, sizeof(*p->i));
	return p->valid && p->i;
}

int columns_open(struct columns *c, const struct frame_schema *schema, struct err *e)
{
	bool good;

	*c = (struct columns){ .schema = schema, .room = room_for(schema->ncolumns) };
	c->column = calloc(schema->ncolumns + 1u, sizeof(*c->column));
	good = c->column;
	for (uint32_t i = 0; i < schema->ncolumns && good; i++)
		good = open_column(&c->column[i], schema->columns[i].type, c->room);
	return good ? 0 : err_set(e, -ENOMEM, "out of memory for %u columns", schema->ncolumns);
}

static int find_code(struct columns *c, struct column_page *p, const char *text, uint32_t *code)
{
	struct column_cache *known =
		&p->cache[((uintptr_t)text ^ (uintptr_t)text >> 8) % COLUMN_CACHE];
	int rc;

	if (known->text != text || known->stamp != c->stamp) {
		rc = dictionary_text(&p->texts, text, &known->code);
		if (rc)
			return rc;
		known->text = text;
		known->stamp = c->stamp;
	}
	*code = known->code;
	return 0;
}

static int take_texts(struct columns *c, struct column_page *p, const struct cells *cells,
		      uint32_t row, uint32_t n)
{
	const uint8_t *state = cells->state + row;
	const char *const *text = cells->s + row;
	uint32_t *code = p->code + c->nrows;
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		code[i] = 0;
		if (state[i] == STATE_PRESENT)
			rc = find_code(c, p, text[i], &code[i]);
	}
	return rc;
}

static void take_numbers(const struct columns *c, struct column_page *p, const struct cells *cells,
			 uint32_t row, uint32_t n, bool all)
{
	const uint8_t *state = cells->state + row;
	const int64_t *from = cells->i + row;
	int64_t *to = p->i + c->nrows;

	if (all)
		memcpy(to, from, n * sizeof(*to));
	for (uint32_t i = 0; !all && i < n; i++)
		to[i] = state[i] == STATE_PRESENT ? from[i] : 0;
}

/* Mostly all are there. */
static bool all_there(const uint8_t *state, uint32_t n)
{
	return n && state[0] == STATE_PRESENT && !memcmp(state, state + 1, n - 1);
}

/* n states, at most 8, as bits, the first one lowest. */
static uint8_t bits_of(const uint8_t *state, uint32_t n)
{
	unsigned bits = 0;

	for (uint32_t i = 0; i < n; i++)
		bits |= (unsigned)(state[i] == STATE_PRESENT) << i;
	return (uint8_t)bits;
}

/* A byte at a time, since one that is read and written again for each of its bits takes longer than
 * all else here. */
static void take_states(const struct columns *c, struct column_page *p, const uint8_t *state,
			uint32_t n, bool all)
{
	for (uint32_t i = 0, some; i < n; i += some) {
		uint32_t at = c->nrows + i, shift = at % 8;
		uint8_t bits;

		some = n - i < 8 - shift ? n - i : 8 - shift;
		if (all && some == 8) {
			some = (n - i) / 8 * 8;
			memset(p->valid + at / 8, UINT8_MAX, some / 8);
			continue;
		}
		bits = bits_of(state + i, some);
		p->valid[at / 8] |= (uint8_t)(bits << shift);
		p->nulls += some - (uint32_t)__builtin_popcount(bits);
	}
}

static int failed(int rc, struct err *e)
{
	if (rc == -EFBIG)
		return err_set(e, rc,
			       "the texts of a column take 2 GiB or more: export less of it "
			       "(--metrics, --from, --until) or as csv");
	return err_set(e, rc, "out of memory for the texts of a table");
}

int columns_take(struct columns *c, const struct batch *b, uint32_t *row, struct err *e)
{
	uint32_t n = b->nrows - *row;
	int rc = 0;

	if (n > c->room - c->nrows)
		n = c->room - c->nrows;
	c->stamp += !c->schema->texts_stay;
	for (uint32_t i = 0; i < c->schema->ncolumns && !rc; i++) {
		struct column_page *p = &c->column[i];
		const uint8_t *state = b->columns[i].state + *row;
		bool all = all_there(state, n);

		if (p->type == COLUMN_TEXT)
			rc = take_texts(c, p, &b->columns[i], *row, n);
		else
			take_numbers(c, p, &b->columns[i], *row, n, all);
		take_states(c, p, state, n, all);
	}
	c->nrows += n;
	*row += n;
	return rc ? failed(rc, e) : 0;
}

int columns_batch(struct columns *c, const struct batch *b, int (*full)(void *state, struct err *e),
		  void *state, struct err *e)
{
	uint32_t row = 0;
	int rc = 0;

	while (row < b->nrows && !rc) {
		rc = columns_take(c, b, &row, e);
		if (!rc && c->nrows == c->room)
			rc = full(state, e);
	}
	return rc;
}

void columns_next_page(struct columns *c)
{
	for (uint32_t i = 0; i < c->schema->ncolumns; i++) {
		memset(c->column[i].valid, 0, c->room / 8 + 1);
		c->column[i].nulls = 0;
	}
	c->nrows = 0;
}

void columns_empty_dictionaries(struct columns *c)
{
	for (uint32_t i = 0; i < c->schema->ncolumns; i++)
		dictionary_empty(&c->column[i].texts);
	c->stamp++;
}

int columns_open_spare(const struct columns *c, struct column_spare **out)
{
	struct column_spare *s = calloc(c->schema->ncolumns + 1u, sizeof(*s));
	bool good = s;

	for (uint32_t i = 0; i < c->schema->ncolumns && good; i++) {
		s[i].cells = calloc(c->room, c->column[i].type == COLUMN_TEXT ? sizeof(uint32_t)
									      : sizeof(int64_t));
		s[i].valid = calloc(c->room / 8 + 1, 1);
		good = s[i].cells && s[i].valid;
	}
	*out = s;
	return good ? 0 : -ENOMEM;
}

void columns_swap(struct columns *c, struct column_spare *s)
{
	for (uint32_t i = 0; i < c->schema->ncolumns; i++) {
		struct column_page *p = &c->column[i];
		struct column_spare was = { p->i, p->valid };

		p->i = s[i].cells;
		p->valid = s[i].valid;
		s[i] = was;
	}
}

void columns_close_spare(const struct columns *c, struct column_spare *s)
{
	for (uint32_t i = 0; s && i < c->schema->ncolumns; i++) {
		free(s[i].cells);
		free(s[i].valid);
	}
	free(s);
}

void columns_close(struct columns *c)
{
	for (uint32_t i = 0; c->column && i < c->schema->ncolumns; i++) {
		free(c->column[i].i);
		free(c->column[i].valid);
		free(c->column[i].cache);
		dictionary_free(&c->column[i].texts);
	}
	free(c->column);
	*c = (struct columns){ 0 };
}

static bool another_cpu(void)
{
	cpu_set_t set;

	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 1;
}

int columns_behind_open(struct columns_behind *b, const struct columns *c)
{
	b->page = calloc(c->schema->ncolumns + 1u, sizeof(*b->page));
	return b->page ? columns_open_spare(c, &b->spare) : -ENOMEM;
}

void columns_behind_close(struct columns_behind *b, const struct columns *c)
{
	if (b->runs)
		pthread_join(b->thread, NULL);
	if (b->spare)
		columns_close_spare(c, b->spare);
	free(b->page);
}

static void *write_page(void *behind)
{
	struct columns_behind *b = behind;

	b->rc = b->write(b->state, b->page, b->nrows, &b->e);
	return NULL;
}

int columns_behind_finish(struct columns_behind *b, struct err *e)
{
	int rc;

	if (b->runs)
		pthread_join(b->thread, NULL);
	b->runs = false;
	rc = b->rc;
	b->rc = 0;
	return rc ? err_set(e, rc, "%s", b->e.text) : 0;
}

int columns_write_behind(struct columns_behind *b, struct columns *c, struct err *e)
{
	int rc = columns_behind_finish(b, e);

	if (rc)
		return rc;
	memcpy(b->page, c->column, c->schema->ncolumns * sizeof(*b->page));
	b->nrows = c->nrows;
	columns_swap(c, b->spare);
	columns_next_page(c);
	b->runs = another_cpu() && !pthread_create(&b->thread, NULL, write_page, b);
	if (!b->runs)
		write_page(b);
	return 0;
}

static void put_pair(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text ? text : "");
}

static void put_columns(struct json *j, const char *key, const struct column *c, uint32_t n)
{
	json_key(j, key);
	json_array(j);
	for (; n; n--, c++) {
		json_object(j);
		put_pair(j, "name", c->name);
		put_pair(j, "unit", c->unit);
		if (c->kind)
			put_pair(j, "kind", c->kind);
		put_pair(j, "help", c->help);
		json_object_end(j);
	}
	json_array_end(j);
}

void columns_describe(struct bytes *out, const struct frame_schema *schema)
{
	struct json j = { .out = out };

	json_object(&j);
	put_pair(&j, "schema", "sonde/columns/1");
	put_pair(&j, "table", schema->table);
	if (schema->losses && *schema->losses)
		put_pair(&j, "losses", schema->losses);
	put_columns(&j, "columns", schema->columns, schema->ncolumns);
	put_columns(&j, "metrics", schema->metrics, schema->nmetrics);
	json_object_end(&j);
}

void column_name(struct bytes *out, const struct column *c)
{
	bytes_reset(out);
	escape_utf8(out, c->name);
	bytes_u8(out, '\0');
}

enum { LEVEL = 1, WORTH_A_THREAD = 1 << 18 };

size_t squeeze(void **context, struct bytes *out, const void *data, size_t n)
{
	size_t size;

	if (!*context)
		*context = ZSTD_createCCtx();
	if (!*context)
		out->failed = true;
	if (!bytes_room(out, ZSTD_compressBound(n)))
		return 0;
	size = ZSTD_compressCCtx(*context, out->data + out->len, out->cap - out->len, data, n,
				 LEVEL);
	if (ZSTD_isError(size)) {
		out->failed = true;
		return 0;
	}
	out->len += size;
	return size;
}

void squeeze_free(void *context)
{
	ZSTD_freeCCtx(context);
}

static void work(struct squeeze_crew *c, void **context)
{
	size_t i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->n) {
		/* From the last one: a table's numbers, which take longest, stand behind its
		 * texts, and who gets one at the end keeps the other waiting. */
		struct squeeze_job *j = &c->jobs[c->n - 1 - i];

		bytes_reset(&j->out);
		if (j->n)
			squeeze(context, &j->out, j->data, j->n);
	}
}

static void *help(void *crew)
{
	struct squeeze_crew *c = crew;

	work(c, &c->context[1]);
	return NULL;
}

void squeeze_start(struct squeeze_crew *c, struct squeeze_job *jobs, size_t n)
{
	size_t bytes = 0;

	c->jobs = jobs;
	c->n = n;
	atomic_store(&c->next, 0);
	for (size_t i = 0; i < n; i++)
		bytes += jobs[i].n;
	c->helped = n > 1 && bytes >= WORTH_A_THREAD && another_cpu() &&
		    !pthread_create(&c->thread, NULL, help, c);
}

void squeeze_finish(struct squeeze_crew *c)
{
	work(c, &c->context[0]);
	if (c->helped)
		pthread_join(c->thread, NULL);
	c->helped = false;
	c->n = 0;
}

void squeeze_all(struct squeeze_crew *c, struct squeeze_job *jobs, size_t n)
{
	squeeze_start(c, jobs, n);
	squeeze_finish(c);
}

void squeeze_crew_free(struct squeeze_crew *c)
{
	squeeze_finish(c);
	for (size_t i = 0; i < SQUEEZE_THREADS; i++)
		squeeze_free(c->context[i]);
}
