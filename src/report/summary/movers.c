/* SPDX-License-Identifier: Apache-2.0 */
/* movers.c - which program made the job's reads and writes, how large each was, compressors whose
 * output is no smaller than their input, and files that are read or opened again and again. */
#include "base/text/decimal.h"
#include "report/summary/parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_CALLS, WRITE_CALLS, READ_BYTES, WRITTEN_BYTES, SYSTEM_S, CPU_S, MOVED };
static const char *const metrics[MOVED] = {
	[READ_CALLS] = "process.read_calls",       [WRITE_CALLS] = "process.write_calls",
	[READ_BYTES] = "process.read_bytes",       [WRITTEN_BYTES] = "process.written_bytes",
	[SYSTEM_S] = "process.cpu_system_seconds", [CPU_S] = "process.cpu_seconds",
};

void summary_movers_ask(struct series_index *x)
{
	for (int k = 0; k < MOVED; k++)
		series_index_ask(x, metrics[k], SERIES_LAST);
}

/* Of one process, then of all of its name. line: of the process that made most calls. */
struct mover {
	const char *name, *line;
	double of[MOVED], most, processes, cpu_s;
};

/* Of a counter; 0: not known. */
static double last_of(const struct run *r, const struct series_index *x, uint32_t i, int metric)
{
	double v;

	if (!run_final_value(r, i, metrics[metric], &v))
		v = series_index_last(x, i, run_find_metric(r, metrics[metric]));
	return isnan(v) ? 0 : v;
}

static double calls_of(const struct mover *m)
{
	return m->of[READ_CALLS] + m->of[WRITE_CALLS];
}

static struct mover mover_of(const struct run *r, const struct series_index *x,
			     const struct summary_process *p)
{
	struct mover m = { .name = p->name ? p->name : "",
			   .line = p->command_line,
			   .processes = 1,
			   .cpu_s = fmax(p->cpu_s, 0) };

	for (int k = 0; k < MOVED; k++)
		m.of[k] = last_of(r, x, p->instance, k);
	if (m.of[CPU_S] > 0 && p->cpu_s > m.of[CPU_S]) /* after its last sample, too */
		m.of[SYSTEM_S] *= p->cpu_s / m.of[CPU_S];
	m.most = calls_of(&m);
	return m;
}

/* ---- small reads and writes ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct mover *)a)->name, ((const struct mover *)b)->name);
}

static uint32_t merge(struct mover *m, uint32_t n)
{
	uint32_t kept = 0;

	qsort(m, n, sizeof *m, by_name);
	for (uint32_t i = 0; i < n; i++) {
		struct mover *to = kept ? &m[kept - 1] : NULL;

		if (!to || strcmp(to->name, m[i].name) != 0) {
			m[kept++] = m[i];
			continue;
		}
		if (m[i].most > to->most) {
			to->most = m[i].most;
			to->line = m[i].line;
		}
		for (int k = 0; k < MOVED; k++)
			to->of[k] += m[i].of[k];
		to->processes++;
	}
	return kept;
}

static void put_size(char *out, size_t size, double bytes, double calls)
{
	char text[32];

	decimal_append(out, size, "%s", unit_format(UNIT_BYTES, bytes / calls, text, sizeof text));
}

/* Where both are many and one is twice the other or more, a mean of both is neither's. */
static void put_sizes(char *out, size_t size, const struct mover *m)
{
	static const double many = 0.1, unlike = 2;
	double read = m->of[READ_BYTES] / m->of[READ_CALLS];
	double written = m->of[WRITTEN_BYTES] / m->of[WRITE_CALLS];

	if (m->of[READ_CALLS] < many * calls_of(m) || m->of[WRITE_CALLS] < many * calls_of(m) ||
	    fmax(read, written) < unlike * fmin(read, written))
		return;
	decimal_append(out, size, " (");
	put_size(out, size, m->of[READ_BYTES], m->of[READ_CALLS]);
	decimal_append(out, size, " a read, ");
	put_size(out, size, m->of[WRITTEN_BYTES], m->of[WRITE_CALLS]);
	decimal_append(out, size, " a write)");
}

