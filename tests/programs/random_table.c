/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_table SEED ROWS WANTED FORMAT=FILE...: a table made from a seed goes through sinks, and
 * what must be read back goes into the folder WANTED: schema.tsv (a line for each column: type and
 * name), N.there (a byte for each row) and N.values (64 bits for each row, or texts with a NUL
 * behind each) of column N.
 */
#include "base/random.h"
#include "base/text/escape.h"
#include "sink/sink.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 12, BATCH_MAX = 4096, TEXT_MAX = 80 };

/* How the values of a column come. */
enum manner { RUNS = 0, FEW, WALK, ANY, MANNERS };
enum absence { NEVER = 0, ALWAYS, OFTEN, SELDOM, ABSENCES };

struct made {
	enum manner manner;
	enum absence absence;
	int64_t walk;
	FILE *there, *values;
};

struct maker {
	struct random source;
	uint32_t ncolumns;
	struct column columns[COLUMNS_MAX];
	struct made made[COLUMNS_MAX];
	struct cells cells[COLUMNS_MAX];
	char (*text)[BATCH_MAX][TEXT_MAX];
};

static void die(const char *what)
{
	fprintf(stderr, "random_table: %s\n", what);
	exit(1);
}

static uint64_t draw(struct maker *m)
{
	return random_u64(&m->source);
}

static uint64_t below(struct maker *m, uint64_t n)
{
	return draw(m) % n;
}

/* The same number again and again, then another. */
static int64_t draw_run(struct maker *m, struct made *c)
{
	if (!below(m, 64))
		c->walk = (int64_t)below(m, 100);
	return c->walk;
}

static int64_t draw_int(struct maker *m, struct made *c)
{
	static const int64_t few[] = { 0, 1, -1, INT64_MAX, INT64_MIN, 4711, -4711 };

	switch (c->manner) {
	case RUNS:
		return draw_run(m, c) * 42;
	case FEW:
		return few[below(m, sizeof(few) / sizeof(few[0]))];
	case WALK:
		return c->walk += (int64_t)below(m, 1000) - 300;
	default:
		return (int64_t)draw(m);
	}
}

static double draw_real(struct maker *m, struct made *c)
{
	static const double few[] = { 0,        -0.0,      1.5, -1e300, 5e-324,
				      INFINITY, -INFINITY, NAN, 0.1,    1e-10 };
	uint64_t bits = draw(m);
	double v;

	switch (c->manner) {
	case RUNS:
		return (double)draw_run(m, c) / 4;
	case FEW:
		return few[below(m, sizeof(few) / sizeof(few[0]))];
	case WALK:
		return (double)(c->walk += (int64_t)below(m, 1000) - 500) / 1000;
	default:
		memcpy(&v, &bits, sizeof(v));
		return v;
	}
}

/* From 1938 to 2116, never in the last second before 1970, which ORC cannot tell from the first. */
static int64_t draw_time(struct maker *m, struct made *c)
{
	static const int64_t tens[] = { 1,      10,      100,      1000,      10000,
					100000, 1000000, 10000000, 100000000, 1000000000 };
	int64_t t;

	switch (c->manner) {
	case RUNS:
		t = INT64_C(1700000000123456789) + draw_run(m, c);
		return t - t % tens[c->walk % 10];
	case FEW:
		return INT64_C(1700000000000000000) + (int64_t)below(m, 5) * 1000000000;
	case WALK:
		c->walk += (int64_t)below(m, 2000000);
		return INT64_C(1700000000000000000) + c->walk;
	default:
		t = (int64_t)below(m, UINT64_C(5600000000000000000)) - INT64_C(1000000000000000000);
		return t < 0 && t > -1000000000 ? 0 : t;
	}
}

static void draw_text(struct maker *m, struct made *c, char out[TEXT_MAX])
{
	static const char *const few[] = {
		"",         "a",       "caf\xc3\xa9", "\xf0\x9f\x8e\x89", "tab\tnew\nline",
		"\xff\xfe", "caf\xc3", "nan",         "\"quoted\\",       "\xed\xa0\x80"
	};
	size_t n = below(m, TEXT_MAX - 9);

	switch (c->manner) {
	case RUNS:
		snprintf(out, TEXT_MAX, "node.load_%lldmin", (long long)draw_run(m, c));
		break;
	case FEW:
		snprintf(out, TEXT_MAX, "%s", few[below(m, sizeof(few) / sizeof(few[0]))]);
		break;
	case WALK:
		snprintf(out, TEXT_MAX, "python3#%llu", (unsigned long long)below(m, 3000));
		break;
	default:
		for (size_t i = 0; i < n; i++)
			out[i] = (char)(below(m, 30) ? 'a' + (char)below(m, 26)
						     : 1 + (char)below(m, 254));
		out[n] = '\0';
	}
}

static bool draw_presence(struct maker *m, const struct made *c)
{
	switch (c->absence) {
	case NEVER:
		return true;
	case ALWAYS:
		return false;
	case OFTEN:
		return below(m, 3) == 0;
	default:
		return below(m, 50) != 0;
	}
}

static void expect(const struct made *c, enum column_type type, const struct cells *cells,
		   uint32_t row)
{
	bool there = cells->state[row] == STATE_PRESENT;
	struct bytes clean = { 0 };
	int64_t absent = 0;

	putc(there, c->there);
	if (type != COLUMN_TEXT) {
		fwrite(there ? &cells->i[row] : &absent, sizeof(absent), 1, c->values);
		return;
	}
	if (there)
		escape_utf8(&clean, cells->s[row]);
	fwrite(clean.data, 1, clean.len, c->values);
	putc(0, c->values);
	bytes_free(&clean);
}

