/* SPDX-License-Identifier: Apache-2.0 */
#include "job/environment.h"

#include "job/secret/secret.h"

#include <stdio.h>
#include <string.h>

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
