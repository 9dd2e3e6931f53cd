/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/blocked.h"

#include "base/process.h"
#include "unwind/frame.h"

#include <string.h>

enum {
	SCAN_MAX = 1 << 18, /* bytes of the stack that are searched for a frame */
	CODE_BEFORE = 8,
	TRIALS_MAX = 16,
	PROLOGUE = 64,
};

/* ---- code ---- */

#if defined(__aarch64__)
enum call call_before(const uint8_t *code, size_t n, int64_t *target, int64_t *slot)
{
	uint32_t op;

	*slot = 0;
	if (n < sizeof op)
		return CALL_NONE;
	memcpy(&op, code + n - sizeof op, sizeof op);
	if ((op & 0xfc000000U) == 0x94000000U) { /* bl */
		*target = (int64_t)((uint64_t)op << 38) >> 36;
		*target -= 4;
		return CALL_TO;
	}
	return (op & 0xfffffc1fU) == 0xd63f0000U ? CALL_SOMEWHERE : CALL_NONE; /* blr */
}

bool frame_of_prologue(const uint8_t *code, size_t n, uint64_t *size)
{
	(void)code;
	(void)n;
	*size = 0;
	return false;
}
#else
static int32_t distance(const uint8_t *at)
{
	int32_t v;

	memcpy(&v, at, sizeof v);
	return v;
}

/* ff /2, by how many bytes follow the one that says which register: see Intel's manual, CALL. */
static bool is_call_by_pointer(const uint8_t *end, size_t n)
{
	static const struct {
		uint8_t mask, is, length;
	} forms[] = {
		{ 0xf8, 0xd0, 2 }, /* *%reg */
		{ 0xf8, 0x10, 2 }, /* *(%reg) */
		{ 0xff, 0x14, 3 }, /* *(%reg,%reg,s) */
		{ 0xf8, 0x50, 3 }, /* *d8(%reg) */
		{ 0xff, 0x54, 4 }, /* *d8(%reg,%reg,s) */
		{ 0xf8, 0x90, 6 }, /* *d32(%reg) */
		{ 0xff, 0x94, 7 }, /* *d32(%reg,%reg,s) */
	};

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		size_t len = forms[i].length;

		if (n >= len && end[-(ptrdiff_t)len] == 0xff &&
		    (end[1 - (ptrdiff_t)len] & forms[i].mask) == forms[i].is)
			return true;
	}
	return false;
}

enum call call_before(const uint8_t *code, size_t n, int64_t *target, int64_t *slot)
{
	const uint8_t *end = code + n;

	*slot = 0;
	if (n >= 6 && end[-6] == 0xff && end[-5] == 0x15) { /* *d32(%rip) */
		*slot = distance(end - 4);
		return CALL_SOMEWHERE;
	}
	if (n >= 5 && end[-5] == 0xe8) {
		*target = distance(end - 4);
		return CALL_TO;
	}
	return is_call_by_pointer(end, n) ? CALL_SOMEWHERE : CALL_NONE;
}

