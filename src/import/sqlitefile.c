/* SPDX-License-Identifier: Apache-2.0 */
#include "import/sqlitefile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HEADER = 100,
	TABLE_INTERIOR = 5,
	TABLE_LEAF = 13,
	FIND = SQLITEFILE_DEPTH - 2, /* the page of a search */
	OVERFLOW = SQLITEFILE_DEPTH - 1,
	DEPTH_MOST = SQLITEFILE_DEPTH - 2,
};

static uint32_t be16(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
	return be16(p) << 16 | be16(p + 2);
}

static int malformed(struct err *e, const char *why)
{
	return err_set(e, -EBADMSG, "the database is malformed: %s", why);
}

/* ---- pages ---- */

static bool read_page(struct sqlitefile *f, uint32_t number, unsigned into)
{
	ssize_t n;

	if (!number || number > f->npages)
		return false;
	do
		n = pread(f->fd, f->page[into], f->page_size,
			  (off_t)(number - 1) * (off_t)f->page_size);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)f->page_size;
}

int sqlitefile_open(struct sqlitefile *f, int fd, struct err *e)
{
	uint8_t head[HEADER];
	struct stat st;

	*f = (struct sqlitefile){ .fd = fd };
	if (pread(fd, head, sizeof head, 0) != HEADER || memcmp(head, "SQLite format 3", 16) != 0 ||
	    fstat(fd, &st))
		return err_set(e, -EINVAL, "it is not a SQLite database");
	f->page_size = be16(head + 16) == 1 ? 65536 : be16(head + 16);
	if (f->page_size < 512 || (f->page_size & (f->page_size - 1)) ||
	    f->page_size - head[20] < 480)
		return malformed(e, "the size of its pages");
	if (be32(head + 56) != 1)
		return err_set(e, -EINVAL, "its texts are not in UTF-8");
	f->usable = f->page_size - head[20];
	f->has_log = head[18] == 2 || head[19] == 2;
	f->npages = st.st_size / f->page_size > UINT32_MAX ? UINT32_MAX
							   : (uint32_t)(st.st_size / f->page_size);
	f->row = malloc(SQLITEFILE_ROW);
	for (unsigned i = 0; i < SQLITEFILE_DEPTH && f->row; i++) {
		f->page[i] = malloc(f->page_size);
		if (!f->page[i]) {
			free(f->row);
			f->row = NULL;
		}
	}
	if (f->row)
		return 0;
	sqlitefile_close(f);
	return err_set(e, -ENOMEM, "out of memory for its pages");
}

void sqlitefile_close(struct sqlitefile *f)
{
	for (unsigned i = 0; i < SQLITEFILE_DEPTH; i++)
		free(f->page[i]);
	free(f->row);
	*f = (struct sqlitefile){ .fd = -1 };
}

/* A page of a b-tree: its kind, its cells. */
struct node {
	const uint8_t *page, *cells;
	uint32_t ncells, last; /* the child behind all cells */
	bool leaf;
};

static bool node_of(const struct sqlitefile *f, uint32_t number, unsigned at, struct node *n)
{
	const uint8_t *head = f->page[at] + (number == 1 ? HEADER : 0);

	n->page = f->page[at];
	n->leaf = *head == TABLE_LEAF;
	if (!n->leaf && *head != TABLE_INTERIOR)
		return false;
	n->ncells = be16(head + 3);
	n->last = n->leaf ? 0 : be32(head + 8);
	n->cells = head + (n->leaf ? 8 : 12);
	return n->cells + 2 * (size_t)n->ncells <= n->page + f->usable;
}

struct span {
	const uint8_t *at, *end;
};

static bool cell_of(const struct sqlitefile *f, const struct node *n, uint32_t i, struct span *s)
{
	uint32_t at = be16(n->cells + 2 * (size_t)i);

	if (at < 8 || at + 4 > f->usable)
		return false;
	*s = (struct span){ n->page + at, n->page + f->usable };
	return true;
}

