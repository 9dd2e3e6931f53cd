/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - every metric of every source, for people and programs.
 *
 * The rows come from sources.def; docs/metrics.md is catalogue_markdown and nothing else.
 */
#ifndef SONDE_SOURCE_CATALOGUE_H
#define SONDE_SOURCE_CATALOGUE_H

#include "base/bytes.h"
#include "core/metric.h"

void catalogue_text(struct bytes *b);
void catalogue_markdown(struct bytes *b);
void catalogue_json(struct bytes *b); /* "sonde/metrics/1" */

/* The row of what is called so: as it is read, or, of a public name, as a gauge of its rate or of
 * what a formula gives. False: there is none. */
bool catalogue_find(const char *name, struct metric *out);

#endif
