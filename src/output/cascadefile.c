/* SPDX-License-Identifier: Apache-2.0 */
#include "output/cascadefile.h"

#include "console/command.h"
#include "console/print.h"
#include "console/say.h"
#include "output/drawfile.h"
#include "report/phases/cascade.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DPI = 150 };
#define WIDTH  (18 / 2.54 * 72)
#define HEIGHT (12 / 2.54 * 72)

static int save(const char *directory, const char *stem, const char *ending, struct bytes *text,
		struct err *e)
{
	struct outfile out;
	char name[640];
	int rc = text->failed ? err_set(e, -ENOMEM, "out of memory for the pool's files") : 0;

	snprintf(name, sizeof name, "%s.%s", stem, ending);
	if (!rc)
		rc = drawfile_save(&out, directory, name, text, e);
	bytes_free(text);
	return rc;
}

static int paint(const struct cascade_report *c, const struct cascade_pool *p,
		 const char *directory, const char *stem, struct err *e)
{
	struct document d = { .format = DOCUMENT_PNG, .dpi = DPI };
	struct bytes drawing = { 0 };
	struct outfile out;
	char name[640], title[1100];
	int rc;

	snprintf(name, sizeof name, "%s.png", stem);
	snprintf(d.title, sizeof d.title, "%.255s", cascade_title(p, title, sizeof title));
	cascade_draw(&drawing, c, p, WIDTH, HEIGHT);
	rc = drawfile_paint(&out, directory, name, &d, &drawing, e);
	bytes_free(&drawing);
	return rc;
}

/* Two pools whose names differ in what no file may be called are told apart by a number. */
static void name_files(const struct cascade_report *c, uint32_t pool, char *out, size_t size)
{
	char other[600];
	uint32_t before = 0;

	cascade_file_name(&c->pools.pool[pool], out, size);
	for (uint32_t i = 0; i < pool; i++)
		before += !strcmp(cascade_file_name(&c->pools.pool[i], other, sizeof other), out);
	if (before)
		snprintf(out + strlen(out), size - strlen(out), ".%u", before + 1);
}

/* The chart comes last: where its helper is missing the others are there. */
static int write_files(const struct cascade_report *c, const char *directory, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->pools.n && !rc; i++) {
		const struct cascade_pool *p = &c->pools.pool[i];
		struct bytes table = { 0 }, script = { 0 };
		char stem[620];

		name_files(c, i, stem, sizeof stem);
		cascade_table(&table, c, p);
		cascade_script(&script, p, stem);
		rc = save(directory, stem, "dat", &table, e);
		if (!rc)
			rc = save(directory, stem, "plot", &script, e);
		else
			bytes_free(&script);
		if (!rc)
			rc = paint(c, p, directory, stem, e);
		if (!rc)
			say("wrote %s/%s.dat, .plot and .png", directory, stem);
	}
	return rc;
}

static int print(const struct cascade_report *c, bool json)
{
	struct bytes b = { 0 };
	int code;

	if (json)
		cascade_report_json(&b, c);
	else
		cascade_report_text(&b, c);
	code = print_bytes(&b);
	bytes_free(&b);
	return code;
}

static int tell(const struct cascade_report *c, const struct cascade_wish *w, struct err *e)
{
	uint32_t lacking = cascade_report_lacking(c);
	int code, rc;

	if (!c->pools.n) {
		say("phases: %s holds no start-up event of a pool", c->run->path);
		return EXIT_FAILED;
	}
	code = print(c, w->json);
	rc = w->directory ? write_files(c, w->directory, e) : 0;
	if (rc)
		say("phases: %s", e->text);
	if (lacking)
		say("phases: nodes with events that lack or cannot be read: %u; what they lack is "
		    "said above",
		    lacking);
	return rc || lacking ? EXIT_FAILED : code;
}

int cascadefile_print(const struct run *r, const struct cascade_wish *w)
{
	struct cascade_report c;
	struct err e = { "" };
	int rc = cascade_report_make(&c, r, w->as_graph_py, w->local, &e), code = EXIT_FAILED;

	if (rc)
		say("phases: %s", e.text);
	else
		code = tell(&c, w, &e);
	cascade_report_free(&c);
	return code;
}
