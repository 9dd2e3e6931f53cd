/* SPDX-License-Identifier: Apache-2.0 */
#include "output/outfile.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/helper.h"
#include "base/text/json.h"
#include "chart/svg.h"
#include "console/command.h"
#include "core/frame/losses.h"
#include "report/page/page.h"
#include "report/paper/pdf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The open ones: a signal handler is handed nothing. Each change is one store, so that the list is
 * whole whenever a signal comes. */
static struct outfile *volatile unfinished;

static void take_away(int signal)
{
	for (const struct outfile *f = unfinished; f; f = f->next) {
		struct stat st;

		unlink(f->temporary);
		if (f->held_empty && !stat(f->path, &st) && !st.st_size)
			unlink(f->path);
	}
	raise(signal); /* which now ends the process, when this returns */
}

/* A signal that is ignored, as by nohup, or that a command takes itself, is left to it. */
static void take_signals(void)
{
	static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct sigaction act = { .sa_handler = take_away, .sa_flags = (int)SA_RESETHAND }, old;

	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (!sigaction(ending[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(ending[i], &act, NULL);
}

static void enlist(struct outfile *f)
{
	take_signals();
	f->next = unfinished;
	unfinished = f;
}

static void delist(const struct outfile *f)
{
	struct outfile *before = unfinished;

	if (before == f) {
		unfinished = f->next;
		return;
	}
	while (before && before->next != f)
		before = before->next;
	if (before)
		before->next = f->next;
}

/* The last '/' of an absolute path is left alone. */
static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	slash[slash == path] = '\0';
}

/* Where the file system of a file is mounted: the highest directory on the same device. */
static void find_mount(const char *path, char out[PATH_MAX])
{
	char directory[PATH_MAX], parent[PATH_MAX];
	struct stat here, above;

	snprintf(directory, sizeof(directory), "%s", path);
	if (strrchr(directory, '/'))
		cut_last(directory);
	else
		snprintf(directory, sizeof(directory), ".");
	if (!realpath(directory, out) || stat(out, &here)) {
		snprintf(out, PATH_MAX, "%s", directory);
		return;
	}
	while (strcmp(out, "/")) {
		memcpy(parent, out, sizeof(parent));
		cut_last(parent);
		if (stat(parent, &above) || above.st_dev != here.st_dev)
			return;
		memcpy(out, parent, sizeof(parent));
	}
}

static int fail(const struct outfile *f, int code, const char *why, struct err *e)
{
	char mount[PATH_MAX];

	if (code != -ENOSPC && code != -EDQUOT)
		return err_set(e, code, "cannot write %s: %s", f->path, why);
	find_mount(f->path, mount);
	return err_set(e, code, "cannot write %s: %s on the disk mounted at %s", f->path,
		       strerror(-code), mount);
}

int outfile_open(struct outfile *f, const char *directory, const char *name, struct err *e)
{
	int fd, n = snprintf(f->temporary, sizeof(f->temporary), "%s/.%s.XXXXXX", directory, name);

	f->file = NULL;
	f->held_empty = false;
	snprintf(f->path, sizeof(f->path), "%s/%s", directory, name);
	if (n < 0 || (size_t)n >= sizeof(f->temporary))
		return err_set(e, -ENAMETOOLONG, "cannot write into %s: the name is too long",
			       directory);
	if (mkdir(directory, 0700) && errno != EEXIST) {
		int code = errno;

		return err_set(e, -code, "cannot make the directory %s: %s", directory,
			       strerror(code));
	}
	enlist(f);
	fd = mkostemp(f->temporary, O_CLOEXEC);
	f->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f->file) {
		int code = errno;

		if (fd >= 0) {
			close(fd);
			unlink(f->temporary);
		}
		delist(f);
		return fail(f, -code, strerror(code), e);
	}
	return 0;
}

static int finish(struct outfile *f)
{
	int rc = 0;

	if (fflush(f->file) || fsync(fileno(f->file)))
		rc = -errno;
	if (fclose(f->file) && !rc)
		rc = -errno;
	if (!rc && rename(f->temporary, f->path))
		rc = -errno;
	return rc;
}

int outfile_close(struct outfile *f, int failed, struct err *e)
{
	char why[sizeof(e->text)];
	int rc = failed;

	if (!failed)
		rc = finish(f);
	else
		fclose(f->file);
	if (rc)
		unlink(f->temporary);
	delist(f);
	if (!rc)
		return 0;
	snprintf(why, sizeof(why), "%s", failed && e ? e->text : strerror(-rc));
	return fail(f, rc, why, e);
}

const char *outfile_directory(const char *path, char *out, size_t size)
{
	struct stat st;
	char *slash;

	snprintf(out, size, "%s", path);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return out;
	slash = strrchr(out, '/');
	if (!slash)
		snprintf(out, size, ".");
	else
		slash[slash == out] = '\0';
	return out;
}

void outputs_add(struct outputs *w, const char *path)
{
	w->files++;
	if (w->json || w->keep)
		bytes_put(&w->paths, path, strlen(path) + 1);
}

void outputs_in(void *ctx, const char *name)
{
	struct outputs *w = ctx;
	char path[PATH_MAX + 256];

	snprintf(path, sizeof path, "%s/%s", w->to, name);
	outputs_add(w, path);
}

static void put_files(const struct outputs *w, struct json *j)
{
	const char *at = (const char *)w->paths.data, *end = at ? at + w->paths.len : at;

	json_key(j, "files");
	json_array(j);
	for (; at < end; at += strlen(at) + 1)
		json_text(j, at);
	json_array_end(j);
}

int outputs_end(struct outputs *w, uint32_t damages)
{
	struct bytes out = { 0 };
	struct json j = { .out = &out, .indent = true };
	char schema[64];
	int code = EXIT_OK;

	if (w->json) {
		snprintf(schema, sizeof schema, "sonde/%s/1", w->verb);
		json_object(&j);
		json_key(&j, "schema");
		json_text(&j, schema);
		json_key(&j, "recording");
		json_text(&j, w->recording);
		put_files(w, &j);
		json_key(&j, "damages");
		json_int(&j, damages);
		json_object_end(&j);
		bytes_u8(&out, '\n');
		out.failed |= w->paths.failed;
		code = print_bytes(&out);
	}
	bytes_free(&w->paths);
	return code;
}

void outputs_report_losses(const char *verb, const struct run *r)
{
	struct bytes words = { 0 };
	struct losses x;

	if (losses_make(&x, r))
		return;
	losses_words(&x, false, &words);
	bytes_u8(&words, '\0');
	if (words.len > 1 && !words.failed)
		say("%s: note: the recording is not complete: %s", verb, (const char *)words.data);
	bytes_free(&words);
}

enum { PLOT_DPI = 200 };

static const struct {
	const char *name, *extension;
	enum document_format format; /* of what the helper paints */
} formats[] = {
	[PLOTS_SVG] = { "svg", "svg", DOCUMENT_SVG },
	[PLOTS_PNG] = { "png", "png", DOCUMENT_PNG },
	[PLOTS_PDF] = { "pdf", "pdf", DOCUMENT_PDF },
	[PLOTS_OUTLINED_SVG] = { "svg-outlines", "svg", DOCUMENT_SVG },
};
_Static_assert(sizeof formats / sizeof formats[0] == PLOTS_FORMAT_NUMBER_OF, "a row for each");

bool reportfile_format(const char *name, enum plots_format *out)
{
	for (unsigned i = 0; i < PLOTS_FORMAT_NUMBER_OF; i++)
		if (!strcmp(formats[i].name, name)) {
			*out = (enum plots_format)i;
			return true;
		}
	return false;
}

int reportfile_page(struct outfile *out, struct run *r, const struct summary *s,
		    const struct traces *t, const char *directory, struct err *e)
{
	struct bytes page = { 0 };
	int rc = page_make(&page, r, s, t, e);

	if (!rc)
		rc = drawfile_save(out, directory, "report.html", &page, e);
	bytes_free(&page);
	return rc;
}

static int write_plot(const struct plots *p, const struct plot *x, const struct plots_place *to,
		      struct outputs *w, struct err *e)
{
	static const struct box whole = { .w = PLOT_WIDTH, .h = PLOT_HEIGHT };
	struct document d = { .format = formats[to->format].format,
			      .dpi = PLOT_DPI,
			      .created_s = p->summary->start_utc_ns / NS_PER_S };
	struct bytes drawing = { 0 };
	char name[PLOT_NAME + 8];
	struct outfile out;
	int rc;

	shape_page(&drawing, whole.w, whole.h);
	plots_draw(p, x, &drawing, &whole);
	shape_end(&drawing);
	snprintf(name, sizeof name, "%s.%s", x->name, formats[to->format].extension);
	snprintf(d.title, sizeof d.title, "%s", x->title);
	if (to->format == PLOTS_SVG)
		rc = drawfile_svg(&out, to->path, name, x->title, &drawing, e);
	else
		rc = drawfile_paint(&out, to->path, name, &d, &drawing, e);
	if (!rc)
		outputs_add(w, out.path);
	bytes_free(&drawing);
	return rc;
}

int reportfile_plots(const struct plots *p, const char *directory, struct plots_place *to,
		     struct outputs *w, struct err *e)
{
	int rc;

	if (snprintf(to->path, sizeof to->path, "%s/plots", directory) >= (int)sizeof to->path)
		return err_set(e, -ENAMETOOLONG, "%.200s...: the name is too long", directory);
	rc = folder_make(directory, e);
	if (!rc && p->n)
		rc = folder_make_own(to->path, e);
	for (uint32_t i = 0; i < p->n && !rc; i++)
		rc = write_plot(p, &p->plot[i], to, w, e);
	return rc;
}

int reportfile_pdf(struct outfile *out, const struct plots *p, const char *job_id,
		   const char *directory, struct err *e)
{
	struct document d = { .format = DOCUMENT_PDF };
	struct bytes drawing = { 0 };
	char name[128];
	int rc = pdf_draw(&drawing, p, e);

	pdf_about(&d, p);
	if (!rc)
		rc = drawfile_paint(out, directory, pdf_name(job_id, name, sizeof name), &d,
				    &drawing, e);
	bytes_free(&drawing);
	return rc;
}