static void make_cell(struct maker *m, uint32_t i, uint32_t row)
{
	struct made *c = &m->made[i];
	struct cells *cells = &m->cells[i];

	cells->state[row] = draw_presence(m, c)
				    ? STATE_PRESENT
				    : (uint8_t)(below(m, 2) ? STATE_ABSENT : STATE_FAILED);
	switch (m->columns[i].type) {
	case COLUMN_TEXT:
		draw_text(m, c, m->text[i][row]);
		cells->s[row] = m->text[i][row];
		break;
	case COLUMN_INT:
		cells->i[row] = draw_int(m, c);
		break;
	case COLUMN_REAL:
		cells->d[row] = draw_real(m, c);
		break;
	case COLUMN_TIME:
		cells->i[row] = draw_time(m, c);
		break;
	}
}

static void make_columns(struct maker *m)
{
	static const char *const names[COLUMNS_MAX] = {
		"node",      "metric",  "time",       "value", "a \"quoted\" name", "caf\xc3\xa9",
		"x.y[eth0]", "seconds", "with,comma", "UPPER", "percent%",          "last"
	};

	m->text = calloc(COLUMNS_MAX, sizeof(*m->text));
	m->ncolumns = 1 + (uint32_t)below(m, COLUMNS_MAX);
	if (!m->text)
		die("out of memory");
	for (uint32_t i = 0; i < m->ncolumns; i++) {
		m->columns[i] = (struct column){ .name = names[i],
						 .type = (enum column_type)below(m, 4),
						 .unit = i % 2 ? "bytes" : "",
						 .help = "Made from a seed.",
						 .kind = i % 3 ? "gauge" : NULL };
		m->made[i] = (struct made){ .manner = (enum manner)below(m, MANNERS),
					    .absence = (enum absence)below(m, ABSENCES) };
		m->cells[i].i = calloc(BATCH_MAX, sizeof(int64_t));
		m->cells[i].state = calloc(BATCH_MAX, 1);
		if (!m->cells[i].i || !m->cells[i].state)
			die("out of memory");
	}
}

static FILE *wanted_file(const char *folder, uint32_t column, const char *what)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u.%s", folder, column, what);
	f = fopen(path, "w");
	if (!f)
		die(path);
	return f;
}

/* The whole table through a sink; the first time (folder is not NULL) what it must be, too. */
static void make_table(uint64_t seed, uint64_t rows, const struct sink *k, const char *path,
		       const char *folder)
{
	struct maker m = { .source = { seed } };
	struct frame_schema schema = { .table = "random", .columns = m.columns };
	void *state = calloc(1, k->size);
	FILE *out = fopen(path, "w");
	struct err e = { "" };
	int rc;

	make_columns(&m);
	schema.ncolumns = m.ncolumns;
	if (!state || !out)
		die(path);
	rc = k->begin(state, &schema, out, &e);
	for (uint32_t i = 0; folder && i < m.ncolumns; i++) {
		m.made[i].there = wanted_file(folder, i, "there");
		m.made[i].values = wanted_file(folder, i, "values");
	}
	while (rows && !rc) {
		uint32_t n = 1 + (uint32_t)below(&m, BATCH_MAX);
		struct batch b = { .nrows = n < rows ? n : (uint32_t)rows, .columns = m.cells };

		for (uint32_t row = 0; row < b.nrows; row++)
			for (uint32_t i = 0; i < m.ncolumns; i++) {
				make_cell(&m, i, row);
				if (folder)
					expect(&m.made[i], m.columns[i].type, &m.cells[i], row);
			}
		rc = k->batch(state, &b, &e);
		rows -= b.nrows;
	}
	if (rc || k->end(state, &e) || fclose(out))
		die(e.text);
	k->free(state);
	free(state);
	for (uint32_t i = 0; i < m.ncolumns; i++) {
		if (folder && (fclose(m.made[i].there) || fclose(m.made[i].values)))
			die(folder);
		free(m.cells[i].i);
		free(m.cells[i].state);
	}
	free(m.text);
}

static void write_schema(uint64_t seed, const char *folder)
{
	static const char *const types[] = { [COLUMN_TEXT] = "text",
					     [COLUMN_INT] = "int",
					     [COLUMN_REAL] = "real",
					     [COLUMN_TIME] = "time" };
	struct maker m = { .source = { seed } };
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/schema.tsv", folder);
	f = fopen(path, "w");
	if (!f)
		die(path);
	make_columns(&m);
	for (uint32_t i = 0; i < m.ncolumns; i++) {
		fprintf(f, "%s\t%s\n", types[m.columns[i].type], m.columns[i].name);
		free(m.cells[i].i);
		free(m.cells[i].state);
	}
	free(m.text);
	if (fclose(f))
		die(path);
}

int main(int argc, char **argv)
{
	uint64_t seed, rows;

	if (argc < 5)
		die("usage: random_table SEED ROWS WANTED FORMAT=FILE...");
	seed = strtoull(argv[1], NULL, 10);
	rows = strtoull(argv[2], NULL, 10);
	write_schema(seed, argv[3]);
	for (int i = 4; i < argc; i++) {
		char *path = strchr(argv[i], '=');
		const struct sink *k;

		if (!path)
			die(argv[i]);
		*path++ = '\0';
		k = sink_find(argv[i]);
		if (!k)
			die(argv[i]);
		make_table(seed, rows, k, path, i == 4 ? argv[3] : NULL);
	}
	return 0;
}
