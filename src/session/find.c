/* SPDX-License-Identifier: Apache-2.0 */
#include "session/find.h"

#include "base/clock.h"
#include "console/command.h"
#include "recording/join.h"
#include "session/history.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int choose_recording(struct choice *c, const char *verb, const char *doing, int noperands,
		     char **operands)
{
	struct err e = { "" };

	c->path = noperands ? operands[0] : c->newest;
	c->run = NULL;
	if (noperands > 1) {
		say("%s: unexpected argument '%s'; give one recording", verb, operands[1]);
		return EXIT_USAGE;
	}
	if (noperands && !operands[0][0]) {
		say("%s: empty name of a recording; omit it for the newest recording here", verb);
		return EXIT_USAGE;
	}
	if (!noperands && !run_newest(".", c->newest, sizeof c->newest, &e))
		say("%s %s", doing, c->path);
	progress_begin(&c->progress);
	if (e.text[0] ||
	    run_open_showing(&c->run, c->path,
			     &(struct run_progress){ progress_show, &c->progress }, &e)) {
		say("%s: %s", verb, e.text);
		return EXIT_FAILED;
	}
	return EXIT_OK;
}

void listing_free(struct listing *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->entry[i].path);
		free(l->entry[i].command);
		free(l->entry[i].note);
	}
	free(l->entry);
}

static struct recording *list_add(struct listing *l)
{
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct recording *grown = reallocarray(l->entry, cap, sizeof *grown);

		if (!grown) {
			l->failed = true;
			return NULL;
		}
		l->entry = grown;
		l->cap = cap;
	}
	l->entry[l->n] = (struct recording){ .wall_s = NAN, .exit_code = NAN, .signal = NAN };
	return &l->entry[l->n++];
}

static uint32_t count_hosts(const struct run *r, struct listing *l)
{
	uint32_t *first = calloc(r->nnodes + 1u, sizeof *first), n = 0;

	l->failed |= !first || run_hosts(r, first);
	for (uint32_t i = 1; !l->failed && i < r->nnodes; i++)
		n += first[i] == i;
	free(first);
	return n;
}

static double seconds_seen(const struct run *r)
{
	double end = NAN;

	for (uint32_t i = 1; i < r->nnodes; i++)
		if (r->nodes[i].rows)
			end = fmax(end, run_seconds(r, i, r->nodes[i].last_ns));
	return end;
}

static void describe(struct recording *x, const struct run *r, struct listing *l)
{
	const char *command = run_find_text(r, 0, "job.command");
	char note[256];

	x->condition = condition_of(r, clock_utc_ns());
	x->start_utc_ns = r->t0_utc_ns;
	x->nodes = count_hosts(r, l);
	x->signal = condition_number(r, "job.signal");
	x->exit_code = isnan(x->signal) ? condition_number(r, "job.exit_code") : NAN;
	x->wall_s = condition_number(r, "job.wall_ns") / 1e9;
	if (isnan(x->wall_s) || x->nodes + 1 < r->nnodes)
		x->wall_s = seconds_seen(r);
	if (command) {
		x->command = strdup(command);
		l->failed |= !x->command;
	}
	if (x->condition == DAMAGED) {
		snprintf(note, sizeof note, "%s%s", r->damages[0].what,
			 r->ndamages > 1 ? ", and more" : "");
		x->note = strdup(note);
		l->failed |= !x->note;
	}
}

static void look_at(struct listing *l, const char *path)
{
	struct recording *x = list_add(l);
	struct run *r = NULL;
	struct err e = { "" };

	if (!x)
		return;
	x->path = strdup(path);
	if (run_open(&r, path, &e)) {
		x->condition = UNREADABLE;
		x->note = strdup(e.text);
		l->failed |= !x->note;
	} else {
		describe(x, r, l);
	}
	l->failed |= !x->path;
	run_close(r);
}

static int is_named(const struct dirent *d)
{
	return d->d_name[0] != '.' &&
	       (d->d_type == DT_DIR || d->d_type == DT_UNKNOWN || d->d_type == DT_LNK);
}

static void names_free(struct dirent **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* Oldest first; what could not be read, and so has no time, at the end. */
static int by_start(const void *a, const void *b)
{
	const struct recording *x = a, *y = b;

	if (!x->start_utc_ns || !y->start_utc_ns)
		return !x->start_utc_ns - !y->start_utc_ns;
	return (x->start_utc_ns > y->start_utc_ns) - (x->start_utc_ns < y->start_utc_ns);
}

int listing_find(struct listing *l, const char *dir)
{
	struct dirent **names = NULL;
	int n;

	if (run_is_recorded(dir)) {
		look_at(l, dir);
		return 0;
	}
	n = scandir(dir, &names, is_named, alphasort);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		bool here = !strcmp(dir, ".");
		int len = snprintf(path, sizeof path, "%s%s%s", here ? "" : dir, here ? "" : "/",
				   names[i]->d_name);

		if (len <= 0 || (size_t)len >= sizeof path)
			l->failed = true;
		else if (!strncmp(names[i]->d_name, "sonde_", 6) || run_is_recorded(path))
			look_at(l, path); /* an empty one of this name is told of, too */
	}
	names_free(names, n);
	if (l->n)
		qsort(l->entry, l->n, sizeof *l->entry, by_start);
	return 0;
}

enum { HISTORY_MAX = 50 };

