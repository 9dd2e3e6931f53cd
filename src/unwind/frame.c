/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/frame.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 32768, STACK_MAX = 64, OPERATIONS_MAX = 1000 };

enum rule { RULE_SAME, RULE_LOST, RULE_AT, RULE_IS, RULE_OTHER };

struct row {
	uint64_t address;
	uint32_t module; /* 0: the row is free */
	bool found, simple, signal;
	uint8_t cfa;
	int32_t cfa_offset;
	uint32_t behind; /* its function's beginning; UINT32_MAX: not looked for yet */
	uint8_t rule[REGS_NSAVED];
	int16_t offset[REGS_NSAVED];
};

struct rows {
	struct row row[ROWS];
};

static const uint8_t saved[REGS_NSAVED] = REGS_SAVED;

struct rows *rows_make(void)
{
	return calloc(1, sizeof(struct rows));
}

static enum step stack_get(const struct stack_copy *s, uint64_t address, uint64_t *value)
{
	if (address < s->at)
		return STEP_LOST;
	if (address - s->at > s->size || s->size - (address - s->at) < sizeof *value)
		return address - s->at < UINT64_C(1) << 30 ? STEP_CUT : STEP_LOST;
	memcpy(value, s->data + (address - s->at), sizeof *value);
	return STEP_CALLER;
}

/* ---- expressions ---- */

struct machine {
	const struct registers *r;
	const struct stack_copy *stack;
	uint64_t cfa, value[STACK_MAX];
	uint32_t n;
	bool is_value; /* not where it is, but what */
	enum step bad; /* STEP_CALLER: all is well */
};

static void push(struct machine *m, uint64_t v)
{
	if (m->n == STACK_MAX)
		m->bad = STEP_LOST;
	else
		m->value[m->n++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (!m->n) {
		m->bad = STEP_LOST;
		return 0;
	}
	return m->value[--m->n];
}

static void push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	if (register_known(m->r, number))
		push(m, m->r->v[number] + offset);
	else
		m->bad = STEP_LOST;
}

static uint64_t binary(uint8_t atom, uint64_t a, uint64_t b)
{
	switch (atom) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_shra:
		return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
	case DW_OP_ge:
		return (int64_t)a >= (int64_t)b;
	case DW_OP_gt:
		return (int64_t)a > (int64_t)b;
	case DW_OP_le:
		return (int64_t)a <= (int64_t)b;
	case DW_OP_lt:
		return (int64_t)a < (int64_t)b;
	case DW_OP_eq:
		return a == b;
	default:
		return a != b; /* DW_OP_ne */
	}
}

static bool is_binary(uint8_t atom)
{
	return atom == DW_OP_and || atom == DW_OP_or || atom == DW_OP_xor || atom == DW_OP_plus ||
	       atom == DW_OP_minus || atom == DW_OP_mul ||
	       (atom >= DW_OP_shl && atom <= DW_OP_shra) || (atom >= DW_OP_eq && atom <= DW_OP_ne);
}

/* Those that are neither numbers nor registers, nor make one of two. */
static void operate_otherwise(struct machine *m, const Dwarf_Op *op)
{
	uint64_t a, b;

	switch (op->atom) {
	case DW_OP_call_frame_cfa:
		push(m, m->cfa);
		return;
	case DW_OP_plus_uconst:
		push(m, pop(m) + op->number);
		return;
	case DW_OP_deref:
		m->bad = stack_get(m->stack, pop(m), &a);
		if (m->bad == STEP_CALLER)
			push(m, a);
		return;
	case DW_OP_dup:
		a = pop(m);
		push(m, a);
		push(m, a);
		return;
	case DW_OP_drop:
		(void)pop(m);
		return;
	case DW_OP_swap:
		b = pop(m);
		a = pop(m);
		push(m, b);
		push(m, a);
		return;
	case DW_OP_neg:
		push(m, 0 - pop(m));
		return;
	case DW_OP_not:
		push(m, ~pop(m));
		return;
	case DW_OP_stack_value:
		m->is_value = true;
		return;
	case DW_OP_nop:
		return;
	default:
		m->bad = STEP_LOST;
	}
}

