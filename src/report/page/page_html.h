/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_html.h - the parts of the report page that are plain HTML, each appended to bytes.
 *
 * They read without a script. Every text of the run goes through html_text or html_value.
 */
#ifndef SONDE_REPORT_PAGE_PAGE_HTML_H
#define SONDE_REPORT_PAGE_PAGE_HTML_H

#include "base/bytes.h"
#include "report/summary/account.h"
#include "report/summary/summary.h"

struct page_source {
	struct run *run;
	const struct summary *summary;
	bool live; /* the page is of a server and may ask it for what is new */
};

/* Control characters become visible (\n, \x1b), then it is escaped for HTML. NULL: nothing. */
void html_text(struct bytes *b, const char *hostile);
/* A paragraph of it, if it has any, and then it is empty. */
void html_soft(struct bytes *b, struct bytes *hostile);
/* A number with its unit; unknown (NAN) is a dash that says so. */
void html_value(struct bytes *b, enum unit u, double v);

void html_title(struct bytes *b, const struct page_source *p);
void html_header(struct bytes *b, const struct page_source *p);
void html_figures(struct bytes *b, const struct page_source *p);
void html_counters(struct bytes *b, const struct page_source *p); /* nothing when none were */
/* Of each part of the time a token of page.css and of colour_named: on paper, too. */
extern const char *const account_colours[ACCOUNT_PARTS];
/* A section of its own; nothing of a job whose wall time or cores are not known. */
void html_account(struct bytes *b, const struct page_source *p);
/* The code that used the CPU: a section of its own; a line where it was refused, nothing where it
 * was not asked for: what was refused then is below, with all that could not be measured. */
void html_code(struct bytes *b, const struct page_source *p);
/* What threads waited for: likewise. */
void html_waits(struct bytes *b, const struct page_source *p);
/* The critical path of one node, where it says more than the command: likewise. */
void html_path(struct bytes *b, const struct page_source *p);
/* The tasks of workflow tools, by rule: nothing without any. */
void html_pipelines(struct bytes *b, const struct page_source *p);
/* The steps that were found: likewise. */
void html_steps(struct bytes *b, const struct page_source *p);
/* What touched memory first: likewise. */
void html_touched(struct bytes *b, const struct page_source *p);
/* The files that the job used: likewise. */
void html_files(struct bytes *b, const struct page_source *p);
/* With whom it talked by TCP: likewise. */
void html_peers(struct bytes *b, const struct page_source *p);
/* What ranks did with MPI: likewise. */
void html_mpi(struct bytes *b, const struct page_source *p);
void html_verdicts(struct bytes *b, const struct page_source *p);
/* A section of its own; nothing of a single node. */
void html_nodes(struct bytes *b, const struct page_source *p);
/* Sections of their own; nothing without tasks, or without marks and spans. */
void html_tasks(struct bytes *b, const struct page_source *p);
void html_events(struct bytes *b, const struct page_source *p);
void html_processes(struct bytes *b, const struct page_source *p);
void html_commands(struct bytes *b, const struct page_source *p);
void html_metrics(struct bytes *b, const struct page_source *p);
void html_footer(struct bytes *b, const struct page_source *p);

#endif
