/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile.h - files that commands write, whole or not at all; and drawings as files.
 */
#ifndef SONDE_OUTPUT_OUTFILE_H
#define SONDE_OUTPUT_OUTFILE_H

#include "base/bytes.h"
#include "base/err.h"
#include "chart/shape.h"
#include "core/frame/run.h"
#include "report/paper/plots.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * A result file that is whole or not there: written beside its place, synced, then
 * renamed.
 *
 * A file of that name stays as it was until then, whatever happens. Mode 0600. A signal that ends
 * the process (SIGHUP, SIGINT, SIGQUIT, SIGTERM) takes what is unfinished away first.
 */

/* Stays where it is while it is open. */
struct outfile {
	FILE *file;
	char path[PATH_MAX], temporary[PATH_MAX];
	bool held_empty; /* path is an empty file made for this one, and goes with it */
	struct outfile *next;
};

/* The directory is created if missing. 0, or -errno with a sentence that names the file. */
int outfile_open(struct outfile *f, const char *directory, const char *name, struct err *e);
/* Give it its name, or, when failed (-errno, *e says why) is not 0, take it away. Of a full disk
 * the sentence says which one. 0 or -errno. */
int outfile_close(struct outfile *f, int failed, struct err *e);

/* Where results about path go by default: path itself when it is a directory, else the one it is
 * in. */
const char *outfile_directory(const char *path, char *out, size_t size);

/*
 * What is reported of the files that a command wrote: as JSON on standard output when
 * --json asks for it, {"schema": "sonde/<verb>/1", "recording": ..., "files": [...], "damages": N},
 * and on stderr what the recording lost or left out.
 *
 * Without `json` nothing is printed of the files: the command reports them in its own words.
 */
struct outputs {
	const char *verb, *recording;
	const char *to; /* for outputs_in */
	uint32_t files;
	bool json, keep;
	struct bytes paths; /* each with its NUL; with json or keep */
};

void outputs_add(struct outputs *w, const char *path);
/* A file of that name in the directory `to`; w is the struct outputs. */
void outputs_in(void *w, const char *name);
/* Print it, free it. An exit code. */
int outputs_end(struct outputs *w, uint32_t damages);

/* One line; nothing when nothing was lost that changes what a reader believes. */
void outputs_report_losses(const char *verb, const struct run *r);

/*
 * A recording's page and plots as files, as `report` and `perfmon -r` write them.
 */
/* report.html in the directory, which is created if missing; out->path says where. t: as
 * page_make has it. 0, or -errno with a sentence. */
int reportfile_page(struct outfile *out, struct run *r, const struct summary *s,
		    const struct traces *t, const char *directory, struct err *e);

enum plots_format {
	PLOTS_SVG = 0,
	PLOTS_PNG,
	PLOTS_PDF,
	PLOTS_OUTLINED_SVG, /* whose texts are shapes, too */
	PLOTS_FORMAT_NUMBER_OF
};
/* By its name: svg, png, pdf, svg-outlines. False: there is none such. */
bool reportfile_format(const char *name, enum plots_format *out);

struct plots_place {
	enum plots_format format;
	char path[PATH_MAX]; /* filled: the directory of the plots */
};
/* directory/plots/NAME.svg and so on for each of the plots. 0, or -errno with a sentence: -ENOENT
 * where a format needs the helper and it is missing. */
int reportfile_plots(const struct plots *p, const char *directory, struct plots_place *to,
		     struct outputs *w, struct err *e);
/* directory/job-report-JOB.pdf, or, without the id of a job, report.pdf; the same. */
int reportfile_pdf(struct outfile *out, const struct plots *p, const char *job_id,
		   const char *directory, struct err *e);

/*
 * A drawing as a file: SVG by Sonde itself, the rest by the helper sonde-draw.
 */

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