/* Big-endian, seven bits a byte; all eight of the ninth. */
static bool varint(struct span *s, uint64_t *out)
{
	*out = 0;
	for (int i = 0; i < 9 && s->at < s->end; i++) {
		uint8_t c = *s->at++;

		if (i == 8) {
			*out = *out << 8 | c;
			return true;
		}
		*out = *out << 7 | (c & 0x7f);
		if (!(c & 0x80))
			return true;
	}
	return false;
}

/* ---- rows ---- */

/* How many bytes of a row are in its leaf; the rest is on pages of their own. */
static uint64_t local_of(const struct sqlitefile *f, uint64_t n)
{
	uint64_t most = f->usable - 35, least = ((uint64_t)f->usable - 12) * 32 / 255 - 23;
	uint64_t local;

	if (n <= most)
		return n;
	local = least + (n - least) % (f->usable - 4);
	return local <= most ? local : least;
}

/* A row's bytes to *s: what is beyond SQLITEFILE_ROW is left out. */
static bool row_bytes(struct sqlitefile *f, struct span cell, uint64_t n, struct span *s)
{
	uint64_t local = local_of(f, n), most = n < SQLITEFILE_ROW ? n : SQLITEFILE_ROW, have;
	uint32_t next;

	if (local > (uint64_t)(cell.end - cell.at))
		return false;
	if (local == n) {
		*s = (struct span){ cell.at, cell.at + n };
		return true;
	}
	have = local < most ? local : most;
	memcpy(f->row, cell.at, have);
	if ((uint64_t)(cell.end - cell.at) - local < 4)
		return false;
	next = be32(cell.at + local);
	while (have < most) {
		uint64_t take = f->usable - 4;

		if (!read_page(f, next, OVERFLOW))
			return false;
		take = take < most - have ? take : most - have;
		memcpy(f->row + have, f->page[OVERFLOW] + 4, take);
		have += take;
		next = be32(f->page[OVERFLOW]);
	}
	*s = (struct span){ f->row, f->row + have };
	return true;
}

static int64_t integer_of(const uint8_t *p, unsigned n)
{
	uint64_t v = n && *p & 0x80 ? UINT64_MAX : 0;

	while (n--)
		v = v << 8 | *p++;
	return (int64_t)v;
}

/* A value of that serial type out of a body; one that is cut off is NULL. */
static void value_of(uint64_t type, struct span *body, struct sqlitefile_value *v)
{
	static const uint8_t sizes[] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };
	uint64_t n = type < 12 ? sizes[type] : (type - 12) / 2;
	const uint8_t *p = body->at;

	*v = (struct sqlitefile_value){ SQLITEFILE_NULL, 0, 0, NULL, 0 };
	if (n > (uint64_t)(body->end - body->at)) {
		body->at = body->end;
		return;
	}
	body->at += n;
	if (type == 7) {
		uint64_t bits = (uint64_t)integer_of(p, 8);

		v->type = SQLITEFILE_REAL;
		memcpy(&v->real, &bits, sizeof v->real);
	} else if (type == 8 || type == 9) {
		v->type = SQLITEFILE_INTEGER;
		v->integer = type == 9;
	} else if (type && type < 7) {
		v->type = SQLITEFILE_INTEGER;
		v->integer = integer_of(p, (unsigned)n);
	} else if (type > 12 && type % 2) {
		v->type = SQLITEFILE_TEXT;
		v->text = (const char *)p;
		v->n = n;
	}
}

static bool row_values(struct span row, struct sqlitefile_value value[SQLITEFILE_COLUMNS],
		       uint32_t *n)
{
	struct span head = row, body;
	uint64_t size, type;

	*n = 0;
	if (!varint(&head, &size) || size > (uint64_t)(row.end - row.at))
		return false;
	body = (struct span){ row.at + size, row.end };
	head.end = row.at + size;
	while (head.at < head.end && *n < SQLITEFILE_COLUMNS) {
		if (!varint(&head, &type))
			return false;
		value_of(type, &body, &value[(*n)++]);
	}
	return true;
}

