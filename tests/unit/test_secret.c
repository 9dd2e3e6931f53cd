/* SPDX-License-Identifier: Apache-2.0 */
#include "job/secret/secret.h"
#include "job/words.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void masks_to(const char *text, const char *want)
{
	struct bytes b = { 0 };

	secret_text(NULL, &b, text);
	bytes_u8(&b, 0);
	assert_string_equal((const char *)b.data, want);
	bytes_free(&b);
}

static void credentials_in_urls(void **state)
{
	(void)state;
	masks_to("postgres://me:hush@db.site/x", "postgres://***@db.site/x");
	masks_to("see https://hush@git.site/r.git now", "see https://***@git.site/r.git now");
	masks_to("amqp://u:p/w#d@host/v", "amqp://***@host/v");
	masks_to("a,redis://:hush@h:6379,b", "a,redis://***@h:6379,b");
	masks_to("https://registry.site:8080/@scope/name",
		 "https://registry.site:8080/@scope/name");
	masks_to("https://site/path?page=2&sig=abc%2F&x=1#top",
		 "https://site/path?page=2&sig=***&x=1#top");
	masks_to("u?access_token=abc", "u?access_token=***");
	masks_to("me@site.org", "me@site.org");
	masks_to("://", "://");
}

static void tokens_by_their_form(void **state)
{
	(void)state;
	masks_to("x=ghp_0123456789abcdefghijABCDEFGHIJ012345;", "x=***;");
	masks_to("AKIAIOSFODNN7EXAMPLE", "***");
	masks_to("sk-learn-examples", "sk-learn-examples");
	masks_to("my_hf_0123456789abcdefghijABCDEFGHIJ012345",
		 "my_hf_0123456789abcdefghijABCDEFGHIJ012345");
	masks_to("-----BEGIN PRIVATE KEY-----\nMIIE", "***");
	masks_to("", "");
}

static void assignments_within_a_text(void **state)
{
	(void)state;
	masks_to("cd x; DB_PASSWORD=hush ./app", "cd x; DB_PASSWORD=*** ./app");
	masks_to("MYSQL_PWD=hush;x", "MYSQL_PWD=***;x");
	masks_to("pwd=5 KEYS=1 KEYS=hush", "pwd=5 KEYS=1 KEYS=***");
	masks_to("curl --password=hush -s", "curl --password=*** -s");
	masks_to("a --token hush b", "a --token *** b");
	masks_to("a --token --b", "a --token --b");
	masks_to("x --secret 'hu sh' y", "x --secret '***' y");
	masks_to("password=\"hu sh\" y", "password=\"***\" y");
	masks_to("Authorization: Basic aHVzaA==", "Authorization: ***");
	masks_to("curl -H \"X-Auth-Token: hush\" u", "curl -H \"X-Auth-Token: ***\" u");
	masks_to("Bearer hush", "Bearer ***");
	masks_to("{\"password\": \"hush\", \"n\": 1}", "{\"password\": \"***\", \"n\": 1}");
	masks_to("the token of /opt/auth/x", "the token of /opt/auth/x");
	masks_to("cat: /etc/passwd: Too many open files", "cat: /etc/passwd: Too many open files");
	masks_to("ls: '~/.ssh/token': No such file", "ls: '~/.ssh/token': No such file");
	masks_to("./a-b_c/secret: 3 lines", "./a-b_c/secret: 3 lines");
	masks_to("/run/secrets/db_password:hush", "/run/secrets/db_password:***");
	masks_to("/run/secrets/password: hush1234", "/run/secrets/password: ***");
	masks_to("user/password: hush", "user/password: ***");
	masks_to("https://site/password: hush", "https://site/password: ***");
	masks_to("/password=hush", "/password=***");
	masks_to("password= token:", "password= token:");
}

static bool is_secret(const char *name)
{
	return secret_variable(NULL, name, strlen(name), "Zq7hush12");
}

