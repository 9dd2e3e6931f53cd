/* SPDX-License-Identifier: Apache-2.0 */
#include "job/words.h"

#include "base/text/escape.h"
#include "job/secret/secret.h"

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
