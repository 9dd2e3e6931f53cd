/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/spins.h"

#include <string.h>

enum { INSTRUCTIONS_MAX = 16, LOOP_BYTES = 64 };
enum { NO_REGISTER = 16, RAX = 0 };

/* One instruction of those that such a loop has. */
struct instruction {
	size_t length;
	uint32_t reads_by, writes; /* registers of an address; that get another value: bits */
	bool looks;                /* at memory */
	bool branches, always;     /* to..: where to */
	int64_t to;
};

struct decoding {
	const uint8_t *code;
	size_t n, at, begin;
	uint8_t rex;
	struct instruction *out;
};

static uint8_t byte(struct decoding *d)
{
	if (d->at < d->n)
		return d->code[d->at++];
	d->at = d->n + 1;
	return 0;
}

static int64_t number(struct decoding *d, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)byte(d) << 8 * i;
	return bytes == 1 ? (int8_t)v : (int32_t)v;
}

struct operands {
	unsigned mod, reg, rm; /* rm: a register where mod is 3 */
};

/* ModRM, SIB and displacement. */
static struct operands operands(struct decoding *d)
{
	uint8_t m = byte(d), sib;
	struct operands o = { m >> 6, (m >> 3 & 7u) | (d->rex & 4u) << 1,
			      (m & 7u) | (d->rex & 1u) << 3 };
	unsigned low = m & 7u, base = o.rm, index = NO_REGISTER;

	if (o.mod == 3)
		return o;
	d->out->looks = true;
	if (low == 4) {
		sib = byte(d);
		low = sib & 7u;
		base = low | (d->rex & 1u) << 3;
		index = (sib >> 3 & 7u) | (d->rex & 2u) << 2;
		index = index == 4 ? NO_REGISTER : index;
	}
	if (o.mod == 0 && low == 5) {
		number(d, 4);
		base = NO_REGISTER;
	} else if (o.mod) {
		number(d, o.mod == 1 ? 1 : 4);
	}
	if (base < NO_REGISTER)
		d->out->reads_by |= 1u << base;
	if (index < NO_REGISTER)
		d->out->reads_by |= 1u << index;
	return o;
}

static bool branch(struct decoding *d, unsigned bytes, bool always)
{
	int64_t by = number(d, bytes);

	d->out->branches = true;
	d->out->always = always;
	d->out->to = (int64_t)d->at + by;
	return true;
}

static bool decode_0f(struct decoding *d, bool locked)
{
	uint8_t op = byte(d);
	struct operands o;

	if (op >= 0x80 && op <= 0x8f)
		return branch(d, 4, false);
	o = operands(d);
	switch (op) {
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
		d->out->writes |= 1u << o.reg;
		return true;
	case 0xb0: /* lock cmpxchg */
	case 0xb1:
		d->out->writes |= 1u << RAX;
		return locked && o.mod != 3;
	case 0x1f: /* nop, which looks at nothing */
		d->out->looks = false;
		d->out->reads_by = 0;
		return true;
	case 0xae: /* fences */
		return o.mod == 3;
	default:
		return false;
	}
}

/* An immediate of one or four bytes behind. */
static bool with_number(struct decoding *d, unsigned bytes, bool fits)
{
	number(d, bytes);
	return fits;
}

static bool decode_one(struct decoding *d, uint8_t op)
{
	struct operands o;

	if (op >= 0x70 && op <= 0x7f)
		return branch(d, 1, false);
	switch (op) {
	case 0x90:
		return true;
	case 0xeb:
		return branch(d, 1, true);
	case 0xe9:
		return branch(d, 4, true);
	case 0x3c: /* cmp and test of al or eax */
	case 0xa8:
		return with_number(d, 1, true);
	case 0x3d:
	case 0xa9:
		return with_number(d, 4, true);
	default:
		break;
	}
	o = operands(d);
	switch (op) {
	case 0x8a: /* mov to a register */
	case 0x8b:
	case 0x63:
		d->out->writes |= 1u << o.reg;
		return true;
	case 0x88:
	case 0x89: /* between registers alone */
		d->out->writes |= 1u << o.rm;
		return o.mod == 3;
	case 0x31: /* to zero */
	case 0x33:
		d->out->writes |= 1u << o.reg;
		return o.mod == 3 && o.reg == o.rm;
	case 0x86: /* xchg, which locks */
	case 0x87:
		d->out->writes |= 1u << o.reg;
		return o.mod != 3;
	case 0x38: /* cmp, test */
	case 0x39:
	case 0x3a:
	case 0x3b:
	case 0x84:
	case 0x85:
		return true;
	case 0x80:
	case 0x83:
		return with_number(d, 1, (o.reg & 7u) == 7);
	case 0x81:
		return with_number(d, 4, (o.reg & 7u) == 7);
	case 0xf6:
		return with_number(d, 1, (o.reg & 7u) == 0);
	case 0xf7:
		return with_number(d, 4, (o.reg & 7u) == 0);
	default:
		return false;
	}
}

/* False: it is another one than those, or it does not end in the code. */
static bool decode(const uint8_t *code, size_t n, size_t at, struct instruction *out)
{
	struct decoding d = { .code = code, .n = n, .at = at, .begin = at, .out = out };
	bool locked = false, operand16 = false, known;
	uint8_t op;

	*out = (struct instruction){ 0 };
	for (op = byte(&d); op == 0x66 || op == 0xf0 || op == 0xf3 || op == 0x2e || op == 0x3e;
	     op = byte(&d)) {
		locked |= op == 0xf0;
		operand16 |= op == 0x66;
		if (d.at - at > 8)
			return false;
	}
	if ((op & 0xf0) == 0x40) {
		d.rex = op;
		op = byte(&d);
	}
	if (operand16 && (op == 0x81 || op == 0xf7 || op == 0x3d || op == 0xa9))
		return false; /* its number is shorter */
	known = op == 0x0f ? decode_0f(&d, locked) : decode_one(&d, op);
	out->length = d.at - at;
	return known && d.at <= n;
}

/* Where the loop that it is in begins and ends, going on from it: its last branch goes back. */
static bool find_loop(const uint8_t *code, size_t n, size_t at, size_t *begin, size_t *end)
{
	struct instruction x;
	size_t i = at;

	for (int k = 0; k < INSTRUCTIONS_MAX && decode(code, n, i, &x); k++) {
		i += x.length;
		if (x.branches && x.to >= 0 && (size_t)x.to <= at &&
		    i - (size_t)x.to <= LOOP_BYTES) {
			*begin = (size_t)x.to;
			*end = i;
			return true;
		}
		if (x.always)
			return false;
	}
	return false;
}

bool spins_at(const uint8_t *code, size_t n, size_t at)
{
	uint32_t reads_by = 0, writes = 0;
	bool looks = false, met = false;
	struct instruction x;
	size_t begin, end, i;

	if (at >= n || !find_loop(code, n, at, &begin, &end))
		return false;
	for (i = begin; i < end; i += x.length) {
		met |= i == at;
		if (!decode(code, n, i, &x))
			return false;
		reads_by |= x.reads_by;
		writes |= x.writes;
		looks |= x.looks;
	}
	return i == end && met && looks && !(reads_by & writes);
}
