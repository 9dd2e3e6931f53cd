/* SPDX-License-Identifier: Apache-2.0 */
#include "live/request.h"

#include <string.h>
#include <strings.h>

/* In a time that does not tell how much of it was right. */
static bool same(const char *said, const char *token)
{
	size_t n = strlen(token), m = strlen(said);
	unsigned different = n != m;

	for (size_t i = 0; i < n; i++)
		different |= (unsigned char)token[i] ^ (unsigned char)said[i < m ? i : m];
	return !different;
}

static bool may_ask(const struct request *r, const char *token)
{
	static const char scheme[] = "Bearer ";
	size_t n = sizeof scheme - 1;

	return *token && r->authorization && !strncasecmp(r->authorization, scheme, n) &&
	       same(r->authorization + n, token);
}

unsigned request_judge(const struct request *r, const char *token)
{
	if (!may_ask(r, token))
		return 401;
	if (!r->path || strcmp(r->path, "/metrics") != 0)
		return 404;
	if (!r->method || (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0))
		return 405;
	return 200;
}

enum exposition_format request_format(const struct request *r)
{
	return r->accept && strstr(r->accept, "application/openmetrics-text")
		       ? EXPOSITION_OPENMETRICS
		       : EXPOSITION_TEXT;
}
