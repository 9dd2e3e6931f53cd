/* SPDX-License-Identifier: Apache-2.0 */
#include "source/counterfile.h"

#include "base/clock.h"
#include "base/text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many files of traffic may be read in every sample; of the others so many, or one sum. */
enum { KEPT_ALWAYS = 8, OTHERS_AT_ONCE = 4, TEXT_SIZE = 64 };
/* An adapter's answer takes up to 100 us: with more files of traffic each costs 1 % of a core at
 * most. */
static const int64_t LISTING_NS = 10 * NS_PER_S, PER_FILE_NS = 9 * NS_PER_MS;

static int init(struct counters *c, const struct counter_kind *kind, const struct root *root,
		uint32_t cap)
{
	int r;

	*c = (struct counters){ .kind = kind, .root = root };
	r = devices_init(&c->devices, cap);
	if (r < 0)
		return r;
	c->device = calloc(cap, sizeof *c->device);
	if (!c->device) {
		devices_free(&c->devices);
		return -ENOMEM;
	}
	return 0;
}

static void forget(struct counter_device *d)
{
	for (int i = 0; i < COUNTERS_KEPT_MAX; i++)
		file_close(&d->fd[i]);
	*d = (struct counter_device){ 0 };
}

void counters_close(void *state)
{
	struct counters *c = state;

	for (uint32_t i = 0; c->device && i < c->devices.n; i++)
		forget(&c->device[i]);
	free(c->device);
	devices_free(&c->devices);
	*c = (struct counters){ 0 };
}

/* Once in 10 s. */
static bool listing_is_due(struct counters *c, const struct sample *s)
{
	return period_is_due(&c->listing, s, LISTING_NS);
}

struct counter_device *counters_device(const struct counters *c, const struct device *v)
{
	return &c->device[v - c->devices.row];
}

/* The file of a row; of a sum the one with this number. A descriptor or -errno. */
static int open_row(const struct counters *c, const struct counter_device *d, uint32_t row,
		    uint32_t number)
{
	const char *path = c->kind->files[row].path[d->second >> row & 1];
	const char *hole = path ? strstr(path, "%u") : NULL;
	char full[COUNTERS_DIR_SIZE + 64];

	if (!path)
		return -ENOENT;
	if (hole)
		snprintf(full, sizeof full, "%s/%.*s%" PRIu32 "%s", d->dir, (int)(hole - path),
			 path, number, hole + 2);
	else
		snprintf(full, sizeof full, "%s/%s", d->dir, path);
	return root_file(c->root, full);
}

/* An adapter that was pulled and plugged again is the same; its counters begin anew. */
static void reopen(const struct counters *c, struct counter_device *d)
{
	for (uint32_t row = 0; row < c->kind->nkept; row++) {
		int fd = d->asked >> row & 1 ? open_row(c, d, row, 0) : 0;

		file_close(&d->fd[row]);
		d->fd[row] = fd > 0 ? fd : 0;
	}
	d->lost = false;
	d->listed = true;
}

struct device *counters_meet(struct counters *c, const char *name, const char *dir)
{
	struct device *v = devices_meet(&c->devices, name, strlen(name));
	struct counter_device *d = v ? counters_device(c, v) : NULL;

	if (v && !v->told)
		snprintf(d->dir, sizeof d->dir, "%s", dir);
	else if (v && d->lost)
		reopen(c, d);
	return v;
}

static void tell(struct counter_device *d, const struct device *v, struct sample *s, uint32_t row,
		 enum state state, const char *reason)
{
	if (d->state[row] != state && v->slot)
		sample_refuse(s, v->slot + row, state, reason);
	d->state[row] = (uint8_t)state;
}

static void tell_error(struct counter_device *d, const struct device *v, struct sample *s,
		       uint32_t row, int error)
{
	switch (error) {
	case -EINVAL: /* what a driver says to a counter its adapter does not have */
	case -ENOENT:
	case -EOPNOTSUPP:
		tell(d, v, s, row, STATE_UNSUPPORTED, "this adapter does not report it");
		break;
	case -ENETDOWN:
		tell(d, v, s, row, STATE_UNSUPPORTED, "the link is down");
		break;
	case -ENOMEDIUM:
		tell(d, v, s, row, STATE_FAILED, "one of the files that it sums is missing");
		break;
	case -EBADF:
		tell(d, v, s, row, STATE_FAILED, "its file is no longer there");
		break;
	default:
		tell(d, v, s, row, state_of(error), sysfs_reason(error));
	}
}

/* Find the file of a row. That of traffic stays open. */
static void find(struct counters *c, const struct device *v, struct sample *s, uint32_t row)
{
	struct counter_device *d = counters_device(c, v);
	int fd = open_row(c, d, row, 0);

	if (fd == -ENOENT && c->kind->files[row].path[1]) {
		d->second |= UINT64_C(1) << row;
		fd = open_row(c, d, row, 0);
	}
	if (fd < 0) {
		tell_error(d, v, s, row, fd);
		return;
	}
	d->asked |= UINT64_C(1) << row;
	if (row < c->kind->nkept)
		d->fd[row] = fd;
	else
		file_close(&fd);
}

void counters_announce(struct counters *c, struct device *v, struct sample *s)
{
	struct counter_device *d = counters_device(c, v);

	device_announce(v, s, c->kind->metrics, c->kind->nrows);
	for (uint32_t row = 0; row < c->kind->nrows; row++)
		d->state[row] = STATE_PRESENT;
	for (uint32_t row = 0; v->slot && row < c->kind->nrows; row++)
		find(c, v, s, row);
}

