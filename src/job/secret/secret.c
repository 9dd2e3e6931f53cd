/* SPDX-License-Identifier: Apache-2.0 */
#include "job/secret/secret.h"

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
#define ABOUT(text)     ROW(SECRET_ABOUT, text)
#define PLAIN(text)     ROW(SECRET_PLAIN, text)
#define TOKEN(text, least)
#define PROGRAM(name, option, after, where)
static const struct {
	enum secret_kind kind;
	const char *text;
	size_t n;
} names[] = {
#include "job/secret/secrets.def"
};
#undef ROW
#undef TOKEN
#define ROW(kind, text)
#define TOKEN(text, least) { text, sizeof(text) - 1, least },
static const struct {
	const char *beginning;
	size_t n, least;
} tokens[] = {
#include "job/secret/secrets.def"
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
	bool own; /* of a site's or a user's list */
};

#define KIND(kind) (UINT32_C(1) << (kind))

/* A bit for each byte, case aside. */
static uint32_t bit_of(char c)
{
	return UINT32_C(1) << ((unsigned char)c & 31);
}

static bool begins_among(const char *text, uint32_t bytes)
{
	return bytes & bit_of(text[0]) && bytes & bit_of(text[1]);
}

/* The rows of these kinds that begin with two of these bytes, one by one. False: no more. */
static bool next_row(const struct secret_list *l, uint32_t kinds, uint32_t bytes, size_t *i,
		     struct row *out)
{
	while (*i < COUNT(names)) {
		size_t at = (*i)++;

		if (!(kinds & KIND(names[at].kind)) || !begins_among(names[at].text, bytes))
			continue;
		*out = (struct row){ names[at].kind, names[at].text, names[at].n, false };
		return true;
	}
	while (l && *i - COUNT(names) < l->n) {
		size_t at = (*i)++ - COUNT(names);

		if (!(kinds & KIND(l->row[at].kind)) || !begins_among(l->row[at].text, bytes))
			continue;
		*out = (struct row){ l->row[at].kind, l->row[at].text, l->row[at].n, true };
		return true;
	}
	return false;
}

/* As strncasecmp, which is asked for each name, row and place: of most the first letter tells. */
static bool is_same(const char *a, const char *b, size_t n)
{
	const unsigned case_bit = 0x20;

	return !(((unsigned char)*a ^ (unsigned char)*b) & ~case_bit) && !strncasecmp(a, b, n);
}

/* Is what lies at `at` in the name a part of a harmless word? */
static bool is_harmless(const struct secret_list *l, const char *name, size_t n, size_t at,
			size_t len)
{
	struct row r;

	for (size_t i = 0; next_row(l, KIND(SECRET_HARMLESS), UINT32_MAX, &i, &r);) {
		size_t from = at + len > r.n ? at + len - r.n : 0;

		if (r.n < len)
			continue;
		for (; from <= at && from + r.n <= n; from++)
			if (is_same(name + from, r.text, r.n) && is_boundary(name, n, from + r.n))
				return true;
	}
	return false;
}

/* Is the row anywhere in the name where its kind may be? */
static bool is_held(const struct secret_list *l, const char *name, size_t n, const struct row *r)
{
	bool ends = r->kind == SECRET_ENDING || r->kind == SECRET_ABOUT;
	size_t to = r->kind == SECRET_BEGINNING ? 0 : n - r->n;

	for (size_t at = ends ? n - r->n : 0; at <= to; at++) {
		if (!is_same(name + at, r->text, r->n))
			continue;
		if ((r->kind == SECRET_WORD || r->kind == SECRET_MAYBE ||
		     r->kind == SECRET_ABOUT) &&
		    !(is_boundary(name, n, at) && is_boundary(name, n, at + r->n)))
			continue;
		if (!is_harmless(l, name, n, at, r->n))
			return true;
	}
	return false;
}

/* Those of these kinds, each a bit, of which the name holds a row. */
static uint32_t held_of(const struct secret_list *l, const char *name, size_t n, uint32_t kinds)
{
	uint32_t held = 0, bytes = 0;
	struct row r;

	for (size_t i = 0; i < n; i++)
		bytes |= bit_of(name[i]);
	for (size_t i = 0; next_row(l, kinds & ~held, bytes, &i, &r);)
		if (r.n <= n && (r.n == n || r.kind != SECRET_WHOLE) && is_held(l, name, n, &r))
			held |= KIND(r.kind);
	return held;
}

/* ---- values ---- */

/* Bytes of the word at the begin of a value. */
static size_t word_of(const char *value)
{
	return strcspn(value, " \t\n\"'&|;,)");
}

