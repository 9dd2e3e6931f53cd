/* SPDX-License-Identifier: Apache-2.0 */
#include "import/lines.h"

#include <string.h>

int lines_begin(struct lines *l, struct packed *file, struct err *e)
{
	l->at = l->end = 0;
	l->cut = 0;
	return packed_rewind(file, e);
}

bool lines_next(struct lines *l, struct packed *file)
{
	size_t n = 0;
	bool any = false;

	for (;;) {
		const uint8_t *from, *to;
		size_t take, room = LINES_MOST - n;

		if (l->at == l->end) {
			ssize_t got = packed_read(file, l->ahead, sizeof l->ahead);

			l->failed |= got < 0;
			l->at = 0;
			l->end = got > 0 ? (size_t)got : 0;
		}
		if (l->at == l->end)
			break;
		any = true;
		from = l->ahead + l->at;
		to = memchr(from, '\n', l->end - l->at);
		take = to ? (size_t)(to - from) : l->end - l->at;
		l->cut += take > room;
		memcpy(l->text + n, from, take < room ? take : room);
		n += take < room ? take : room;
		l->at += take + (to != NULL);
		if (to)
			break;
	}
	while (n && l->text[n - 1] == '\r')
		n--;
	l->text[n] = '\0';
	return any;
}
