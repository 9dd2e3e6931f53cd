/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is read as rules or refused with a sentence; what was read judges a summary. */
#include "report/judging/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	struct summary_verdict verdict[SUMMARY_VERDICTS];
	struct summary s = { .wall_s = 60,
			     .cpu_s = NAN,
			     .cores_present = 4,
			     .complete = true,
			     .verdicts = verdict };
	struct rules *rules = NULL;
	struct err e = { "" };
	int rc;

	if (!text)
		return 0;
	memcpy(text, data, size);
	rc = rules_parse(&rules, "fuzz", text, size, &e);
	if ((rc == 0) != (rules != NULL) || (rc != 0 && !e.text[0]))
		abort();
	if (rules)
		rules_apply(rules, &s);
	for (uint32_t i = 0; i < s.nverdicts; i++)
		if (strlen(s.verdicts[i].sentence) >= VERDICT_SENTENCE)
			abort();
	rules_free(rules);
	free(text);
	return 0;
}
