/* SPDX-License-Identifier: Apache-2.0 */
#include "live/exposition.h"

#include "base/clock.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "sink/openmetrics.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One node of a run, and what its series are labelled by: job_id="...",node="...". */
struct source {
	const struct follow_node *node;
	const struct exposition_run *run;
	uint32_t labels; /* where they begin in exposing.labels */
	bool current;
};

struct reading {
	const struct metric *metric;
	const char *instance; /* NULL: the node itself */
	uint32_t source;
	double value;
};

struct exposing {
	const struct exposition_run *run;
	size_t nruns;
	struct source *source;
	uint32_t nsources;
	struct reading *reading;
	size_t nreadings;
	struct bytes labels; /* NUL-terminated, one behind the other */
	struct bytes name;
	struct bytes *out;
	int64_t now_ns;
	enum exposition_format format;
};

/* ---- who ---- */

static const char *meta_text(const struct follow_node *n, const char *key)
{
	const struct follow_meta *m = follow_meta(n, key);

	return m && m->text && m->text[0] ? m->text : NULL;
}

/* The batch job's id; NULL when there is none. */
static const char *job_id(const struct exposition_run *r)
{
	const char *id = NULL;

	for (uint32_t i = 0; !id && i < follow_count(r->follow); i++)
		id = meta_text(follow_node(r->follow, i), "job.id");
	return id;
}

/* The job's id, or the path of its directory: when it has none, and when another has the same. */
static const char *name_of(const struct exposing *x, const struct exposition_run *r)
{
	const char *id = job_id(r);

	for (size_t i = 0; id && i < x->nruns; i++) {
		const char *other = &x->run[i] == r ? NULL : job_id(&x->run[i]);

		if (other && !strcmp(other, id))
			return r->path;
	}
	return id ? id : r->path;
}

static const char *file_of(const struct follow_node *n)
{
	const char *slash = strrchr(n->path, '/');

	return slash ? slash + 1 : n->path;
}

static void put_label(struct bytes *b, const char *key, const char *value)
{
	if (b->len && b->data[b->len - 1] == '"')
		bytes_u8(b, ',');
	bytes_printf(b, "%s=\"", key);
	escape_openmetrics(b, value);
	bytes_u8(b, '"');
}

/* node-HOST.N.sonde is of the N-th recorder on that host; of the first there is no N. */
static void put_recorder(struct bytes *b, const struct follow_node *n)
{
	const char *file = file_of(n), *end = strrchr(file, '.'), *at = end;
	char number[16];
	size_t digits;

	while (at && at > file && at[-1] >= '0' && at[-1] <= '9')
		at--;
	digits = at ? (size_t)(end - at) : 0;
	if (!digits || digits >= sizeof number || at == file || at[-1] != '.')
		return;
	memcpy(number, at, digits);
	number[digits] = '\0';
	put_label(b, "recorder", number);
}

static void source_add(struct exposing *x, const struct exposition_run *r,
		       const struct follow_node *n)
{
	struct source *s = &x->source[x->nsources++];

	*s = (struct source){ .node = n, .run = r, .labels = (uint32_t)x->labels.len };
	s->current = n->state == FOLLOW_OPEN && n->utc_ns &&
		     x->now_ns - n->utc_ns < EXPOSITION_STALE_S * NS_PER_S;
	put_label(&x->labels, "job_id", name_of(x, r));
	put_label(&x->labels, "node", n->host);
	put_recorder(&x->labels, n);
	bytes_u8(&x->labels, '\0');
}

static int sources_find(struct exposing *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->nruns; i++)
		n += follow_count(x->run[i].follow);
	x->source = calloc(n + 1, sizeof *x->source);
	if (!x->source)
		return -ENOMEM;
	for (size_t i = 0; i < x->nruns; i++) {
		const struct exposition_run *r = &x->run[i];

		for (uint32_t k = 0; k < follow_count(r->follow); k++) {
			const struct follow_node *node = follow_node(r->follow, k);

			if (node->utc_ns && (!r->only || !strcmp(r->only, file_of(node))))
				source_add(x, r, node);
		}
	}
	return x->labels.failed ? -ENOMEM : 0;
}

/* ---- what ---- */

/* A value that is read rarely stands until it is stale; processes come and go by the thousand. */
static bool reading_of(const struct source *src, const struct follow_series *s, struct reading *out)
{
	const struct follow_node *n = src->node;
	const struct follow_instance *in = s->instance ? follow_instance(n, s->instance) : NULL;

	*out = (struct reading){ .metric = s->metric, .instance = in ? in->name : NULL };
	if (s->state != STATE_PRESENT || !s->seen_ns || (s->instance && !in) ||
	    n->mono_ns - s->seen_ns >= EXPOSITION_STALE_S * NS_PER_S)
		return false;
	if (in && (!strcmp(in->domain, "process") || !strcmp(in->domain, "command")))
		return false;
	out->value = metric_value(s->metric, s->value);
	return isfinite(out->value);
}