/* A leaf's cell as a row with all columns of its table. */
static int give_row(struct sqlitefile *f, const struct sqlitefile_table *t, struct span cell,
		    sqlitefile_take take, void *ctx)
{
	struct sqlitefile_value value[SQLITEFILE_COLUMNS];
	struct span row;
	uint64_t size, rowid;
	uint32_t n;

	if (!varint(&cell, &size) || !varint(&cell, &rowid) || !row_bytes(f, cell, size, &row) ||
	    !row_values(row, value, &n))
		return -EBADMSG;
	while (n < t->ncolumns)
		value[n++] = (struct sqlitefile_value){ SQLITEFILE_NULL, 0, 0, NULL, 0 };
	if (t->rowid >= 0 && value[t->rowid].type == SQLITEFILE_NULL)
		value[t->rowid] =
			(struct sqlitefile_value){ SQLITEFILE_INTEGER, (int64_t)rowid, 0, NULL, 0 };
	return take(ctx, value, n);
}

/* ---- all rows ---- */

struct walk {
	struct sqlitefile *f;
	const struct sqlitefile_table *t;
	sqlitefile_take take;
	void *ctx;
	uint64_t pages; /* read so far: in a circle there is no end of them */
};

static int walk(struct walk *w, uint32_t number, unsigned depth)
{
	struct sqlitefile *f = w->f;
	struct span cell;
	struct node n;
	int rc = 0;

	if (depth == DEPTH_MOST || w->pages++ >= f->npages || !read_page(f, number, depth) ||
	    !node_of(f, number, depth, &n))
		return -EBADMSG;
	for (uint32_t i = 0; i < n.ncells && !rc; i++) {
		if (!cell_of(f, &n, i, &cell))
			return -EBADMSG;
		rc = n.leaf ? give_row(f, w->t, cell, w->take, w->ctx)
			    : walk(w, be32(cell.at), depth + 1);
	}
	return rc || n.leaf ? rc : walk(w, n.last, depth + 1);
}

int sqlitefile_rows(struct sqlitefile *f, const struct sqlitefile_table *t, sqlitefile_take take,
		    void *ctx, struct err *e)
{
	struct walk w = { f, t, take, ctx, 0 };
	int rc = walk(&w, t->root, 0);

	return rc == -EBADMSG ? malformed(e, t->name) : rc;
}

int sqlitefile_find(struct sqlitefile *f, const struct sqlitefile_table *t, int64_t rowid,
		    sqlitefile_take take, void *ctx)
{
	uint32_t number = t->root;

	for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
		struct span cell;
		struct node n;
		uint64_t key = 0, size;
		uint32_t low = 0, high;

		if (!read_page(f, number, FIND) || !node_of(f, number, FIND, &n))
			return -EBADMSG;
		/* The first cell whose key is not below. */
		for (high = n.ncells; low < high;) {
			uint32_t middle = low + (high - low) / 2;

			if (!cell_of(f, &n, middle, &cell))
				return -EBADMSG;
			cell.at += n.leaf ? 0 : 4;
			if ((n.leaf && !varint(&cell, &size)) || !varint(&cell, &key))
				return -EBADMSG;
			if ((int64_t)key < rowid)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < n.ncells && !cell_of(f, &n, low, &cell))
			return -EBADMSG;
		if (!n.leaf) {
			number = low < n.ncells ? be32(cell.at) : n.last;
			continue;
		}
		if (low == n.ncells)
			return 0;
		struct span whole = cell;

		if (!varint(&cell, &size) || !varint(&cell, &key))
			return -EBADMSG;
		if ((int64_t)key != rowid)
			return 0;
		return give_row(f, t, whole, take, ctx) ? -EBADMSG : 1;
	}
	return -EBADMSG;
}

/* ---- tables ---- */

