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

/* ---- whether a unit was compiled without optimization ---- */

enum {
	DIES_MOST = 20000, /* looked at in a unit */
	ENOUGH = 200,      /* variables that decide */
	LEAST = 3          /* fewer say nothing */
};

/* Variables of functions: at one place in the frame, or anywhere else. */
struct tally {
	unsigned dies, in_frame, elsewhere;
};

/* Where a static variable is does not tell how its function was compiled. */
static bool is_static(const Dwarf_Op *op)
{
	return op->atom == DW_OP_addr || op->atom == DW_OP_addrx || op->atom == DW_OP_constx ||
	       op->atom == DW_OP_GNU_addr_index || op->atom == DW_OP_GNU_const_index ||
	       op->atom == DW_OP_const8u || op->atom == DW_OP_const4u;
}

static void look_at_variable(struct tally *t, Dwarf_Die *die)
{
	Dwarf_Attribute location;
	Dwarf_Op *op;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &location)) {
		t->elsewhere += !dwarf_hasattr(die, DW_AT_declaration) &&
				!dwarf_hasattr(die, DW_AT_const_value);
		return;
	}
	/* A list of locations is no expression. */
	if (dwarf_getlocation(&location, &op, &n) || !n)
		t->elsewhere++;
	else if (op->atom == DW_OP_fbreg)
		t->in_frame++;
	else
		t->elsewhere += !is_static(op);
}

static bool is_enough(const struct tally *t)
{
	return t->dies >= DIES_MOST || t->in_frame + t->elsewhere >= ENOUGH;
}

/* Of functions that are there, not of those that are only inlined or declared. */
static bool is_there(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

static void look_below(struct tally *t, Dwarf_Die *parent, bool in_function, unsigned depth)
{
	Dwarf_Die die;

	if (depth == NESTED_MAX || dwarf_child(parent, &die))
		return;
	do {
		t->dies++;
		switch (dwarf_tag(&die)) {
		case DW_TAG_formal_parameter:
		case DW_TAG_variable:
			if (in_function)
				look_at_variable(t, &die);
			break;
		case DW_TAG_subprogram:
			if (is_there(&die))
				look_below(t, &die, true, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			if (in_function)
				look_below(t, &die, true, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
			look_below(t, &die, false, depth + 1);
			break;
		default:
			break;
		}
	} while (!is_enough(t) && next_of(&die));
}

static bool all_in_frame(Dwarf_Die *unit)
{
	struct tally t = { 0 };

	look_below(&t, unit, false, 0);
	return t.in_frame >= LEAST && t.elsewhere * 4 <= t.in_frame;
}

/* GCC keeps its options, of which the last counts. */
static bool has_no_option(const char *producer)
{
	bool optimized = false;

	if (!strstr(producer, " -m"))
		return false;
	for (const char *at = producer; (at = strstr(at, " -O")); at += 3)
		optimized = at[3] != '0';
	return !optimized;
}

static bool judge(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *producer =
		dwarf_attr(unit, DW_AT_producer, &attribute) ? dwarf_formstring(&attribute) : NULL;

	if (!producer)
		return false;
	if (!strncmp(producer, "GNU C", 5) || !strncmp(producer, "GNU Fortran", 11))
		return has_no_option(producer);
	return (strstr(producer, "rustc version") || strstr(producer, "clang version")) &&
	       all_in_frame(unit);
}

bool unit_is_unoptimized(struct optimized *x, Dwarf_Die *unit)
{
	Dwarf_Off at = dwarf_dieoffset(unit);
	size_t i = (at >> 4 ^ at >> 12) % OPTIMIZED_UNITS;

	if (x->row[i].unit != at) {
		x->row[i].unit = at;
		x->row[i].is_not = judge(unit);
	}
	return x->row[i].is_not;
}
