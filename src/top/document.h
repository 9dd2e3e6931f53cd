/* SPDX-License-Identifier: Apache-2.0 */
/*
 * document.h - what `sonde top --json` says: the figures of all nodes, their processes and GPUs.
 */
#ifndef SONDE_TOP_DOCUMENT_H
#define SONDE_TOP_DOCUMENT_H

#include "base/bytes.h"
#include "live/now.h"

/* Schema sonde/top/1. 0 or -ENOMEM. */
int top_document_put(struct bytes *out, const struct now *now, const char *title, int64_t utc_ns);

#endif
