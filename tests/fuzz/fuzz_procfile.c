/* SPDX-License-Identifier: Apache-2.0 */
#include "source/procfile.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_stat st;
	struct proc_io io;
	struct proc_smaps smaps;
	struct proc_statm statm;
	struct limits limits;
	pid_t pid;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (!proc_stat_parse(text, &st) && (st.pid <= 0 || strlen(st.comm) >= COMM_SIZE))
		abort();
	if (!proc_io_parse(text, &io) && io.rchar < 0)
		abort();
	if (!proc_smaps_parse(text, &smaps) && smaps.pss < 0)
		abort();
	if (!proc_last_pid_parse(text, &pid) && pid < 0)
		abort();
	proc_statm_parse(text, &statm);
	limits_parse(text, &limits);
	for (int i = 0; i < LIMIT_ROWS; i++)
		if (limits.value[i] < LIMIT_UNKNOWN)
			abort();
	free(text);
	return 0;
}