/* Long, with letters and digits: nobody typed it. */
static bool is_drawn(const char *value)
{
	enum { LEAST = 16 };
	size_t n = 0, letters = 0, digits = 0;

	for (; isalnum((unsigned char)value[n]) || (value[n] && strchr("-_+=/", value[n])); n++) {
		letters += isalpha((unsigned char)value[n]) != 0;
		digits += isdigit((unsigned char)value[n]) != 0;
	}
	return n >= LEAST && letters && digits > 1 && *value != '/';
}

/* A small number or a path is no password. */
static bool may_be_password(const char *value)
{
	return *value && !strchr("/.~", *value);
}

/* Behind "password ": not the next word of a sentence. */
static bool is_typed(const char *value)
{
	enum { LEAST = 8 };
	size_t n = word_of(value), letters = 0, others = 0;

	for (size_t i = 0; i < n; i++) {
		letters += isalpha((unsigned char)value[i]) != 0;
		others += isdigit((unsigned char)value[i]) || strchr("!#$%^&*+=@~", value[i]);
	}
	return n >= LEAST && letters && others && may_be_password(value);
}

/* Does a value behind a blank follow this name: in a header, in .netrc, in a message? */
static bool precedes(const char *name, size_t n, const char *value)
{
	static const char *const before[] = { "password", "passwd", "passphrase", "secret",
					      "token",    "apikey", "basic" };

	if (n == strlen("bearer") && !strncasecmp(name, "bearer", n))
		return true;
	for (size_t i = 0; i < COUNT(before); i++)
		if (strlen(before[i]) == n && !strncasecmp(name, before[i], n))
			return !value || is_typed(value);
	return false;
}

/* A small number, or a word that is no secret whatever it is the value of. */
static bool is_plain(const struct secret_list *l, const char *value)
{
	enum { DIGITS_MOST = 3 };
	size_t n = word_of(value);
	struct row r;

	if (!n && *value && !isspace((unsigned char)*value))
		return false; /* it begins with a sign of shells */
	if (n <= DIGITS_MOST && strspn(value, "0123456789") == n)
		return true;
	if (value[n] == ' ' && isgraph((unsigned char)value[n + 1]) && precedes(value, n, NULL))
		return false; /* Authorization: Basic ... */
	for (size_t i = 0; next_row(l, KIND(SECRET_PLAIN), UINT32_MAX, &i, &r);)
		if (r.n == n && !strncasecmp(value, r.text, n))
			return true;
	return false;
}

/* How the name is known to be a secret's: for sure, by one of its words, or if its value looks so.
 */
enum known { NOT, MAYBE_ONE, BY_WORD, SURE };

static enum known known_by(const struct secret_list *l, const char *name, size_t n, bool variable)
{
	const uint32_t of_variables = KIND(SECRET_BEGINNING) | KIND(SECRET_ENDING) |
				      KIND(SECRET_WHOLE) | KIND(SECRET_VARIABLE);
	const uint32_t sure = KIND(SECRET_NAME) | (variable ? of_variables : 0);
	uint32_t held = held_of(l, name, n, sure | KIND(SECRET_WORD) | KIND(SECRET_MAYBE));

	if (held & sure)
		return SURE;
	if (held & KIND(SECRET_WORD))
		return *name == '-' ? SURE : BY_WORD;
	return held ? MAYBE_ONE : NOT;
}

static bool is_secret(const struct secret_list *l, const char *name, size_t n, const char *value,
		      bool variable)
{
	enum known known = l && l->all ? SURE : known_by(l, name, n, variable);

	if (known == NOT || (l && l->all))
		return known == SURE;
	if (known == MAYBE_ONE || held_of(l, name, n, KIND(SECRET_ABOUT)))
		return is_drawn(value);
	return !is_plain(l, value) && (known == SURE || may_be_password(value));
}

bool secret_flag(const struct secret_list *l, const char *name, size_t n, const char *value)
{
	return is_secret(l, name, n, value, false);
}

bool secret_variable(const struct secret_list *l, const char *name, size_t n, const char *value)
{
	return is_secret(l, name, n, value, true);
}

bool secret_assigned(const struct secret_list *l, const char *name, size_t n, const char *value)
{
	for (size_t i = 0; i < n; i++)
		if (islower((unsigned char)name[i]))
			return is_secret(l, name, n, value, false);
	return is_secret(l, name, n, value, true);
}

static bool is(const char *word, size_t n, const char *text)
{
	return strlen(text) == n && !strncmp(word, text, n);
}

/* ---- texts ---- */

/* A name, as long as one may be. With dots only where a '=' follows: what.a.domain=value. */
static size_t name_length(const char *text)
{
	static const char signs[] = "-_.";
	enum { NAME_MOST = 256 };
	size_t n = 0, dot = 0;

	for (; n < NAME_MOST && text[n] &&
	       (isalnum((unsigned char)text[n]) || strchr(signs, text[n]));
	     n++)
		if (!dot && text[n] == '.')
			dot = n + 1;
	return dot && text[n] != '=' ? dot - 1 : n;
}

