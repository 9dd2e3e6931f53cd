/* SPDX-License-Identifier: Apache-2.0 */
#include "session/wanted.h"

#include "session/history.h"
#include "session/listing.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
