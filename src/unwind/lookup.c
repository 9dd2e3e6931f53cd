/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/lookup.h"

#include <stdlib.h>

const struct named *lookup_name(struct lookup *l, const struct place *p)
{
	uint64_t hash = (p->address ^ (uint64_t)p->module << 48) * UINT64_C(0x9e3779b97f4a7c15);
	struct lookup_row *c = &l->row[(hash >> 40) % LOOKUP_NAMED];
	const struct module *m = &l->modules->row[p->module];
	struct symbols **s = &l->symbols[p->module];

	if (c->named && c->module == p->module && c->address == p->address)
		return c->named;
	if (c->named)
		named_free(c->named);
	*c = (struct lookup_row){ p->address, p->module, calloc(1, sizeof *c->named) };
	if (!*s)
		*s = symbols_open(m, m->elf);
	if (*s && c->named)
		symbols_name(*s, p->address, c->named);
	return c->named;
}
