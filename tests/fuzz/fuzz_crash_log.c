/* SPDX-License-Identifier: Apache-2.0 */
/* A record of the kernel's log: what is read of a crash stays in bounds, and says how and whose. */
#include "sampler/crash_log.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *record = malloc(size + 1);
	struct crash_line l;

	if (!record)
		return 0;
	if (size)
		memcpy(record, data, size);
	record[size] = '\0';
	if (crash_line_parse(&l, record) &&
	    (l.tid <= 0 || !l.signal || l.kind == CRASH_UNKNOWN || !*crash_name(l.kind) ||
	     (*l.file && l.at >= l.size) || strlen(l.comm) >= sizeof l.comm - 1 ||
	     strlen(l.file) >= sizeof l.file))
		abort();
	free(record);
	return 0;
}