static void names_of_secrets(void **state)
{
	static const char *const secret[] = {
		"GITHUB_TOKEN",  "DB_PASSWORD", "MYSQL_PWD",   "my_secret",  "OPENAI_API_KEY",
		"REDISCLI_AUTH", "SLURM_JWT",   "LDAP_BINDPW", "GITLAB_PAT", "SENTRY_DSN",
	};
	static const char *const open[] = { "PATH",          "OMP_NUM_THREADS",      "SLURM_JOB_ID",
					    "OLDPWD",        "CUDA_VISIBLE_DEVICES", "AWS_PROFILE",
					    "SSH_AUTH_SOCK", "PGPASSFILE",           "" };

	(void)state;
	for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++)
		assert_true(is_secret(secret[i]));
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		assert_false(is_secret(open[i]));
	assert_true(secret_flag(NULL, "--api-key", 9, "a b"));
	assert_false(secret_flag(NULL, "--key", 5, "a b"));
}

static const char *said(const struct sample *s, const char *key)
{
	for (uint32_t i = 0; i < s->nevents; i++)
		if (strcmp(s->event[i].name, key) == 0)
			return s->event[i].text;
	return NULL;
}

static int64_t left_out(const struct sample *s)
{
	for (uint32_t i = 0; i < s->nevents; i++)
		if (strcmp(s->event[i].name, "job.environment_left_out") == 0)
			return s->event[i].value;
	return 0;
}

static void environment_without_secrets(void **state)
{
	char *env[] = { "A=1",
			"E=",
			"API_TOKEN=hush",
			"U=ftp://me:hush@h",
			"LS_COLORS=x",
			"BASH_FUNC_f%%=() { :; }",
			"no equals",
			"=x",
			NULL };
	struct sample s;

	(void)state;
	assert_int_equal(sample_init(&s, 64, 4096), 0);
	environment_say(&s, NULL, env);
	assert_string_equal(said(&s, "job.environment.A"), "1");
	assert_string_equal(said(&s, "job.environment.E"), "");
	assert_string_equal(said(&s, "job.environment.API_TOKEN"), "***");
	assert_string_equal(said(&s, "job.environment.U"), "ftp://***@h");
	assert_int_equal(left_out(&s), 2);
	assert_int_equal(s.nevents, 5);
	sample_free(&s);
	assert_int_equal(sample_init(&s, 64, 4096), 0);
	environment_say(&s, NULL, NULL);
	assert_int_equal(s.nevents, 0);
	sample_free(&s);
}

static void environment_is_bounded(void **state)
{
	enum { N = 1000, LENGTH = 4000 };
	char **env = calloc(N + 1, sizeof *env);
	size_t bytes = 0;
	struct sample s;

	(void)state;
	for (int i = 0; i < N; i++) {
		env[i] = malloc(LENGTH + 1);
		memset(env[i], 'v', LENGTH);
		env[i][LENGTH] = '\0';
		env[i][snprintf(env[i], LENGTH, "V%d=", i)] = 'v';
	}
	assert_int_equal(sample_init(&s, 64, 4096), 0);
	environment_say(&s, NULL, env);
	for (uint32_t i = 0; i < s.nevents; i++)
		bytes += strlen(s.event[i].text);
	assert_in_range(bytes, ENVIRONMENT_BYTES / 2, ENVIRONMENT_BYTES);
	assert_int_equal(strlen(said(&s, "job.environment.V0")), ENVIRONMENT_VALUE + 3);
	assert_int_equal(left_out(&s) + s.nevents - 1, N);
	for (int i = 0; i < N; i++)
		free(env[i]);
	free(env);
	sample_free(&s);
}

/* ---- a site's own list ---- */

static const char *refused(const char *text)
{
	static struct secret_list l;
	static struct err e;

	memset(&l, 0, sizeof l);
	assert_int_equal(secret_list_parse(&l, "list", text, strlen(text), &e), -EINVAL);
	assert_true(l.all);
	return e.text;
}

static void lists_that_are_none_are_refused(void **state)
{
	char many[SECRET_LIST_ROWS * 10 + 20] = "", long_text[100] = "name ";

	(void)state;
	assert_non_null(strstr(refused("# fine\nnam x"), "list: line 2: it begins with"));
	assert_non_null(strstr(refused("name"), "2 to 63"));
	assert_non_null(strstr(refused("name x"), "2 to 63"));
	assert_non_null(strstr(refused("name a\001b"), "letters"));
	assert_non_null(strstr(refused("token acme_"), "8 to 999"));
	assert_non_null(strstr(refused("token acme_ 7"), "8 to 999"));
	assert_non_null(strstr(refused("token acme_ 99999999999"), "8 to 999"));
	assert_non_null(strstr(refused("name one two"), "more than a kind"));
	memset(long_text + 5, 'a', 64);
	assert_non_null(strstr(refused(long_text), "2 to 63"));
	for (int i = 0; i <= SECRET_LIST_ROWS; i++)
		snprintf(many + strlen(many), 11, "name v%03d\n", i);
	assert_non_null(strstr(refused(many), "line 257: there are more than 256"));
}