/* push %rbp; mov %rsp,%rbp; pushes; sub $n,%rsp */
bool frame_of_prologue(const uint8_t *code, size_t n, uint64_t *size)
{
	static const uint8_t branch[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */
	static const uint8_t set_frame[] = { 0x55, 0x48, 0x89, 0xe5 };
	size_t at = n >= 4 && !memcmp(code, branch, 4) ? 4 : 0;

	*size = 0;
	if (n < at + 4 || memcmp(code + at, set_frame, 4) != 0)
		return false;
	for (at += 4; at + 7 <= n;) {
		if (code[at] >= 0x50 && code[at] <= 0x57) {
			*size += 8;
			at++;
		} else if (code[at] == 0x41 && code[at + 1] >= 0x50 && code[at + 1] <= 0x57) {
			*size += 8;
			at += 2;
		} else {
			break;
		}
	}
	if (at + 7 <= n && code[at] == 0x48 && code[at + 1] == 0x83 && code[at + 2] == 0xec)
		*size += code[at + 3];
	else if (at + 7 <= n && code[at] == 0x48 && code[at + 1] == 0x81 && code[at + 2] == 0xec)
		*size += (uint32_t)distance(code + at + 3);
	return true;
}
#endif

static bool offset_of(const struct module *m, uint64_t address, uint64_t *offset)
{
	for (uint32_t i = 0; i < m->nsegments; i++) {
		const struct segment *s = &m->segment[i];

		if (address >= s->address && address - s->address < s->size) {
			*offset = address - s->address + s->offset;
			return true;
		}
	}
	return false;
}

static uint64_t function_of(const struct blocked *b, const struct place *place)
{
	return starts_find(&b->starts[place->module], &b->modules->row[place->module],
			   place->address);
}

/* ---- from frame to frame ---- */

/* What kind of call returns to this address; target: where it leads, in the process. */
static enum call call_of(const struct blocked *b, uint64_t pc, uint64_t *target)
{
	const struct mapping *m = space_find(b->space, pc - 1);
	int64_t to = 0, slot = 0;
	const uint8_t *code;
	uint64_t offset;
	enum call call;

	*target = 0;
	if (!m || m->module < MODULE_FIRST || pc - m->start < CODE_BEFORE)
		return CALL_NONE;
	offset = pc - m->start + m->offset - CODE_BEFORE;
	if (module_code(&b->modules->row[m->module], offset, &code, CODE_BEFORE) < CODE_BEFORE)
		return CALL_NONE;
	call = call_before(code, CODE_BEFORE, &to, &slot);
	if (call == CALL_TO)
		*target = pc + (uint64_t)to;
	if (slot && memory_read(b->space->pid, pc + (uint64_t)slot, target, sizeof *target))
		call = CALL_TO;
	return call;
}

/* What a jump in a table of linkage leads to; target itself when it is none. */
static uint64_t behind_linkage(const struct blocked *b, uint64_t target)
{
	static const uint8_t branch[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const struct mapping *m = space_find(b->space, target);
	const uint8_t *code;
	size_t at = 0;
	int32_t to;
	uint64_t function;

	if (!m || m->module < MODULE_FIRST ||
	    module_code(&b->modules->row[m->module], target - m->start + m->offset, &code, 16) < 16)
		return target;
	at += !memcmp(code, branch, sizeof branch) ? sizeof branch : 0;
	at += code[at] == 0xf2;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return target;
	memcpy(&to, code + at + 2, sizeof to);
	if (!memory_read(b->space->pid, target + at + 6 + (uint64_t)(int64_t)to, &function,
			 sizeof function))
		return target;
	return function;
}

static enum step step_by_rules(const struct blocked *b, const struct place *place,
			       struct registers *r, const struct stack_copy *copy)
{
	struct module *m = &b->modules->row[place->module];

	return m->usable ? frame_step(b->rows, m, place->module, place->address, r, copy)
			 : STEP_LOST;
}

/* Where the function begins that a place is in, in the process; 0: not known. pc: of the place. */
static uint64_t start_of(const struct blocked *b, const struct place *place, uint64_t pc)
{
	uint64_t function = function_of(b, place);

	return function ? pc - (place->address - function) : 0;
}

/* What kind of call returns there, seen from a function that begins at start. */
static enum call call_for(const struct blocked *b, uint64_t pc, uint64_t start)
{
	uint64_t target;
	enum call call = call_of(b, pc, &target);

	if (call != CALL_TO || (start && (target == start || behind_linkage(b, target) == start)))
		return call;
	return CALL_ELSEWHERE;
}

/* With a frame pointer that is only supposed: does it lead to the stack's end? The worst call on
 * the way; CALL_NONE: it does not. */
static enum call leads_to_end(const struct blocked *b, struct registers r,
			      const struct stack_copy *copy)
{
	enum call worst = CALL_TO;

	for (uint32_t depth = 0; depth < DEPTH_MAX; depth++) {
		uint64_t pc = r.v[REG_PC] - 1;
		struct place place;
		enum step step;
		enum call call;

		if (!walk_place(b->space, b->modules, pc, &place))
			return CALL_NONE;
		step = step_by_rules(b, &place, &r, copy);
		if (step == STEP_END)
			return worst;
		if (step != STEP_CALLER)
			return CALL_NONE;
		call = call_for(b, r.v[REG_PC], start_of(b, &place, pc));
		if (call < worst)
			worst = call;
		if (worst == CALL_NONE)
			return CALL_NONE;
	}
	return CALL_NONE;
}

/* The caller of a frame by its rules, if its frame pointer is this. */
static enum call suppose(const struct blocked *b, const struct place *place, struct registers *r,
			 uint64_t frame, uint64_t start, const struct stack_copy *copy)
{
	r->v[REG_FP] = frame;
	r->known |= UINT64_C(1) << REG_FP;
	if (step_by_rules(b, place, r, copy) != STEP_CALLER)
		return CALL_NONE;
	return call_for(b, r->v[REG_PC], start);
}

/* A frame pointer that might be the true one, and how sure that is. */
struct trial {
	struct registers r;
	enum call call;
};

/* As its first instructions made room for it; wrong where the function made more later, by alloca.
 */
static struct trial suppose_by_prologue(const struct blocked *b, const struct place *place,
					const struct registers *r, uint64_t start,
					const struct stack_copy *copy)
{
	const struct module *m = &b->modules->row[place->module];
	struct trial t = { *r, CALL_NONE };
	uint64_t offset, size;
	const uint8_t *code;
	size_t n = offset_of(m, function_of(b, place), &offset)
			   ? module_code(m, offset, &code, PROLOGUE)
			   : 0;

	if (n && frame_of_prologue(code, n, &size))
		t.call = suppose(b, place, &t.r, r->v[REG_SP] + size, start, copy);
	return t;
}

enum { SURE = 4 };

/* How likely a trial is: called by a pointer before called elsewhere, and before both a way to the
 * end on which all calls are right. */
static int score(const struct blocked *b, const struct trial *t, const struct stack_copy *copy)
{
	enum call way = t->call == CALL_NONE ? CALL_NONE : leads_to_end(b, t->r, copy);

	return way == CALL_NONE ? 0 : 1 + 2 * (t->call >= CALL_SOMEWHERE) + (way > CALL_ELSEWHERE);
}

/* Of equally likely ones the first: the prologue's before those that are searched for. */
static bool choose(const struct blocked *b, const struct trial *trial, uint32_t n,
		   struct registers *r, const struct stack_copy *copy)
{
	uint32_t best = n;
	int most = 0;

	for (uint32_t i = 0; i < n; i++) {
		int its = score(b, &trial[i], copy);

		if (its > most) {
			best = i;
			most = its;
		}
	}
	if (best < n)
		*r = trial[best].r;
	return best < n;
}

/* The frame pointer is not known, but the rules need it: it is what makes a caller that called this
 * function. What lies lower in the stack may be older, left by calls that are over. pc: where place
 * is, in the process. */
static enum step step_by_search(const struct blocked *b, const struct place *place, uint64_t pc,
				struct registers *r, const struct stack_copy *copy)
{
	uint64_t start = start_of(b, place, pc), first = r->v[REG_SP];
	struct trial trial[TRIALS_MAX], x = suppose_by_prologue(b, place, r, start, copy);
	uint32_t n = x.call != CALL_NONE;

	trial[0] = x;
	if (x.call == CALL_TO || score(b, &x, copy) == SURE) {
		*r = x.r;
		return STEP_CALLER;
	}
	for (uint64_t at = first; at < first + SCAN_MAX && at < copy->at + copy->size; at += 8) {
		x.r = *r;
		x.call = suppose(b, place, &x.r, at, start, copy);
		if (x.call == CALL_TO) {
			*r = x.r;
			return STEP_CALLER;
		}
		if (x.call != CALL_NONE && n < TRIALS_MAX)
			trial[n++] = x;
	}
	if (choose(b, trial, n, r, copy))
		return STEP_CALLER;
	return copy->size < SCAN_MAX ? STEP_CUT : STEP_LOST;
}

/* A chain of frame pointers counts as far as calls lead to it. */
static enum step step_by_chain(const struct blocked *b, struct registers *r,
			       const struct stack_copy *copy)
{
	enum step step = frame_step_by_pointer(r, copy);
	uint64_t target;

	if (step == STEP_CALLER && space_find(b->space, r->v[REG_PC]) &&
	    space_find(b->space, r->v[REG_PC])->module >= MODULE_FIRST &&
	    call_of(b, r->v[REG_PC], &target) == CALL_NONE)
		return STEP_LOST;
	return step;
}

struct walked {
	const struct blocked *b;
	const struct stack_copy *copy;
};

static bool place_of(const void *of, uint64_t pc, struct place *place)
{
	const struct walked *w = of;

	return walk_place(w->b->space, w->b->modules, pc, place);
}

static enum step step_from(const void *of, const struct place *place, uint64_t pc,
			   struct registers *r)
{
	const struct walked *w = of;
	const struct blocked *b = w->b;
	const struct registers was = *r;
	enum step step = step_by_rules(b, place, r, w->copy);

	if (step == STEP_END && !register_known(&was, REG_RA) && (int)REG_RA != (int)REG_PC &&
	    b->stack.n == 1)
		step = STEP_LOST; /* the return address is in a register that nobody tells */
	if (step != STEP_LOST)
		return step;
	*r = was;
	if (register_known(r, REG_FP))
		return step_by_chain(b, r, w->copy);
	return b->modules->row[place->module].usable ? step_by_search(b, place, pc, r, w->copy)
						     : STEP_LOST;
}

void blocked_unwind(struct blocked *b, uint64_t sp, uint64_t pc, const struct stack_copy *copy)
{
	const struct walked w = { b, copy };
	struct registers r = { .known = UINT64_C(1) << REG_SP | UINT64_C(1) << REG_PC };

	r.v[REG_SP] = sp;
	r.v[REG_PC] = pc;
	walk(&b->stack, &r, &(struct walker){ &w, place_of, step_from });
}
