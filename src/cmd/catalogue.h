/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - every metric of every source, for people and programs.
 *
 * The rows come from sources.def; docs/metrics.md is catalogue_markdown and nothing else.
 */
#ifndef SONDE_CMD_CATALOGUE_H
#define SONDE_CMD_CATALOGUE_H

#include "base/bytes.h"

void catalogue_text(struct bytes *b);
void catalogue_markdown(struct bytes *b);
void catalogue_json(struct bytes *b); /* "sonde/metrics/1" */

#endif
