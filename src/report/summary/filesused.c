/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/filesused.h"

#include "base/hash.h"
#include "report/phases/phases.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const used_by_names[USED_BY_NUMBER_OF] = { "file",  "directory", "extension", "mount",
						       "phase", "process",   "command" };
const char *const used_counter_names[USED_COUNTERS] = {
	"read_bytes",
	"written_bytes",
	"reads",
	"writes",
	"read_seconds",
	"write_seconds",
	"other_seconds",
	"sequential_bytes",
	"opens",
	"stats",
	"not_found",
	"syncs",
	"mapped_bytes",
	"mapped_writable_bytes",
	"calls_below_4k",
	"calls_below_64k",
	"calls_below_1m",
	"calls_from_1m",
	"folded",
	"size_bytes",
	"modified_seconds",
};

/* ---- rows ---- */

/* What is said of a counter last is all of it. */
static void take_finals(struct used_row *row, const struct run *r, const uint32_t *metric)
{
	const struct run_instance *in = &r->instances[row->instance];

	for (uint32_t f = 0; f < in->nfinals; f++)
		for (int i = 0; i < USED_COUNTERS; i++) {
			const struct run_final *v = &r->finals[in->first_final + f];
			const struct metric *m = &r->metrics[v->metric].row;

			if (!metric[i] || v->metric != metric[i] || v->value < 0)
				continue;
			row->value[i] = (double)v->value * (m->mul ? (double)m->mul : 1) /
					(m->div ? (double)m->div : 1);
			row->known |= 1u << i;
		}
}

static int take_rows(struct files_used *u, const struct run *r, struct err *e)
{
	uint32_t metric[USED_COUNTERS];
	char name[64];
	size_t n = 0;

	for (int i = 0; i < USED_COUNTERS; i++) {
		snprintf(name, sizeof name, "file.%s", used_counter_names[i]);
		metric[i] = run_find_metric(r, name);
	}
	for (uint32_t i = 1; i < r->ninstances; i++)
		n += r->instances[i].domain && !strcmp(r->instances[i].domain, "file");
	u->row = calloc(n + 1, sizeof *u->row);
	if (!u->row)
		return err_set(e, -ENOMEM, "out of memory for the files of %.300s", r->path);
	for (uint32_t i = 1; i < r->ninstances; i++) {
		if (!r->instances[i].domain || strcmp(r->instances[i].domain, "file") != 0)
			continue;
		u->row[u->n].instance = i;
		take_finals(&u->row[u->n], r, metric);
		u->known |= u->row[u->n++].known;
	}
	return 0;
}

static const char *name_of(const struct run *r, const struct used_row *row)
{
	const char *name = r->instances[row->instance].name;

	return name ? name : "";
}

/* ---- sums ---- */

static char *key_of(const struct run *r, const struct used_row *row, enum used_by by)
{
	const struct run_instance *in = &r->instances[row->instance];
	const char *name = name_of(r, row), *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name, *dot = strrchr(base, '.');
	const char *label;

	switch (by) {
	case USED_BY_DIRECTORY:
		return slash ? strndup(name, slash > name ? (size_t)(slash - name) : 1)
			     : strdup("(none)");
	case USED_BY_EXTENSION:
		return strdup(dot && dot != base ? dot : "(none)");
	case USED_BY_MOUNT:
		label = run_label(r, row->instance, "mount");
		return strdup(label ? label : "(not known)");
	case USED_BY_COMMAND:
		label = run_label(r, row->instance, "command");
		return strdup(label ? label : "(not known)");
	case USED_BY_PROCESS:
		label = in->parent ? r->instances[in->parent].name : NULL;
		return strdup(label ? label
			      : run_label(r, row->instance, "command")
				      ? run_label(r, row->instance, "command")
				      : "(not known)");
	default:
		return strdup(name);
	}
}

