/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/hostlist.h"

#include "base/hash.h"
#include "base/text/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hostlist_free(struct hostlist *h)
{
	bytes_free(&h->text);
	free(h->start);
	free(h->slot);
	*h = (struct hostlist){ 0 };
}

static bool has_room(struct hostlist *h)
{
	uint32_t cap = h->cap ? 2 * h->cap : 16;
	uint32_t *more;

	if (h->n < h->cap)
		return true;
	more = realloc(h->start, cap * sizeof *more);
	if (!more)
		return false;
	h->start = more;
	h->cap = cap;
	return true;
}

int hostlist_add(struct hostlist *h, const char *name, size_t len, struct err *e)
{
	size_t at = h->text.len;

	if (!len)
		return err_set(e, -EINVAL, "a name is empty");
	if (len >= HOSTLIST_NAME)
		return err_set(e, -E2BIG, "a name of %zu bytes is too long", len);
	if (h->n == HOSTLIST_MAX)
		return err_set(e, -E2BIG, "there are more than %d names", (int)HOSTLIST_MAX);
	if (!has_room(h) || !bytes_room(&h->text, len + 1))
		return err_set(e, -ENOMEM, "out of memory");
	bytes_put(&h->text, name, len);
	bytes_u8(&h->text, '\0');
	h->start[h->n++] = (uint32_t)at;
	return 0;
}

const char *hostlist_name(const struct hostlist *h, uint32_t i)
{
	return (const char *)h->text.data + h->start[i];
}

static bool is_name(const struct hostlist *h, uint32_t i, const char *name, size_t len)
{
	const char *have = hostlist_name(h, i);

	return !strncmp(have, name, len) && !have[len];
}

/* The slot of a name, or the free one that it would have. */
static uint32_t *slot_of(const struct hostlist *h, const char *name, size_t len)
{
	uint32_t i = crc32c(0, name, len) & (h->nslots - 1);

	while (h->slot[i] && !is_name(h, h->slot[i] - 1, name, len))
		i = (i + 1) & (h->nslots - 1);
	return &h->slot[i];
}

/* Every name has a slot, the first of two alike, and half of all slots are free. */
static bool has_slots(struct hostlist *h)
{
	if (h->n >= h->nslots / 2) {
		uint32_t nslots = h->nslots ? 4 * h->nslots : 64;

		while (nslots / 2 <= h->n)
			nslots *= 2;
		free(h->slot);
		h->slot = calloc(nslots, sizeof *h->slot);
		h->nslots = h->slot ? nslots : 0;
		h->found = 0;
	}
	for (; h->slot && h->found < h->n; h->found++) {
		const char *name = hostlist_name(h, h->found);
		uint32_t *slot = slot_of(h, name, strlen(name));

		*slot = *slot ? *slot : h->found + 1;
	}
	return h->slot;
}

int hostlist_add_once(struct hostlist *h, const char *name, size_t len, uint32_t *near,
		      struct err *e)
{
	uint32_t slot;

	for (uint32_t i = *near; i < h->n && i <= *near + 1; i++)
		if (is_name(h, i, name, len)) {
			*near = i;
			return 0;
		}
	if (!has_slots(h))
		return err_set(e, -ENOMEM, "out of memory");
	slot = *slot_of(h, name, len);
	*near = slot ? slot - 1 : h->n;
	return slot ? 0 : hostlist_add(h, name, len, e);
}

int64_t hostlist_find(const struct hostlist *h, const char *name)
{
	size_t label = strcspn(name, ".");
	int64_t found = -1;

	for (uint32_t i = 0; i < h->n; i++) {
		const char *have = hostlist_name(h, i);

		if (!strcmp(have, name))
			return i;
		if (found < 0 && strcspn(have, ".") == label && !strncmp(have, name, label) &&
		    (!have[label] || !name[label]))
			found = i;
	}
	return found;
}

/* ---- expand ---- */

enum { WHEELS_MAX = 8, DIGITS_MAX = 18 };

struct range {
	uint64_t first, last;
	int width; /* digits of the first number: its leading zeros are kept */
};

/* A bracket of a name: its ranges, and where it stands. */
struct wheel {
	const char *before; /* the text between it and the one before */
	size_t before_len;
	const char *ranges, *next; /* next: behind the range it stands in */
	struct range now;
	uint64_t value;
	uint64_t numbers; /* how many it has; more than HOSTLIST_MAX: too many */
};