static void operate(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(m, op->atom - DW_OP_lit0);
	} else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts) {
		push(m, op->number);
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push_register(m, op->atom - DW_OP_breg0, op->number);
	} else if (op->atom == DW_OP_bregx) {
		push_register(m, op->number, op->number2);
	} else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		push_register(m, op->atom - DW_OP_reg0, 0);
		m->is_value = true;
	} else if (op->atom == DW_OP_regx) {
		push_register(m, op->number, 0);
		m->is_value = true;
	} else if (is_binary(op->atom)) {
		uint64_t b = pop(m), a = pop(m);

		push(m, binary(op->atom, a, b));
	} else {
		operate_otherwise(m, op);
	}
}

/* Without branches: no compiler writes them here. */
static enum step evaluate(struct machine *m, const Dwarf_Op *ops, size_t n, uint64_t *result)
{
	m->n = 0;
	m->is_value = false;
	m->bad = STEP_CALLER;
	for (size_t i = 0; i < n && i < OPERATIONS_MAX && m->bad == STEP_CALLER; i++)
		operate(m, &ops[i]);
	if (m->bad == STEP_CALLER && n <= OPERATIONS_MAX)
		*result = pop(m);
	return n <= OPERATIONS_MAX ? m->bad : STEP_LOST;
}

/* ---- rules as libdw gives them ---- */

/* The rule of one register, when it is a simple one. */
static enum rule simple_rule(const Dwarf_Op *ops, size_t n, const Dwarf_Op *memory, int32_t *offset)
{
	int64_t distance = 0;
	size_t i = 1;

	*offset = 0;
	if (!n)
		return ops == memory ? RULE_LOST : RULE_SAME;
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return RULE_OTHER;
	if (i < n && ops[i].atom == DW_OP_plus_uconst)
		distance = (int64_t)ops[i++].number;
	if (distance < INT32_MIN || distance > INT32_MAX)
		return RULE_OTHER;
	*offset = (int32_t)distance;
	if (i == n)
		return RULE_AT;
	return i + 1 == n && ops[i].atom == DW_OP_stack_value ? RULE_IS : RULE_OTHER;
}

static void row_fill(struct row *w, Dwarf_Frame *f)
{
	Dwarf_Op memory[3], *ops;
	size_t n;
	bool signal;

	w->found = true;
	if (dwarf_frame_info(f, NULL, NULL, &signal) >= 0)
		w->signal = signal;
	if (dwarf_frame_cfa(f, &ops, &n) || n != 1)
		return;
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		w->cfa = (uint8_t)(ops[0].atom - DW_OP_breg0);
		w->cfa_offset = (int32_t)ops[0].number;
	} else if (ops[0].atom == DW_OP_bregx && ops[0].number < REG_NUMBER_OF) {
		w->cfa = (uint8_t)ops[0].number;
		w->cfa_offset = (int32_t)ops[0].number2;
	} else {
		return;
	}
	for (size_t i = 0; i < REGS_NSAVED; i++) {
		enum rule rule;
		int32_t offset;

		if (dwarf_frame_register(f, saved[i], memory, &ops, &n))
			return;
		rule = simple_rule(ops, n, memory, &offset);
		if (rule == RULE_LOST && i != REGS_RA_AT)
			rule = RULE_SAME; /* libdw's defaults of x86-64 name 0 where rbx is 3 */
		if (rule == RULE_OTHER || offset < INT16_MIN || offset > INT16_MAX)
			return;
		w->offset[i] = (int16_t)offset;
		w->rule[i] = (uint8_t)rule;
	}
	w->simple = !w->signal;
}

/* The rules at an address, or NULL; the caller frees. */
static Dwarf_Frame *rules_of(const struct module *m, uint64_t address)
{
	Dwarf_Frame *f = NULL;

	if (m->cfi && !dwarf_cfi_addrframe(m->cfi, address, &f))
		return f;
	if (m->cfi_more && !dwarf_cfi_addrframe(m->cfi_more, address, &f))
		return f;
	return NULL;
}

/* Whose rule libdw's defaults of x86-64 give to another: it keeps its value. */
static bool is_rbx(int reg)
{
	return (int)REG_RA == 16 && reg == 3; /* DWARF's numbers on x86-64 */
}

