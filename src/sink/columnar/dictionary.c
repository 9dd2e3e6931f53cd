/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/columnar/dictionary.h"

#include "base/text/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64, SLOTS_KEPT = 65536 };

static uint64_t mix(uint64_t x)
{
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 32;
}

static uint64_t text_hash(const char *text, size_t n)
{
	uint64_t h = n, word;

	for (; n >= sizeof(word); n -= sizeof(word), text += sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		h = mix(h ^ word);
	}
	word = 0;
	memcpy(&word, text, n);
	return mix(h ^ word);
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
		return mix(d->number[code]);
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
static bool grow(struct dictionary *d, void **of, size_t size)
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

	if (!grow(d, (void **)&d->end, sizeof(*d->end)))
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
	uint64_t at = mix(number);

	if (!grow(d, (void **)&d->number, sizeof(*d->number)))
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