static void list_masks_to(const struct secret_list *l, const char *text, const char *want)
{
	struct bytes b = { 0 };

	secret_text(l, &b, text);
	bytes_u8(&b, 0);
	assert_string_equal((const char *)b.data, want);
	bytes_free(&b);
}

static void a_list_adds_to_what_is_masked(void **state)
{
	static const char text[] = "# of this site\n\nname license_code \r\nword psk\n"
				   "harmless token_circle\n\ttoken acme_ 12 # ours";
	static struct secret_list l;
	struct err e;

	(void)state;
	assert_int_equal(secret_list_parse(&l, "list", text, sizeof text - 1, &e), 0);
	assert_int_equal(l.n, 4);
	list_masks_to(&l, "LICENSE_CODE=hush acme_1234567 b", "LICENSE_CODE=*** *** b");
	list_masks_to(&l, "psk=hushhush acme_12", "psk=*** acme_12");
	list_masks_to(&l, "token_circle=5 token=hush", "token_circle=5 token=***");
	list_masks_to(NULL, "LICENSE_CODE=9 token_rung=hush", "LICENSE_CODE=9 token_rung=***");
	assert_true(secret_variable(&l, "MY_LICENSE_CODE", 15, "hush"));
	assert_false(secret_variable(&l, "PATH", 4, "/bin"));
	l.all = true;
	list_masks_to(&l, "anything", "***");
	assert_true(secret_variable(&l, "PATH", 4, "/bin"));
}

/* Addresses by names, the same for the same one; what identifies nobody stays. */
static void addresses_go_by_names(void **state)
{
	static struct secret_list l, other;
	static const char *const hidden[] = { "10.0.0.7", "2001:db8::7", "fe80::1",
					      "::ffff:10.0.0.7", "2001:DB8:0:0:0:0:0:9" };
	static const char *const stay[] = { "127.0.0.1:80", "::1",         "0.0.0.0:22",
					    "12:30:45",     "std::string", "1.2.3",
					    "300.1.1.1",    "a:b",         "file.c:12:3 x.y",
					    "x10.0.0.7",    "::" };
	char name[SECRET_ADDRESS], again[SECRET_ADDRESS];

	(void)state;
	l.addresses = other.addresses = true;
	other.key[3] = 1;
	for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
		char text[128], want[128];

		assert_int_equal(secret_address(&l, hidden[i], name), strlen(hidden[i]));
		snprintf(text, sizeof text, "ssh me@%s: [%s]:80 (%s). %s\n", hidden[i], hidden[i],
			 hidden[i], hidden[i]);
		snprintf(want, sizeof want, "ssh me@%s: [%s]:80 (%s). %s\n", name, name, name,
			 name);
		list_masks_to(&l, text, want);
	}
	for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
		list_masks_to(&l, stay[i], stay[i]);
	assert_int_equal(secret_address(&l, "10.0.0.7:80", name), 8);
	assert_int_equal(secret_address(&l, "10.0.0.7.80", again), 8);
	assert_string_equal(name, again);
	assert_int_equal(secret_address(&l, "::ffff:10.0.0.7", again), 15);
	assert_string_equal(name, again);
	assert_int_equal(secret_address(&l, "10.0.0.8", again), 8);
	assert_string_not_equal(name, again);
	assert_int_equal(secret_address(&other, "10.0.0.7", again), 8);
	assert_string_not_equal(name, again);
	l.addresses = false;
	list_masks_to(&l, "10.0.0.7", "10.0.0.7");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(credentials_in_urls),
		cmocka_unit_test(tokens_by_their_form),
		cmocka_unit_test(assignments_within_a_text),
		cmocka_unit_test(names_of_secrets),
		cmocka_unit_test(environment_without_secrets),
		cmocka_unit_test(environment_is_bounded),
		cmocka_unit_test(lists_that_are_none_are_refused),
		cmocka_unit_test(a_list_adds_to_what_is_masked),
		cmocka_unit_test(addresses_go_by_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