struct parse {
	const char *list, *p;
	struct wheel wheel[WHEELS_MAX];
	uint32_t nwheels;
	const char *rest; /* the text behind the last bracket */
	size_t rest_len;
	struct err *e;
};

static int fault(const struct parse *x, int code, const char *what)
{
	return err_set(x->e, code, "byte %zu of the list of nodes: %s",
		       (size_t)(x->p - x->list) + 1, what);
}

static bool is_separator(char c)
{
	return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

static int parse_number(struct parse *x, uint64_t *value, int *width)
{
	size_t digits = strspn(x->p, "0123456789");

	if (!digits)
		return fault(x, -EINVAL, "a number is missing");
	if (digits > DIGITS_MAX)
		return fault(x, -E2BIG, "the number is too long");
	*width = (int)digits;
	number_u64(&x->p, value);
	return 0;
}

static int parse_range(struct parse *x, struct range *r)
{
	int bad = parse_number(x, &r->first, &r->width), width;

	r->last = r->first;
	if (bad || *x->p != '-')
		return bad;
	x->p++;
	bad = parse_number(x, &r->last, &width);
	if (!bad && r->last < r->first)
		bad = fault(x, -EINVAL, "the range before this goes backwards");
	return bad;
}

/* Behind the '['. */
static int parse_bracket(struct parse *x, struct wheel *w)
{
	for (w->ranges = x->p;; x->p++) {
		struct range r;
		int bad = parse_range(x, &r);

		if (bad)
			return bad;
		if (w->numbers <= HOSTLIST_MAX)
			w->numbers += r.last - r.first + 1;
		if (*x->p != ',')
			break;
	}
	if (*x->p != ']')
		return fault(x, -EINVAL,
			     *x->p ? "a ',' or ']' should be here" : "a ']' is missing");
	x->p++;
	return 0;
}

static bool is_of_a_name(char c)
{
	return c && !is_separator(c) && c != '[';
}

static int parse_item(struct parse *x)
{
	for (x->nwheels = 0;; x->nwheels++) {
		struct wheel *w = &x->wheel[x->nwheels];
		int bad;

		for (x->rest = x->p; is_of_a_name(*x->p); x->p++)
			if (*x->p == ']' || (unsigned char)*x->p < ' ' || *x->p == 127)
				return fault(x, -EINVAL, "this is not part of a name");
		x->rest_len = (size_t)(x->p - x->rest);
		if (*x->p != '[')
			return 0;
		if (x->nwheels == WHEELS_MAX)
			return fault(x, -E2BIG, "one name has too many brackets");
		x->p++;
		*w = (struct wheel){ .before = x->rest, .before_len = x->rest_len };
		bad = parse_bracket(x, w);
		if (bad)
			return bad;
	}
}

/* How many names the item stands for; more than HOSTLIST_MAX: too many. */
static uint64_t item_names(const struct parse *x)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < x->nwheels && n <= HOSTLIST_MAX; i++)
		n *= x->wheel[i].numbers > HOSTLIST_MAX ? HOSTLIST_MAX + 1 : x->wheel[i].numbers;
	return n;
}

/* What is there was parsed before. */
static void stand_at(struct wheel *w, const char *range)
{
	struct parse again = { .list = range, .p = range };

	parse_range(&again, &w->now);
	w->next = again.p;
	w->value = w->now.first;
}

/* To the next name. False when all were there. */
static bool turn(struct parse *x)
{
	for (uint32_t i = x->nwheels; i-- > 0;) {
		struct wheel *w = &x->wheel[i];
		bool more = *w->next == ',';

		if (w->value < w->now.last) {
			w->value++;
			return true;
		}
		stand_at(w, more ? w->next + 1 : w->ranges);
		if (more)
			return true;
	}
	return false;
}

static int add_name(const struct parse *x, struct hostlist *h)
{
	char name[HOSTLIST_NAME];
	size_t len = 0;

	for (uint32_t i = 0; i < x->nwheels; i++) {
		const struct wheel *w = &x->wheel[i];

		if (len + w->before_len + DIGITS_MAX >= sizeof name)
			return fault(x, -E2BIG, "the name is too long");
		memcpy(name + len, w->before, w->before_len);
		len += w->before_len;
		len += (size_t)snprintf(name + len, sizeof name - len, "%0*llu", w->now.width,
					(unsigned long long)w->value);
	}
	if (len + x->rest_len >= sizeof name)
		return fault(x, -E2BIG, "the name is too long");
	memcpy(name + len, x->rest, x->rest_len);
	return hostlist_add(h, name, len + x->rest_len, x->e);
}