static int readings_find(struct exposing *x)
{
	size_t n = 0;

	for (uint32_t i = 0; i < x->nsources; i++)
		n += x->source[i].current ? x->source[i].node->nseries : 0;
	x->reading = calloc(n + 1, sizeof *x->reading);
	if (!x->reading)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->nsources; i++) {
		const struct source *s = &x->source[i];

		for (uint32_t k = 0; s->current && k < s->node->nseries; k++) {
			struct reading *r = &x->reading[x->nreadings];

			if (!reading_of(s, &s->node->series[k], r))
				continue;
			r->source = i;
			x->nreadings++;
		}
	}
	return 0;
}

static int by_family(const void *a, const void *b)
{
	const struct reading *x = a, *y = b;
	int name = openmetrics_compare(x->metric->name, y->metric->name);

	if (name)
		return name;
	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	return strcmp(x->instance ? x->instance : "", y->instance ? y->instance : "");
}

/* ---- how ---- */

static bool is_counter(const struct metric *m)
{
	return m->kind == KIND_COUNTER || m->kind == KIND_TOTAL;
}

/* In the older format a counter's family is called as its samples are. */
static void put_family(struct exposing *x, const char *metric, bool counter, const char *unit,
		       const char *help)
{
	bool old = x->format == EXPOSITION_TEXT;

	bytes_reset(&x->name);
	openmetrics_name(&x->name, metric);
	if (counter && old)
		bytes_puts(&x->name, "_total");
	bytes_u8(&x->name, '\0');
	if (x->name.failed)
		return;
	openmetrics_family(x->out, (const char *)x->name.data, counter, old ? NULL : unit, help);
	if (counter && !old) {
		x->name.len--;
		bytes_puts(&x->name, "_total");
		bytes_u8(&x->name, '\0');
	}
}

static const char *labels_of(const struct exposing *x, uint32_t source)
{
	return (const char *)x->labels.data + x->source[source].labels;
}

static void put_number(struct exposing *x, double value)
{
	struct json number = { .out = x->out };

	json_real(&number, value);
	bytes_u8(x->out, '\n');
}

static void put_sample(struct exposing *x, const struct reading *r)
{
	bytes_printf(x->out, "%s{%s", (const char *)x->name.data, labels_of(x, r->source));
	if (r->instance) {
		bytes_u8(x->out, ',');
		openmetrics_label(x->out, r->metric->name);
		bytes_puts(x->out, "=\"");
		escape_openmetrics(x->out, r->instance);
		bytes_u8(x->out, '"');
	}
	bytes_puts(x->out, "} ");
	put_number(x, r->value);
}

/* Two things of one name would be one series, and then nothing would be taken at all. */
static void put_readings(struct exposing *x)
{
	const struct reading *family = NULL, *before = NULL;

	qsort(x->reading, x->nreadings, sizeof *x->reading, by_family);
	for (size_t i = 0; i < x->nreadings; i++) {
		const struct reading *r = &x->reading[i];

		if (before && !by_family(before, r))
			continue;
		before = r;
		if (!family || openmetrics_compare(family->metric->name, r->metric->name)) {
			family = r;
			put_family(x, r->metric->name, is_counter(r->metric),
				   unit_name(r->metric->unit), r->metric->help);
		}
		if (is_counter(r->metric) == is_counter(family->metric))
			put_sample(x, r);
	}
}

static void put_state(struct exposing *x, const char *name, const char *unit, const char *help,
		      double (*value)(const struct source *s))
{
	put_family(x, name, false, unit, help);
	for (uint32_t i = 0; i < x->nsources && !x->name.failed; i++) {
		bytes_printf(x->out, "%s{%s} ", (const char *)x->name.data, labels_of(x, i));
		put_number(x, value(&x->source[i]));
	}
}

static double is_open(const struct source *s)
{
	return s->current;
}

static double sample_time(const struct source *s)
{
	return (double)s->node->utc_ns / 1e9;
}

/* What is known of the job besides, once for each of its nodes: so that two recorders that were
 * told different things cannot make one series of them. */
static void put_info(struct exposing *x)
{
	static const struct {
		const char *key, *label;
	} told[] = { { "job.name", "job_name" },
		     { "job.user", "user" },
		     { "job.queue", "queue" },
		     { "job.cluster", "cluster" } };

	put_family(x, "job_info", false, NULL, "What is known of the job; always 1.");
	for (uint32_t i = 0; i < x->nsources && !x->name.failed; i++) {
		const struct source *s = &x->source[i];

		bytes_printf(x->out, "%s{%s", (const char *)x->name.data, labels_of(x, i));
		put_label(x->out, "path", s->run->path);
		for (size_t k = 0; k < sizeof told / sizeof told[0]; k++) {
			const char *text = meta_text(s->node, told[k].key);

			if (text)
				put_label(x->out, told[k].label, text);
		}
		bytes_puts(x->out, "} 1\n");
	}
}

