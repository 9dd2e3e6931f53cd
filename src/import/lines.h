/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - the lines of a file that may be compressed, in fixed memory: longer ones are cut.
 */
#ifndef SONDE_IMPORT_LINES_H
#define SONDE_IMPORT_LINES_H

#include "import/packed.h"

#include <stdbool.h>
#include <stdint.h>

enum { LINES_MOST = 16384, LINES_AHEAD = 65536 };

struct lines {
	char text[LINES_MOST + 1]; /* the line, without its end */
	uint64_t cut;              /* lines that were */
	bool failed;               /* the file could not be read on: its e says why */

	/* private */
	uint8_t ahead[LINES_AHEAD];
	size_t at, end;
};

/* From the file's begin on. 0 or -errno with a sentence. */
int lines_begin(struct lines *l, struct packed *file, struct err *e);
bool lines_next(struct lines *l, struct packed *file); /* false: there is none */

#endif
