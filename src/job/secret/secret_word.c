/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in words of a command whose program takes them there. */
#include "job/secret/secret.h"

#include <string.h>

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
		if (is(word, n, programs[i].name)) {
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
