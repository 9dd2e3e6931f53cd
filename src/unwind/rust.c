/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/rust.h"

#include "unwind/punycode.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	DEPTH_MAX = 500,
	STEPS_MAX = 1 << 16, /* paths, types and constants, those of back references each time */
	SYMBOL_MAX = 1 << 16,
	DECODED_MAX = 512, /* bytes of an identifier that was punycode */
};

/* Once it has failed, nothing is read and written. */
struct demangling {
	const char *text; /* behind "_R" */
	size_t n, at;
	char *out;
	size_t length, size;
	uint32_t depth, steps;
	bool silent; /* read it, write nothing, follow no back reference */
	bool brief;  /* no generic arguments */
	bool failed, full;
	bool keep_open, is_open; /* the next path's arguments: bindings of types follow */
};

typedef void part(struct demangling *d);
static part take_path, take_type, take_const;

static char peek(const struct demangling *d)
{
	return d->failed || d->at >= d->n ? '\0' : d->text[d->at];
}

static char next(struct demangling *d)
{
	char c = peek(d);

	d->failed |= !c;
	d->at += c != '\0';
	return c;
}

static bool eat(struct demangling *d, char c)
{
	bool is = peek(d) == c;

	d->at += is;
	return is;
}

__attribute__((format(printf, 2, 3))) static void put(struct demangling *d, const char *format, ...)
{
	size_t room = d->size - d->length;
	va_list args;
	int n;

	if (d->silent || d->failed)
		return;
	va_start(args, format);
	n = vsnprintf(d->out + d->length, room, format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= room)
		d->failed = d->full = true;
	else
		d->length += (size_t)n;
}

static bool enter(struct demangling *d)
{
	d->failed |= ++d->depth > DEPTH_MAX || ++d->steps > STEPS_MAX;
	return !d->failed;
}

static void take_silently(struct demangling *d, part *what)
{
	bool silent = d->silent;

	d->silent = true;
	what(d);
	d->silent = silent;
}

/* What there is until an E. How many. */
static uint32_t take_list(struct demangling *d, const char *between, part *what)
{
	uint32_t n = 0;

	for (; !d->failed && !eat(d, 'E'); n++) {
		put(d, "%s", n ? between : "");
		what(d);
	}
	return n;
}

/* ---- numbers and identifiers ---- */

