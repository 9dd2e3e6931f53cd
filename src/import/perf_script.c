/* SPDX-License-Identifier: Apache-2.0 */
/* perf_script.c - the text of `perf script`: a head for each sample, and its stack below it, the
 * innermost frame first. Samples of the file's first event become those of CPU time. */
#include "base/clock.h"
#include "base/text/number.h"
#include "import/importer.h"
#include "import/sampled.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 64, COMMAND_ROOM = 64, GAPS = 64 * 16, NANO = 9 };

/* Of one sample. */
struct sample_head {
	char command[COMMAND_ROOM], event[NAME_ROOM];
	uint32_t pid, tid;
	int64_t at_ns;
	uint64_t period;
};

struct perf_script {
	const struct import *x;
	struct err *e;
	struct packed file;
	struct lines lines;
	struct sampled to;
	bool writes; /* the second reading */

	/* Of the file, by the first reading. */
	char event[NAME_ROOM];
	bool is_clock; /* its period is time */
	int64_t first_ns, last_ns;
	uint64_t hertz;            /* of the file's header; 0: it has none */
	uint64_t gap[GAPS];        /* between samples of a thread: how many of about that length */
	struct sampled_ids thread; /* its last time, in units of 100 us since the first */
	uint64_t samples, others, bad, deep;

	/* The sample that is being read. */
	struct sample_head head;
	bool open;
	uint32_t nframes, frame[SAMPLED_DEEP_MAX];
};

/* ---- heads ---- */

/* "1234.567890:", with at most nine places. */
static bool time_of(const char *p, size_t n, int64_t *ns)
{
	const char *dot = memchr(p, '.', n);
	char text[32];
	const char *at = text;

	if (!dot || n < 4 || n >= sizeof text || p[n - 1] != ':' || !isdigit((unsigned char)*p) ||
	    (size_t)(p + n - 1 - dot) > NANO + 1)
		return false;
	memcpy(text, p, n);
	text[n] = '\0';
	return number_fixed(&at, NANO, ns) && *at == ':' && !at[1] && *ns < INT64_MAX / 4;
}

/* "12/13" or "13". */
static bool ids_of(const char *p, struct sample_head *h)
{
	uint64_t first, second;

	if (!isdigit((unsigned char)*p) || !number_u64(&p, &first) || first > UINT32_MAX)
		return false;
	second = first;
	if (*p == '/' && isdigit((unsigned char)p[1])) {
		p++;
		if (!number_u64(&p, &second) || second > UINT32_MAX)
			return false;
	}
	h->pid = (uint32_t)first;
	h->tid = (uint32_t)second;
	return *p == ' ' || *p == '\t';
}

/* What is before p, back to the blank before it. */
static const char *word_before(const char *begin, const char *p)
{
	while (p > begin && isblank((unsigned char)p[-1]))
		p--;
	while (p > begin && !isblank((unsigned char)p[-1]))
		p--;
	return p;
}

/* "  250000 cpu-clock:pppH:" */
static void event_of(const char *p, struct sample_head *h)
{
	size_t n;

	h->period = 1;
	p = number_skip_blanks(p);
	if (isdigit((unsigned char)*p) && !number_u64(&p, &h->period))
		h->period = 1;
	p = number_skip_blanks(p);
	n = strcspn(p, " \t");
	while (n && p[n - 1] == ':')
		n--;
	snprintf(h->event, sizeof h->event, "%.*s", (int)(n < NAME_ROOM ? n : NAME_ROOM - 1), p);
}

/* "my prog  12/13 [001]  1234.567890:  250000 cpu-clock:": what comes first may hold blanks. */
static bool head_of(const char *text, struct sample_head *h)
{
	const char *at = text, *begin = number_skip_blanks(text);

	for (; *at; at += strcspn(at, " \t")) {
		const char *ids, *end;
		size_t n;

		at = number_skip_blanks(at);
		n = strcspn(at, " \t");
		if (!time_of(at, n, &h->at_ns))
			continue;
		ids = word_before(begin, at);
		if (*ids == '[')
			ids = word_before(begin, ids);
		end = ids;
		while (end > begin && isblank((unsigned char)end[-1]))
			end--;
		if (end == begin || !ids_of(ids, h))
			return false;
		snprintf(h->command, sizeof h->command, "%.*s",
			 (int)(end - begin < COMMAND_ROOM ? end - begin : COMMAND_ROOM - 1), begin);
		event_of(at + n, h);
		return *h->event;
	}
	return false;
}

/* ---- frames ---- */

