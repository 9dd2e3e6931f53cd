/* SPDX-License-Identifier: Apache-2.0 */
#include "job/words.h"

#include "base/escape.h"
#include "job/secret.h"

#include <string.h>

/* Bytes of a "name=" that is named like a secret; 0 when it is not one. */
static size_t secret_prefix(const char *word)
{
	size_t n = strcspn(word, "= \t\n");

	return word[n] == '=' && secret_assigned(word, n) ? n + 1 : 0;
}

static void quoted(struct bytes *out, const char *word)
{
	struct bytes masked = { 0 };

	secret_text(&masked, word);
	bytes_u8(&masked, '\0');
	if (masked.failed)
		out->failed = true;
	else
		escape_shell(out, (const char *)masked.data);
	bytes_free(&masked);
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
			bytes_puts(out, SECRET_MASK);
		} else if (prefix) {
			bytes_put(out, word, prefix);
			bytes_puts(out, SECRET_MASK);
		} else {
			quoted(out, word);
		}
		mask_next = word[0] == '-' && !prefix && secret_flag(word, strlen(word));
	}
}