/* The sign behind a name: '=', ':' or ' '; "name": and ['name'] = and name = are such, too. */
static char sign_of(const char **at, bool *quoted)
{
	const char *p = *at;
	size_t blanks;

	*quoted = *p && strchr("\"'", *p);
	p += *quoted;
	p += *quoted && *p == ']';
	blanks = strspn(p, " \t");
	if (blanks && ((p[blanks] == '=' && p[blanks + 1] != '=') || (*quoted && p[blanks] == ':')))
		p += blanks;
	if (*p != '=' && *p != ':' && (*quoted || *p != ' '))
		return '\0';
	blanks += (size_t)(p - *at);
	*at = p;
	return *p == '=' && blanks ? '~' : *p; /* '~': blanks may follow, too */
}

/* Is the name behind this many bytes of its line the last part of a path: /etc/passwd, ./token? */
static bool is_of_path(const char *name, size_t before)
{
	const char *from = name, *begin = name - before;

	if (!before || name[-1] != '/')
		return false;
	while (from > begin && (isalnum((unsigned char)from[-1]) || strchr("/._-+~", from[-1])))
		from--;
	return strchr("/.~", *from) && strncmp(from, "//", 2) != 0;
}

/* Bytes up to the value in NAME=value, NAME: value, --NAME value and Bearer value, when that is a
 * secret; 0: it is none. A value is a quoted text, the rest of a header's line or a word. Behind a
 * path follows what is the matter with it. */