/* "	 7f12 main+0x1d (/usr/bin/app)"; a line of a source file below it has no address. */
static void take_frame(struct perf_script *p)
{
	char *at = p->lines.text + strspn(p->lines.text, " \t"), *rest, *dso = NULL, *last, *plus;
	struct frame_row row = { .function = "", .file = "" };

	errno = 0;
	row.address = strtoull(at, &rest, 16);
	if (rest == at || !isblank((unsigned char)*rest) || !isxdigit((unsigned char)*at))
		return;
	if (p->nframes == SAMPLED_DEEP_MAX) {
		p->deep++;
		return;
	}
	rest += strspn(rest, " \t");
	last = strrchr(rest, ')');
	for (char *q = strstr(rest, " ("); q; q = strstr(q + 1, " ("))
		dso = q;
	if (last && dso && last > dso) {
		*last = *dso = '\0';
		dso += 2;
	}
	plus = strstr(rest, "+0x");
	if (plus)
		*plus = '\0';
	if (strcmp(rest, "[unknown]") != 0)
		row.function = rest;
	if (plus)
		row.address -= strtoull(plus + 1, NULL, 16); /* functions, not instructions */
	if (strlen(rest) > SAMPLED_TEXT_MAX)
		rest[SAMPLED_TEXT_MAX] = '\0';
	if (dso && strcmp(dso, "[unknown]") != 0 && strcmp(dso, "inlined") != 0)
		row.module = sampled_module(&p->to, dso, "");
	p->frame[p->nframes++] = sampled_frame(&p->to, &row);
}

/* ---- samples ---- */

/* In sixteenths of a power of two. */
static unsigned gap_class(uint64_t ns)
{
	unsigned bits = ns > 15 ? 63u - (unsigned)__builtin_clzll(ns) : 0;

	return bits ? bits * 16 + (unsigned)(ns >> (bits - 4) & 15) : (unsigned)ns;
}

static void count_gap(struct perf_script *p)
{
	const int64_t unit = 1000;
	int64_t now = (p->head.at_ns - p->first_ns) / unit + 1;
	uint32_t before = sampled_ids_get(&p->thread, p->head.tid + 1u);

	if (before && now > before)
		p->gap[gap_class((uint64_t)(now - before) * (uint64_t)unit)]++;
	if (now > 0 && now < UINT32_MAX && (before || p->thread.n < (1 << 20)))
		sampled_ids_put(&p->thread, p->head.tid + 1u, (uint32_t)now);
}

static void count_sample(struct perf_script *p)
{
	if (!p->samples++)
		p->first_ns = p->last_ns = p->head.at_ns;
	p->first_ns = p->head.at_ns < p->first_ns ? p->head.at_ns : p->first_ns;
	p->last_ns = p->head.at_ns > p->last_ns ? p->head.at_ns : p->last_ns;
	count_gap(p);
}

/* The gap that half of them are below. */
static int64_t usual_gap(const struct perf_script *p)
{
	uint64_t all = 0, sum = 0;

	for (unsigned i = 0; i < GAPS; i++)
		all += p->gap[i];
	for (unsigned i = 0; i < GAPS; i++) {
		sum += p->gap[i];
		if (all && sum * 2 >= all)
			return i < 64 ? (int64_t)i + 1
				      : (int64_t)((UINT64_C(16) + i % 16) << (i / 16 - 4));
	}
	return 0;
}

static int64_t unit_of(const struct perf_script *p)
{
	const int64_t longest = INT64_C(1000000000000);
	int64_t gap;

	if (p->is_clock)
		return p->head.period && p->head.period < (uint64_t)longest
			       ? (int64_t)p->head.period
			       : 1;
	if (p->hertz)
		return NS_PER_S / (int64_t)p->hertz;
	gap = usual_gap(p);
	return gap > 0 && gap < longest ? gap : NS_PER_S / 1000;
}

static int end_sample(struct perf_script *p)
{
	struct sampled_one one = { .tid = p->head.tid, .command = p->head.command, .weight = 1 };

	if (!p->open)
		return 0;
	p->open = false;
	if (!p->writes) {
		count_sample(p);
		return 0;
	}
	one.at_ns = p->head.at_ns - p->first_ns;
	one.unit = unit_of(p);
	one.instance = sampled_process(&p->to, p->head.pid, p->head.command, one.at_ns);
	for (uint32_t i = p->nframes; i--;)
		one.stack = p->frame[i] ? sampled_stack(&p->to, one.stack, p->frame[i]) : one.stack;
	return sampled_add(&p->to, &one);
}

