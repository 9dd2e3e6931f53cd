/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is a condition or is refused with a sentence; any value of a trial holds it or not. The
 * first line is the condition, the rest what a parameter says. */
#include "bench/campaign/campaign.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2);
	struct campaign_condition x = { 0 };
	struct err e = { "" };
	const char *said;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = text[size + 1] = '\0';
	said = text + strcspn(text, "\n") + 1;
	text[strcspn(text, "\n")] = '\0';
	if (campaign_condition_parse(&x, text, &e)) {
		if (!*e.text)
			abort();
	} else {
		struct bench_row row = { .version = said };
		struct bench_parameter parameter = { x.name, &said };
		struct campaign c = { .g = { .row = &row,
					     .ntrials = 1,
					     .parameter = &parameter,
					     .nparameters = 1 } };
		int holds = campaign_holds(&c, &x, 0), other;

		if (x.relation > CAMPAIGN_IS_NOT && isnan(x.number))
			abort();
		/* Text is always something: = and != are opposites. */
		if (x.relation <= CAMPAIGN_IS_NOT) {
			x.relation = x.relation == CAMPAIGN_IS ? CAMPAIGN_IS_NOT : CAMPAIGN_IS;
			other = campaign_holds(&c, &x, 0);
			if (holds < 0 || other != !holds)
				abort();
		}
	}
	free(text);
	return 0;
}
