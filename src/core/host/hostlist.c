/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/hostlist.h"

#include "base/crc32c.h"

#include <errno.h>
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
