/* SPDX-License-Identifier: Apache-2.0 */
#include "job/secret/secret_list.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/text/textfile.h"
#include "job/secret/secret.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	enum secret_kind kind;
} kinds[] = {
	{ "name", SECRET_NAME },           { "word", SECRET_WORD },
	{ "maybe", SECRET_MAYBE },         { "variable", SECRET_VARIABLE },
	{ "beginning", SECRET_BEGINNING }, { "ending", SECRET_ENDING },
	{ "whole", SECRET_WHOLE },         { "harmless", SECRET_HARMLESS },
	{ "token", SECRET_TOKEN },         { "about", SECRET_ABOUT },
	{ "plain", SECRET_PLAIN },
};

/* The next word of a line that ends at end; its length, 0: none. */
static size_t next_word(const char **at, const char *end)
{
	const char *p = *at;

	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	*at = p;
	while (p < end && *p != ' ' && *p != '\t' && *p != '\r')
		p++;
	return (size_t)(p - *at);
}

static enum secret_kind kind_of(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strlen(kinds[i].word) == n && !memcmp(kinds[i].word, word, n))
			return kinds[i].kind;
	return 0;
}

/* How long a token is at least; 0: this says no number from 8 to 999. */
static uint32_t least_of(const char *word, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (word[i] < '0' || word[i] > '9' || i == 3)
			return 0;
		v = v * 10 + (uint32_t)(word[i] - '0');
	}
	return v < 8 ? 0 : v;
}

/* What is wrong with the line, or NULL. */
static const char *take_line(struct secret_list *l, const char *at, const char *end)
{
	struct secret_row row = { 0 };
	size_t n = next_word(&at, end);

	if (!n || *at == '#')
		return NULL;
	row.kind = kind_of(at, n);
	if (!row.kind)
		return "it begins with name, word, maybe, variable, beginning, ending, whole, "
		       "harmless, about, plain or token";
	at += n;
	row.n = next_word(&at, end);
	if (row.n < 2 || row.n >= sizeof row.text)
		return "the text has 2 to 63 characters";
	for (size_t i = 0; i < row.n; i++)
		if (at[i] <= ' ' || at[i] > '~')
			return "the text is of letters, digits and signs";
	memcpy(row.text, at, row.n);
	at += row.n;
	n = next_word(&at, end);
	row.least = row.kind == SECRET_TOKEN ? least_of(at, n) : 0;
	if (row.kind == SECRET_TOKEN && !row.least)
		return "behind a token's beginning is how long it is at least, 8 to 999";
	at += row.kind == SECRET_TOKEN ? n : 0;
	if (next_word(&at, end) && *at != '#')
		return "there is more than a kind and a text";
	if (l->n == SECRET_LIST_ROWS)
		return "there are more than 256";
	l->row[l->n++] = row;
	return NULL;
}

int secret_list_parse(struct secret_list *l, const char *file, const char *text, size_t n,
		      struct err *e)
{
	const char *at = text, *end = text + n;

	for (unsigned line = 1; at < end; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *wrong = take_line(l, at, newline ? newline : end);

		if (wrong) {
			l->all = true;
			return err_set(e, -EINVAL, "%.300s: line %u: %s", file, line, wrong);
		}
		at = newline ? newline + 1 : end;
	}
	return 0;
}

int secret_list_read(struct secret_list *l, const char *file, struct err *e)
{
	struct bytes text = { 0 };
	int rc = textfile_read(file, "list of secrets", SECRET_LIST_BYTES, &text, e);

	if (!rc)
		rc = secret_list_parse(l, file, (const char *)text.data, text.len, e);
	l->all |= rc != 0;
	bytes_free(&text);
	return rc;
}

/* Secrets in words of a command whose program takes them there. */