/* What the kernel counts of a process has in it what its ended children did: a shell that waited
 * for a program and uses next to no CPU time is not who does it. */
static bool is_own_work(const struct mover *m)
{
	static const double cheapest_s = 0.1e-6;

	return m->of[CPU_S] >= cheapest_s * calls_of(m);
}

static void say_small(struct summary *s, const struct mover *m)
{
	static const double opens_least = 0.2;
	struct story *y = &s->story;
	const char *in = *s->hot.in[HOT_IN_IO] ? s->hot.in[HOT_IN_IO] : ".";
	size_t size = sizeof y->small_io_where;

	y->small_io_calls = calls_of(m);
	y->small_io_bytes = m->of[READ_BYTES] + m->of[WRITTEN_BYTES];
	y->small_io_kernel_s = m->of[SYSTEM_S];
	put_sizes(y->small_io_where, size, m);
	decimal_append(y->small_io_where, size, ", by ");
	if (m->processes > 1)
		decimal_append(y->small_io_where, size, "%.0f processes like `", m->processes);
	summary_put_command(y->small_io_where, size, m->line ? m->line : m->name);
	if (m->processes > 1)
		decimal_append(y->small_io_where, size, "`");
	decimal_append(y->small_io_where, size, "%s", in);
	if (s->hot.opens_ratio >= opens_least)
		decimal_append(
			y->small_io_where, size,
			" %.0f %% of the kernel's time went to opening and closing files: keep them open.",
			100 * s->hot.opens_ratio);
}

/* Named only if it made nearly all. */
static void find_small(struct summary *s, const struct mover *m, uint32_t n)
{
	static const double nearly_all = 0.8;
	double all = summary_grown(s, "job.read_calls") + summary_grown(s, "job.write_calls");
	const struct mover *most = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (is_own_work(&m[i]) && (!most || calls_of(&m[i]) > calls_of(most)))
			most = &m[i];
	if (most && all > 0 && calls_of(most) >= nearly_all * all)
		say_small(s, most);
}

/* ---- compressors whose output is as large as their input ---- */

/* A word of options that has this letter, or a long option: "-9dc", "--decompress". */
static bool has_option(const char *line, char letter, const char *whole)
{
	for (const char *at = strstr(line, " -"); at; at = strstr(at + 1, " -")) {
		size_t n = strcspn(at + 1, " =");

		if (at[2] == '-' ? !strncmp(at + 1, whole, n) && n > 4
				 : memchr(at + 2, letter, n > 1 ? n - 1 : 0) != NULL)
			return true;
	}
	return false;
}

/* It compresses, as far as its arguments say: what unpacks, tests or lists does not. */
static bool compresses(const struct mover *m)
{
	static const char names[] =
		" gzip pigz bzip2 lbzip2 pbzip2 xz lzma zstd zstdmt lz4 lzop brotli ";
	char word[32];

	snprintf(word, sizeof word, " %.*s ", (int)strcspn(m->name, " "), m->name);
	return m->line && strlen(word) > 2 && strstr(names, word) &&
	       !has_option(m->line, 'd', "--decompress") && !has_option(m->line, 't', "--test") &&
	       !has_option(m->line, 'l', "--list");
}

static void find_incompressible(struct story *y, const struct mover *m, uint32_t n,
				const struct summary *s)
{
	static const double least_bytes = 1 << 20, least = 0.95, most = 1.05;
	double largest = 0;

	y->incompressible_read = y->incompressible_written = y->incompressible_s = NAN;
	for (uint32_t i = 0; i < n; i++) {
		double read = m[i].of[READ_BYTES], written = m[i].of[WRITTEN_BYTES];

		if (!compresses(&m[i]) || read < least_bytes || written < least * read ||
		    written > most * read)
			continue;
		if (!(largest > 0))
			y->incompressible_read = y->incompressible_written = y->incompressible_s =
				0;
		y->incompressible_read += read;
		y->incompressible_written += written;
		y->incompressible_s += fmin(m[i].cpu_s, s->cpu_s);
		if (read <= largest)
			continue;
		largest = read;
		y->incompressible[0] = '\0';
		summary_put_command(y->incompressible, sizeof y->incompressible, m[i].line);
	}
}