int exposition_put(struct bytes *out, const struct exposition_run *run, size_t n,
		   int64_t now_utc_ns, enum exposition_format format)
{
	struct exposing x = {
		.run = run, .nruns = n, .out = out, .now_ns = now_utc_ns, .format = format
	};
	int rc = sources_find(&x);

	bytes_reset(out);
	if (!rc)
		rc = readings_find(&x);
	if (!rc) {
		put_readings(&x);
		put_info(&x);
		put_state(&x, "recording_open", NULL,
			  "1 while samples come, 0 when the recording ended or nothing comes.",
			  is_open);
		put_state(&x, "sample_timestamp_seconds", "seconds",
			  "When the newest sample was taken, since 1970.", sample_time);
		if (format == EXPOSITION_OPENMETRICS)
			bytes_puts(out, "# EOF\n");
	}
	if (x.name.failed || out->failed)
		rc = -ENOMEM;
	free(x.source);
	free(x.reading);
	bytes_free(&x.labels);
	bytes_free(&x.name);
	return rc;
}

enum { LOOK_MS = 1000 };

static int write_all(int fd, const struct bytes *text)
{
	size_t done = 0;

	while (done < text->len) {
		ssize_t n = write(fd, text->data + done, text->len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* A new file beside path, whose name is then *temporary (to be freed). A descriptor, or -1 with
 * errno. before: what is there; its mode is 0 when nothing is. */
static int file_beside(const char *path, char **temporary, struct stat *before)
{
	int fd, code;

	if (stat(path, before)) {
		before->st_mode = 0;
	} else if (!S_ISREG(before->st_mode)) {
		errno = EEXIST; /* a device, a FIFO, a directory: not ours to replace */
		return -1;
	}
	if (asprintf(temporary, "%s.XXXXXX", path) < 0)
		return -1;
	fd = mkostemp(*temporary, O_CLOEXEC);
	if (fd >= 0)
		return fd;
	code = errno;
	free(*temporary);
	errno = code;
	return -1;
}

static int cannot(const char *path, int rc, struct err *e)
{
	return err_set(e, rc, "cannot write %.300s: %s", path,
		       rc == -EEXIST ? "it is not a regular file" : strerror(-rc));
}

int openmetrics_file_try(const char *file, struct err *e)
{
	struct stat before;
	char *temporary;
	int fd = file_beside(file, &temporary, &before);

	if (fd < 0)
		return cannot(file, -errno, e);
	close(fd);
	unlink(temporary);
	free(temporary);
	return 0;
}

/* st becomes that of what was written. */
static int file_replace(const char *path, const struct bytes *text, struct stat *st)
{
	struct stat before;
	char *temporary;
	int fd = file_beside(path, &temporary, &before), rc = 0;

	if (fd < 0)
		return -errno;
	if (before.st_mode && fchmod(fd, before.st_mode & 0666))
		rc = -errno;
	if (!rc)
		rc = write_all(fd, text);
	if (!rc && fstat(fd, st))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(temporary, path))
		rc = -errno;
	if (rc)
		unlink(temporary);
	free(temporary);
	return rc;
}

static void file_remove(const char *path, const struct stat *ours)
{
	struct stat now;

	if (ours->st_ino && !stat(path, &now) && now.st_ino == ours->st_ino &&
	    now.st_dev == ours->st_dev)
		unlink(path);
}

static bool is_over(const struct openmetrics_file *t, const struct follow *f)
{
	for (uint32_t i = 0; i < follow_count(f); i++) {
		const struct follow_node *n = follow_node(f, i);
		const char *slash = strrchr(n->path, '/');

		if (!strcmp(slash ? slash + 1 : n->path, t->only) && n->state == FOLLOW_ENDED)
			return true;
	}
	return kill(t->recorder, 0) && errno == ESRCH;
}

/* Until it is time to look again; whether the recorder ended meanwhile. */
static bool sleep_or_end(const struct openmetrics_file *t)
{
	struct pollfd p = { .fd = t->ended, .events = POLLIN };

	return poll(&p, 1, LOOK_MS) > 0 && p.revents;
}

static int update(const struct openmetrics_file *t, const struct follow *f, struct bytes *text,
		  struct stat *ours)
{
	const struct exposition_run run = { f, t->directory, t->only };
	int rc = exposition_put(text, &run, 1, clock_utc_ns(), EXPOSITION_TEXT);

	return rc ? rc : file_replace(t->file, text, ours);
}

int openmetrics_file_follow(const struct openmetrics_file *t, struct err *e)
{
	struct stat ours = { 0 };
	struct bytes text = { 0 };
	struct follow *f;
	int64_t due = 0;
	bool over = false, said = false;
	int rc = follow_open(&f, t->directory, e), wrote;

	if (rc)
		return rc;
	while (!rc && !over) {
		int64_t now = clock_mono_ns();

		rc = follow_poll(f, e);
		if (!rc && now >= due) {
			wrote = update(t, f, &text, &ours);
			if (wrote && !said) {
				cannot(t->file, wrote, e);
				t->say(e->text);
				said = true;
			}
			due = now + t->every_ns;
		}
		over = is_over(t, f) || sleep_or_end(t);
	}
	file_remove(t->file, &ours);
	follow_close(f);
	bytes_free(&text);
	return rc;
}