static int add_path(struct wanted *w, const char *path, enum comparison_group group, struct err *e)
{
	if (w->n == WANTED_MAX)
		return err_set(e, -EINVAL, "more than %d runs", WANTED_MAX);
	w->run[w->n].path = strdup(path);
	w->run[w->n].group = group;
	if (!w->run[w->n].path)
		return err_set(e, -ENOMEM, "out of memory for the names of runs");
	w->n++;
	return 0;
}

/* A recording, or a directory of several. */
static int add_named(struct wanted *w, const char *path, enum comparison_group group, struct err *e)
{
	struct listing l = { 0 };
	int rc = access(path, F_OK) ? -errno : 0;

	if (rc)
		return err_set(e, rc, "cannot find %.300s: %s", path, strerror(-rc));
	rc = listing_find(&l, path);
	if (rc == -ENOTDIR || (!rc && !l.n)) /* a file, or what opening it will say */
		rc = add_path(w, path, group, e);
	else if (rc || l.failed)
		rc = err_set(e, rc ? rc : -ENOMEM, "cannot read the directory %.300s: %s", path,
			     strerror(rc ? -rc : ENOMEM));
	else
		for (size_t i = 0; i < l.n && !rc; i++)
			rc = add_path(w, l.entry[i].path, group, e);
	listing_free(&l);
	return rc;
}

/* A,A2,...: a name with a comma in it is taken as it is when there is such a thing. */
int wanted_list(struct wanted *w, const char *text, enum comparison_group group, struct err *e)
{
	char part[PATH_MAX];
	int rc = 0;

	if (!strchr(text, ',') || !access(text, F_OK))
		return add_named(w, text, group, e);
	for (const char *at = text; !rc;) {
		size_t n = strcspn(at, ",");

		if (n >= sizeof part)
			return err_set(e, -ENAMETOOLONG, "a name in the list is too long");
		memcpy(part, at, n);
		part[n] = '\0';
		if (n)
			rc = add_named(w, part, group, e);
		if (!at[n])
			break;
		at += n + 1;
	}
	return rc;
}

/* ---- like runs ---- */

uint32_t wanted_count(const struct wanted *w, enum comparison_group group)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		n += w->run[i].group == group;
	return n;
}

static bool is_wanted(const struct wanted *w, const char *path)
{
	char one[PATH_MAX], other[PATH_MAX];

	if (!realpath(path, one))
		return false;
	for (uint32_t i = 0; i < w->n; i++)
		if (realpath(w->run[i].path, other) && !strcmp(one, other))
			return true;
	return false;
}

/* Of the same command and number of nodes, that ended well, and that is none of those compared. */
static bool is_like(const struct wanted *w, const struct recording *x, const struct recording *a)
{
	return x->condition == COMPLETE && x->command && a->command &&
	       !strcmp(x->command, a->command) && x->nodes == a->nodes && x->exit_code == 0 &&
	       !is_wanted(w, x->path);
}

/* The newest first. */
static int add_like(struct wanted *w, const char *dir, const struct recording *a, struct err *e)
{
	struct listing l = { 0 };
	uint32_t found = wanted_count(w, GROUP_HISTORY);
	int rc = listing_find(&l, dir);

	if (rc)
		err_set(e, rc, "cannot look for like runs in %.300s: %s", dir, strerror(-rc));
	for (size_t i = l.n; i-- > 0 && !rc && found < HISTORY_MAX;)
		if (is_like(w, &l.entry[i], a)) {
			rc = add_path(w, l.entry[i].path, GROUP_HISTORY, e);
			found++;
		}
	listing_free(&l);
	return rc;
}

static bool is_past(const struct history *h, const struct history_run *r, const struct recording *a)
{
	const char *command = r->text[HISTORY_COMMAND], *state = r->text[HISTORY_STATE];

	return command && a->command && !strcmp(command, a->command) && state &&
	       !strcmp(state, condition_name(COMPLETE)) &&
	       history_figure(h, r, "nodes") == a->nodes && history_figure(h, r, "exit_code") == 0;
}

/* The newest that there is room for. */
static void add_past(struct wanted *w, const struct recording *a)
{
	struct history *h = &w->past;
	uint32_t found = wanted_count(w, GROUP_HISTORY), kept;

	history_recall(h, "compare");
	if (!h->n)
		return;
	kept = h->n;
	for (uint32_t i = h->n; i-- > 0 && found < HISTORY_MAX;)
		if (is_past(h, &h->run[i], a)) {
			h->run[--kept] = h->run[i];
			found++;
		}
	h->n -= kept;
	memmove(h->run, h->run + kept, h->n * sizeof *h->run);
}

int wanted_like(struct wanted *w, const struct option_list *directories, struct err *e)
{
	struct listing a = { 0 };
	char beside[PATH_MAX], real[PATH_MAX];
	int rc;

	if (wanted_count(w, GROUP_A) > 1 && wanted_count(w, GROUP_B) > 1)
		return 0;
	rc = listing_find(&a, w->run[0].path);
	if (rc || a.n != 1 || !realpath(w->run[0].path, real)) {
		listing_free(&a);
		return 0; /* opening it will say what is wrong */
	}
	for (uint32_t i = 0; i < directories->n && !rc; i++)
		rc = add_like(w, directories->text[i], &a.entry[0], e);
	if (!directories->n && strrchr(real, '/') > real) {
		snprintf(beside, sizeof beside, "%.*s", (int)(strrchr(real, '/') - real), real);
		rc = add_like(w, beside, &a.entry[0], e);
	}
	if (!directories->n && !rc)
		add_past(w, &a.entry[0]);
	listing_free(&a);
	return rc;
}

void wanted_free(struct wanted *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		free(w->run[i].path);
	history_free(&w->past);
}
