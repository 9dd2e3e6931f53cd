/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler/left_out.h"

#include "sampler/tree/fixes.h"

#include <inttypes.h>
#include <stdio.h>

void left_out_say(struct sample *s)
{
	for (const struct left_out *l = s->left_out; l < s->left_out + LEFT_OUT_MAX && l->metric;
	     l++) {
		const struct source *source = fixes_source(l->metric);
		char key[64], text[256], more[64] = "";

		snprintf(key, sizeof key, "source.%s", source ? source->name : l->metric->domain);
		if (l->count > 1)
			snprintf(more, sizeof more, " and %" PRIu64 " more", l->count - 1);
		snprintf(
			text, sizeof text,
			"%s: %s%s of domain %s left out, also of what is added up over it: a sample "
			"has room for %" PRIu32 " series, a part of which is kept for the job",
			state_name(STATE_FAILED), l->first, more, l->metric->domain, s->slot_cap);
		sample_meta_text(s, key, text);
	}
}
