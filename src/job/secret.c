/* SPDX-License-Identifier: Apache-2.0 */
#include "job/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const flag_words[] = {
	"password", "passwd",  "passphrase", "secret",     "token",
	"apikey",   "api-key", "api_key",    "credential", "auth",
};

/* Parts of the names of variables, besides those of flags. */
static const char *const variable_words[] = {
	"pass", "key", "cookie", "signature", "private", "jwt", "webhook", "connection_string",
};
static const char *const variable_beginnings[] = { "AWS_", "AZURE_", "VAULT_", "MUNGE_",
						   "SHIPYARD_STORAGE" };
static const char *const variable_endings[] = { "_PAT", "_PW", "_PWD", "_SAS", "_DSN", "_PIN" };

/* How tokens of services begin, and how long they are at least. */
static const struct {
	const char *beginning;
	size_t least;
} tokens[] = {
	{ "ghp_", 30 },      { "gho_", 30 },   { "ghu_", 30 },        { "ghs_", 30 },
	{ "ghr_", 30 },      { "glpat-", 20 }, { "xoxb-", 20 },       { "xoxp-", 20 },
	{ "xoxa-", 20 },     { "AKIA", 20 },   { "ASIA", 20 },        { "sk-", 32 },
	{ "sk_live_", 20 },  { "hf_", 30 },    { "npm_", 30 },        { "pypi-", 30 },
	{ "dckr_pat_", 20 }, { "eyJ", 40 },    { "github_pat_", 30 },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool has_word(const char *const *words, size_t nwords, const char *name, size_t n)
{
	for (size_t i = 0; i < nwords; i++) {
		size_t len = strlen(words[i]);

		for (size_t at = 0; at + len <= n; at++)
			if (!strncasecmp(name + at, words[i], len))
				return true;
	}
	return false;
}

bool secret_flag(const char *name, size_t n)
{
	return has_word(flag_words, COUNT(flag_words), name, n);
}

bool secret_variable(const char *name, size_t n)
{
	for (size_t i = 0; i < COUNT(variable_beginnings); i++) {
		size_t len = strlen(variable_beginnings[i]);

		if (n >= len && !strncasecmp(name, variable_beginnings[i], len))
			return true;
	}
	for (size_t i = 0; i < COUNT(variable_endings); i++) {
		size_t len = strlen(variable_endings[i]);

		if (n >= len && !strncasecmp(name + n - len, variable_endings[i], len))
			return true;
	}
	return secret_flag(name, n) || has_word(variable_words, COUNT(variable_words), name, n);
}

bool secret_assigned(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (islower((unsigned char)name[i]))
			return secret_flag(name, n);
	return secret_variable(name, n);
}

/* Bytes up to the value in NAME=value, NAME: value, --NAME value and Bearer value, when that is a
 * secret; 0: it is none. A value is a quoted text, the rest of a header's line or a word. */
static size_t assignment(const char *text, size_t *value)
{
	static const char quotes[] = "\"'", word_ends[] = " \t\n\"'&|;<>)";
	size_t n = strspn(text, "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
	const char *at = text + n, *ends = word_ends;
	bool secret;

	if (*at && strchr(quotes, *at) && at[1] == ':') /* JSON */
		at++;
	if (*at == '=') {
		secret = secret_assigned(text, n);
	} else if (*at == ':') {
		secret = secret_flag(text, n) && at[1] != '/';
		ends = "\n\"'";
	} else {
		secret = (*text == '-' && secret_flag(text, n)) ||
			 (n == strlen("bearer") && !strncasecmp(text, "bearer", n));
		secret = secret && *at == ' ' && at[1] != '-';
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
static size_t parameter(const char *text)
{
	size_t n = strcspn(text, "=&# \t\n\"'");

	if (text[n] != '=' || !n)
		return 0;
	return secret_variable(text, n) || (n == 3 && !strncasecmp(text, "sig", n)) ? n + 1 : 0;
}

/* Bytes of a token; 0: this is none. */
static size_t token(const char *text)
{
	size_t i = 0, n = 0;

	while (i < COUNT(tokens) &&
	       strncmp(text, tokens[i].beginning, strlen(tokens[i].beginning)) != 0)
		i++;
	if (i == COUNT(tokens))
		return 0;
	while (isalnum((unsigned char)text[n]) || (text[n] && strchr("_-.", text[n])))
		n++;
	return n >= tokens[i].least ? n : 0;
}

void secret_text(struct bytes *out, const char *text)
{
	bool word_begins = true;

	if (strstr(text, "-----BEGIN ")) { /* a key or a certificate in full */
		bytes_puts(out, SECRET_MASK);
		return;
	}
	while (*text) {
		size_t n = word_begins ? token(text) : 0, keep = 0;

		if (!n && word_begins)
			keep = assignment(text, &n);
		if (keep) {
			/* as it is */
		} else if (!n && !strncmp(text, "://", 3)) {
			keep = 3;
			n = user_info(text + keep);
		} else if (!n && (*text == '?' || *text == '&')) {
			keep = parameter(text + 1);
			keep += keep > 0;
			n = keep ? strcspn(text + keep, "&# \t\n\"'") : 0;
		}
		if (!keep && !n)
			keep = 1;
		bytes_put(out, text, keep);
		if (n)
			bytes_puts(out, SECRET_MASK);
		text += keep + n;
		word_begins = !isalnum((unsigned char)text[-1]) && text[-1] != '_';
	}
}
