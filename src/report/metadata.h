/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.h - what a run's recorders said of each node, every key once: its last value.
 *
 * Borrows the run. Keys and texts are hostile. {0} is empty and safe to free.
 */
#ifndef SONDE_REPORT_METADATA_H
#define SONDE_REPORT_METADATA_H

#include "base/text/json.h"
#include "core/frame/run.h"

struct metadata {
	const struct run *run;
	uint32_t *id; /* [n] into run->metas, by node, then by key */
	uint32_t n;
};

int metadata_make(struct metadata *m, const struct run *r); /* 0 or -ENOMEM */
void metadata_free(struct metadata *m);

/* NULL when it was never said. */
const struct run_meta *metadata_find(const struct metadata *m, uint32_t node, const char *key);
/* NULL unless it is a text that is not empty. */
const char *metadata_text(const struct metadata *m, uint32_t node, const char *key);
/* NAN unless it is a number. */
double metadata_number(const struct metadata *m, uint32_t node, const char *key);
/* An object of all that was said of the node. */
void metadata_json(struct json *j, const struct metadata *m, uint32_t node);

#endif