static double weight_of(const double *v)
{
	return v[USED_READ] + v[USED_WRITTEN] + v[USED_MAPPED] / 16 +
	       4096 * (v[USED_OPENS] + v[USED_STATS] + v[USED_NOT_FOUND] + v[USED_READS] +
		       v[USED_WRITES]);
}

static int by_weight(const void *x, const void *y)
{
	const struct used_sum *a = x, *b = y;
	double wa = weight_of(a->value), wb = weight_of(b->value);

	return wa != wb ? (wa < wb) - (wa > wb) : strcmp(a->name, b->name);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct used_sum *)x)->name, ((const struct used_sum *)y)->name);
}

static void add_up(struct used_sum *to, const double *value, double share)
{
	for (int i = 0; i < USED_SIZE; i++)
		to->value[i] += value[i] * share;
	for (int i = USED_SIZE; i < USED_COUNTERS; i++)
		to->value[i] = fmax(to->value[i], value[i]);
}

/* Those of a name become one. Files counts names. */
static size_t merge(struct used_sum *s, size_t n)
{
	size_t to = 0;

	qsort(s, n, sizeof *s, by_name);
	for (size_t i = 0; i < n; i++) {
		if (to && !strcmp(s[to - 1].name, s[i].name)) {
			add_up(&s[to - 1], s[i].value, 1);
			s[to - 1].files += s[i].files;
			free(s[i].name);
		} else {
			s[to++] = s[i];
		}
	}
	qsort(s, to, sizeof *s, by_weight);
	return to;
}

/* The part of a row's time, from its first to its last call, that is in a phase. */
static double part_in(const struct run_instance *in, int64_t begin_ns, int64_t end_ns)
{
	double first = (double)in->birth_ns, last = (double)in->end_ns;
	double from = fmax(first, (double)begin_ns), to = fmin(last, (double)end_ns);

	if (last <= first)
		return first >= (double)begin_ns && first < (double)end_ns;
	return to > from ? (to - from) / (last - first) : 0;
}

static int sum_phases(struct used_sum **out, size_t *n, const struct files_used *u, struct run *r,
		      struct err *e)
{
	struct phase_rules rules = { 0 };
	struct phases p = { 0 };
	int rc = phase_rules_builtin(&rules, e);

	*n = 0;
	if (!rc)
		rc = phases_make_some(&p, r, &rules, e);
	*out = rc ? NULL : calloc((size_t)p.n + 1, sizeof **out);
	for (uint32_t i = 0; *out && i < p.n; i++) {
		struct used_sum *s = &(*out)[*n];

		s->name = strdup(p.phase[i].name);
		for (size_t k = 0; s->name && k < u->n; k++) {
			const struct run_instance *in = &r->instances[u->row[k].instance];
			double part = in->node == p.phase[i].node
					      ? part_in(in, p.phase[i].begin_ns, p.phase[i].end_ns)
					      : 0;

			if (part > 0)
				add_up(s, u->row[k].value, part);
			s->files += part > 0;
		}
		*n += s->name != NULL;
	}
	if (*out)
		*n = merge(*out, *n);
	phases_free(&p);
	phase_rules_free(&rules);
	return rc || *out ? rc : err_set(e, -ENOMEM, "out of memory for files by phase");
}

int used_sums(struct used_sum **out, size_t *n, const struct files_used *u, struct run *r,
	      enum used_by by, struct err *e)
{
	struct used_sum *s;

	if (by == USED_BY_PHASE)
		return sum_phases(out, n, u, r, e);
	*n = 0;
	*out = s = calloc(u->n + 1, sizeof *s);
	for (size_t i = 0; s && i < u->n; i++) {
		double folded = u->row[i].value[USED_FOLDED];

		s[*n] = (struct used_sum){ .name = key_of(r, &u->row[i], by),
					   .files = folded > 0 ? folded : 1 };
		memcpy(s[*n].value, u->row[i].value, sizeof s[*n].value);
		if (s[*n].name)
			++*n;
	}
	if (!s)
		return err_set(e, -ENOMEM, "out of memory for the files of %.300s", r->path);
	*n = merge(s, *n);
	return 0;
}

