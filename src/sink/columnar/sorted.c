/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/sorted.h"

#include "base/text/escape.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART_BYTES = 24 << 20, PART_ROWS_MIN = 64 };

/* Sorted rows in the file, read a piece at a time. */
struct sorted_part {
	uint64_t at, end; /* rows of the file that are not read yet */
	struct sorted_row *row;
	uint32_t n, next;
};

static int no_memory(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory");
}

static uint32_t find_column(const struct frame_schema *schema, const char *name,
			    enum column_type type)
{
	uint32_t i = 0;

	while (i < schema->ncolumns &&
	       (schema->columns[i].type != type || strcmp(schema->columns[i].name, name)))
		i++;
	return i;
}

int sorted_init(struct sorted *s, const struct frame_schema *schema, uint32_t most, struct err *e)
{
	*s = (struct sorted){ .most = most, .fd = -1, .nslots = 1024 };
	s->node = find_column(schema, "node", COLUMN_TEXT);
	s->metric = find_column(schema, "metric", COLUMN_TEXT);
	s->instance = find_column(schema, "instance", COLUMN_TEXT);
	s->time = find_column(schema, "time", COLUMN_TIME);
	s->value = find_column(schema, "value", COLUMN_REAL);
	if (s->node == schema->ncolumns || s->metric == schema->ncolumns ||
	    s->instance == schema->ncolumns || s->time == schema->ncolumns ||
	    s->value == schema->ncolumns)
		return err_set(e, -EINVAL, "only the tidy series table can be sorted by metric");
	s->slot = calloc(s->nslots, sizeof(*s->slot));
	s->row = malloc(most * sizeof(*s->row));
	return s->slot && s->row ? 0 : no_memory(e);
}

