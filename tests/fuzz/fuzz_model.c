/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is models or is refused with a sentence that names it; what is declared is written as a
 * schema. */
#include "bench/campaign/campaign.h"
#include "bench/declare.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was taken is asked without another look. */
static void check_query(const struct model_query *q)
{
	struct campaign_condition x;
	struct err e;

	if (!q->name || q->limit > QUERY_LIMIT)
		abort();
	for (uint32_t i = 0; i < q->nshow; i++)
		if (!*q->show[i] || strchr(q->show[i], '*'))
			abort();
	for (uint32_t i = 0; i < q->nconditions; i++)
		if (campaign_condition_parse(&x, q->condition[i], &e))
			abort();
	for (uint32_t i = 0; i < q->norders; i++)
		if (!*q->order[i])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* its own, so that a read past the end is seen */
	struct models m = { 0 };
	struct bytes b = { 0 };
	struct err e = { "" };
	int rc;

	if (!text)
		return 0;
	memcpy(text, data, size);
	rc = models_parse(&m, "fuzz", text, size, &e);
	if (rc && strncmp(e.text, "fuzz:", 5) != 0)
		abort();
	for (uint32_t i = 0; i < m.n && !rc; i++)
		if (m.model[i].score && (!isfinite(m.model[i].worst) || !isfinite(m.model[i].best)))
			abort();
	for (uint32_t i = 0; i < m.n && !rc; i++)
		for (uint32_t k = 0; k < m.model[i].nqueries; k++)
			check_query(&m.model[i].query[k]);
	if (!rc && m.n < 100) {
		declare_rdf(&b, &m);
		declare_json(&b, &m);
	}
	bytes_free(&b);
	models_free(&m);
	free(text);
	return 0;
}
