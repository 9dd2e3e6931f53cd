/* SPDX-License-Identifier: Apache-2.0 */
#include "core/expr/expr_token.h"

#include "base/text/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static struct token bad(const char *at, const char *what)
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
		return bad(at, "a malformed number");
	memcpy(digits, at, t.n); /* alone, since strtod would also take hexadecimal */
	digits[t.n] = '\0';
	t.number = decimal_parse(digits, NULL);
	t.n += scale_by_suffix(at + t.n, &t.number);
	if (is_name(at[t.n]) || (at[t.n] >= 'A' && at[t.n] <= 'Z'))
		return bad(at + t.n, "an unknown suffix of a number (k M G Ki Mi Gi % are known)");
	return isfinite(t.number) ? t : bad(at, "a number too large");
}

static struct token scan_text_token(const char *at)
{
	const char *end = strpbrk(at + 1, "\"\n");

	if (!end || *end != '"' || end == at + 1)
		return bad(at, "a text without its closing quote, or without any character");
	return (struct token){ .kind = TOKEN_TEXT, .at = at, .n = (size_t)(end - at) + 1 };
}

struct token token_scan(const char *text)
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
		return bad(text, "an unexpected character");
	}
	return t;
}

bool token_is(const struct token *t, const char *text)
{
	return (t->kind == TOKEN_NAME || t->kind == TOKEN_SYMBOL) && strlen(text) == t->n &&
	       !memcmp(t->at, text, t->n);
}
