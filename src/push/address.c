/* SPDX-License-Identifier: Apache-2.0 */
#include "push/address.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* %40 is @. False when it does not fit or means no text. */
static bool take_decoded(char *out, size_t size, const char *text, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		int c = (unsigned char)text[i];

		if (c == '%') {
			int high = i + 2 < n ? digit(text[i + 1]) : -1;
			int low = i + 2 < n ? digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = high * 16 + low;
			i += 2;
		}
		if (!c || c == '\n' || c == '\r' || len + 1 >= size)
			return false;
		out[len++] = (char)c;
	}
	out[len] = '\0';
	return true;
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || *text == 0x7f || *text == '#')
			return false;
	return true;
}

/* user:password of an authority of n bytes. */
static bool take_user(struct address *a, const char *text, size_t n)
{
	const char *colon = memchr(text, ':', n);
	size_t user = colon ? (size_t)(colon - text) : n;

	return take_decoded(a->user, sizeof a->user, text, user) &&
	       (!colon || take_decoded(a->password, sizeof a->password, colon + 1, n - user - 1));
}

/* The sentence does not repeat what was given: there may be a password in it. */
int address_parse(struct address *a, const char *text, const char *what, struct err *e)
{
	const char *rest = strstr(text, "://"), *at = NULL;
	size_t scheme = rest ? (size_t)(rest - text) : 0, authority, n;

	*a = (struct address){ .url = "" };
	if (!rest || !((scheme == 4 && !strncasecmp(text, "http", 4)) ||
		       (scheme == 5 && !strncasecmp(text, "https", 5))))
		return err_set(e, -EINVAL,
			       "%s is not the address of a server: it begins with "
			       "http:// or https://",
			       what);
	rest += 3;
	authority = strcspn(rest, "/?#");
	for (size_t i = 0; i < authority; i++)
		if (rest[i] == '@')
			at = rest + i;
	if (at && !take_user(a, rest, (size_t)(at - rest)))
		return err_set(e, -EINVAL, "%s has a user or password that is not text", what);
	if (at) {
		authority -= (size_t)(at + 1 - rest);
		rest = at + 1;
	}
	if (strchr(rest, '@')) /* what ended the authority may have been in a password */
		return err_set(
			e, -EINVAL,
			"%s has an @ behind the server's name: in a password / is %%2F, ? is "
			"%%3F and # is %%23, and an @ elsewhere is %%40",
			what);
	if (!authority || !is_plain(rest))
		return err_set(e, -EINVAL, "%s names no server", what);
	n = (size_t)snprintf(a->url, sizeof a->url, "%.*s://%s", (int)scheme, text, rest);
	if (n >= sizeof a->url)
		return err_set(e, -EINVAL, "%s is too long", what);
	while (n && a->url[n - 1] == '/')
		a->url[--n] = '\0';
	snprintf(a->shown, sizeof a->shown, "%.*s", (int)strcspn(a->url, "?"), a->url);
	return 0;
}
