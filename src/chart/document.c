/* SPDX-License-Identifier: Apache-2.0 */
#include "chart/document.h"

#include "base/text/escape.h"

#include <errno.h>
#include <string.h>

/* Of the documents and the shapes: both ends are of one version of Sonde. */
enum { MAGIC = 0x57524453 /* "SDRW" */, VERSION = 1 };

static void put_words(struct bytes *out, const char *words)
{
	struct bytes clean = { 0 };
	char cut[DOCUMENT_WORDS];

	shape_clean(&clean, words);
	bytes_u8(&clean, 0);
	if (clean.failed)
		out->failed = true;
	else
		bytes_text(out, escape_terminal_into(cut, sizeof cut, (const char *)clean.data));
	bytes_free(&clean);
}

void document_encode(struct bytes *out, const struct document *d)
{
	bytes_u32(out, MAGIC);
	bytes_u8(out, VERSION);
	bytes_u8(out, (uint8_t)d->format);
	bytes_u32(out, d->dpi);
	bytes_zigzag(out, d->created_s);
	put_words(out, d->title);
	put_words(out, d->author);
}

static void take_words(struct scan *in, char out[DOCUMENT_WORDS])
{
	size_t n = 0;
	const char *words = scan_text(in, &n);

	out[0] = '\0';
	if (!words || n >= DOCUMENT_WORDS || memchr(words, 0, n)) {
		in->bad = true;
		return;
	}
	memcpy(out, words, n);
	out[n] = '\0';
	in->bad |= !escape_is_utf8(out);
}

int document_decode(struct scan *in, struct document *d, struct err *e)
{
	bool good = scan_u32(in) == MAGIC && scan_u8(in) == VERSION;
	uint8_t format = scan_u8(in);

	*d = (struct document){ .dpi = scan_u32(in) };
	d->created_s = scan_zigzag(in);
	take_words(in, d->title);
	take_words(in, d->author);
	if (!good || in->bad || format >= DOCUMENT_FORMAT_NUMBER_OF || !d->dpi ||
	    d->dpi > DOCUMENT_DPI_MAX)
		return err_set(e, -EPROTO, "what came is not a drawing of this version of Sonde");
	d->format = (enum document_format)format;
	return 0;
}
