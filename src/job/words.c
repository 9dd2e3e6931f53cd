/* SPDX-License-Identifier: Apache-2.0 */
#include "job/words.h"

#include "base/escape.h"
#include "job/secret.h"

#include <string.h>

/* Bytes of a "name=" that is named like a secret; 0 when it is not one. */
static size_t secret_prefix(const struct secret_list *l, const char *word)
{
	size_t n = strcspn(word, "= \t\n");

	return word[n] == '=' && secret_assigned(l, word, n) ? n + 1 : 0;
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
	bool mask_next = false;

	for (size_t i = 0; argv[i]; i++) {
		const char *word = argv[i];
		size_t prefix = secret_prefix(l, word), keep;
		bool taken = secret_word(&command, word, strlen(word), &keep);

		if (i)
			bytes_u8(out, ' ');
		if (mask_next && word[0] != '-') {
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
		mask_next = word[0] == '-' && !prefix && secret_flag(l, word, strlen(word));
	}
}

void words_join(const struct secret_list *l, struct bytes *out, char *const *argv)
{
	struct bytes scratch = { 0 };

	words_join_with(l, out, &scratch, argv);
	bytes_free(&scratch);
}
