/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - of which node of a recording, and of which time, an imported timeline is.
 */
#ifndef SONDE_IMPORT_PLACE_H
#define SONDE_IMPORT_PLACE_H

#include "import/importer.h"

struct place_options {
	const char *into, *node, *align; /* options; NULL: not given */
	int64_t rank;                    /* -1: not given */
	/* private */
	char host[256], rank_text[24], of[256];
};

/* Fill p, whose texts are those of x. 0, or -errno with a sentence. */
int import_place_find(struct place_options *x, struct import_place *p, struct err *e);

#endif