#define NAME(text)
#define WORD(text)
#define MAYBE(text)
#define VARIABLE(text)
#define BEGINNING(text)
#define ENDING(text)
#define WHOLE(text)
#define HARMLESS(text)
#define ABOUT(text)
#define PLAIN(text)
#define TOKEN(text, least)
#define PROGRAM(name, option, after, where) { name, option, after, where },
static const struct {
	const char *name, *option, *after;
	enum { NEXT = 1, BEHIND = 2, BOTH = 3, CLUSTER = 7, REST = 8, SLASH = 16 } where;
} programs[] = {
#include "job/secret/secrets.def"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is(const char *word, size_t n, const char *text)
{
	return strlen(text) == n && !strncmp(word, text, n);
}

/* The program of the table that the word names, also behind env, timeout 60 or srun -n 2. */
static void begin_program(struct secret_command *c, const char *word, size_t n)
{
	for (size_t i = n; i-- > 0;)
		if (word[i] == '/') {
			word += i + 1;
			n -= i + 1;
			break;
		}
	for (size_t i = 0; i < COUNT(programs); i++)
		if (*word == *programs[i].name && is(word, n, programs[i].name)) {
			*c = (struct secret_command){ .program = programs[i].name };
			return;
		}
}

/* Letters of several options, the last of which is this one: -sSu of curl. */
static bool is_cluster(const char *word, size_t n, const char *option)
{
	enum { MOST = 8 };

	if (n < 3 || n > MOST || *word != '-' || word[n - 1] != option[1])
		return false;
	for (size_t i = 1; i + 1 < n; i++)
		if (!strchr("0123456afgGijklLnNOpqRsSvV", word[i]))
			return false;
	return true;
}

/* Is the word the option, so that the next one (or all) is its value? */
static bool takes_next(const char *word, size_t n, size_t row)
{
	return is(word, n, programs[row].option) ||
	       (programs[row].where == CLUSTER && is_cluster(word, n, programs[row].option));
}

/* Bytes of the word before the value; 0: it is not this option with its value. */
static size_t value_in(const char *word, size_t n, size_t row)
{
	const char *option = programs[row].option, *slash;
	size_t m = strlen(option);

	if (programs[row].where == SLASH) {
		slash = *word == '@' ? NULL : memchr(word, '/', n);
		return slash ? (size_t)(slash + 1 - word) : 0;
	}
	if (!(programs[row].where & BEHIND) || n <= m || strncmp(word, option, m) != 0)
		return 0;
	if (!strncmp(option, "--", 2))
		return word[m] == '=' ? m + 1 : 0;
	return m;
}

bool secret_word(struct secret_command *c, const char *word, size_t n, size_t *keep)
{
	bool masked = c->next || (c->rest && *word != '-');

	*keep = 0;
	c->next = false;
	if (masked)
		return true;
	for (size_t i = 0; c->program && i < COUNT(programs); i++) {
		bool after = !*programs[i].after || c->after == programs[i].after;

		if (strcmp(c->program, programs[i].name) != 0)
			continue;
		if (is(word, n, programs[i].after))
			c->after = programs[i].after;
		if (!after)
			continue;
		if (!*programs[i].option && programs[i].where == NEXT && *word != '-')
			return true;
		c->next |= (programs[i].where & NEXT) && takes_next(word, n, i);
		c->rest |= programs[i].where == REST && takes_next(word, n, i);
		*keep = value_in(word, n, i);
		if (*keep)
			return true;
	}
	if (!c->next)
		begin_program(c, word, n);
	return false;
}

/* Addresses of IP in a text, and the names by which they go instead. */

struct address {
	uint8_t byte[16]; /* of IPv4: as IPv6 has it */
};

static const uint8_t mapped[12] = { [10] = 0xff, 0xff };

/* Says which machine it is on, or none at all. */
static bool tells_nothing(const struct address *a)
{
	static const struct address none, own = { { [15] = 1 } };

	if (!memcmp(a->byte, mapped, sizeof mapped))
		return a->byte[12] == 127 || !memcmp(a->byte + 12, none.byte, 4);
	return !memcmp(a, &none, sizeof *a) || !memcmp(a, &own, sizeof *a);
}

/* Bytes of the n that are an address, in which there are such letters; 0: none. */
static size_t parse(int family, const char *text, size_t n, struct address *out)
{
	char one[INET6_ADDRSTRLEN];

	if (!n || n >= sizeof one)
		return 0;
	memcpy(one, text, n);
	one[n] = '\0';
	memcpy(out->byte, mapped, sizeof mapped);
	return inet_pton(family, one, family == AF_INET ? out->byte + sizeof mapped : out->byte) ==
			       1
		       ? n
		       : 0;
}

/* Four numbers; what follows may be a port: 10.0.0.7:80, 10.0.0.7.80. */
static size_t parse_v4(const char *text, struct address *out)
{
	size_t n = 0;

	for (int i = 0; i < 4; i++) {
		size_t digits = strspn(text + n, "0123456789");

		n += digits + (i < 3);
		if (!digits || (i < 3 && text[n - 1] != '.'))
			return 0;
	}
	return parse(AF_INET, text, n, out);
}

static size_t parse_v6(const char *text, struct address *out)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF:."), found = 0;
	const char *colon = memchr(text, ':', n);

	if (!colon || !memchr(colon + 1, ':', n - (size_t)(colon + 1 - text)) ||
	    isalnum((unsigned char)text[n]))
		return 0;
	for (; n > 2 && !found; n--) /* behind it the end of a sentence, or a port */
		if (!isalnum((unsigned char)text[n]) || !isalnum((unsigned char)text[n - 1]))
			found = parse(AF_INET6, text, n, out);
	return found;
}

size_t secret_address(const struct secret_list *l, const char *text, char name[SECRET_ADDRESS])
{
	uint8_t sum[SHA256_BYTES];
	struct {
		uint8_t key[sizeof l->key];
		struct address is;
	} known;
	size_t n;

	if (!isxdigit((unsigned char)*text) && *text != ':')
		return 0;
	n = parse_v4(text, &known.is);
	if (!n)
		n = parse_v6(text, &known.is);
	if (!n || tells_nothing(&known.is))
		return 0;
	memcpy(known.key, l->key, sizeof known.key);
	sha256(sum, &known, sizeof known);
	snprintf(name, SECRET_ADDRESS, "address-%02x%02x%02x%02x", sum[0], sum[1], sum[2], sum[3]);
	return n;
}
