/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes that are opened as a recording become a summary, verdicts and a page, or an error with
 * a sentence. */
#include "report/page/page.h"

static void tell(struct run *r);

#define READ   tell
#define DOMAIN "energy"
#define ROWS                                                                                       \
	{ .name = "energy.consumed_joules",                                                        \
	  .domain = "energy",                                                                      \
	  .kind = KIND_COUNTER,                                                                    \
	  .unit = UNIT_JOULES,                                                                     \
	  .over_instances = COMBINE_SUM,                                                           \
	  .over_nodes = COMBINE_SUM },                                                             \
		{ .name = "energy.meter_watts",                                                    \
		  .domain = "energy",                                                              \
		  .unit = UNIT_WATTS,                                                              \
		  .storage = STORE_REAL },                                                         \
	{                                                                                          \
		.name = "energy.x", .domain = "energy"                                             \
	}
#include "fuzz_recording.c"

static void tell(struct run *r)
{
	struct bytes page = { 0 };
	struct err e = { "" };
	struct summary s;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	check(out != NULL);
	read_all(r);
	r->rewind(r);
	if (summary_make(&s, r, &e)) {
		check(e.text[0]);
	} else {
		check(!(s.energy_j < 0) && (s.energy_of == NULL) == (isnan(s.energy_j) != 0));
		summary_print_brief(&s, NULL, out, true, true);
		summary_print(&s, out, true);
		summary_print_tops(&s, out);
		summary_json(&s, r, out);
		if (page_make(&page, r, &s, NULL, &e))
			check(e.text[0]);
		summary_free(&s);
	}
	fclose(out);
	free(text);
	bytes_free(&page);
}
