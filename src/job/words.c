/* SPDX-License-Identifier: Apache-2.0 */
#include "job/words.h"

#include "base/text/escape.h"
#include "job/secret/secret.h"

#include <stdio.h>
#include <string.h>

/* mpiexec -genv NAME VALUE: a variable's name, and its value in the next word. */
static bool names_a_variable(const char *before)
{
	static const char *const options[] = { "-genv", "-env", "--genv", "--env", "setenv" };

	for (size_t i = 0; before && i < sizeof options / sizeof options[0]; i++)
		if (!strcmp(before, options[i]))
			return true;
	return false;
}

/* Bytes of a "name=" that is named like a secret; 0 when it is not one. A name has no secret in it.
 */
static size_t secret_prefix(const struct secret_list *l, const char *word)
{
	size_t n = strcspn(word, "= \t\n@?&,;\"'");

	return word[n] == '=' && secret_assigned(l, word, n, word + n + 1) ? n + 1 : 0;
}

static void quoted(const struct secret_list *l, struct bytes *out, struct bytes *masked,
		   const char *word)
{
	bytes_reset(masked);
	secret_text(l, masked, word);
	bytes_u8(masked, '\0');
	if (masked->failed)
		out->failed = true;
	else
		escape_shell(out, (const char *)masked->data);
}

void words_join_with(const struct secret_list *l, struct bytes *out, struct bytes *scratch,
		     char *const *argv)
{
	struct secret_command command = { 0 };
	const char *flag = NULL; /* the word before, which may take a secret */

	for (size_t i = 0; argv[i]; i++) {
		const char *word = argv[i];
		size_t prefix = secret_prefix(l, word), keep;
		bool taken = secret_word(&command, word, strlen(word), &keep);

		if (i)
			bytes_u8(out, ' ');
		if (flag && word[0] != '-' && secret_assigned(l, flag, strlen(flag), word)) {
			bytes_puts(out, SECRET_MASK);
		} else if (taken && strlen(word) > keep) {
			bytes_put(out, word, keep);
			bytes_puts(out, SECRET_MASK);
		} else if (prefix) {
			bytes_put(out, word, prefix);
			bytes_puts(out, SECRET_MASK);
		} else {
			quoted(l, out, scratch, word);
		}
		flag = (word[0] == '-' || names_a_variable(i ? argv[i - 1] : NULL)) &&
				       !strchr(word, '=')
			       ? word
			       : NULL;
	}
}

void words_join(const struct secret_list *l, struct bytes *out, char *const *argv)
{
	struct bytes scratch = { 0 };

	words_join_with(l, out, &scratch, argv);
	bytes_free(&scratch);
}

/* ---- the environment ---- */

static bool is_left_out(const char *name)
{
	static const char *const beginnings[] = { "LS_COLORS=", "TERMCAP=", "BASH_FUNC_", "_=" };

	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

/* value is a bytes to use again. */
static void make_value(const struct secret_list *l, struct bytes *value, const char *variable,
		       size_t name_len)
{
	bytes_reset(value);
	if (secret_variable(l, variable, name_len, variable + name_len + 1))
		bytes_puts(value, SECRET_MASK);
	else
		secret_text(l, value, variable + name_len + 1);
	if (value->len > ENVIRONMENT_VALUE) {
		value->len = ENVIRONMENT_VALUE;
		bytes_puts(value, "...");
	}
	bytes_u8(value, '\0');
}

void environment_say(struct sample *s, const struct secret_list *l, char *const *environment)
{
	static const char prefix[] = META_ENVIRONMENT;
	enum { NAME_MAX_BYTES = 200 };
	size_t said = 0, used = 0, left_out = 0;
	struct bytes value = { 0 };

	for (; environment && *environment; environment++) {
		char key[sizeof prefix + NAME_MAX_BYTES];
		size_t n = strcspn(*environment, "=");
		bool fits;

		if (is_left_out(*environment))
			continue;
		fits = n && n <= NAME_MAX_BYTES && (*environment)[n] == '=' &&
		       said < ENVIRONMENT_VARIABLES;
		if (fits)
			make_value(l, &value, *environment, n);
		if (!fits || value.failed || used + n + value.len > ENVIRONMENT_BYTES) {
			left_out++;
			continue;
		}
		snprintf(key, sizeof key, "%s%.*s", prefix, (int)n, *environment);
		sample_meta_text(s, key, (const char *)value.data);
		used += n + value.len;
		said++;
	}
	if (left_out)
		sample_meta_int(s, "job.environment_left_out", (int64_t)left_out);
	bytes_free(&value);
}
