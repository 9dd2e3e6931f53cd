/* SPDX-License-Identifier: Apache-2.0 */
/* hostlist_compress.c - a list in the short form. */
#include "core/host/hostlist.h"

#include "base/text/number.h"

#include <string.h>

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
