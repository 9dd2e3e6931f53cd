/* SPDX-License-Identifier: Apache-2.0 */
#include "output/drawfile.h"

#include "base/helper.h"
#include "chart/svg.h"

#include <errno.h>
#include <string.h>

static const struct helper_program draw = {
	"draw", "libpango1.0-dev and libcairo2-dev",
	"libpangocairo-1.0-0 and a font, as fonts-dejavu-core"
};

static int paint(struct helper_talk *t, int file, const struct document *d,
		 const struct bytes *drawing, struct err *e)
{
	struct bytes head = { 0 };
	int rc;

	document_encode(&head, d);
	if (head.failed || drawing->failed)
		rc = err_set(e, -ENOMEM, "out of memory while drawing");
	else
		rc = helper_talk_begin(t, &draw, file, e);
	if (!rc)
		rc = helper_talk_send(t, head.data, head.len, e);
	if (!rc)
		rc = helper_talk_send(t, drawing->data, drawing->len, e);
	bytes_free(&head);
	return rc ? rc : helper_talk_end(t, e);
}

int drawfile_paint(struct outfile *out, const char *directory, const char *name,
		   const struct document *d, const struct bytes *drawing, struct err *e)
{
	struct helper_talk t = { 0 };
	int rc = outfile_open(out, directory, name, e);

	if (rc)
		return rc;
	rc = paint(&t, fileno(out->file), d, drawing, e);
	helper_talk_free(&t);
	return outfile_close(out, rc, e);
}

int drawfile_save(struct outfile *out, const char *directory, const char *name,
		  const struct bytes *text, struct err *e)
{
	int rc = outfile_open(out, directory, name, e);

	if (rc)
		return rc;
	if (fwrite(text->data, 1, text->len, out->file) != text->len)
		rc = err_set(e, -errno, "%s", strerror(errno));
	return outfile_close(out, rc, e);
}

int drawfile_save_path(const char *path, const struct bytes *text, struct err *e)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct outfile out;
	char directory[PATH_MAX];

	if (!*name)
		return err_set(e, -EINVAL, "'%.200s' is not the name of a file", path);
	snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path + 1) : 1,
		 slash ? path : ".");
	return drawfile_save(&out, directory, name, text, e);
}

int drawfile_svg(struct outfile *out, const char *directory, const char *name, const char *title,
		 const struct bytes *drawing, struct err *e)
{
	struct bytes svg = { 0 };
	int rc = svg_write(&svg, drawing, title, e);

	if (!rc)
		rc = drawfile_save(out, directory, name, &svg, e);
	bytes_free(&svg);
	return rc;
}
