/* SPDX-License-Identifier: Apache-2.0 */
#include "session/listing.h"

#include "base/clock.h"
#include "recording/join.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
