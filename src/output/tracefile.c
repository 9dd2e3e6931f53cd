/* SPDX-License-Identifier: Apache-2.0 */
#include "output/tracefile.h"

#include "base/unnamed.h"
#include "sink/gzip.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Browsers give up on texts much longer than this many events make. */
enum { CHROME_EVENTS_MAX = 1000000 };

struct tracefile_kind {
	const char *ending;
	const struct trace_format *format;
	int (*write)(struct trace *t, const struct tracefile_kind *k, const struct outfile *out,
		     struct trace_count *n, struct err *e);
};

static int write_plain(struct trace *t, const struct tracefile_kind *k, const struct outfile *out,
		       struct trace_count *n, struct err *e)
{
	return trace_write(t, k->format, out->file, n, e);
}

static int no_stream(struct err *e)
{
	return err_set(e, -ENOMEM, "out of memory for compressing");
}

/* The compressed stream ends, and with it what could not be written of it. */
static int end_packed(FILE *packed, int rc, struct err *e)
{
	if (fclose(packed) && !rc)
		rc = err_set(e, -errno, "%s", strerror(errno));
	return rc;
}

static int write_gzip(struct trace *t, const struct tracefile_kind *k, const struct outfile *out,
		      struct trace_count *n, struct err *e)
{
	FILE *packed = gzip_open(out->file);

	if (!packed)
		return no_stream(e);
	return end_packed(packed, trace_write(t, k->format, packed, n, e), e);
}

enum { TAR_BLOCK = 512, TAR_NAME = 100, TAR_END_BLOCKS = 2 };

struct tar_head {
	char name[TAR_NAME], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[6], version[2], rest[TAR_BLOCK - 265];
};
_Static_assert(sizeof(struct tar_head) == TAR_BLOCK, "a block of ustar");

/* FILE.tar.gz holds FILE.trace. */
static void name_member(char name[TAR_NAME], const char *path, const char *ending)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t n = strlen(base) - strlen(ending), most = TAR_NAME - sizeof ".trace";

	snprintf(name, TAR_NAME, "%.*s.trace", (int)(n < most ? n : most), base);
}

static int put_head(FILE *out, const char *name, uint64_t size)
{
	struct tar_head h = { .type = '0' };
	const unsigned char *byte = (const unsigned char *)&h;
	unsigned sum = 0;

	memcpy(h.name, name, strlen(name));
	memcpy(h.mode, "0000600", 8);
	memcpy(h.uid, "0000000", 8);
	memcpy(h.gid, "0000000", 8);
	memcpy(h.mtime, "00000000000", 12);
	memcpy(h.magic, "ustar", 6);
	memcpy(h.version, "00", 2);
	/* Octal ends at 8 GiB; there the size is binary, as GNU tar has it. */
	if (size >> 33) {
		h.size[0] = (char)0x80;
		for (int i = 0; i < 8; i++)
			h.size[11 - i] = (char)(size >> 8 * i & 0xff);
	} else {
		snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size);
	}
	memset(h.sum, ' ', sizeof h.sum);
	for (size_t i = 0; i < sizeof h; i++)
		sum += byte[i];
	snprintf(h.sum, sizeof h.sum, "%06o", sum);
	return fwrite(&h, sizeof h, 1, out) == 1 ? 0 : -errno;
}

/* What was written to `from`, in whole blocks, and the end of the archive. */
static int put_member(FILE *out, FILE *from, uint64_t size)
{
	static const char zeros[TAR_BLOCK];
	char part[1 << 16];
	size_t n, pad = (size_t)(-size % TAR_BLOCK);

	rewind(from);
	while ((n = fread(part, 1, sizeof part, from)) > 0)
		if (fwrite(part, 1, n, out) != n)
			return -errno;
	if (ferror(from))
		return -EIO;
	if (fwrite(zeros, 1, pad, out) != pad)
		return -errno;
	for (int i = 0; i < TAR_END_BLOCKS; i++)
		if (fwrite(zeros, sizeof zeros, 1, out) != 1)
			return -errno;
	return 0;
}

static int pack_member(const struct outfile *out, const struct tracefile_kind *k, FILE *from,
		       struct err *e)
{
	FILE *packed = gzip_open(out->file);
	char name[TAR_NAME];
	off_t size = ftello(from);
	int rc;

	if (!packed)
		return no_stream(e);
	name_member(name, out->path, k->ending);
	rc = put_head(packed, name, (uint64_t)size);
	if (!rc)
		rc = put_member(packed, from, (uint64_t)size);
	if (rc)
		err_set(e, rc, "%s", strerror(-rc));
	return end_packed(packed, rc, e);
}

/* An archive tells a file's size before the file: that waits beside it, without a name. */
static int write_tar(struct trace *t, const struct tracefile_kind *k, const struct outfile *out,
		     struct trace_count *n, struct err *e)
{
	char directory[PATH_MAX];
	int fd, rc;
	FILE *whole;

	fd = unnamed_open(outfile_directory(out->temporary, directory, sizeof directory));
	if (fd < 0)
		return err_set(e, fd, "%s", strerror(-fd));
	whole = fdopen(fd, "w+");
	if (!whole) {
		close(fd);
		return no_stream(e);
	}
	rc = trace_write(t, k->format, whole, n, e);
	if (!rc)
		rc = pack_member(out, k, whole, e);
	fclose(whole);
	return rc;
}

static const struct tracefile_kind kinds[] = {
	{ ".trace", &trace_chrome, write_plain },     { ".json", &trace_chrome, write_plain },
	{ ".json.gz", &trace_chrome, write_gzip },    { ".tar.gz", &trace_chrome, write_tar },
	{ ".pftrace", &trace_perfetto, write_plain },
};

const struct tracefile_kind *tracefile_kind(const char *path)
{
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		size_t length = strlen(kinds[i].ending);

		if (n > length && path[n - length - 1] != '/' &&
		    !strcmp(path + n - length, kinds[i].ending))
			return &kinds[i];
	}
	return NULL;
}

bool tracefile_suits(const struct tracefile_kind *k, uint64_t events)
{
	return k->format != &trace_chrome || events <= CHROME_EVENTS_MAX;
}

int tracefile_write(struct outfile *out, struct trace *t, const struct tracefile_kind *k,
		    const char *path, struct trace_count *n, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];
	int rc;

	/* outfile_directory takes a path that is a directory for the place itself. */
	snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	rc = outfile_open(out, *directory ? directory : "/", slash ? slash + 1 : path, e);
	if (rc)
		return rc;
	return outfile_close(out, k->write(t, k, out, n, e), e);
}
