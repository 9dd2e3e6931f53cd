/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/tree/exits.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void forked(void *ctx, pid_t pid, pid_t ppid, pid_t tid, int64_t at_ns)
{
	(void)pid, (void)ppid, (void)tid, (void)at_ns;
	++*(int *)ctx;
}

static void named(void *ctx, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	(void)pid, (void)tid;
	if (comm || !exec)
		abort(); /* the connector tells no names */
	++*(int *)ctx;
}

static void exited(void *ctx, pid_t pid, pid_t tid, int64_t at_ns)
{
	(void)pid, (void)tid, (void)at_ns;
	++*(int *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int records = 0;
	const struct exits_handler h = { &records, forked, named, exited, NULL };
	uint8_t *copy = malloc(size ? size : 1); /* exactly so long, for the sanitizer to see */

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	connector_parse(copy, size, &h);
	if (records > 1)
		abort();
	free(copy);
	return 0;
}
