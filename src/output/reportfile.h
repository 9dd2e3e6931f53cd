/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reportfile.h - a recording's page and plots as files, as `report` and `perfmon -r` write them.
 */
#ifndef SONDE_OUTPUT_REPORTFILE_H
#define SONDE_OUTPUT_REPORTFILE_H

#include "output/outfile.h"
#include "output/outputs.h"
#include "report/paper/plots.h"

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

#endif
