/* SPDX-License-Identifier: Apache-2.0 */
#include "job/secret.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* One inclusion for each table: rows of the other tables are nothing then. */
#define ROW(kind, text) { kind, text, sizeof(text) - 1 },
#define NAME(text)      ROW(SECRET_NAME, text)
#define WORD(text)      ROW(SECRET_WORD, text)
#define MAYBE(text)     ROW(SECRET_MAYBE, text)
#define VARIABLE(text)  ROW(SECRET_VARIABLE, text)
#define BEGINNING(text) ROW(SECRET_BEGINNING, text)
#define ENDING(text)    ROW(SECRET_ENDING, text)
#define WHOLE(text)     ROW(SECRET_WHOLE, text)
#define HARMLESS(text)  ROW(SECRET_HARMLESS, text)
#define TOKEN(text, least)
#define PROGRAM(name, option, after, where)
static const struct {
	enum secret_kind kind;
	const char *text;
	size_t n;
} names[] = {
#include "job/secrets.def"
};
#undef ROW
#undef TOKEN
#define ROW(kind, text)
#define TOKEN(text, least) { text, sizeof(text) - 1, least },
static const struct {
	const char *beginning;
	size_t n, least;
} tokens[] = {
#include "job/secrets.def"
};
#undef TOKEN
#undef PROGRAM
#define TOKEN(text, least)
#define PROGRAM(name, option, after, where) { name, option, after, where },
static const struct {
	const char *name, *option, *after;
	enum { NEXT = 1, BEHIND = 2, BOTH = 3 } where;
} programs[] = {
#include "job/secrets.def"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- names ---- */

/* Ends a word at `at`: at a sign, or where a capital letter follows a small one? */
static bool is_boundary(const char *name, size_t n, size_t at)
{
	if (at == 0 || at >= n || !isalnum((unsigned char)name[at - 1]) ||
	    !isalnum((unsigned char)name[at]))
		return true;
	return islower((unsigned char)name[at - 1]) && isupper((unsigned char)name[at]);
}

/* A row of either list. */
struct row {
	enum secret_kind kind;
	const char *text;
	size_t n;
};

/* The rows of both lists, one after the other. False: there are no more. */
static bool next_row(const struct secret_list *l, size_t *i, struct row *out)
{
	size_t own = *i - COUNT(names);

	if (*i < COUNT(names))
		*out = (struct row){ names[*i].kind, names[*i].text, names[*i].n };
	else if (l && own < l->n)
		*out = (struct row){ l->row[own].kind, l->row[own].text, l->row[own].n };
	else
		return false;
	++*i;
	return true;
}

/* Is what lies at `at` in the name a part of a harmless word? */
static bool is_harmless(const struct secret_list *l, const char *name, size_t n, size_t at,
			size_t len)
{
	struct row r;

	for (size_t i = 0; next_row(l, &i, &r);) {
		size_t from = at + len > r.n ? at + len - r.n : 0;

		if (r.kind != SECRET_HARMLESS || r.n < len)
			continue;
		for (; from <= at && from + r.n <= n; from++)
			if (!strncasecmp(name + from, r.text, r.n) &&
			    is_boundary(name, n, from + r.n))
				return true;
	}
	return false;
}

/* Is the row anywhere in the name where its kind may be? */
static bool is_held(const struct secret_list *l, const char *name, size_t n, const struct row *r)
{
	bool ends = r->kind == SECRET_ENDING || r->kind == SECRET_MAYBE;
	size_t to = r->kind == SECRET_BEGINNING ? 0 : n - r->n;

	for (size_t at = ends ? n - r->n : 0; at <= to; at++) {
		if (strncasecmp(name + at, r->text, r->n) != 0)
			continue;
		if ((r->kind == SECRET_WORD || r->kind == SECRET_MAYBE) &&
		    !(is_boundary(name, n, at) && is_boundary(name, n, at + r->n)))
			continue;
		if (!is_harmless(l, name, n, at, r->n))
			return true;
	}
	return false;
}

/* Does the name hold a row of this kind? */
static bool holds(const struct secret_list *l, const char *name, size_t n, enum secret_kind kind)
{
	struct row r;

	for (size_t i = 0; next_row(l, &i, &r);)
		if (r.kind == kind && r.n <= n && !(kind == SECRET_WHOLE && r.n != n) &&
		    is_held(l, name, n, &r))
			return true;
	return l && l->all;
}

bool secret_flag(const struct secret_list *l, const char *name, size_t n)
{
	return holds(l, name, n, SECRET_NAME) || (*name == '-' && holds(l, name, n, SECRET_WORD));
}

bool secret_variable(const struct secret_list *l, const char *name, size_t n)
{
	return holds(l, name, n, SECRET_BEGINNING) || holds(l, name, n, SECRET_ENDING) ||
	       holds(l, name, n, SECRET_WHOLE) || holds(l, name, n, SECRET_NAME) ||
	       holds(l, name, n, SECRET_VARIABLE);
}

bool secret_assigned(const struct secret_list *l, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (islower((unsigned char)name[i]))
			return secret_flag(l, name, n);
	return secret_variable(l, name, n);
}

/* Long, with letters and digits: nobody typed it. */
static bool is_drawn(const char *value)
{
	enum { LEAST = 16 };
	size_t n = 0, letters = 0, digits = 0;

	for (; isalnum((unsigned char)value[n]) || (value[n] && strchr("-_+=", value[n])); n++) {
		letters += isalpha((unsigned char)value[n]) != 0;
		digits += isdigit((unsigned char)value[n]) != 0;
	}
	return n >= LEAST && letters && digits > 1;
}

/* A small number or a path is no password. */
static bool may_be_password(const char *value)
{
	size_t digits = strspn(value, "0123456789");

	return *value && !strchr("/.~", *value) &&
	       !(digits && digits < 4 && !isalnum((unsigned char)value[digits]));
}

/* With the value known, names that are less certain are told, too. */
static bool is_secret(const struct secret_list *l, const char *name, size_t n, const char *value)
{
	return secret_assigned(l, name, n) ||
	       (holds(l, name, n, SECRET_WORD) && may_be_password(value)) ||
	       (holds(l, name, n, SECRET_MAYBE) && is_drawn(value));
}

/* ---- words of a command ---- */

static void begin_command(struct secret_command *c, const char *word, size_t n)
{
	static const char before[] = " env sudo exec time nohup nice srun mpirun timeout ";
	char padded[32];

	for (size_t i = n; i-- > 0;)
		if (word[i] == '/') {
			word += i + 1;
			n -= i + 1;
			break;
		}
	if (memchr(word, '=', n) || n + 3 > sizeof padded || !n)
		return;
	snprintf(padded, sizeof padded, " %.*s ", (int)n, word);
	if (!strstr(before, padded))
		snprintf(c->program, sizeof c->program, "%.*s", (int)n, word);
}

static bool is(const char *word, size_t n, const char *text)
{
	return strlen(text) == n && !strncmp(word, text, n);
}

bool secret_word(struct secret_command *c, const char *word, size_t n, size_t *keep)
{
	bool masked = c->next;

	*keep = 0;
	c->next = false;
	if (masked)
		return true;
	if (!c->program[0]) {
		begin_command(c, word, n);
		return false;
	}
	for (size_t i = 0; i < COUNT(programs); i++) {
		size_t m = strlen(programs[i].option);

		if (strcmp(c->program, programs[i].name) != 0)
			continue;
		c->after |= is(word, n, programs[i].after);
		if (*programs[i].after && !c->after)
			continue;
		c->next |= is(word, n, programs[i].option) && programs[i].where & NEXT;
		if (n > m && programs[i].where & BEHIND && !strncmp(word, programs[i].option, m)) {
			*keep = m;
			return true;
		}
	}
	return false;
}

/* ---- texts ---- */

/* Bytes up to the value in NAME=value, NAME: value, --NAME value and Bearer value, when that is a
 * secret; 0: it is none. A value is a quoted text, the rest of a header's line or a word. */
static size_t assignment(const struct secret_list *l, const char *text, size_t *value)
{
	static const char quotes[] = "\"'", word_ends[] = " \t\n\"'&|;<>)";
	enum { NAME_MOST = 128 };
	size_t n = strspn(text, "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
	const char *at = text + n, *ends = word_ends, *begin, *name = text;
	size_t len = n;
	bool secret = false, quoted = *at && strchr(quotes, *at) && at[1] == ':'; /* JSON */

	if (n > NAME_MOST) { /* its end tells, in bounded time */
		name = at - NAME_MOST;
		len = NAME_MOST;
	}
	at += quoted;
	begin = *at ? at + 1 + strspn(at + 1, *at == '=' ? "" : " \t") : at;
	begin += *begin && strchr(quotes, *begin);
	if (*at == '=') {
		secret = is_secret(l, name, len, begin);
	} else if (*at == ':' && at[1] != '/') {
		bool weak = quoted || at[1] == ' ' || is(text, n, "pass");

		secret = secret_flag(l, name, len) || (weak && is_secret(l, name, len, begin));
		ends = "\n\"'";
	} else if (*at == ' ' && at[1] != '-') {
		secret = *text == '-' ? is_secret(l, name, len, begin)
				      : n == strlen("bearer") && !strncasecmp(text, "bearer", n);
	}
	if (!n || !secret)
		return 0;
	at += 1 + strspn(at + 1, *at == '=' ? "" : " \t");
	if (*at && strchr(quotes, *at)) {
		const char quote[] = { *at++, '\0' };

		*value = strcspn(at, quote);
	} else {
		*value = strcspn(at, ends);
	}
	return *value ? (size_t)(at - text) : 0;
}

/* Bytes of the user and password at the start of a URL's authority, without the '@'; 0: none. A
 * password may hold an unescaped '/': then what follows the ':' is no port. */
static size_t user_info(const char *text)
{
	enum { LONGEST = 512 };
	static const char outside[] = " \t\n\"'<>";
	size_t n = strcspn(text, "/?# \t\n\"'<>"), at;
	const char *colon = memchr(text, ':', n);

	if (!memchr(text, '@', n) && colon && !isdigit((unsigned char)colon[1]) && text[n] == '/')
		while (n < LONGEST && text[n] && !strchr(outside, text[n]))
			n++;
	for (at = n; at > 0 && text[at - 1] != '@'; at--)
		;
	return at ? at - 1 : 0;
}

/* Bytes of a parameter's name and '=' behind '?' or '&' when its value is a secret; 0: it is none.
 */
static size_t parameter(const struct secret_list *l, const char *text)
{
	size_t n = strcspn(text, "=&# \t\n\"'");

	if (text[n] != '=' || !n)
		return 0;
	return secret_variable(l, text, n) || is(text, n, "sig") ? n + 1 : 0;
}

/* 1234567890:AA...: of a bot. */
static size_t bot_token(const char *text)
{
	enum { DIGITS_LEAST = 8, DIGITS_MOST = 10, REST_LEAST = 32 };
	size_t digits = strspn(text, "0123456789"), n = digits;

	if (digits < DIGITS_LEAST || digits > DIGITS_MOST || strncmp(text + n, ":AA", 3) != 0)
		return 0;
	for (n++; isalnum((unsigned char)text[n]) || (text[n] && strchr("_-", text[n])); n++)
		;
	return n - digits > REST_LEAST ? n : 0;
}

/* Which one begins here, and how long it is at least; 0: none does. */
static size_t token_begins(const struct secret_list *l, const char *text, bool inner,
			   struct row *out)
{
	enum { SURE = 4 };
	size_t least = inner ? SURE : 0;

	for (size_t i = 0; i < COUNT(tokens); i++) {
		*out = (struct row){ SECRET_TOKEN, tokens[i].beginning, tokens[i].n };
		if (out->n >= least && !strncmp(text, out->text, out->n))
			return tokens[i].least;
	}
	for (uint32_t i = 0; l && i < l->n; i++) {
		*out = (struct row){ l->row[i].kind, l->row[i].text, l->row[i].n };
		if (out->kind == SECRET_TOKEN && out->n >= least &&
		    !strncmp(text, out->text, out->n))
			return l->row[i].least;
	}
	return 0;
}

/* Bytes of a token; 0: this is none. inner: behind a '_', where only what is long enough to be sure
 * begins one. */
static size_t token(const struct secret_list *l, const char *text, bool inner)
{
	struct row r = { 0 };
	size_t n = 0, least;
	bool is_path;

	least = token_begins(l, text, inner, &r);
	if (!least)
		return inner ? 0 : bot_token(text);
	is_path = memchr(r.text, '/', r.n);
	while (isalnum((unsigned char)text[n]) ||
	       (text[n] && strchr(is_path ? "_-./" : "_-.", text[n])))
		n++;
	return n >= least ? n : 0;
}

/* What of the text is masked: *keep bytes stay, the n behind them go; 0 and 0: nothing here. */
static size_t secret_at(const struct secret_list *l, const char *text, bool word_begins, bool inner,
			size_t *keep)
{
	size_t n = word_begins || inner ? token(l, text, !word_begins) : 0;

	*keep = 0;
	if (!n && word_begins)
		*keep = assignment(l, text, &n);
	if (*keep || n)
		return n;
	if (!strncmp(text, "://", 3)) {
		*keep = 3;
		return user_info(text + 3);
	}
	if (*text == '?' || *text == '&') {
		*keep = parameter(l, text + 1);
		*keep += *keep > 0;
		return *keep ? strcspn(text + *keep, "&# \t\n\"'") : 0;
	}
	return 0;
}

/* A word of a shell's command begins here. True: it is masked behind *keep bytes, in all n. */
static bool command_word(struct secret_command *c, const char *text, size_t *keep, size_t *n)
{
	*n = strcspn(text, " \t\n;|&<>()");
	return *n && secret_word(c, text, *n, keep) && *n > *keep;
}

void secret_text(const struct secret_list *l, struct bytes *out, const char *text)
{
	struct secret_command command = { "", false, false };
	bool begins = true, inner = false, blank = true;

	if ((l && l->all && *text) ||
	    strstr(text, "-----BEGIN ")) { /* a key or a certificate in full */
		bytes_puts(out, SECRET_MASK);
		return;
	}
	while (*text) {
		size_t keep = 0, n = 0, word;

		if (blank && command_word(&command, text, &keep, &word))
			n = word - keep;
		else
			n = secret_at(l, text, begins, inner, &keep);
		if (!keep && !n)
			keep = 1;
		bytes_put(out, text, keep);
		if (n)
			bytes_puts(out, SECRET_MASK);
		text += keep + n;
		begins = !isalnum((unsigned char)text[-1]) && text[-1] != '_';
		inner = text[-1] == '_';
		blank = strchr(" \t\n;|&(", text[-1]) != NULL;
		if (blank && !strchr(" \t", text[-1]))
			command = (struct secret_command){ "", false, false };
	}
}
