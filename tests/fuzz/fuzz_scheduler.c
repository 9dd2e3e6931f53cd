/* SPDX-License-Identifier: Apache-2.0 */
/* Environments of any text, a variable a line: what is found is a job that can be told of; and what
 * the scheduler answers of one. No file is read but /dev/null, and as HTCondor's ad what is behind
 * the first empty line. */
#include "job/scheduler/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* HTCondor's variable, of a file with this text. */
static char *with_ad(char *room, size_t size, const char *text, int *fd)
{
	size_t n = strlen(text);

	*fd = memfd_create("ad", MFD_CLOEXEC);
	if (*fd < 0 || write(*fd, text, n) != (ssize_t)n)
		abort();
	snprintf(room, size, "_CONDOR_JOB_AD=/proc/self/fd/%d", *fd);
	return room;
}

/* The value of a variable that names a file is another file's name here. */
static char *without_file(char *line)
{
	static char none[] = "PBS_NODEFILE=/dev/null";
	size_t n = strcspn(line, "=");

	return memmem(line, n, "FILE", 4) || memmem(line, n, "_AD", 3) ? none : line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MOST = 64 };
	char *text = calloc(1, size + 1), *variable[MOST + 2] = { NULL };
	struct scheduler_answer answer;
	char room[64];
	size_t n = 0;
	int fd = -1;

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	scheduler_answer_job(&answer, text);
	scheduler_answer_accounts(&answer, text);
	if (answer.exit_code > 255 || answer.node_memory_bytes < -1)
		abort();
	for (char *line = text; *line && n < MOST;) {
		if (*line == '\n') {
			variable[n++] = with_ad(room, sizeof room, line + 1, &fd);
			break;
		}
		char *end = line + strcspn(line, "\n"), *next = end + (*end == '\n');

		*end = '\0';
		variable[n++] = without_file(line);
		line = next;
	}
	find(variable);
	if (fd >= 0)
		close(fd);
	free(text);
	return 0;
}
