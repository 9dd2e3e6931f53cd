/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drawfile.h - a drawing as a file: SVG by Sonde itself, the rest by the helper sonde-draw.
 */
#ifndef SONDE_OUTPUT_DRAWFILE_H
#define SONDE_OUTPUT_DRAWFILE_H

#include "chart/shape.h"
#include "output/outfile.h"

/* directory/name, whole or not at all. 0, or -errno with a sentence: -ENOENT where the helper is
 * missing. */
int drawfile_paint(struct outfile *out, const char *directory, const char *name,
		   const struct document *d, const struct bytes *drawing, struct err *e);
int drawfile_svg(struct outfile *out, const char *directory, const char *name, const char *title,
		 const struct bytes *drawing, struct err *e);
/* Bytes that are a file as they are. */
int drawfile_save(struct outfile *out, const char *directory, const char *name,
		  const struct bytes *text, struct err *e);
/* The same of one path; its directory is created if missing. -EINVAL: it names no file. */
int drawfile_save_path(const char *path, const struct bytes *text, struct err *e);

#endif
