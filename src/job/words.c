/* SPDX-License-Identifier: Apache-2.0 */
#include "job/words.h"

#include "base/escape.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static const char *const secret_words[] = { "password",   "passwd", "passphrase", "secret",
					    "token",      "apikey", "api-key",    "api_key",
					    "credential", "auth" };

/* Does a name of n bytes contain one of the words? */
static bool names_secret(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof secret_words / sizeof secret_words[0]; i++) {
		size_t len = strlen(secret_words[i]);

		for (size_t at = 0; at + len <= n; at++)
			if (!strncasecmp(name + at, secret_words[i], len))
				return true;
	}
	return false;
}

/* Bytes of a "name=" that is named like a secret; 0 when it is not one. */
static size_t secret_prefix(const char *word)
{
	const char *equals = strchr(word, '=');

	if (!equals || !names_secret(word, (size_t)(equals - word)))
		return 0;
	return (size_t)(equals - word) + 1;
}

void words_join(struct bytes *out, char *const *argv)
{
	bool mask_next = false;

	for (size_t i = 0; argv[i]; i++) {
		const char *word = argv[i];
		size_t prefix = secret_prefix(word);

		if (i)
			bytes_u8(out, ' ');
		if (mask_next && word[0] != '-') {
			bytes_puts(out, "***");
		} else if (prefix) {
			bytes_put(out, word, prefix);
			bytes_puts(out, "***");
		} else {
			escape_shell(out, word);
		}
		mask_next = word[0] == '-' && !prefix && names_secret(word, strlen(word));
	}
}
