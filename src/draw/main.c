/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sonde-draw - paints drawings as PNG, PDF and SVG: sonde report, and perfmon's plots.
 *
 * A document (chart/document.h) comes on standard input, to its end; the file is descriptor 3.
 */
#include "base/helper_talk.h"
#include "draw/paint.h"

#include <errno.h>
#include <unistd.h>

enum { PIECE = 64 << 10, MOST = 512 << 20 };

static int read_all(struct bytes *in, struct err *e)
{
	for (;;) {
		ssize_t n;

		if (in->len > MOST || !bytes_room(in, PIECE))
			return err_set(e, -ENOMEM, "the drawing is too large");
		n = read(0, in->data + in->len, PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, -errno, "the drawing is truncated");
		if (n == 0)
			return 0;
		in->len += (size_t)n;
	}
}

int main(void)
{
	FILE *out = fdopen(HELPER_FILE, "r+");
	struct bytes in = { 0 };
	struct document d;
	struct err e = { "" };
	struct scan scan;
	int rc;

	if (!out)
		rc = err_set(&e, -EBADF, "sonde report runs this helper; it takes no file");
	else
		rc = read_all(&in, &e);
	scan = (struct scan){ in.data, in.data + in.len, false };
	if (!rc)
		rc = document_decode(&scan, &d, &e);
	if (!rc)
		rc = paint_document(&d, scan, out, &e);
	bytes_free(&in);
	/* The libraries keep much to the end of the process, which this is. */
	_exit(helper_answer(rc, &e));
}
