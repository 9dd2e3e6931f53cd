/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack OUT FILE...: the files, one behind the other, as the one frame of zstd that base/packed.h
 * reads. A program of its own, which the build runs and nobody installs.
 */
#include "base/bytes.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 19, PIECE = 65536 };

static int fault(const char *path, const char *why)
{
	fprintf(stderr, "pack: %s: %s\n", path, why);
	return 1;
}

static int take(const char *path, struct bytes *text)
{
	FILE *f = fopen(path, "re");
	size_t n = 1;
	int failed;

	if (!f)
		return fault(path, "cannot be opened");
	while (n && bytes_room(text, PIECE)) {
		n = fread(text->data + text->len, 1, PIECE, f);
		text->len += n;
	}
	failed = ferror(f) || text->failed;
	fclose(f);
	return failed ? fault(path, "cannot be read") : 0;
}

static int pack(const char *path, const struct bytes *text, struct bytes *packed)
{
	FILE *f;
	size_t n;

	if (!bytes_room(packed, ZSTD_compressBound(text->len)))
		return fault(path, "out of memory");
	n = ZSTD_compress(packed->data, packed->cap, text->data, text->len, LEVEL);
	if (ZSTD_isError(n))
		return fault(path, ZSTD_getErrorName(n));
	f = fopen(path, "we");
	if (!f)
		return fault(path, "cannot be created");
	n -= fwrite(packed->data, 1, n, f);
	return fclose(f) || n ? fault(path, "cannot be written") : 0;
}

int main(int argc, char **argv)
{
	struct bytes text = { 0 }, packed = { 0 };
	int bad = argc < 3;

	for (int i = 2; !bad && i < argc; i++)
		bad = take(argv[i], &text);
	bad = bad || pack(argv[1], &text, &packed);
	bytes_free(&text);
	bytes_free(&packed);
	return bad;
}
