/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/scopes.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS_MAX = 1 << 18, UNITS_MAX = 1 << 16, NESTED_MAX = 16 };

/* ---- the functions of a unit ---- */

/* A sibling further behind: others are a circle. */
static bool next_of(Dwarf_Die *die)
{
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || dwarf_dieoffset(&next) <= dwarf_dieoffset(die))
		return false;
	*die = next;
	return true;
}

/* Room for one more of n; *array may move. */
static bool grow(void **array, uint32_t n, uint32_t *cap, uint32_t most, size_t size)
{
	uint32_t wanted = *cap ? 2 * *cap : 256;
	void *grown;

	if (n < *cap)
		return true;
	grown = n < most ? reallocarray(*array, wanted, size) : NULL;
	if (!grown)
		return false;
	*array = grown;
	*cap = wanted;
	return true;
}

static void add_function(struct scopes *s, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		void *all = s->function;

		if (high <= low)
			continue;
		if (!grow(&all, s->n, &s->cap, FUNCTIONS_MAX, sizeof *s->function))
			return;
		s->function = all;
		s->function[s->n++] = (struct scope){ low, high, dwarf_dieoffset(die) };
	}
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_interface_type || tag == DW_TAG_enumeration_type;
}

static void add_functions(struct scopes *s, Dwarf_Die *above)
{
	Dwarf_Die path[NESTED_MAX];
	int depth = 0;

	if (dwarf_child(above, &path[0]))
		return;
	while (depth >= 0) {
		int tag = dwarf_tag(&path[depth]);

		if (tag == DW_TAG_subprogram)
			add_function(s, &path[depth]);
		if (holds_functions(tag) && depth + 1 < NESTED_MAX &&
		    !dwarf_child(&path[depth], &path[depth + 1])) {
			depth++;
			continue;
		}
		while (depth >= 0 && !next_of(&path[depth]))
			depth--;
	}
}

static int by_low(const void *a, const void *b)
{
	const struct scope *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static const struct scopes_unit *read_unit(struct scopes *s, Dwarf_Die *unit)
{
	struct scopes_unit *u;
	void *all;

	if (s->n >= FUNCTIONS_MAX || s->nunits >= UNITS_MAX)
		s->n = s->nunits = 0; /* from the beginning */
	all = s->unit;
	if (!grow(&all, s->nunits, &s->units_cap, UNITS_MAX, sizeof *s->unit))
		return NULL;
	s->unit = all;
	u = &s->unit[s->nunits++];
	*u = (struct scopes_unit){ .die = dwarf_dieoffset(unit), .first = s->n };
	add_functions(s, unit);
	u->n = s->n - u->first;
	if (u->n)
		qsort(s->function + u->first, u->n, sizeof *s->function, by_low);
	return u;
}

static const struct scopes_unit *unit_of(struct scopes *s, Dwarf_Die *unit)
{
	Dwarf_Off die = dwarf_dieoffset(unit);

	for (uint32_t i = s->nunits; i-- > 0;)
		if (s->unit[i].die == die)
			return &s->unit[i];
	return read_unit(s, unit);
}

static bool function_at(struct scopes *s, Dwarf_Die *unit, uint64_t address, Dwarf_Off *die)
{
	const struct scopes_unit *u = unit_of(s, unit);
	uint32_t low = 0, high = u ? u->n : 0;
	const struct scope *f;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (s->function[u->first + mid].low <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	f = &s->function[u->first + low - 1];
	*die = f->die;
	return address < f->high;
}

/* ---- what is inlined in it ---- */

static bool is_within(Dwarf_Die *die, uint64_t address)
{
	int tag = dwarf_tag(die);

	return (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
		tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
	       dwarf_haspc(die, address) > 0;
}

/* The child that has the address, in die's place. */
static bool enter(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		if (is_within(&child, address)) {
			*die = child;
			return true;
		}
	} while (next_of(&child));
	return false;
}

unsigned scopes_at(struct scopes *s, Dwarf *dwarf, Dwarf_Die *unit, uint64_t address,
		   Dwarf_Die *out, unsigned room)
{
	unsigned n = 1;
	Dwarf_Die die;
	Dwarf_Off at;

	if (!room || !function_at(s, unit, address, &at) || !dwarf_offdie(dwarf, at, &die))
		return 0;
	out[0] = die;
	while (enter(&die, address)) {
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		n -= n == room;
		memmove(out + 1, out, n * sizeof *out);
		out[0] = die;
		n++;
	}
	return n;
}

void scopes_free(struct scopes *s)
{
	free(s->function);
	free(s->unit);
	*s = (struct scopes){ 0 };
}