/* Any rule, for any register. */
static enum step step_by_rules(Dwarf_Frame *f, struct registers *r, const struct stack_copy *stack)
{
	struct machine m = { .r = r, .stack = stack };
	struct registers caller = { .known = 0 };
	Dwarf_Op memory[3], *ops;
	enum step bad;
	size_t n;

	if (dwarf_frame_cfa(f, &ops, &n) || !n)
		return STEP_LOST;
	bad = evaluate(&m, ops, n, &m.cfa);
	for (int i = 0; i < REG_NUMBER_OF && bad == STEP_CALLER; i++) {
		uint64_t value = 0;

		if (dwarf_frame_register(f, i, memory, &ops, &n))
			continue;
		if (!n && ops == memory && i != REG_SP && !is_rbx(i))
			continue;
		if (!n) {
			caller.v[i] = i == REG_SP ? m.cfa : r->v[i];
			caller.known |=
				i == REG_SP ? UINT64_C(1) << i : r->known & UINT64_C(1) << i;
			continue;
		}
		bad = evaluate(&m, ops, n, &value);
		if (bad == STEP_CALLER && !m.is_value)
			bad = stack_get(stack, value, &value);
		caller.v[i] = value;
		caller.known |= UINT64_C(1) << i;
	}
	if (bad == STEP_CALLER)
		*r = caller;
	return bad;
}

static enum step step_by_row(const struct row *w, struct registers *r,
			     const struct stack_copy *stack)
{
	struct registers caller = { .known = UINT64_C(1) << REG_SP };
	uint64_t cfa;

	if (!register_known(r, w->cfa))
		return STEP_LOST;
	cfa = r->v[w->cfa] + (uint64_t)(int64_t)w->cfa_offset;
	for (size_t i = 0; i < REGS_NSAVED; i++) {
		uint64_t at = cfa + (uint64_t)(int64_t)w->offset[i], value = at;
		uint64_t bit = UINT64_C(1) << saved[i];
		enum step bad;

		if (w->rule[i] == RULE_LOST)
			continue;
		if (w->rule[i] == RULE_SAME) {
			caller.v[saved[i]] = r->v[saved[i]];
			caller.known |= r->known & bit;
			continue;
		}
		bad = w->rule[i] == RULE_AT ? stack_get(stack, at, &value) : STEP_CALLER;
		if (bad != STEP_CALLER && i == REGS_RA_AT)
			return bad;
		caller.v[saved[i]] = value;
		caller.known |= bad == STEP_CALLER ? bit : 0;
	}
	caller.v[REG_SP] = cfa;
	*r = caller;
	return STEP_CALLER;
}

static bool ra_is_lost(Dwarf_Frame *f)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	return !dwarf_frame_register(f, REG_RA, memory, &ops, &n) && !n && ops == memory;
}

/* The caller's pc is the return address. */
static enum step arrive(struct registers *r, const struct registers *was, bool signal)
{
	if (!register_known(r, REG_RA))
		return STEP_END;
	r->v[REG_PC] = address_strip(r->v[REG_RA]);
	r->known |= UINT64_C(1) << REG_PC;
	if (!r->v[REG_PC])
		return STEP_END;
	if (signal)
		return STEP_SIGNAL;
	if (r->v[REG_SP] < was->v[REG_SP] ||
	    (r->v[REG_SP] == was->v[REG_SP] && r->v[REG_PC] == was->v[REG_PC]))
		return STEP_LOST;
	return STEP_CALLER;
}

static enum step step_in_full(const struct module *m, uint64_t address, struct registers *r,
			      const struct stack_copy *stack)
{
	Dwarf_Frame *f = rules_of(m, address);
	const struct registers was = *r;
	enum step step;
	bool signal = false;

	if (!f)
		return STEP_LOST;
	if (dwarf_frame_info(f, NULL, NULL, &signal) < 0)
		signal = false;
	step = ra_is_lost(f) ? STEP_END : step_by_rules(f, r, stack);
	free(f);
	if (step != STEP_CALLER)
		return step;
#if defined(__aarch64__)
	if (signal) { /* its column has where it was interrupted */
		r->v[REG_PC] = r->v[REG_RA];
		return STEP_SIGNAL;
	}
#endif
	return arrive(r, &was, signal);
}

