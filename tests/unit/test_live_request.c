/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask a server of running jobs for what. */
#include "live/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define HERE "127.0.0.1:8000"

static unsigned judged(const struct request *r, bool metrics, const char *token)
{
	struct request_guard g;

	request_guard_make(&g, token, 8000);
	g.metrics = metrics;
	g.runs = 2;
	return request_judge(r, &g).status;
}

static void metrics_are_for_who_has_the_token(void **state)
{
	static const struct {
		struct request r;
		unsigned status;
	} asked[] = {
		{ { "GET", "/metrics", HERE, "Bearer secret", NULL, NULL }, 200 },
		{ { "HEAD", "/metrics", "localhost", "bearer secret", NULL, NULL }, 200 },
		{ { "GET", "/metrics", "[::1]:1", "Bearer secret", NULL, NULL }, 200 },
		{ { "GET", "/metrics", HERE, "Bearer secre", NULL, NULL }, 401 },
		{ { "GET", "/metrics", HERE, "Bearer secrett", NULL, NULL }, 401 },
		{ { "GET", "/metrics", HERE, "Bearer ", NULL, NULL }, 401 },
		{ { "GET", "/metrics", HERE, "secret", NULL, NULL }, 401 },
		{ { "GET", "/metrics", HERE, NULL, NULL, NULL }, 401 },
		{ { "GET", "/", HERE, "Bearer secret", NULL, NULL }, 404 },
		{ { "GET", "/run/1/", HERE, "Bearer secret", NULL, NULL }, 404 },
		{ { "GET", NULL, HERE, "Bearer secret", NULL, NULL }, 404 },
		{ { "PUT", "/metrics", HERE, "Bearer secret", NULL, NULL }, 405 },
		{ { NULL, "/metrics", HERE, "Bearer secret", NULL, NULL }, 405 },
		{ { "GET", "/metrics", NULL, "Bearer secret", NULL, NULL }, 421 },
		{ { "GET", "/metrics", "example.org", "Bearer secret", NULL, NULL }, 421 },
		{ { "GET", "/metrics", "localhost.example.org", "Bearer secret", NULL, NULL },
		  421 },
		{ { "GET", "/metrics", "localhost:", "Bearer secret", NULL, NULL }, 421 },
		{ { "GET", "/metrics", "localhost:8a", "Bearer secret", NULL, NULL }, 421 },
	};
	const struct request empty = { "GET", "/metrics", HERE, "Bearer ", NULL, NULL };

	(void)state;
	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++)
		assert_int_equal(judged(&asked[i].r, true, "secret"), asked[i].status);
	assert_int_equal(judged(&empty, true, ""), 401);
	assert_int_equal(request_format(&empty), EXPOSITION_TEXT);
}

static void pages_are_for_who_has_the_token_or_its_cookie(void **state)
{
	struct request_guard g, other;
	char cookie[256], elsewhere[256], text[256];
	const struct {
		const char *method, *path, *authorization, *cookie;
		unsigned status;
	} asked[] = {
		{ "GET", "/", "Bearer secret", NULL, 200 },
		{ "GET", "/", NULL, cookie, 200 },
		{ "GET", "/run/2/events", NULL, cookie, 200 },
		{ "GET", "/run/3/events", NULL, cookie, 404 },
		{ "GET", "/run/0/", NULL, cookie, 404 },
		{ "GET", "/run/-1/", NULL, cookie, 404 },
		{ "GET", "/run/18446744073709551617/", NULL, cookie, 404 },
		{ "GET", "/run/1/../2/", NULL, cookie, 404 },
		{ "GET", "/metrics", NULL, cookie, 404 },
		{ "GET", "/", NULL, elsewhere, 401 },
		{ "GET", "/", NULL, text, 401 },
		{ "GET", "/", NULL, NULL, 401 },
		{ "GET", "/nowhere", NULL, NULL, 401 },
		{ "GET", "/login", NULL, NULL, 200 },
		{ "POST", "/session", "Bearer secret", NULL, 200 },
		{ "POST", "/session", NULL, cookie, 401 },
		{ "GET", "/session", "Bearer secret", NULL, 405 },
		{ "POST", "/run/1/", NULL, cookie, 405 },
	};

	(void)state;
	request_guard_make(&g, "secret", 8000);
	request_guard_make(&other, "another", 8000);
	snprintf(cookie, sizeof cookie, "a=b; %s=%s; c=d", g.cookie, g.session);
	snprintf(elsewhere, sizeof elsewhere, "%s=%s", other.cookie, other.session);
	snprintf(text, sizeof text, "%s=secret; %s=", g.cookie, g.cookie);
	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
		struct request r = { asked[i].method,        asked[i].path,   HERE,
				     asked[i].authorization, asked[i].cookie, NULL };

		assert_int_equal(judged(&r, false, "secret"), asked[i].status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_are_for_who_has_the_token),
		cmocka_unit_test(pages_are_for_who_has_the_token_or_its_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