/* ---- files, as the recorder's looks at a process have them ---- */

static double meta_of(const struct run *r, uint32_t node, const char *key)
{
	const struct run_meta *m = run_find_meta(r, node, key);

	return m && m->type == META_INT ? (double)m->value : NAN;
}

/* "python3 (pid 12)" */
static void put_process(char out[STORY_TEXT], const struct run *r, uint32_t node, double pid)
{
	const char *name = "a process";

	for (uint32_t i = 1; i < r->ninstances; i++) {
		const struct run_instance *in = &r->instances[i];
		const char *label = run_label(r, i, "pid");

		if (in->domain && !strcmp(in->domain, "process") && in->node == node && in->name &&
		    label && strtod(label, NULL) == pid)
			name = in->name;
	}
	snprintf(out, STORY_TEXT, "%.100s (pid %.0f)", name, pid);
}

/* Of the node where that were most bytes. */
static void find_reread(struct story *y, const struct run *r, uint32_t node)
{
	const char *file = run_find_text(r, node, "job.reread_file");
	double bytes = meta_of(r, node, "job.reread_bytes");

	if (!file || !(bytes > 0) || bytes <= y->reread_bytes)
		return;
	y->reread_bytes = bytes;
	y->reread_size = meta_of(r, node, "job.reread_size_bytes");
	y->reread_times = floor(bytes / y->reread_size);
	y->reread_within =
		meta_of(r, node, "job.reread_within_looks") / meta_of(r, node, "job.reread_looks");
	snprintf(y->reread_file, sizeof y->reread_file, "%s", file);
	put_process(y->reread_process, r, node, meta_of(r, node, "job.reread_pid"));
}

/* Of the node where that were most bytes. */
static void find_gone_back(struct story *y, const struct run *r, uint32_t node)
{
	const char *file = run_find_text(r, node, "job.gone_back_file");
	double bytes = meta_of(r, node, "job.gone_back_bytes");

	if (!file || !(bytes > 0) || bytes <= y->back_bytes)
		return;
	y->back_bytes = bytes;
	y->back_size = meta_of(r, node, "job.gone_back_size_bytes");
	y->back_looks = meta_of(r, node, "job.gone_back_looks");
	put_process(y->back, r, node, meta_of(r, node, "job.gone_back_pid"));
	decimal_append(y->back, sizeof y->back, " went back in %s", file);
}

/* Of the node where it was seen most often. */
static void find_reopened(struct story *y, const struct run *r, uint32_t node)
{
	const char *file = run_find_text(r, node, "job.reopened_file");
	double closed = meta_of(r, node, "job.reopened_closed_looks");

	if (!file || !(closed > 0) || closed <= y->reopened_closed)
		return;
	y->reopened_closed = closed;
	y->reopened_looks = meta_of(r, node, "job.reopened_looks");
	put_process(y->reopened, r, node, meta_of(r, node, "job.reopened_pid"));
	decimal_append(y->reopened, sizeof y->reopened, " opened and closed %s", file);
}

int summary_movers_make(struct summary *s, const struct run *r, const struct series_index *x)
{
	struct mover *m = calloc((size_t)s->nprocesses + 1, sizeof *m);
	struct story *y = &s->story;
	uint32_t n = 0;

	y->small_io_calls = y->small_io_bytes = y->small_io_kernel_s = NAN;
	if (!m)
		return -ENOMEM;
	for (uint32_t i = 1; i < r->nnodes; i++) {
		find_reread(y, r, i);
		find_gone_back(y, r, i);
		find_reopened(y, r, i);
	}
	for (uint32_t i = 0; i < s->nprocesses; i++)
		if (!s->processes[i].counted_already)
			m[n++] = mover_of(r, x, &s->processes[i]);
	find_incompressible(y, m, n, s);
	n = merge(m, n);
	find_small(s, m, n);
	free(m);
	return 0;
}