static void begin_sample(struct perf_script *p)
{
	p->nframes = 0;
	if (!head_of(p->lines.text, &p->head)) {
		p->bad++;
		return;
	}
	if (!*p->event)
		snprintf(p->event, sizeof p->event, "%s", p->head.event);
	p->open = !strcmp(p->event, p->head.event);
	p->others += !p->open;
}

/* "# event : name = cycles, ..., { sample_period, sample_freq } = 4000, ..." */
static void take_comment(struct perf_script *p)
{
	const char *found = strstr(p->lines.text, "sample_freq } = ");
	uint64_t hertz;

	if (!found || p->hertz)
		return;
	found += strlen("sample_freq } = ");
	if (number_u64(&found, &hertz) && hertz && hertz <= 1000000 && strstr(found, "freq = 1"))
		p->hertz = hertz;
}

static int read_text(struct perf_script *p)
{
	int rc = lines_begin(&p->lines, &p->file, p->e);

	p->others = p->bad = p->deep = 0;
	p->open = false;
	while (!rc && lines_next(&p->lines, &p->file)) {
		const char *text = p->lines.text;

		if (*text == '#') {
			take_comment(p);
		} else if (!*text) {
			rc = end_sample(p);
		} else if (*text == '\t' && p->writes) {
			if (p->open)
				take_frame(p);
		} else if (*text != '\t') {
			rc = end_sample(p);
			begin_sample(p);
		}
	}
	return rc ? rc : end_sample(p);
}

/* ---- */

static void tell(struct perf_script *p)
{
	struct store *s = p->x->store;

	store_note(s,
		   "%.200s does not say when it was: it is taken to end when the file was last "
		   "changed",
		   p->x->path);
	if (!p->is_clock)
		store_note(s, "%.150s: a sample of %.60s is taken as %.3f ms of CPU time, by %s",
			   p->x->path, p->event, (double)unit_of(p) / 1e6,
			   p->hertz ? "the frequency in the file"
				    : "the usual time between samples of a thread");
	if (p->others)
		store_note(
			s,
			"%.200s: samples of other events than %.60s, which are skipped: %" PRIu64,
			p->x->path, p->event, p->others);
	if (p->bad)
		store_leave_out(s, "%.200s: left out, lines that are not perf script's: %" PRIu64,
				p->x->path, p->bad);
	if (p->deep || p->lines.cut)
		store_note(s,
			   "%.200s: frames beyond %d of a stack: %" PRIu64 "; lines cut: %" PRIu64,
			   p->x->path, SAMPLED_DEEP_MAX, p->deep, p->lines.cut);
	if (p->to.beyond)
		store_note(s, "%.200s: without a place of their own, too many: %" PRIu64,
			   p->x->path, p->to.beyond);
	if (p->lines.failed)
		store_leave_out(s, "%s; what comes before is kept", p->file.e.text);
}

static int write_samples(struct perf_script *p)
{
	int64_t length = p->last_ns - p->first_ns;
	int64_t changed = (int64_t)p->file.st.st_mtim.tv_sec * NS_PER_S;
	int rc = sampled_open(&p->to, p->x, "perf-script", changed > length ? changed - length : 0,
			      p->e);

	p->writes = true;
	rc = sampled_close(&p->to, p->x, length, rc ? rc : read_text(p));
	if (!rc) {
		tell(p);
		p->x->wrote(p->x->ctx, p->to.name);
	}
	return rc;
}

static int import_perf_script(const struct import *x, struct err *e)
{
	struct perf_script *p = calloc(1, sizeof *p);
	int rc;

	if (!p)
		return err_set(e, -ENOMEM, "out of memory for %.300s", x->path);
	p->x = x;
	p->e = e;
	rc = packed_open(&p->file, x->path, e);
	if (!rc) {
		rc = read_text(p);
		p->is_clock = strstr(p->event, "clock") != NULL;
		if (!rc && !p->samples)
			rc = err_set(e, -ENODATA,
				     "%.300s holds no sample; give the text that `perf script` "
				     "prints%s%.200s",
				     x->path, p->lines.failed ? ": " : "", p->file.e.text);
		rc = rc ? rc : write_samples(p);
		packed_close(&p->file);
	}
	sampled_ids_free(&p->thread);
	free(p);
	return rc;
}

const struct importer importer_perf_script = {
	.name = "perf-script",
	.operand = "FILE",
	.what = "samples of stacks, as perf script prints them",
	.is_profile = true,
	.run = import_perf_script,
};