void counters_sweep(struct counters *c, struct sample *s)
{
	devices_sweep(&c->devices, s);
	for (uint32_t i = 0; i < c->devices.n; i++)
		if (!c->devices.row[i].len)
			forget(&c->device[i]);
}

/* A number that is followed by a digit's neighbour ("12x") is none. */
static int parse(const struct counter_file *f, const char *text, int64_t *out)
{
	if (strncmp(text, "N/A", 3) == 0)
		return -EOPNOTSUPP; /* "N/A (no PMA)": this device does not count */
	if (!*text)
		return -ENODATA;
	if (!number_fixed(&text, f->decimals, out))
		return sysfs_no_number(text);
	return *text && !strchr("\n@: ", *text) ? -EBADMSG : 0;
}

static int read_number(const struct counter_file *f, int fd, int64_t *out)
{
	char text[TEXT_SIZE];
	ssize_t n = fd > 0 ? file_reread(fd, text, sizeof text) : -EBADF;

	return n < 0 ? (int)n : parse(f, text, out);
}

static int read_files(const struct counters *c, const struct counter_device *d, uint32_t row,
		      int64_t *out)
{
	const struct counter_file *f = &c->kind->files[row];
	int64_t v;
	int r = 0;

	*out = 0;
	for (uint32_t i = 0; r == 0 && i < (f->files ? f->files : 1u); i++) {
		int fd = open_row(c, d, row, i);

		r = fd < 0 ? fd : read_number(f, fd, &v);
		file_close(&fd);
		if (i && r == -ENOENT)
			r = -ENOMEDIUM;
		if (r == 0 && __builtin_add_overflow(*out, v, out))
			r = -ERANGE;
	}
	return r;
}

static void read_row(struct counters *c, const struct device *v, struct sample *s, uint32_t row)
{
	struct counter_device *d = counters_device(c, v);
	const struct counter_file *f = &c->kind->files[row];
	int64_t value;
	int r = c->kind->means ? c->kind->means(c, d, row) : 0;

	if (r == 0)
		r = row < c->kind->nkept ? read_number(f, d->fd[row], &value)
					 : read_files(c, d, row, &value);
	if (r == -ENOENT || r == -ENODEV || r == -EBADF) {
		d->lost = true;
		if (d->listed)
			tell_error(d, v, s, row, -EBADF);
	} else if (r < 0) {
		tell_error(d, v, s, row, r);
	} else if (f->bits && !(d->endless >> row & 1) && value == (INT64_C(1) << f->bits) - 1) {
		tell(d, v, s, row, STATE_FAILED,
		     "its counter is full and counts no further until it is reset "
		     "(perfquery -R)");
	} else {
		tell(d, v, s, row, STATE_PRESENT, NULL);
		device_put(v, s, row, value);
	}
}

static bool is_asked(const struct counters *c, uint32_t device, uint32_t row)
{
	return c->devices.row[device].slot && c->device[device].asked >> row & 1;
}

/* The traffic of all devices in one sample, so that it can be added up. */
static void read_kept(struct counters *c, struct sample *s)
{
	int64_t files = 0;

	if (s->mono_ns < c->traffic_ns && !s->last)
		return;
	for (uint32_t i = 0; i < c->devices.n; i++)
		for (uint32_t row = 0; row < c->kind->nkept; row++)
			if (is_asked(c, i, row)) {
				read_row(c, &c->devices.row[i], s, row);
				files++;
			}
	c->traffic_ns = s->mono_ns + (files > KEPT_ALWAYS ? files * PER_FILE_NS : 0);
}

/* One of them of all devices before the next one. */
static void read_others(struct counters *c, struct sample *s)
{
	uint32_t n = c->kind->nrows - c->kind->nkept, files = 0;

	for (uint64_t tried = 0; tried < (uint64_t)n * c->devices.n; tried++) {
		uint32_t i = c->next_device % c->devices.n, row = c->kind->nkept + c->next_row;
		uint32_t costs = c->kind->files[row].files ? c->kind->files[row].files : 1;

		if (is_asked(c, i, row)) {
			if (files && files + costs > OTHERS_AT_ONCE)
				return;
			read_row(c, &c->devices.row[i], s, row);
			files += costs;
		}
		c->next_device = (i + 1) % c->devices.n;
		if (!c->next_device)
			c->next_row = (c->next_row + 1) % n;
	}
}

int counters_open(struct counters *c, const struct counter_kind *kind, const struct source_env *env,
		  struct sample *s, struct err *e)
{
	int r = init(c, kind, &env->sys, kind->most);

	if (r < 0)
		return err_set(e, r, "there is no memory for a table of %s", kind->what);
	listing_is_due(c, s);
	r = kind->list(c, s);
	if (r > 0) {
		sample_catalogue(s, &kind->metrics[kind->nrows], kind->nmetrics - kind->nrows);
		return 0;
	}
	counters_close(c);
	if (r == 0 || r == -ENOENT)
		return err_set(e, -ENODEV, "%s/%s: this machine has no %s", env->sys.path,
			       kind->folder, kind->none);
	return err_set(e, r, "%s/%s: %s", env->sys.path, kind->folder, strerror(-r));
}

int counters_read(void *state, struct sample *s)
{
	struct counters *c = state;

	if (listing_is_due(c, s))
		c->kind->list(c, s);
	if (!c->devices.n)
		return 0;
	read_kept(c, s);
	read_others(c, s);
	return 0;
}
