/* SPDX-License-Identifier: Apache-2.0 */
/* The words of any request: only one that says the token, or has its cookie, is answered, under a
 * name of this machine, and no byte is read beyond them. An input is the token, the Host, the
 * Authorization, the cookie's value, the path and the method, a line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 6, RUNS = 3 };

static void check(const struct request *r, const struct request_guard *g)
{
	struct answer a = request_judge(r, g);
	bool token = r->authorization && *g->token &&
		     strlen(r->authorization) == 7 + strlen(g->token) &&
		     !strcmp(r->authorization + 7, g->token);
	bool session = r->cookie && strstr(r->cookie, g->session);

	if (a.status == 200 && !token && !session && a.route != ROUTE_LOGIN)
		abort();
	if (a.status == 200 && (!r->host || !(strchr("1lL[", *r->host) && *r->host)))
		abort();
	if (a.status == 200 && (a.run >= RUNS || (a.route == ROUTE_METRICS) != g->metrics))
		abort();
	if (a.status == 200 && a.route == ROUTE_SESSION && !token)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text, *word[WORDS],
	     cookie[200] = "";
	struct request_guard g;
	struct request r;

	for (int i = 0; i < WORDS; i++)
		word[i] = rest ? strsep(&rest, "\n") : NULL;
	request_guard_make(&g, word[0], 9477);
	snprintf(cookie, sizeof cookie, "a=b; sonde-9477=%s", word[3] ? word[3] : g.session);
	r = (struct request){ .host = word[1],
			      .authorization = word[2],
			      .cookie = cookie,
			      .path = word[4],
			      .method = word[5],
			      .accept = word[4] };
	g.runs = RUNS;
	check(&r, &g);
	g.metrics = true;
	check(&r, &g);
	r.cookie = word[3];
	check(&r, &g);
	(void)request_format(&r);
	free(text);
	return 0;
}
