/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - figures and samples of one node or many, for experiment trackers. */
#include "base/array.h"
#include "base/err.h"
#include "base/text/json.h"
#include "core/tracker.h"
#include "lib/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
	unsigned number;
	struct tracker tracker;
	struct sonde_sample *sample;
	uint32_t n, cap;
};

struct sonde_report {
	struct node *node; /* in order of number */
	uint32_t n, cap;
	char *path; /* where it was saved last */
};

struct sonde_report *sonde_report_new(void)
{
	return calloc(1, sizeof(struct sonde_report));
}

void sonde_report_free(struct sonde_report *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n; i++)
		free(r->node[i].sample);
	free(r->node);
	free(r->path);
	free(r);
}

/* The node of this number, made when it is new; NULL: out of memory. */
static struct node *node_find(struct sonde_report *r, unsigned number)
{
	struct node *moved;
	uint32_t at = 0;

	while (at < r->n && r->node[at].number < number)
		at++;
	if (at < r->n && r->node[at].number == number)
		return &r->node[at];
	moved = array_room(r->node, r->n, &r->cap, sizeof *moved);
	if (!moved)
		return NULL;
	r->node = moved;
	memmove(moved + at + 1, moved + at, (r->n - at) * sizeof *moved);
	moved[at] = (struct node){ .number = number };
	tracker_init(&moved[at].tracker);
	r->n++;
	return &moved[at];
}

static int by_time(const void *a, const void *b)
{
	const struct sonde_sample *x = a, *y = b;

	return (x->timestamp > y->timestamp) - (x->timestamp < y->timestamp);
}

static bool samples_join(struct node *node, const struct sonde_sample *samples, size_t n)
{
	struct sonde_sample *moved;

	if (n > UINT32_MAX - node->n)
		return false;
	moved = reallocarray(node->sample, node->n + n + 1, sizeof *moved);
	if (!moved)
		return false;
	node->sample = moved;
	if (n)
		memcpy(moved + node->n, samples, n * sizeof *moved);
	node->n += (uint32_t)n;
	qsort(moved, node->n, sizeof *moved, by_time);
	return true;
}

/* Counters begin at 0 where the sampler was started. */
static struct tracker watched(const struct sonde_sample *samples, size_t n)
{
	struct tracker_sample s = tracker_sample_at(0, 0);
	struct tracker t;

	tracker_init(&t);
	for (unsigned i = TRACKER_DISK_READ; i < TRACKER_PLAIN_FIELDS; i++)
		s.value[i] = 0;
	tracker_add(&t, &s);
	for (size_t i = 0; i < n; i++) {
		s = sampler_private(&samples[i]);
		tracker_add(&t, &s);
	}
	return t;
}

static bool add(struct sonde_report *r, unsigned number, const struct sonde_sample *samples,
		size_t n, const struct tracker *t)
{
	struct node *node = node_find(r, number);

	if (!node || !samples_join(node, samples, n))
		return false;
	if (n)
		tracker_join(&node->tracker, t);
	if (!isnan(t->said[TRACKER_CPUS]))
		node->tracker.said[TRACKER_CPUS] = t->said[TRACKER_CPUS];
	return true;
}

bool sonde_report_add(struct sonde_report *r, unsigned node, const struct sonde_sample *samples,
		      size_t n, unsigned cpus)
{
	struct tracker t = watched(samples, n);

	t.said[TRACKER_CPUS] = cpus ? cpus : (double)NAN;
	return add(r, node, samples, n, &t);
}

bool sonde_report_add_sampler(struct sonde_report *r, unsigned node, const struct sonde_sampler *s)
{
	struct tracker t = sampler_tracker(s);
	size_t n = sonde_sampler_samples(s, NULL, 0), now;
	struct sonde_sample *samples = calloc(n + 1, sizeof *samples);
	bool good = false;

	if (samples) {
		now = sonde_sampler_samples(s, samples, n);
		good = add(r, node, samples, now < n ? now : n, &t);
	}
	free(samples);
	return good;
}

size_t sonde_report_emit(const struct sonde_report *r,
			 void (*log)(void *context, const char *key, double value, unsigned step),
			 void *context)
{
	size_t n = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		for (size_t f = 0; f < TRACKER_FIGURES; f++) {
			double v = tracker_value(&r->node[i].tracker, &tracker_figures[f]);

			if (!r->node[i].n || !isfinite(v))
				continue;
			log(context, tracker_figures[f].name, v, r->node[i].number);
			n++;
		}
	}
	return n;
}

/* ---- the file ---- */

static void nodes_json(const struct sonde_report *r, struct json *j)
{
	json_object(j);
	for (uint32_t i = 0; i < r->n; i++) {
		char number[16];

		snprintf(number, sizeof number, "%u", r->node[i].number);
		json_key(j, number);
		json_array(j);
		for (uint32_t k = 0; k < r->node[i].n; k++) {
			struct tracker_sample s = sampler_private(&r->node[i].sample[k]);

			tracker_sample_json(&s, j);
		}
		json_array_end(j);
	}
	json_object_end(j);
}

/* A new file of a name that nobody else has; its path, which the caller frees. */
static int temporary_open(char **path)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	if (asprintf(path, "%s/sonde-samples-XXXXXX.json", dir && *dir ? dir : "/tmp") < 0) {
		*path = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemps(*path, (int)strlen(".json"), O_CLOEXEC);
	return fd;
}

/* Written beside its place, then renamed: a file of that name stays whole. */
static int file_write(const struct bytes *text, const char *path, char **final)
{
	char *temporary = NULL;
	size_t done = 0;
	int fd, rc = 0;

	if (!path) {
		fd = temporary_open(final);
	} else {
		*final = strdup(path);
		if (!*final || asprintf(&temporary, "%s.XXXXXX", path) < 0)
			return -ENOMEM;
		fd = mkostemp(temporary, O_CLOEXEC);
	}
	if (fd < 0)
		rc = -errno;
	while (!rc && done < text->len) {
		ssize_t n = write(fd, text->data + done, text->len - done);

		done += n > 0 ? (size_t)n : 0;
		rc = n < 0 && errno != EINTR ? -errno : 0;
	}
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!rc && temporary && rename(temporary, path))
		rc = -errno;
	if (rc && fd >= 0)
		unlink(temporary ? temporary : *final);
	free(temporary);
	return rc;
}

const char *sonde_report_save(struct sonde_report *r, const char *path, struct sonde_error *error)
{
	struct bytes text = { 0 };
	struct json j = { .out = &text, .indent = true };
	char *final = NULL;
	struct err e = { "" };
	int rc;

	nodes_json(r, &j);
	bytes_u8(&text, '\n');
	rc = text.failed ? -ENOMEM : file_write(&text, path, &final);
	bytes_free(&text);
	if (rc) {
		err_set(&e, rc, "cannot write the samples to %.300s: %s",
			path    ? path
			: final ? final
				: "a temporary file",
			strerror(-rc));
		sonde_error_set(error, rc, e.text);
		free(final);
		return NULL;
	}
	free(r->path);
	r->path = final;
	return final;
}
