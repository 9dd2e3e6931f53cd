/* SPDX-License-Identifier: Apache-2.0 */
/* hostlist_expand.c - the names of a list, as an odometer counts: the last bracket fastest. */
#include "core/host/hostlist.h"

#include "base/text/number.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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
