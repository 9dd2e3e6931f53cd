/* SPDX-License-Identifier: Apache-2.0 */
/* How many of 600 made secrets are masked, and how many of 2,000 harmless words: the figures are
 * printed. */
#include "job/secret/secret.h"
#include "job/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SECRETS = 600, HARMLESS = 2000, TEXT = 600, PARTS = 4, GROUPS = 4 };
enum how { argv, env, text, file };

static const struct {
	int group;
	enum how how;
	const char *form;
} secrets[] = {
#define SECRET(group, how, form) { group, how, form },
#define HARMLESS(group, form)
#include "secret_samples.def"
#undef SECRET
#undef HARMLESS
};
static const struct {
	int group;
	const char *form;
} harmless[] = {
#define SECRET(group, how, form)
#define HARMLESS(group, form) { group, form },
#include "secret_samples.def"
#undef SECRET
#undef HARMLESS
};

struct made {
	char text[TEXT];
	char part[PARTS][200]; /* what must not come out */
	int nparts;
};

static unsigned seed = 22;

static size_t draw(char *out, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = from[(unsigned)rand_r(&seed) % strlen(from)];
	out[n] = '\0';
	return n;
}

static size_t draw_word(char *out)
{
	static const char *const words[] = { "alpha", "mesh",  "solver", "grid",  "bert",
					     "river", "image", "index",  "spark", "tile" };

	return (size_t)snprintf(out, 16, "%s", words[(unsigned)rand_r(&seed) % 10]);
}

static size_t draw_uuid(char *out)
{
	size_t n = 0;

	for (int group = 0; group < 5; group++) {
		n += draw(out + n, "0123456789abcdef", group == 0 ? 8 : group == 4 ? 12 : 4);
		if (group < 4)
			out[n++] = '-';
	}
	return n;
}

/* One <...> of a form. */
static size_t draw_part(char *out, char kind, size_t n)
{
	static const char alnum[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	switch (kind) {
	case 'A':
		return draw(out, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", n);
	case 'h':
		return draw(out, "0123456789abcdef", n);
	case 'b':
		return draw(out, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
			    n);
	case 'z':
		return draw(out, "0123456789abcdfghijklmnpqrsvwxyz", n);
	case 'd':
		return draw(out, "123456789", n);
	case 'P':
		return draw(out, "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!%^+_",
			    n);
	case 'n':
		return (size_t)snprintf(out, 16, "%d", 1 + rand_r(&seed) % 999);
	case 'm':
		return (size_t)snprintf(out, 16, "%02d", rand_r(&seed) % 60);
	case 'w':
		return draw_word(out);
	case 'u':
		return draw_uuid(out);
	default:
		return draw(out, alnum, n);
	}
}

static void make(struct made *m, const char *form, enum how how)
{
	size_t n = 0;

	m->nparts = 0;
	while (*form) {
		char *end;
		size_t length;

		if (!strncmp(form, "\\s", 2) && how != argv) {
			m->text[n++] = ' ';
			form += 2;
			continue;
		}
		if (*form != '<') {
			m->text[n++] = *form++;
			continue;
		}
		length = strtoul(form + 2, &end, 10);
		assert_int_equal(*end, '>');
		length = draw_part(m->text + n, form[1], length);
		if (length >= 4) {
			memcpy(m->part[m->nparts], m->text + n, length);
			m->part[m->nparts++][length] = '\0';
		}
		n += length;
		form = end + 1;
	}
	m->text[n] = '\0';
}

static void join(struct bytes *out, char *line)
{
	char *words[32];
	size_t n = 0;

	for (char *word; (word = strsep(&line, " "));) {
		for (char *blank; (blank = strstr(word, "\\s"));) {
			*blank = ' ';
			memmove(blank + 1, blank + 2, strlen(blank + 2) + 1);
		}
		words[n++] = word;
	}
	words[n] = NULL;
	words_join(NULL, out, words);
}

static void mask(struct bytes *out, enum how how, const char *made)
{
	char copy[TEXT];
	size_t n = strcspn(made, "=");

	bytes_reset(out);
	snprintf(copy, sizeof copy, "%s", made);
	if (how == argv)
		join(out, copy);
	else if (how == env && secret_variable(NULL, made, n, made + n + 1))
		bytes_puts(out, SECRET_MASK);
	else
		secret_text(NULL, out, how == env ? made + n + 1 : made);
	bytes_u8(out, 0);
}

static void secrets_are_masked(void **state)
{
	size_t forms = sizeof secrets / sizeof secrets[0], masked[GROUPS] = { 0 },
	       all[GROUPS] = { 0 }, sum = 0;
	struct bytes out = { 0 };

	(void)state;
	for (size_t i = 0; i < SECRETS; i++) {
		size_t k = i % forms, leaked = 0;
		struct made m;

		make(&m, secrets[k].form, secrets[k].how);
		assert_true(m.nparts > 0);
		mask(&out, secrets[k].how, m.text);
		for (int p = 0; p < m.nparts; p++)
			leaked += strstr((const char *)out.data, m.part[p]) != NULL;
		all[secrets[k].group]++;
		masked[secrets[k].group] += !leaked;
		if (leaked && i < forms)
			printf("not masked: %s\n", secrets[k].form);
	}
	for (int i = 1; i < GROUPS; i++) {
		printf("secrets masked, group %d: %zu of %zu\n", i, masked[i], all[i]);
		assert_true(masked[i] * 100 >= 95 * all[i]);
		sum += masked[i];
	}
	printf("secrets masked: %zu of %d\n", sum, SECRETS);
	bytes_free(&out);
}

static void harmless_words_stay(void **state)
{
	size_t forms = sizeof harmless / sizeof harmless[0], masked = 0;
	struct bytes out = { 0 };

	(void)state;
	for (size_t i = 0; i < HARMLESS; i++) {
		const char *form = harmless[i % forms].form;
		struct made m;
		bool hit;

		make(&m, form, argv);
		mask(&out, argv, m.text);
		hit = strstr((const char *)out.data, SECRET_MASK) != NULL;
		if (form[strspn(form, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '=') {
			mask(&out, env, m.text);
			hit |= strstr((const char *)out.data, SECRET_MASK) != NULL;
		}
		if (hit && i < forms)
			printf("masked: %s\n", form);
		masked += hit;
	}
	printf("harmless words masked: %zu of %d\n", masked, HARMLESS);
	assert_true(masked * 100 <= HARMLESS);
	bytes_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_masked),
		cmocka_unit_test(harmless_words_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
