/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hostlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hostlist_free(struct hostlist *h)
{
	bytes_free(&h->text);
	free(h->start);
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

int hostlist_add_once(struct hostlist *h, const char *name, size_t len, uint32_t *near,
		      struct err *e)
{
	for (uint32_t tries = 0; tries < h->n; tries++) {
		uint32_t i = (*near + tries) % h->n;

		if (is_name(h, i, name, len)) {
			*near = i;
			return 0;
		}
	}
	*near = h->n;
	return hostlist_add(h, name, len, e);
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