void used_sums_free(struct used_sum *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(s[i].name);
	free(s);
}

enum used_kind used_kind(const struct used_sum *s)
{
	const double *v = s->value;
	bool read = v[USED_READ] > 0 || v[USED_MAPPED] > 0;
	bool written = v[USED_WRITTEN] > 0 || v[USED_MAPPED_WRITABLE] > 0;

	if (!(read || written) || v[USED_FOLDED] > 0 || !(v[USED_MODIFIED] > 0))
		return USED_UNLISTED;
	return !written ? USED_INPUT : read ? USED_BOTH : USED_OUTPUT;
}

/* ---- what rules ask for ---- */

static void judge_directories(struct files_used *u, const struct used_sum *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const double *v = s[i].value;
		double bytes = v[USED_READ] + v[USED_WRITTEN];

		if (v[USED_OPENS] > u->small.opens && bytes < 65536 * v[USED_OPENS] &&
		    s[i].files > 0.5 * v[USED_OPENS]) {
			u->small.opens = v[USED_OPENS];
			u->small.bytes = bytes;
			snprintf(u->small.name, sizeof u->small.name, "%.250s", s[i].name);
		}
		if (v[USED_NOT_FOUND] > u->missing.count) {
			u->missing.count = v[USED_NOT_FOUND];
			snprintf(u->missing.name, sizeof u->missing.name, "%.250s", s[i].name);
		}
		u->metadata += v[USED_OPENS] + v[USED_STATS] + v[USED_NOT_FOUND];
		u->all_calls += v[USED_READS] + v[USED_WRITES];
	}
}

static void judge_files(struct files_used *u, const struct used_sum *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const double *v = s[i].value;
		double times = v[USED_SIZE] > 0 ? v[USED_READ] / v[USED_SIZE] : 0;

		if (v[USED_FOLDED] > 0 || v[USED_WRITTEN] > 0 || v[USED_READ] <= u->again.bytes ||
		    times < 3)
			continue;
		u->again.bytes = v[USED_READ];
		u->again.times = times;
		snprintf(u->again.name, sizeof u->again.name, "%.250s", s[i].name);
	}
}

/* A row of what was written. */
struct written {
	const struct used_row *row;
	const char *name;
	uint32_t process; /* instance; 0: not known */
};

static int by_instance_name(const void *x, const void *y)
{
	const struct written *a = x, *b = y;
	int c = strcmp(a->name, b->name);

	return c ? c : (a->process > b->process) - (a->process < b->process);
}

static int by_process(const void *x, const void *y)
{
	const struct written *a = x, *b = y;

	return (a->process > b->process) - (a->process < b->process);
}

/* Where one process wrote nearly all of it, others may wait for it. */
static void judge_writer(struct files_used *u, struct written *w, size_t n)
{
	double all = 0, most = 0;

	qsort(w, n, sizeof *w, by_process);
	for (size_t i = 0; i < n;) {
		uint32_t process = w[i].process;
		double bytes = 0, seconds = 0;

		for (; i < n && w[i].process == process; i++) {
			bytes += w[i].row->value[USED_WRITTEN];
			seconds += w[i].row->value[USED_WRITE_SECONDS];
			if (w[i].row->value[USED_SYNCS] > 0)
				seconds += w[i].row->value[USED_OTHER_SECONDS];
		}
		all += bytes;
		if (!process || bytes <= most)
			continue;
		most = bytes;
		u->writer.process = process;
		u->writer.seconds = seconds;
	}
	u->writer.ratio = all > 0 ? most / all : 0;
}

/* Pieces below 1 MiB, of several processes in one file, of which most do not follow the one before:
 * as ranks write their blocks of a row each. */