static uint64_t mix(uint64_t hash, const void *pointer)
{
	return (hash ^ (uint64_t)(uintptr_t)pointer) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The same texts lie at the same place as long as the run is there. */
static uint32_t *find_slot(const struct sorted *s, const struct sorted_series *x)
{
	uint64_t hash = mix(mix(mix(0, x->metric) >> 7, x->node) >> 7, x->instance);
	uint32_t at = (uint32_t)(hash >> 32) & (s->nslots - 1);

	for (;; at = (at + 1) & (s->nslots - 1)) {
		const struct sorted_series *y = &s->series[s->slot[at]];

		if (!s->slot[at] ||
		    (x->metric == y->metric && x->node == y->node && x->instance == y->instance))
			return &s->slot[at];
	}
}

static bool grow(struct sorted *s)
{
	uint32_t want = s->series_cap ? s->series_cap * 2 : 512, *slot = NULL;
	struct sorted_series *series = want ? reallocarray(s->series, want, sizeof(*series)) : NULL;

	if (series) {
		s->series = series;
		slot = calloc((size_t)want * 2, sizeof(*slot));
	}
	if (!slot)
		return false;
	free(s->slot);
	s->slot = slot;
	s->nslots = want * 2;
	s->series_cap = want;
	s->nseries += !s->nseries; /* 0 is none */
	for (uint32_t i = 1; i < s->nseries; i++)
		*find_slot(s, &s->series[i]) = i;
	return true;
}

/* Its id; 0: out of memory. */
static uint32_t find_series(struct sorted *s, const struct sorted_series *x)
{
	uint32_t *slot;

	if (s->nseries == s->series_cap && !grow(s))
		return 0;
	slot = find_slot(s, x);
	if (!*slot) {
		s->series[s->nseries] = *x;
		*slot = s->nseries++;
		s->ranked = false;
	}
	return *slot;
}

static int compare_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_text(const void *a, const void *b, void *series)
{
	const struct sorted_series *x = (struct sorted_series *)series + *(const uint32_t *)a,
				   *y = (struct sorted_series *)series + *(const uint32_t *)b;
	int order = compare_text(x->metric, y->metric);

	order = order ? order : compare_text(x->node, y->node);
	return order ? order : compare_text(x->instance, y->instance);
}

/* The order of the series known so far: it is that of their texts, so that later ones come between
 * and move none. */
static int rank_series(struct sorted *s)
{
	uint32_t *order, *rank;

	if (s->ranked || !s->nseries)
		return 0;
	order = malloc(s->nseries * sizeof(*order));
	rank = reallocarray(s->rank, s->nseries, sizeof(*rank));
	s->rank = rank ? rank : s->rank;
	if (order && rank) {
		for (uint32_t i = 0; i < s->nseries; i++)
			order[i] = i;
		qsort_r(order + 1, s->nseries - 1, sizeof(*order), by_text, s->series);
		for (uint32_t i = 1; i < s->nseries; i++)
			rank[order[i]] = i > 1 && !by_text(&order[i - 1], &order[i], s->series)
						 ? rank[order[i - 1]]
						 : i;
		s->ranked = true;
	}
	free(order);
	return s->ranked ? 0 : -ENOMEM;
}

static int by_rank(const void *a, const void *b)
{
	const struct sorted_row *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int sort_rows(struct sorted *s, struct err *e)
{
	if (rank_series(s))
		return no_memory(e);
	for (uint32_t i = 0; i < s->nrows; i++)
		s->row[i].rank = s->rank[s->row[i].series];
	qsort(s->row, s->nrows, sizeof(*s->row), by_rank);
	return 0;
}

static const char *directory(void)
{
	const char *set = getenv("TMPDIR");

	return set && *set ? set : "/var/tmp";
}

static int open_file(struct sorted *s, struct err *e)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/sonde-sort-XXXXXX", directory());

	if (s->fd >= 0)
		return 0;
	s->fd = n < (int)sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
	if (s->fd < 0)
		return err_set(e, -errno, "cannot sort in %s (TMPDIR names another place): %s",
			       directory(), strerror(errno));
	unlink(path);
	return 0;
}

static int write_rows(struct sorted *s, uint64_t at, struct err *e)
{
	const char *from = (const char *)s->row;
	size_t left = s->nrows * sizeof(*s->row);
	off_t where = (off_t)(at * sizeof(*s->row));

	while (left) {
		ssize_t n = pwrite(s->fd, from, left, where);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(e, n ? -errno : -EIO,
				       "cannot sort in %s (TMPDIR names another place): %s",
				       directory(), strerror(n ? errno : EIO));
		from += n;
		left -= (size_t)n;
		where += n;
	}
	return 0;
}

/* Sort what is held and put it behind the parts there are. */
static int spill(struct sorted *s, struct err *e)
{
	uint64_t at = s->nparts ? s->part[s->nparts - 1].end : 0;
	struct sorted_part *part;
	int rc = sort_rows(s, e);

	if (!rc)
		rc = open_file(s, e);
	if (!rc)
		rc = write_rows(s, at, e);
	if (rc)
		return rc;
	part = reallocarray(s->part, s->nparts + 1u, sizeof(*part));
	if (!part)
		return no_memory(e);
	s->part = part;
	s->part[s->nparts++] = (struct sorted_part){ .at = at, .end = at + s->nrows };
	s->nrows = 0;
	return 0;
}

static const char *text_at(const struct cells *c, uint32_t row)
{
	return c->state[row] == STATE_PRESENT ? c->s[row] : NULL;
}

int sorted_add(struct sorted *s, const struct batch *b, struct err *e)
{
	const struct cells *c = b->columns;
	int rc = 0;

	for (uint32_t i = 0; i < b->nrows && !rc; i++) {
		struct sorted_series x = { text_at(&c[s->metric], i), text_at(&c[s->node], i),
					   text_at(&c[s->instance], i) };
		struct sorted_row row = { .time_ns = c[s->time].i[i], .value = c[s->value].d[i] };

		if (!x.metric || !x.node || c[s->value].state[i] != STATE_PRESENT)
			continue;
		row.series = find_series(s, &x);
		if (!row.series)
			return no_memory(e);
		s->row[s->nrows++] = row;
		if (s->nrows == s->most)
			rc = spill(s, e);
	}
	return rc;
}

/* The next piece of a part; its ranks are those known by now. */
static int refill(struct sorted *s, struct sorted_part *p, uint32_t most, struct err *e)
{
	uint64_t left = p->end - p->at, want = left < most ? left : most;
	size_t size = want * sizeof(*p->row), done = 0;

	while (done < size) {
		ssize_t n = pread(s->fd, (char *)p->row + done, size - done,
				  (off_t)(p->at * sizeof(*p->row) + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(e, n ? -errno : -EIO, "cannot read back what was sorted: %s",
				       strerror(n ? errno : EIO));
		done += (size_t)n;
	}
	p->at += want;
	p->n = (uint32_t)want;
	p->next = 0;
	for (uint32_t i = 0; i < p->n; i++)
		p->row[i].rank = s->rank[p->row[i].series];
	return 0;
}

static uint32_t piece(const struct sorted *s)
{
	uint32_t rows = PART_BYTES / sizeof(struct sorted_row) / s->nparts;

	return rows < PART_ROWS_MIN ? PART_ROWS_MIN : rows;
}

/* Of equal rows that of the earlier part comes first. */
static bool before(const struct sorted *s, uint32_t a, uint32_t b)
{
	int order = by_rank(&s->part[a].row[s->part[a].next], &s->part[b].row[s->part[b].next]);

	return order ? order < 0 : a < b;
}

static void sift(struct sorted *s, uint32_t at)
{
	for (;;) {
		uint32_t least = at, left = 2 * at + 1;

		for (uint32_t c = left; c < left + 2 && c < s->nheap; c++)
			if (before(s, s->heap[c], s->heap[least]))
				least = c;
		if (least == at)
			return;
		uint32_t swap = s->heap[at];

		s->heap[at] = s->heap[least];
		s->heap[least] = swap;
		at = least;
	}
}

/* What is still held becomes the last part; then all of them are read from their begins. */
static int merge_begin(struct sorted *s, struct err *e)
{
	int rc = s->nrows ? spill(s, e) : 0;

	free(s->row);
	s->row = NULL;
	s->heap = rc ? NULL : calloc(s->nparts, sizeof(*s->heap));
	if (rc || !s->heap || rank_series(s))
		return rc ? rc : no_memory(e);
	for (uint32_t i = 0; i < s->nparts && !rc; i++) {
		s->part[i].row = calloc(piece(s), sizeof(*s->part[i].row));
		rc = s->part[i].row ? refill(s, &s->part[i], piece(s), e) : no_memory(e);
		s->heap[s->nheap++] = i;
	}
	for (uint32_t i = s->nheap / 2; i-- && !rc;)
		sift(s, i);
	return rc;
}

static int merge_next(struct sorted *s, struct sorted_row *out, struct err *e)
{
	struct sorted_part *p;
	int rc = s->heap ? 0 : merge_begin(s, e);

	if (rc || !s->nheap)
		return rc;
	p = &s->part[s->heap[0]];
	*out = p->row[p->next++];
	if (p->next == p->n && p->at < p->end)
		rc = refill(s, p, piece(s), e);
	else if (p->next == p->n)
		s->heap[0] = s->heap[--s->nheap];
	sift(s, 0);
	return rc ? rc : 1;
}

int sorted_next(struct sorted *s, struct sorted_row *out, struct err *e)
{
	int rc = 0;

	if (s->nparts)
		return merge_next(s, out, e);
	if (!s->next)
		rc = sort_rows(s, e);
	if (rc || s->next == s->nrows)
		return rc;
	*out = s->row[s->next++];
	return 1;
}

void sorted_free(struct sorted *s)
{
	for (uint32_t i = 0; i < s->nparts; i++)
		free(s->part[i].row);
	if (s->slot && s->fd >= 0)
		close(s->fd);
	free(s->part);
	free(s->heap);
	free(s->row);
	free(s->rank);
	free(s->slot);
	free(s->series);
	*s = (struct sorted){ .fd = -1 };
}

enum { SLOTS_FIRST = 64, SLOTS_KEPT = 65536 };

static uint64_t dictionary_mix(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 32;
}

static uint64_t text_hash(const char *text, size_t n)
{
	uint64_t h = n, word;

	for (; n >= sizeof(word); n -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		h = dictionary_mix(h ^ word);
	}
	word = 0;
	memcpy(&word, text, n);
	return dictionary_mix(h ^ word);
}

const char *dictionary_get(const struct dictionary *d, uint32_t code, uint32_t *length)
{
	uint32_t begin = code ? d->end[code - 1] : 0;

	*length = d->end[code] - begin;
	return (const char *)d->text.data + begin;
}

static uint64_t hash_of(const struct dictionary *d, uint32_t code)
{
	uint32_t n;
	const char *text;

	if (d->number)
		return dictionary_mix(d->number[code]);
	text = dictionary_get(d, code, &n);
	return text_hash(text, n);
}

static bool grow_slots(struct dictionary *d)
{
	uint32_t nslots = d->nslots ? d->nslots * 2 : SLOTS_FIRST;
	uint32_t *slot;

	if (nslots < d->nslots || !(slot = calloc(nslots, sizeof(*slot))))
		return false;
	for (uint32_t code = 0; code < d->n; code++) {
		uint64_t at = hash_of(d, code);

		while (slot[at & (nslots - 1)])
			at++;
		slot[at & (nslots - 1)] = code + 1;
	}
	free(d->slot);
	d->slot = slot;
	d->nslots = nslots;
	return true;
}

/* Room for one more value; of is the array that holds what is known of each. */
static bool dictionary_grow(struct dictionary *d, void **of, size_t size)
{
	uint32_t cap = d->cap ? d->cap * 2 : SLOTS_FIRST / 2;
	void *more;

	if (d->n >= d->nslots / 2 && !grow_slots(d))
		return false;
	if (d->n < d->cap)
		return true;
	more = cap > d->cap ? reallocarray(*of, cap, size) : NULL;
	if (!more)
		return false;
	*of = more;
	d->cap = cap;
	return true;
}

/* The slot of a text: its own, or the free one where it belongs. */
static uint32_t *text_slot(const struct dictionary *d, const char *text, size_t n)
{
	for (uint64_t at = text_hash(text, n);; at++) {
		uint32_t *slot = &d->slot[at & (d->nslots - 1)], length;
		const char *other;

		if (!*slot)
			return slot;
		other = dictionary_get(d, *slot - 1, &length);
		if (length == n && !memcmp(text, other, n))
			return slot;
	}
}

static int add_text(struct dictionary *d, uint32_t *slot, const char *text, size_t n)
{
	if (n >= INT32_MAX - d->text.len)
		return -EFBIG;
	if (!bytes_room(&d->text, n + 1)) /* so that even an empty text has a place */
		return -ENOMEM;
	bytes_put(&d->text, text, n);
	d->end[d->n] = (uint32_t)d->text.len;
	*slot = ++d->n;
	return 0;
}

int dictionary_text(struct dictionary *d, const char *text, uint32_t *code)
{
	size_t n = strlen(text);
	uint32_t *slot;
	int rc = 0;

	if (!dictionary_grow(d, (void **)&d->end, sizeof(*d->end)))
		return -ENOMEM;
	slot = text_slot(d, text, n);
	if (!*slot && !escape_is_utf8(text)) {
		bytes_reset(&d->clean);
		escape_utf8(&d->clean, text);
		if (d->clean.failed)
			return -ENOMEM;
		text = (const char *)d->clean.data;
		n = d->clean.len;
		slot = text_slot(d, text, n);
	}
	if (!*slot)
		rc = add_text(d, slot, text, n);
	*code = *slot - 1;
	return rc;
}

int dictionary_number(struct dictionary *d, uint64_t number, uint32_t *code)
{
	uint64_t at = dictionary_mix(number);

	if (!dictionary_grow(d, (void **)&d->number, sizeof(*d->number)))
		return -ENOMEM;
	for (;; at++) {
		uint32_t *slot = &d->slot[at & (d->nslots - 1)];

		if (!*slot) {
			d->number[d->n] = number;
			*slot = ++d->n;
		} else if (d->number[*slot - 1] != number) {
			continue;
		}
		*code = *slot - 1;
		return 0;
	}
}

size_t dictionary_size(const struct dictionary *d)
{
	return d->number ? d->n * sizeof(*d->number) : d->text.len + d->n * sizeof(*d->end);
}

void dictionary_empty(struct dictionary *d)
{
	d->n = 0;
	bytes_reset(&d->text);
	if (d->nslots > SLOTS_KEPT) {
		free(d->slot);
		d->slot = NULL;
		d->nslots = 0;
	} else if (d->slot) {
		memset(d->slot, 0, d->nslots * sizeof(*d->slot));
	}
}

void dictionary_free(struct dictionary *d)
{
	bytes_free(&d->text);
	bytes_free(&d->clean);
	free(d->end);
	free(d->number);
	free(d->slot);
	*d = (struct dictionary){ 0 };
}
