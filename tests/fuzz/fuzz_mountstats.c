/* SPDX-License-Identifier: Apache-2.0 */
/* The source on the text, and every mount of it on its own: what is known is no negative number,
 * and options fit. */
#include "source/storage/mountinfo.h"
#include "source_fuzz.h"

extern const struct source source_nfs;

static void check(const char *text)
{
	struct mountstats_mount m;
	struct mountstats_values now;

	while (mountstats_next(&text, &m)) {
		char option[8];

		mountstats_read(&m, &now);
		for (uint32_t i = 0; i < NFS_NUMBER_OF; i++)
			if (now.known >> i & 1 && now.v[i] < 0)
				abort();
		if (m.end < m.begin || now.known >> NFS_NUMBER_OF)
			abort();
		mountstats_option(&m, "vers", option, sizeof option);
		if (strlen(option) >= sizeof option)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	check(text);
	free(text);
	mkdir("self", 0700);
	return source_fuzz(&source_nfs, "self/mountstats", data, size);
}