static void judge_blocks(struct files_used *u, struct written *w, size_t n)
{
	qsort(w, n, sizeof *w, by_instance_name);
	for (size_t i = 0; i < n;) {
		double bytes = 0, writes = 0, processes = 0, sequential = 0, moved = 0;
		const char *name = w[i].name;
		uint32_t last = 0;

		for (; i < n && !strcmp(w[i].name, name); i++) {
			const double *v = w[i].row->value;

			if (!w[i].process || v[USED_FOLDED] > 0)
				continue;
			bytes += v[USED_WRITTEN];
			writes += v[USED_WRITES];
			sequential += v[USED_SEQUENTIAL];
			moved += v[USED_READ] + v[USED_WRITTEN];
			processes += w[i].process != last;
			last = w[i].process;
		}
		if (processes < 2 || bytes >= 1048576 * writes || 2 * sequential >= moved ||
		    writes <= u->blocks.writes || *name != '/')
			continue;
		u->blocks.bytes = bytes;
		u->blocks.writes = writes;
		u->blocks.processes = processes;
		snprintf(u->blocks.name, sizeof u->blocks.name, "%.250s", name);
	}
}

static int judge_written(struct files_used *u, const struct run *r, struct err *e)
{
	struct written *w = calloc(u->n + 1, sizeof *w);
	size_t n = 0;

	if (!w)
		return err_set(e, -ENOMEM, "out of memory for the files of %.300s", r->path);
	for (size_t i = 0; i < u->n; i++)
		if (u->row[i].value[USED_WRITTEN] > 0)
			w[n++] = (struct written){ &u->row[i], name_of(r, &u->row[i]),
						   r->instances[u->row[i].instance].parent };
	judge_blocks(u, w, n);
	judge_writer(u, w, n);
	free(w);
	return 0;
}

static int judge(struct files_used *u, struct run *r, struct err *e)
{
	struct used_sum *s = NULL;
	size_t n = 0;
	int rc = used_sums(&s, &n, u, r, USED_BY_FILE, e);

	if (!rc) {
		judge_files(u, s, n);
		for (size_t i = 0; i < n; i++) {
			char *slash = strrchr(s[i].name, '/');

			if (slash)
				slash[slash == s[i].name] = '\0';
		}
		n = merge(s, n);
		judge_directories(u, s, n);
	}
	used_sums_free(s, n);
	return rc;
}

/* ---- all of it ---- */

static void take_nodes(struct files_used *u, const struct run *r, bool *wanted)
{
	for (uint32_t node = 1; node < r->nnodes; node++) {
		const char *by = run_find_text(r, node, "files.by");
		const struct run_meta *lost = run_find_meta(r, node, "files.records_lost");

		*wanted |= by != NULL;
		u->by_positions |= by && !strcmp(by, "positions");
		if (lost && run_meta_number(lost) > 0)
			u->lost += run_meta_number(lost);
		if (!u->note)
			u->note = run_find_text(r, node, "files.note");
		if (!u->refused)
			u->refused = run_find_text(r, node, "source.files");
	}
}

int files_used_make(struct files_used **out, struct run *r, struct err *e)
{
	struct files_used *u = calloc(1, sizeof *u);
	bool wanted = false;
	int rc;

	*out = NULL;
	if (!u)
		return err_set(e, -ENOMEM, "out of memory for the files of %.300s", r->path);
	u->run = r;
	take_nodes(u, r, &wanted);
	if (!wanted && !u->refused) {
		files_used_free(u);
		return 0;
	}
	rc = take_rows(u, r, e);
	if (!rc)
		rc = judge(u, r, e);
	if (!rc)
		rc = judge_written(u, r, e);
	if (rc)
		files_used_free(u);
	else
		*out = u;
	return rc;
}

void files_used_free(struct files_used *u)
{
	if (u)
		free(u->row);
	free(u);
}
