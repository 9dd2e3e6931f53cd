/* SPDX-License-Identifier: Apache-2.0 */
/* Records of system calls as sonde-files finds them in a ring: each is a call of the table, the
 * start or end of a task, or nothing. */
#include "files/records.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

/* No process has this id: nothing of this machine is read. */
static void replace_pid(uint8_t *at, size_t size)
{
	const uint32_t none = 0x7fffffff;

	if (size >= 12)
		memcpy(at + 8, &none, sizeof none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct records records;
	static _Alignas(8) uint8_t record[65536];
	uint64_t lost = 0;

	for (uint32_t i = 0; i < ncalls; i++) {
		records.what[i * 2 + 1] = (uint8_t)(i * 2 + 1);
		records.what[i * 2 + 2] = (uint8_t)(i * 2 + 2);
	}
	while (size >= 8) {
		struct traced t;
		uint16_t n;

		memcpy(&n, data + 6, sizeof n);
		if (n < 8 || n > size)
			break;
		memcpy(record, data, n);
		replace_pid(record, n);
		if (record_take(&records, record, n, &t, &lost)) {
			check(t.kind >= TRACED_ENTER && t.kind <= TRACED_MAP);
			check((t.kind > TRACED_EXIT) == !t.call);
			check(!t.call || (t.call >= calls && t.call < calls + ncalls));
			check(memchr(t.comm, 0, sizeof t.comm) != NULL);
			check(!t.name || strlen(t.name) < NAME_MOST || t.kind == TRACED_MAP);
			free(t.name);
			free(t.link);
		}
		data += n;
		size -= n;
	}
	return 0;
}
