/* SPDX-License-Identifier: Apache-2.0 */
/* decode_alone DIR: what reading cannot do without. Opens every recording of a directory in turn
 * and decodes every block, all checks on, and nothing else; prints the values. */
#include "recording/chunk.h"
#include "recording/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct decoding {
	struct pool pool;
	struct chunk_reader reader;
	int64_t *value;
	uint8_t *present;
	size_t cap;
	uint64_t values, damages;
};

static void die(const char *what)
{
	fprintf(stderr, "decode_alone: %s\n", what);
	exit(1);
}

static int take_head(void *ctx, const struct head *h)
{
	(void)ctx;
	(void)h;
	return 0;
}

static int take_event(void *ctx, const struct record *r)
{
	(void)ctx;
	(void)r;
	return 0;
}

static int take_chunk(void *ctx, const struct file_chunk *c)
{
	struct decoding *d = ctx;
	struct chunk_reader *r = &d->reader;

	(void)c;
	if (r->nrows > d->cap) {
		d->cap = r->nrows;
		d->value = realloc(d->value, d->cap * sizeof *d->value);
		d->present = realloc(d->present, d->cap);
		if (!d->value || !d->present)
			die("not enough memory");
	}
	if (chunk_read_bodies(r))
		return -1;
	for (uint32_t i = 0; i < r->ncolumns; i++) {
		if (!chunk_read_column(r, i, d->value, d->present))
			return -1;
		d->values += r->column[i].range.count;
	}
	return 0;
}

static void take_damage(void *ctx, bool in_tail, uint64_t offset, uint64_t length, const char *what)
{
	(void)in_tail;
	(void)offset;
	(void)length;
	(void)what;
	((struct decoding *)ctx)->damages++;
}

int main(int argc, char **argv)
{
	struct decoding d = { 0 };
	struct file_visitor v = { .ctx = &d,
				  .head = take_head,
				  .event = take_event,
				  .chunk = take_chunk,
				  .damage = take_damage,
				  .pool = &d.pool,
				  .reader = &d.reader };
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
	struct dirent *entry;

	if (!dir || chunk_reader_init(&d.reader))
		die("usage: decode_alone DIR");
	while ((entry = readdir(dir))) {
		const char *dot = strrchr(entry->d_name, '.');
		struct file_found found;

		if (!dot || strcmp(dot, ".sonde") != 0)
			continue;
		if (file_read(dirfd(dir), entry->d_name, NULL, &v, &found))
			die("a recording cannot be read");
		bytes_free(&found.sealed);
		pool_empty(&d.pool);
	}
	closedir(dir);
	chunk_reader_free(&d.reader);
	free(d.value);
	free(d.present);
	pool_free(&d.pool);
	printf("%llu\n", (unsigned long long)d.values);
	return d.damages ? 1 : 0;
}