static int expand_item(struct parse *x, struct hostlist *h)
{
	int bad = parse_item(x);

	if (bad)
		return bad;
	if (item_names(x) > HOSTLIST_MAX - h->n)
		return fault(x, -E2BIG, "these are more nodes than any machine has");
	for (uint32_t i = 0; i < x->nwheels; i++)
		stand_at(&x->wheel[i], x->wheel[i].ranges);
	do
		bad = add_name(x, h);
	while (!bad && turn(x));
	return bad;
}

int hostlist_expand(struct hostlist *h, const char *list, struct err *e)
{
	struct parse x = { .list = list, .p = list, .e = e };
	uint32_t n = h->n;
	size_t len = h->text.len;
	int bad = 0;

	while (!bad) {
		while (is_separator(*x.p))
			x.p++;
		if (!*x.p)
			break;
		bad = expand_item(&x, h);
	}
	if (!bad && h->n == n)
		bad = err_set(e, -EINVAL, "the list of nodes is empty");
	if (bad) {
		h->n = n;
		h->text.len = len;
	}
	return bad;
}

/* ---- compress ---- */

/* A name around the last number of its first label. */
struct parts {
	const char *name, *digits, *rest;
	size_t width; /* of the number; 0: it has none */
	uint64_t number;
};

static struct parts split(const char *name)
{
	struct parts p = { .name = name, .digits = name + strcspn(name, "."), .rest = NULL };
	const char *at;

	while (p.digits > name && (p.digits[-1] < '0' || p.digits[-1] > '9'))
		p.digits--;
	p.rest = p.digits;
	while (p.digits > name && p.digits[-1] >= '0' && p.digits[-1] <= '9' && p.width < 18) {
		p.digits--;
		p.width++;
	}
	at = p.digits;
	if (p.width)
		number_u64(&at, &p.number);
	return p;
}

static bool are_alike(const struct parts *a, const struct parts *b)
{
	size_t before = (size_t)(a->digits - a->name);

	return a->width && b->width && (size_t)(b->digits - b->name) == before &&
	       !memcmp(a->name, b->name, before) && !strcmp(a->rest, b->rest);
}

/* Would counting on from the range that begins with first and ends with last give this? */
static bool goes_on(const struct parts *first, const struct parts *last, const struct parts *p)
{
	bool padded = p->width == first->width;
	bool grown = p->width > first->width && p->digits[0] != '0';

	return p->number == last->number + 1 && (padded || grown);
}

/* From i on; returns how many names were written. */
static uint32_t put_group(const struct hostlist *h, uint32_t i, struct bytes *out)
{
	struct parts first = split(hostlist_name(h, i)), p = first;
	uint32_t begin = i;
	struct parts next = { 0 };

	if (i + 1 < h->n)
		next = split(hostlist_name(h, i + 1));
	if (i + 1 == h->n || !are_alike(&first, &next)) {
		bytes_puts(out, first.name);
		return 1;
	}
	bytes_put(out, first.name, (size_t)(first.digits - first.name));
	for (;;) {
		struct parts last = p;

		bytes_puts(out, i == begin ? "[" : ",");
		bytes_put(out, p.digits, p.width);
		for (i++; i < h->n; i++) {
			next = split(hostlist_name(h, i));
			if (!are_alike(&first, &next) || !goes_on(&p, &last, &next))
				break;
			last = next;
		}
		if (last.number != p.number) {
			bytes_u8(out, '-');
			bytes_put(out, last.digits, last.width);
		}
		if (i == h->n || !are_alike(&first, &next))
			break;
		p = next;
	}
	bytes_u8(out, ']');
	bytes_puts(out, first.rest);
	return i - begin;
}

void hostlist_compress(const struct hostlist *h, struct bytes *out)
{
	for (uint32_t i = 0; i < h->n;) {
		if (i)
			bytes_u8(out, ',');
		i += put_group(h, i, out);
	}
}
