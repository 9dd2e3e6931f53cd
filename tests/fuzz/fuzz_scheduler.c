/* SPDX-License-Identifier: Apache-2.0 */
/* Environments of any text, a variable a line: what is found is a job that can be told of. No file
 * is read but /dev/null. */
#include "job/scheduler_say.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void find(char *const *environment)
{
	struct batch_job j;
	char sentence[256];

	batch_job_find(&j, environment, "n1");
	batch_job_sentence(&j, sentence, sizeof sentence);
	if (strlen(sentence) >= sizeof sentence || strlen(j.id) >= sizeof j.id ||
	    strlen(j.node) >= sizeof j.node || j.nodes.n > HOSTLIST_MAX ||
	    (j.nodes.n && j.number[BATCH_NODE_INDEX] >= j.nodes.n))
		abort();
	for (int i = 0; i < BATCH_NUMBERS; i++)
		if (j.number[i] < -1)
			abort();
	batch_job_free(&j);
}

/* The value of a variable that names a file is another file's name here. */
static char *without_file(char *line)
{
	static char none[] = "PBS_NODEFILE=/dev/null";
	size_t n = strcspn(line, "=");

	return memmem(line, n, "FILE", 4) ? none : line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MOST = 64 };
	char *text = calloc(1, size + 1), *variable[MOST + 1] = { NULL };
	size_t n = 0;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	for (char *line = text; *line && n < MOST;) {
		char *end = line + strcspn(line, "\n"), *next = end + (*end == '\n');

		*end = '\0';
		variable[n++] = without_file(line);
		line = next;
	}
	find(variable);
	free(text);
	return 0;
}