static struct row *row_of(struct rows *rows, uint32_t number, uint64_t address)
{
	uint64_t hash = (address * UINT64_C(0x9e3779b97f4a7c15)) ^ number * UINT64_C(0x85ebca6b);

	return &rows->row[(hash >> 20) % ROWS];
}

enum step frame_step(struct rows *rows, struct module *m, uint32_t number, uint64_t address,
		     struct registers *r, const struct stack_copy *stack)
{
	struct row *w = row_of(rows, number, address);
	const struct registers was = *r;
	enum step step;

	if (w->module != number || w->address != address) {
		Dwarf_Frame *f = rules_of(m, address);

		*w = (struct row){ .address = address, .module = number, .behind = UINT32_MAX };
		if (f)
			row_fill(w, f);
		free(f);
	}
	if (!w->found)
		return STEP_LOST;
	if (!w->simple)
		return step_in_full(m, address, r, stack);
	if (w->rule[REGS_RA_AT] == RULE_LOST)
		return STEP_END;
	step = step_by_row(w, r, stack);
	return step == STEP_CALLER ? arrive(r, &was, false) : step;
}

uint64_t frame_function(struct rows *rows, struct module *m, uint32_t number, uint64_t address)
{
	struct row *w = row_of(rows, number, address);

	if (w->module != number || w->address != address || !w->found || w->signal)
		return address;
	if (w->behind == UINT32_MAX) {
		uint64_t start = starts_find(&m->starts, m, address);

		/* Of such a loop it matters where in the function it is. */
		w->behind =
			start && address - start < UINT32_MAX && !module_spins(m, m->elf, address)
				? (uint32_t)(address - start)
				: 0;
	}
	return address - w->behind;
}

enum step frame_step_by_pointer(struct registers *r, const struct stack_copy *stack)
{
	uint64_t at = r->v[REG_FP], before, pc;
	enum step bad;

	if (!register_known(r, REG_FP))
		return STEP_LOST;
	if (!at)
		return STEP_END;
	if (at < r->v[REG_SP] || at % 8)
		return STEP_LOST;
	bad = stack_get(stack, at, &before);
	if (bad == STEP_CALLER)
		bad = stack_get(stack, at + 8, &pc);
	if (bad != STEP_CALLER)
		return bad;
	if (!pc)
		return STEP_END;
	*r = (struct registers){ .known = UINT64_C(1) << REG_FP | UINT64_C(1) << REG_SP |
					  UINT64_C(1) << REG_PC };
	r->v[REG_FP] = before;
	r->v[REG_SP] = at + 16;
	r->v[REG_PC] = address_strip(pc);
	return STEP_CALLER;
}

bool walk_place(const struct space *space, const struct modules *modules, uint64_t pc,
		struct place *out)
{
	const struct mapping *m = space_find(space, pc);
	uint64_t offset;

	*out = (struct place){ .module = MODULE_NONE, .address = pc };
	if (!m)
		return false;
	out->module = m->module;
	if (!m->module || m->module == MODULE_JIT)
		return true;
	offset = pc - m->start + (m->module == MODULE_VDSO ? 0 : m->offset);
	if (!module_address(&modules->row[m->module], offset, &out->address))
		out->address = offset;
	return true;
}

void walk(struct stack *s, struct registers *r, const struct walker *by)
{
	enum step step = STEP_SIGNAL;

	s->n = s->flags = 0;
	while (step == STEP_CALLER || step == STEP_SIGNAL) {
		struct place *place = &s->place[s->n];
		bool called = step == STEP_CALLER;
		uint64_t pc = r->v[REG_PC] - called;

		if (s->n == DEPTH_MAX) {
			step = STEP_CUT;
		} else if (!by->place(by->of, pc, place)) {
			step = STEP_LOST;
		} else {
			s->n++;
			step = by->step(by->of, place, pc, r);
			if (step == STEP_SIGNAL && called)
				place->address++; /* nothing was called: it returns to where it
						     begins */
		}
	}
	s->flags = step == STEP_CUT ? FRAME_CUT : step == STEP_LOST ? FRAME_LOST_WAY : 0;
}