static size_t assignment(const struct secret_list *l, const char *text, size_t before,
			 size_t *value)
{
	static const char word_ends[] = " \t\n\"'&|;<>)";
	size_t n = name_length(text);
	const char *at = text + n, *ends = word_ends, *begin;
	bool secret = false, quoted;
	char sign = sign_of(&at, &quoted);

	if (!n || !sign)
		return 0;
	begin = at + 1 + strspn(at + 1, sign == '=' ? "" : " \t");
	begin += *begin && strchr("\"'", *begin);
	if (sign == '=' || sign == '~') {
		secret = secret_assigned(l, text, n, begin);
	} else if (sign == ':' && at[1] != '/') {
		bool weak = quoted || at[1] == ' ' || is(text, n, "pass");
		enum known known = known_by(l, text, n, false);

		if (at[1] == ' ' && is_of_path(text, before) && !is_typed(begin) &&
		    !is_drawn(begin))
			return 0;
		secret = (known == SURE || weak) && secret_flag(l, text, n, begin);
		ends = "\n\"'";
	} else if (sign == ' ' && at[1] != '-') {
		secret = *text == '-' ? secret_flag(l, text, n, begin) : precedes(text, n, begin);
	}
	if (!secret)
		return 0;
	at = begin - (begin[-1] == '"' || begin[-1] == '\'');
	if (at < begin) {
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
	return secret_variable(l, text, n, text + n + 1) || is(text, n, "sig") ? n + 1 : 0;
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
	enum { SURE_BYTES = 4 };
	size_t least = inner ? SURE_BYTES : 0;

	for (size_t i = 0; i < COUNT(tokens); i++) {
		if (*text != *tokens[i].beginning || tokens[i].n < least ||
		    strncmp(text, tokens[i].beginning, tokens[i].n) != 0)
			continue;
		*out = (struct row){ SECRET_TOKEN, tokens[i].beginning, tokens[i].n, false };
		return tokens[i].least;
	}
	for (uint32_t i = 0; l && i < l->n; i++) {
		*out = (struct row){ l->row[i].kind, l->row[i].text, l->row[i].n, true };
		if (out->kind == SECRET_TOKEN && out->n >= least &&
		    !strncmp(text, out->text, out->n))
			return l->row[i].least;
	}
	return 0;
}

/* Letters and digits alone, with no word among them: 20 at least, of which every third or so is of
 * another kind than the one before. 0: these are words. */
static size_t drawn_letters(const char *text)
{
	enum { LEAST = 20, OF_EACH = 2, PERCENT = 40 };
	size_t n = 0, kinds[3] = { 0 }, changes = 0, last = 0;

	for (; isalnum((unsigned char)text[n]); n++) {
		size_t kind = isdigit((unsigned char)text[n])   ? 0
			      : isupper((unsigned char)text[n]) ? 1
								: 2;

		kinds[kind]++;
		changes += n && kind != last;
		last = kind;
	}
	if (n < LEAST || kinds[0] < OF_EACH || kinds[1] < OF_EACH || kinds[2] < OF_EACH)
		return 0;
	return changes * 100 >= PERCENT * (n - 1) ? n : 0;
}

/* Something drawn by lot, with what belongs to it behind signs of base64; 0: it is none. */
static size_t drawn(const char *text, bool inner)
{
	size_t n = inner && *text == 'Z' ? 0 : drawn_letters(text), more; /* _Z: of C++ */

	while (n && text[n] && strchr("-_+/=", text[n])) {
		size_t lower = 0;

		for (more = n + 1; isalnum((unsigned char)text[more]); more++)
			lower += islower((unsigned char)text[more]) != 0;
		if (text[n] != '=' && lower == more - n - 1)
			break; /* the next folder of a path */
		n = more;
	}
	return n;
}

/* Words between signs are no token: it has more than small letters, and a long part or letters of
 * both kinds. */
static bool is_token(const char *text, size_t n)
{
	enum { PART = 12 };
	size_t run = 0, longest = 0, upper = 0, digits = 0;

	for (size_t i = 0; i < n; i++) {
		run = isalnum((unsigned char)text[i]) ? run + 1 : 0;
		longest = run > longest ? run : longest;
		digits += isdigit((unsigned char)text[i]) != 0;
		upper += isupper((unsigned char)text[i]) != 0;
	}
	return (longest >= PART && digits + upper > 1) || (digits > 1 && upper > 1);
}

/* Bytes of a token; 0: this is none. inner: behind a '_', where only what is long enough to be sure
 * begins one. */
static size_t token(const struct secret_list *l, const char *text, bool inner)
{
	struct row r = { 0 };
	size_t n = 0, least;
	bool is_path;

	least = token_begins(l, text, inner, &r);
	if (least) {
		is_path = memchr(r.text, '/', r.n);
		while (isalnum((unsigned char)text[n]) ||
		       (text[n] && strchr(is_path ? "_-./" : "_-.~", text[n])))
			n++;
		if (n >= least && (r.own || is_token(text, n)))
			return n + strspn(text + n, "=");
	}
	n = inner ? 0 : bot_token(text);
	return n ? n : drawn(text, inner);
}

/* Where in a text it is. */
struct place {
	bool begins, inner, blank; /* a word begins; behind a '_'; a word of a command begins */
	const char *named;         /* up to here a name was looked at whole */
	size_t before;             /* bytes of the text before it */
};

/* What of the text is masked: *keep bytes stay, the n behind them go; 0 and 0: nothing here. */
static size_t secret_at(const struct secret_list *l, const char *text, struct place *here,
			size_t *keep)
{
	size_t n = here->begins || here->inner ? token(l, text, !here->begins) : 0;

	*keep = 0;
	if (!n && here->begins && (!here->named || text >= here->named)) {
		*keep = assignment(l, text, here->before, &n);
		here->named = text + name_length(text);
	}
	if (*keep || n)
		return n;
	if (*text == ':' && !strncmp(text, ":thin:", 6)) { /* JDBC of Oracle */
		*keep = strcspn(text, "/@ \t\n\"'");
		*keep += text[*keep] == '/';
		n = text[*keep - 1] == '/' ? strcspn(text + *keep, "@ \t\n\"'") : 0;
		*keep = n ? *keep : 0;
		return n;
	}
	if (*text == ':' && !strncmp(text, "://", 3)) {
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

/* Is it an address that is not to be known? */
static size_t address_at(const struct secret_list *l, const char *text, const struct place *here,
			 char name[SECRET_ADDRESS])
{
	return l && l->addresses && (here->begins || here->inner) ? secret_address(l, text, name)
								  : 0;
}

/* A word of a shell's command begins here. True: it is masked behind *keep bytes, in all n. */
static bool command_word(struct secret_command *c, const char *text, size_t *keep, size_t *n)
{
	*n = strcspn(text, " \t\n;|&<>()");
	return *n && secret_word(c, text, *n, keep) && *n > *keep;
}

void secret_text(const struct secret_list *l, struct bytes *out, const char *text)
{
	struct secret_command command = { 0 };
	struct place here = { .begins = true, .blank = true };

	if ((l && l->all && *text) ||
	    strstr(text, "-----BEGIN ")) { /* a key or a certificate in full */
		bytes_puts(out, SECRET_MASK);
		return;
	}
	while (*text) {
		size_t keep = 0, n, word;
		char name[SECRET_ADDRESS] = SECRET_MASK;

		n = address_at(l, text, &here, name);
		if (n)
			keep = 0;
		else if (here.blank && command_word(&command, text, &keep, &word))
			n = word - keep;
		else
			n = secret_at(l, text, &here, &keep);
		if (!keep && !n)
			keep = 1;
		bytes_put(out, text, keep);
		if (n)
			bytes_puts(out, name);
		text += keep + n;
		here.before += keep + n;
		here.begins = !isalnum((unsigned char)text[-1]) && text[-1] != '_';
		here.inner = text[-1] == '_';
		here.blank = strchr(" \t\n;|&(", text[-1]) != NULL;
		if (here.blank && !strchr(" \t", text[-1]))
			command = (struct secret_command){ 0 };
	}
}
