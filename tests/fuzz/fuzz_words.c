/* SPDX-License-Identifier: Apache-2.0 */
/* A command line, a word a line: what becomes of it is one text without the secrets, each word
 * quoted for a shell. */
#include "job/words.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[WORDS + 4], *line, *save;
	static char flag[] = "--password", secret[] = "hunter2sesame",
		    joined[] = "--token=hunter2sesame";
	struct bytes out = { 0 };
	size_t n = 0;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	argv[n++] = joined;
	for (line = strtok_r(text, "\n", &save); line && n < WORDS;
	     line = strtok_r(NULL, "\n", &save))
		argv[n++] = strstr(line, "hunter") || strstr(line, "--") == line ? flag : line;
	argv[n++] = flag;
	argv[n++] = secret;
	argv[n] = NULL;
	words_join(NULL, &out, argv);
	bytes_u8(&out, 0);
	if (!out.failed && strstr((const char *)out.data, "hunter2"))
		abort();
	bytes_free(&out);
	free(text);
	return 0;
}
