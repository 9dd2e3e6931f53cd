/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is rules of phases or is refused with a sentence that names it; what was read pairs any
 * marks: the rules end with a line "---", then comes a
 * mark a line, "NAME MESSAGE". */
#include "core/phase/phase_nest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MARKS = 64 };
static const char divider[] = "\n---\n";

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Two nodes; a mark a second, every third of them at the time of the one before. */
static void take_marks(struct run *r, char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line && r->nmarks < MARKS;
	     line = strtok_r(NULL, "\n", &save)) {
		char *message = strchr(line, ' ');
		uint32_t i = r->nmarks++;

		if (message)
			*message++ = '\0';
		r->marks[i] = (struct run_mark){ .node = 1 + i % 2,
						 .at_ns = (int64_t)(i - i % 3) * 1000000000,
						 .name = line,
						 .message = message };
		if (r->nspans < MARKS)
			r->spans[r->nspans++] = (struct run_span){ .node = 1,
								   .begin_ns = i,
								   .end_ns = 2 * (int64_t)i,
								   .name = line,
								   .detail = message };
	}
}

static void check(const struct phases *p)
{
	struct phase_totals t;
	uint32_t members = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct phase *x = &p->phase[i];

		require(x->name && x->key && x->text && x->node >= 1 && x->node <= 2);
		require(isnan(x->duration_s) || x->duration_s >= 0);
		require(isnan(x->size_bytes) || x->size_bytes >= 0);
	}
	require(!phase_totals_make(&t, p));
	for (uint32_t i = 0; i < t.first[1]; i++)
		members += t.total[i].nmembers;
	require(members == p->n);
	phase_totals_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct run_node nodes[3] = { 0 };
	struct run_mark marks[MARKS] = { 0 };
	struct run_span spans[MARKS] = { 0 };
	struct run r = { .nodes = nodes,
			 .nnodes = 3,
			 .marks = marks,
			 .nmarks = 1,
			 .spans = spans,
			 .nspans = 1,
			 .path = "fuzz" };
	struct phase_rules rules = { 0 };
	struct err e = { "" };
	struct phases p;
	char *at;
	size_t n;

	require(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	at = strstr(text, divider);
	n = at ? (size_t)(at - text) : size;
	if (phase_rules_add(&rules, "fuzz", text, n, &e)) {
		require(!strncmp(e.text, "fuzz:", 5));
	} else {
		if (at)
			take_marks(&r, at + sizeof divider - 1);
		require(!phases_make(&p, &r, &rules, &(struct phase_wish){ 0 }, &e));
		check(&p);
		phases_free(&p);
	}
	phase_rules_free(&rules);
	free(text);
	return 0;
}