/* A column's name, and where its definition ends. */
static const char *column_name(const char *at, char out[SQLITEFILE_NAME])
{
	char close = *at == '[' ? ']' : *at;
	bool quoted = *at && strchr("\"`[", *at);
	size_t n = 0;

	at += quoted;
	while (*at &&
	       (quoted ? *at != close : isalnum((unsigned char)*at) || *at == '_' || *at == '$')) {
		if (n + 1 < SQLITEFILE_NAME)
			out[n++] = *at;
		at++;
	}
	out[n] = '\0';
	return at + (quoted && *at);
}

static bool is_constraint(const char *name)
{
	static const char *const words[] = { "PRIMARY", "UNIQUE", "CHECK", "FOREIGN",
					     "CONSTRAINT" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (!strcasecmp(name, words[i]))
			return true;
	return !*name;
}

/* "INTEGER NOT NULL PRIMARY KEY" is the rowid, of a column with exactly that type. */
static bool is_rowid(const char *definition, size_t n)
{
	char text[128];

	snprintf(text, sizeof text, "%.*s", (int)(n < sizeof text ? n : sizeof text - 1),
		 definition);
	return !strncasecmp(text + strspn(text, " \t\n"), "INTEGER ", 8) &&
	       strcasestr(text, "PRIMARY KEY") && !strcasestr(text, "DESC");
}

/* What "CREATE TABLE name (a INTEGER, ...)" says of its columns. */
static void take_columns(struct sqlitefile_table *t, const char *sql)
{
	const char *at = strchr(sql, '(');

	t->ncolumns = 0;
	t->rowid = -1;
	at = at ? at + 1 : "";
	while (*at && *at != ')' && t->ncolumns < SQLITEFILE_COLUMNS) {
		const char *definition;
		char name[SQLITEFILE_NAME];
		int depth = 0;

		at += strspn(at, " \t\r\n");
		definition = at = column_name(at, name);
		for (; *at && (depth || (*at != ',' && *at != ')')); at++)
			depth += (*at == '(') - (*at == ')');
		if (!is_constraint(name)) {
			if (is_rowid(definition, (size_t)(at - definition)))
				t->rowid = (int)t->ncolumns;
			memcpy(t->column[t->ncolumns++], name, sizeof name);
		}
		at += *at == ',';
	}
}

struct listing {
	sqlitefile_take_table take;
	void *ctx;
	struct sqlitefile_table *t;
};

/* type, name, tbl_name, rootpage, sql */
static int take_schema(void *ctx, const struct sqlitefile_value *v, uint32_t n)
{
	struct listing *l = ctx;
	char *sql;
	int rc;

	if (n < 5 || v[0].type != SQLITEFILE_TEXT || v[0].n != 5 ||
	    memcmp(v[0].text, "table", 5) != 0 || v[1].type != SQLITEFILE_TEXT ||
	    v[1].n >= SQLITEFILE_NAME || v[3].type != SQLITEFILE_INTEGER || v[3].integer < 1 ||
	    v[3].integer > UINT32_MAX || v[4].type != SQLITEFILE_TEXT)
		return 0;
	sql = strndup(v[4].text, v[4].n);
	if (!sql)
		return -ENOMEM;
	snprintf(l->t->name, sizeof l->t->name, "%.*s", (int)v[1].n, v[1].text);
	l->t->root = (uint32_t)v[3].integer;
	take_columns(l->t, sql);
	free(sql);
	rc = l->take(l->ctx, l->t);
	return rc;
}

int sqlitefile_tables(struct sqlitefile *f, sqlitefile_take_table take, void *ctx, struct err *e)
{
	static const struct sqlitefile_table schema = {
		.name = "its schema", .root = 1, .ncolumns = 5, .rowid = -1
	};
	struct listing l = { take, ctx, calloc(1, sizeof *l.t) };
	int rc = l.t ? sqlitefile_rows(f, &schema, take_schema, &l, e)
		     : err_set(e, -ENOMEM, "out of memory for its tables");

	free(l.t);
	return rc;
}
