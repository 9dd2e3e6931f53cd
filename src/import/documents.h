/* SPDX-License-Identifier: Apache-2.0 */
/*
 * documents.h - a file of JSON documents, one after the other, a document at a time: where its
 * outermost brace is closed it ends.
 */
#ifndef SONDE_IMPORT_DOCUMENTS_H
#define SONDE_IMPORT_DOCUMENTS_H

#include "import/packed.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct documents {
	struct packed *file; /* set, borrowed */
	/* private */
	uint8_t data[65536];
	size_t at, end;
	bool over; /* of the file */
	unsigned depth;
	bool in_text, escaped, begun, done; /* of the document */
};

/* The next document begins; false: there is none. */
bool documents_next(struct documents *d);
/* Bytes of it, for jsondoc_open_from: 0 at its end. */
ssize_t documents_read(void *ctx, void *data, size_t n);

#endif
