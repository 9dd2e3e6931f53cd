/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/decimal.h"
#include "core/expr/expr_code.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void expr_free(struct expr *x)
{
	if (!x)
		return;
	free(x->op);
	free(x->names);
	free(x);
}

enum token_kind { TOKEN_END = 0, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SYMBOL, TOKEN_TEXT, TOKEN_BAD };

struct token {
	enum token_kind kind;
	const char *at; /* its first character; of a text the quote */
	size_t n;
	double number;    /* TOKEN_NUMBER */
	const char *what; /* TOKEN_BAD */
};

/* ---- words ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_name(char c)
{
	return is_lower(c) || is_digit(c) || c == '_' || c == '.';
}

static struct token bad_word(const char *at, const char *what)
{
	return (struct token){ .kind = TOKEN_BAD, .at = at, .what = what };
}

static size_t digits_length(const char *at)
{
	size_t n = 0, exponent;

	while (is_digit(at[n]))
		n++;
	if (at[n] == '.')
		n++;
	while (is_digit(at[n]))
		n++;
	if (at[n] != 'e' && at[n] != 'E')
		return n;
	exponent = n + 1 + (at[n + 1] == '+' || at[n + 1] == '-');
	if (!is_digit(at[exponent]))
		return n;
	while (is_digit(at[exponent]))
		exponent++;
	return exponent;
}

/* Length of the suffix; *v is scaled by it. */
static size_t scale_by_suffix(const char *at, double *v)
{
	static const struct {
		const char *text;
		double multiply, divide;
	} rows[] = {
		{ "Ki", 1024, 1 }, { "Mi", 1 << 20, 1 }, { "Gi", 1 << 30, 1 }, { "k", 1e3, 1 },
		{ "M", 1e6, 1 },   { "G", 1e9, 1 },      { "%", 1, 100 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(rows[i].text);

		if (!strncmp(at, rows[i].text, n)) {
			*v = *v * rows[i].multiply / rows[i].divide;
			return n;
		}
	}
	return 0;
}

static struct token scan_number(const char *at)
{
	struct token t = { .kind = TOKEN_NUMBER, .at = at, .n = digits_length(at) };
	char digits[64];

	if (t.n >= sizeof(digits) || (t.n == 1 && *at == '.'))
		return bad_word(at, "a malformed number");
	memcpy(digits, at, t.n); /* alone, since strtod would also take hexadecimal */
	digits[t.n] = '\0';
	t.number = decimal_parse(digits, NULL);
	t.n += scale_by_suffix(at + t.n, &t.number);
	if (is_name(at[t.n]) || (at[t.n] >= 'A' && at[t.n] <= 'Z'))
		return bad_word(at + t.n,
				"an unknown suffix of a number (k M G Ki Mi Gi % are known)");
	return isfinite(t.number) ? t : bad_word(at, "a number too large");
}

static struct token scan_text_token(const char *at)
{
	const char *end = strpbrk(at + 1, "\"\n");

	if (!end || *end != '"' || end == at + 1)
		return bad_word(at, "a text without its closing quote, or without any character");
	return (struct token){ .kind = TOKEN_TEXT, .at = at, .n = (size_t)(end - at) + 1 };
}

/* The first token of text; the next one begins at its at + n. */
static struct token token_scan(const char *text)
{
	struct token t = { .kind = TOKEN_SYMBOL, .n = 1 };

	while (*text == ' ' || *text == '\t' || *text == '\n')
		text++;
	t.at = text;
	if (!*text)
		return (struct token){ .kind = TOKEN_END, .at = text };
	if (is_digit(*text) || *text == '.')
		return scan_number(text);
	if (*text == '"')
		return scan_text_token(text);
	if (is_lower(*text)) {
		t.kind = TOKEN_NAME;
		while (is_name(text[t.n]))
			t.n++;
		t.n += text[t.n - 1] == '.' && text[t.n] == '*'; /* of all that begins so */
	} else if (strchr("<>=!", *text)) {
		t.n += text[1] == '=';
	} else if (!strchr("+-*/(),", *text)) {
		return bad_word(text, "an unexpected character");
	}
	return t;
}

/* A name or symbol that reads exactly so. */
static bool token_is(const struct token *t, const char *text)
{
	return (t->kind == TOKEN_NAME || t->kind == TOKEN_SYMBOL) && strlen(text) == t->n &&
	       !memcmp(t->at, text, t->n);
}

/* ---- operations ---- */

/* How tightly operators bind, the loosest first. */
enum level { LEVEL_OR = 1, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARISON, LEVEL_SUM, LEVEL_PRODUCT };

struct binary_operator {
	const char *symbol;
	enum op_code code;
	enum level level;
};

static const struct binary_operator binary_operators[] = {
	{ "or", OP_OR, LEVEL_OR },
	{ "and", OP_AND, LEVEL_AND },
	{ "<", OP_LESS, LEVEL_COMPARISON },
	{ "<=", OP_LESS_EQUAL, LEVEL_COMPARISON },
	{ ">", OP_GREATER, LEVEL_COMPARISON },
	{ ">=", OP_GREATER_EQUAL, LEVEL_COMPARISON },
	{ "==", OP_EQUAL, LEVEL_COMPARISON },
	{ "!=", OP_NOT_EQUAL, LEVEL_COMPARISON },
	{ "+", OP_ADD, LEVEL_SUM },
	{ "-", OP_SUBTRACT, LEVEL_SUM },
	{ "*", OP_MULTIPLY, LEVEL_PRODUCT },
	{ "/", OP_DIVIDE, LEVEL_PRODUCT },
};

static const struct {
	const char *name;
	enum op_code code;
} functions[] = {
	{ "if", OP_IF },   { "min", OP_MIN },     { "max", OP_MAX },
	{ "abs", OP_ABS }, { "known", OP_KNOWN },
};

struct parser {
	const char *text;
	struct token token; /* the next one */
	struct expr *x;
	size_t names; /* bytes used of x->names */
	unsigned nesting, stack;
	size_t fault; /* where in the text */
	int rc;
	struct err *e;
};

static void parse_binary(struct parser *p, enum level loosest);

/* The first fault is the one told; after it the text is at its end, so that every loop stops. */
static void fail(struct parser *p, const char *at, const char *what)
{
	if (!p->rc) {
		p->fault = (size_t)(at - p->text);
		p->rc = err_set(p->e, -EINVAL, "%s in the expression \"%s\"", what, p->text);
	}
	p->token = (struct token){ .kind = TOKEN_END, .at = at };
}

static void advance(struct parser *p)
{
	p->token = token_scan(p->token.at + p->token.n);
	if (p->token.kind == TOKEN_BAD)
		fail(p, p->token.at, p->token.what);
}

static bool accept(struct parser *p, const char *text)
{
	if (!token_is(&p->token, text))
		return false;
	advance(p);
	return true;
}

static void expect(struct parser *p, const char *symbol, const char *what)
{
	if (!accept(p, symbol))
		fail(p, p->token.at, what);
}

static void enter(struct parser *p)
{
	if (++p->nesting > EXPR_NESTING_MAX)
		fail(p, p->token.at, "too deep a nesting");
}

/* Every operation stands for at least one character, so x->op, as long as the text, cannot
 * overflow. */
static void emit(struct parser *p, struct op op)
{
	if (p->rc)
		return;
	p->x->op[p->x->nops++] = op;
	p->stack = p->stack + 1 - op_arity(op.code);
	if (p->stack > EXPR_STACK_MAX)
		fail(p, p->token.at, "too many values waiting for their operation");
}

static void emit_code(struct parser *p, enum op_code code)
{
	emit(p, (struct op){ .code = code });
}

static const char *keep_name(struct parser *p, const struct token *t)
{
	char *name = p->x->names + p->names;

	memcpy(name, t->at, t->n);
	name[t->n] = '\0';
	p->names += t->n + 1;
	return name;
}

static void parse_built_in(struct parser *p, enum op_code code)
{
	bool any_number = code == OP_MIN || code == OP_MAX;
	unsigned n = 1;

	expect(p, "(", "a ( is missing");
	parse_binary(p, LEVEL_OR);
	while (accept(p, ",")) {
		parse_binary(p, LEVEL_OR);
		n++;
		if (any_number)
			emit_code(p, code);
	}
	if (!any_number && n != op_arity(code))
		fail(p, p->token.at, "too few or too many arguments");
	if (!any_number)
		emit_code(p, code);
	expect(p, ")", "a ) is missing");
}

/* function(name), or function("text"): its answer is the caller's business, min(name) and max(name)
 * included. */
static bool parse_question(struct parser *p, const struct token *function, enum op_code code)
{
	struct token name = token_scan(p->token.at + p->token.n);
	struct token close = token_scan(name.at + name.n);
	const char *text;

	if (code == OP_IF || code == OP_ABS || code == OP_KNOWN ||
	    (name.kind != TOKEN_NAME && name.kind != TOKEN_TEXT) || !token_is(&close, ")"))
		return false;
	if (name.kind == TOKEN_TEXT) { /* without its quotes */
		name.at++;
		name.n -= 2;
	}
	p->token = close;
	advance(p);
	text = keep_name(p, function);
	emit(p, (struct op){ .code = OP_NAME, .function = text, .name = keep_name(p, &name) });
	return true;
}

static void parse_name(struct parser *p)
{
	struct token name = p->token;
	enum op_code code = OP_NUMBER_OF;

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (token_is(&name, functions[i].name))
			code = functions[i].code;
	advance(p);
	if (!token_is(&p->token, "(") && code == OP_NUMBER_OF)
		emit(p, (struct op){ .code = OP_NAME, .name = keep_name(p, &name) });
	else if (token_is(&p->token, "(") && parse_question(p, &name, code))
		return;
	else if (code != OP_NUMBER_OF)
		parse_built_in(p, code);
	else
		fail(p, name.at, "a function that is unknown or needs a single name");
}

static void parse_value(struct parser *p)
{
	struct token t = p->token;

	if (accept(p, "-")) {
		enter(p);
		parse_value(p);
		p->nesting--;
		emit_code(p, OP_NEGATE);
	} else if (accept(p, "(")) {
		parse_binary(p, LEVEL_OR);
		expect(p, ")", "a ) is missing");
	} else if (t.kind == TOKEN_NUMBER) {
		advance(p);
		emit(p, (struct op){ .code = OP_NUMBER, .number = t.number });
	} else if (t.kind == TOKEN_NAME && !token_is(&t, "and") && !token_is(&t, "or") &&
		   !token_is(&t, "not")) {
		parse_name(p);
	} else {
		fail(p, t.at, "a value is missing");
	}
}

static const struct binary_operator *next_operator(const struct parser *p, enum level loosest)
{
	const struct binary_operator *o = binary_operators;
	size_t n = sizeof(binary_operators) / sizeof(binary_operators[0]);

	for (size_t i = 0; i < n; i++)
		if (o[i].level >= loosest && token_is(&p->token, o[i].symbol))
			return &o[i];
	return NULL;
}

static void parse_binary(struct parser *p, enum level loosest)
{
	const struct binary_operator *o;

	enter(p);
	if (loosest <= LEVEL_NOT && accept(p, "not")) {
		parse_binary(p, LEVEL_NOT);
		emit_code(p, OP_NOT);
	} else {
		parse_value(p);
	}
	while ((o = next_operator(p, loosest))) {
		advance(p);
		parse_binary(p, o->level + 1);
		emit_code(p, o->code);
		if (o->level == LEVEL_COMPARISON && next_operator(p, LEVEL_COMPARISON))
			fail(p, p->token.at, "comparisons do not chain: join them with `and`");
	}
	p->nesting--;
}

static struct expr *expr_new(size_t length)
{
	struct expr *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->op = calloc(length + 1, sizeof(*x->op));
	x->names = malloc(length + 1);
	if (x->op && x->names)
		return x;
	expr_free(x);
	return NULL;
}

int expr_parse_at(struct expr **out, const char *text, size_t *at, struct err *e)
{
	size_t length = strlen(text);
	struct parser p = { .text = text, .token = { .at = text }, .e = e };

	*out = NULL;
	*at = EXPR_LENGTH_MAX;
	if (length > EXPR_LENGTH_MAX)
		return err_set(e, -EINVAL, "an expression has at most %d characters",
			       EXPR_LENGTH_MAX);
	p.x = expr_new(length);
	if (!p.x)
		return err_set(e, -ENOMEM, "out of memory for an expression");
	advance(&p);
	parse_binary(&p, LEVEL_OR);
	if (p.token.kind != TOKEN_END)
		fail(&p, p.token.at, "something unexpected after the end");
	if (p.rc) {
		*at = p.fault;
		expr_free(p.x);
		return p.rc;
	}
	*out = p.x;
	return 0;
}

int expr_parse(struct expr **x, const char *text, struct err *e)
{
	struct err why;
	size_t at;
	int rc = expr_parse_at(x, text, &at, &why);

	if (rc == -EINVAL)
		return err_set(e, rc, "column %zu: %.480s", at + 1, why.text);
	return rc ? err_set(e, rc, "%s", why.text) : 0;
}