/* -1: it is none. */
static int digit_of(char c)
{
	static const char digits[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *is = c ? strchr(digits, c) : NULL;

	return is ? (int)(is - digits) : -1;
}

static uint64_t take_base62(struct demangling *d)
{
	uint64_t value = 0;

	if (eat(d, '_'))
		return 0;
	while (!d->failed && !eat(d, '_')) {
		int digit = digit_of(next(d));

		d->failed |= digit < 0 || value > UINT64_MAX / 62 - 2;
		value = value * 62 + (uint64_t)digit;
	}
	return value + 1;
}

/* 0: it is not there. */
static uint64_t take_tagged(struct demangling *d, char tag)
{
	return eat(d, tag) ? take_base62(d) + 1 : 0;
}

/* What was mentioned before. */
static void take_backref(struct demangling *d, part *what)
{
	size_t from = d->at - 1;
	uint64_t to = take_base62(d);
	size_t behind = d->at;

	d->failed |= to >= from;
	if (d->failed || d->silent)
		return;
	d->at = (size_t)to;
	what(d);
	d->at = behind;
}

/* An identifier behind a text. */
static void take_identifier(struct demangling *d, const char *before)
{
	bool is_punycode = eat(d, 'u'), zero = peek(d) == '0';
	char decoded[DECODED_MAX];
	const char *text;
	size_t n = 0;

	d->failed |= peek(d) < '0' || peek(d) > '9';
	do
		n = n * 10 + (size_t)(next(d) & 15);
	while (!zero && peek(d) >= '0' && peek(d) <= '9' && n < SYMBOL_MAX);
	(void)eat(d, '_');
	if (d->failed || n > d->n - d->at) {
		d->failed = true;
		return;
	}
	text = d->text + d->at;
	d->at += n;
	put(d, "%s", n ? before : "");
	if (!is_punycode || d->silent)
		put(d, "%.*s", (int)n, text);
	else if (punycode_decode(text, n, decoded, sizeof decoded))
		put(d, "%s", decoded);
	else
		put(d, "punycode{%.*s}", (int)n, text);
}

/* ---- paths ---- */

static void take_argument(struct demangling *d)
{
	if (eat(d, 'L')) {
		(void)take_base62(d);
		put(d, "'_");
	} else if (eat(d, 'K')) {
		take_const(d);
	} else {
		take_type(d);
	}
}

static void take_arguments(struct demangling *d)
{
	(void)take_list(d, ", ", take_argument);
}

static void take_impl_path(struct demangling *d)
{
	(void)take_tagged(d, 's');
	take_path(d);
}

/* Does the type that follows have a path? */
static bool type_has_path(const struct demangling *of)
{
	struct demangling d = *of;

	for (uint64_t before = d.n, to; eat(&d, 'B'); before = to) {
		to = take_base62(&d);
		d.failed |= to >= before;
		d.at = d.failed ? 0 : (size_t)to;
	}
	return peek(&d) && strchr("CMXYNI", peek(&d));
}

static void take_inherent(struct demangling *d)
{
	size_t impl = d->at, type;

	take_silently(d, take_impl_path);
	type = d->at;
	if (!type_has_path(d) && !d->silent) {
		d->at = d->failed ? type : impl;
		take_impl_path(d);
		d->at = type;
		put(d, "::");
	}
	put(d, type_has_path(d) ? "<" : "<impl ");
	take_type(d);
	put(d, ">");
}

static void take_trait(struct demangling *d)
{
	put(d, "<");
	take_type(d);
	put(d, " as ");
	take_path(d);
	put(d, ">");
}

static void take_nested(struct demangling *d)
{
	char space = next(d);
	uint64_t disambiguator;

	d->failed |= digit_of(space) < 10;
	take_path(d);
	disambiguator = take_tagged(d, 's');
	if (space >= 'a') {
		take_identifier(d, "::");
		return;
	}
	if (space == 'C' || space == 'S')
		put(d, space == 'C' ? "::{closure" : "::{shim");
	else
		put(d, "::{%c", space);
	take_identifier(d, ":");
	put(d, "#%" PRIu64 "}", disambiguator);
}

static void take_generic(struct demangling *d, bool keep_open)
{
	take_path(d);
	if (d->brief) {
		take_silently(d, take_arguments);
		return;
	}
	put(d, "<");
	take_arguments(d);
	put(d, keep_open ? "" : ">");
	d->is_open = keep_open;
}

static void take_path(struct demangling *d)
{
	bool keep_open = d->keep_open;

	d->keep_open = d->is_open = false;
	switch (enter(d) ? next(d) : '\0') {
	case 'C':
		(void)take_tagged(d, 's');
		take_identifier(d, "");
		break;
	case 'M':
		take_inherent(d);
		break;
	case 'X':
		take_silently(d, take_impl_path);
		take_trait(d);
		break;
	case 'Y':
		take_trait(d);
		break;
	case 'N':
		take_nested(d);
		break;
	case 'I':
		take_generic(d, keep_open);
		break;
	case 'B':
		d->keep_open = keep_open;
		take_backref(d, take_path);
		d->keep_open = false;
		break;
	default:
		d->failed = true;
	}
	d->depth--;
}

/* ---- types ---- */

static void take_abi(struct demangling *d)
{
	size_t from = d->length;

	put(d, "extern \"");
	if (eat(d, 'C'))
		put(d, "C");
	else
		take_identifier(d, "");
	for (size_t i = from; i < d->length && !d->silent; i++)
		d->out[i] = d->out[i] == '_' ? '-' : d->out[i];
	put(d, "\" ");
}

static void take_function(struct demangling *d)
{
	(void)take_tagged(d, 'G');
	if (eat(d, 'U'))
		put(d, "unsafe ");
	if (eat(d, 'K'))
		take_abi(d);
	put(d, "fn(");
	(void)take_list(d, ", ", take_type);
	put(d, ")");
	if (!eat(d, 'u')) {
		put(d, " -> ");
		take_type(d);
	}
}

static void take_dyn_trait(struct demangling *d)
{
	bool open;

	d->keep_open = true;
	take_path(d);
	open = d->is_open;
	for (; eat(d, 'p'); open = true) {
		take_identifier(d, open ? ", " : "<");
		put(d, " = ");
		take_argument(d);
	}
	put(d, open ? ">" : "");
}

static void take_dyn(struct demangling *d)
{
	put(d, "dyn ");
	(void)take_tagged(d, 'G');
	(void)take_list(d, " + ", take_dyn_trait);
	d->failed |= !take_tagged(d, 'L');
}

static void take_pattern(struct demangling *d)
{
	if (enter(d) && eat(d, 'O')) {
		(void)take_list(d, " | ", take_pattern);
	} else if (eat(d, 'N')) {
		put(d, "!null");
	} else {
		d->failed |= !eat(d, 'R');
		take_const(d);
		put(d, "..=");
		take_const(d);
	}
	d->depth--;
}

/* Types with parts, and paths. */
static void take_compound(struct demangling *d, char tag)
{
	if (tag == 'A' || tag == 'S') {
		put(d, "[");
		take_type(d);
		put(d, tag == 'A' ? "; " : "");
		if (tag == 'A')
			take_const(d);
		put(d, "]");
	} else if (tag == 'T') {
		put(d, "(");
		put(d, take_list(d, ", ", take_type) == 1 ? ",)" : ")");
	} else if (strchr("RQPO", tag)) {
		(void)(tag == 'R' || tag == 'Q' ? take_tagged(d, 'L') : 0);
		put(d, "%s",
		    tag == 'R'   ? "&"
		    : tag == 'Q' ? "&mut "
		    : tag == 'P' ? "*const "
				 : "*mut ");
		take_type(d);
	} else if (tag == 'F') {
		take_function(d);
	} else if (tag == 'D') {
		take_dyn(d);
	} else if (tag == 'W') {
		take_type(d);
		put(d, " is ");
		take_pattern(d);
	} else if (tag == 'B') {
		take_backref(d, take_type);
	} else {
		d->at--;
		take_path(d);
	}
}

static void take_type(struct demangling *d)
{
	static const char names[26][6] = { "i8",   "bool",  "char",  "f64", "str", "f32", "",
					   "u8",   "isize", "usize", "",    "i32", "u32", "i128",
					   "u128", "_",     "",      "",    "i16", "u16", "()",
					   "...",  "",      "i64",   "u64", "!" };
	char tag = enter(d) ? next(d) : '\0';

	if (tag >= 'a' && tag <= 'z' && *names[tag - 'a'])
		put(d, "%s", names[tag - 'a']);
	else if (tag)
		take_compound(d, tag);
	d->depth--;
}

/* ---- constants ---- */

static void take_literal(struct demangling *d, char tag)
{
	bool minus = strchr("alsxni", tag) && eat(d, 'n');
	const char *digits = d->text + d->at;
	uint64_t value = 0;
	size_t n = 0;

	for (; !d->failed && !eat(d, '_'); n++) {
		int digit = digit_of(next(d));

		d->failed |= digit < 0 || digit >= 16;
		value = value << 4 | (uint64_t)digit;
	}
	d->failed |= tag == 'b' && value > 1;
	if (tag == 'b')
		put(d, "%s", value ? "true" : "false");
	else if (tag == 'c' && value >= ' ' && value < 0x7f)
		put(d, value == '\'' || value == '\\' ? "'\\%c'" : "'%c'", (char)value);
	else if (tag == 'c')
		put(d, "'\\u{%.*s}'", (int)n, digits);
	else if (tag == 'e')
		put(d, "\"..\"");
	else if (n > 16)
		put(d, "%s0x%.*s", minus ? "-" : "", (int)n, digits);
	else
		put(d, "%s%" PRIu64, minus ? "-" : "", value);
}

static void take_field(struct demangling *d)
{
	(void)take_tagged(d, 's');
	take_identifier(d, "");
	put(d, ": ");
	take_const(d);
}

/* Values with parts: parameters of nightly compilers. */
static void take_structure(struct demangling *d, char tag)
{
	const char *known = tag == 'V' ? "TSU" : "AT";

	if (tag == 'V') {
		take_path(d);
		tag = next(d);
	}
	d->failed |= !tag || !strchr(known, tag);
	put(d, "%s", tag == 'T' ? "(" : tag == 'A' ? "[" : tag == 'S' ? " { " : "");
	if (tag != 'U')
		(void)take_list(d, ", ", tag == 'S' ? take_field : take_const);
	put(d, "%s", tag == 'T' ? ")" : tag == 'A' ? "]" : tag == 'S' ? " }" : "");
}

static void take_const(struct demangling *d)
{
	char tag = enter(d) ? next(d) : '\0';

	if (tag == 'B') {
		take_backref(d, take_const);
	} else if (tag == 'p') {
		put(d, "_");
	} else if (tag == 'R' || tag == 'Q') {
		put(d, tag == 'R' ? "&" : "&mut ");
		take_const(d);
	} else if (tag && strchr("hmytojalsxnibce", tag)) {
		take_literal(d, tag);
	} else {
		take_structure(d, tag);
	}
	d->depth--;
}

/* ---- symbols ---- */

static bool take_symbol(struct demangling *d)
{
	take_path(d);
	if (peek(d) >= 'A' && peek(d) <= 'Z') /* the crate that it was made for */
		take_silently(d, take_path);
	d->failed |= d->at < d->n && peek(d) != '.' && peek(d) != '$';
	if (!d->failed && strncmp(d->text + d->at, ".llvm.", 6) != 0)
		put(d, "%s", d->text + d->at);
	return !d->failed;
}

bool rust_demangle(const char *symbol, char *out, size_t size)
{
	struct demangling d = { .out = out, .size = size }, brief;

	if (strncmp(symbol, "_R", 2) != 0)
		return false;
	d.text = symbol + 2;
	d.n = strnlen(d.text, SYMBOL_MAX);
	if (d.text[d.n])
		return false;
	brief = d;
	brief.brief = true;
	return take_symbol(&d) || (d.full && take_symbol(&brief));
}
