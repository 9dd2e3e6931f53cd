/* SPDX-License-Identifier: Apache-2.0 */
/* darshan.c - the text of darshan-parser and darshan-dxt-parser: each read and write that DXT
 * traced becomes a span of its rank; of a file that was only counted, when it was first and last
 * opened, read, written and closed. */
#include "base/clock.h"
#include "base/text/decimal.h"
#include "base/text/number.h"
#include "import/importer.h"
#include "import/lanes.h"
#include "recording/format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_NAME = 900, FIELDS_MOST = 12 };

/* What one record of a file says of one operation. */
enum { OPEN, READ, WRITE, CLOSE, OPERATIONS };
static const char *const operation_names[OPERATIONS] = { "open", "read", "write", "close" };

struct operation {
	double begin_s, end_s, seconds;
	int64_t calls, bytes;
	bool has_calls, has_bytes;
};

struct darshan {
	const struct import *x;
	struct err *e;
	struct packed file;
	struct timeline line;
	struct timeline_times times;
	struct lanes lanes;
	char statement[64];
	bool writes; /* the second reading */
	uint64_t spans, bad, backwards, others;

	/* The hosts that DXT names. */
	char host[256];
	bool several_hosts;

	/* The part of DXT that follows. */
	char path[FILE_NAME + 1], path_host[256];
	/* The record of darshan-parser that is being read. */
	struct {
		char module[32], rank[24], id[24], path[FILE_NAME + 1];
		struct operation of[OPERATIONS];
	} record;

	struct lines lines;
};

static unsigned split(char *text, const char *between, char *field[FIELDS_MOST])
{
	unsigned n = 0;
	char *rest = text, *one;

	while (n < FIELDS_MOST && (one = strsep(&rest, between)))
		if (*one)
			field[n++] = one;
	return n;
}

static bool seconds(const char *text, double *s)
{
	*s = decimal_of(text);
	return *s >= 0 && *s < (double)MONO_MAX / (double)NS_PER_S / 2;
}

static int64_t ns_of(double s)
{
	return llround(s * (double)NS_PER_S);
}

/* ---- spans ---- */

/* Of all ranks: "-1". */
static uint32_t track_of(struct darshan *d, const char *module, const char *rank, int64_t begin_ns,
			 int64_t end_ns)
{
	bool all = *rank == '-', same = d->line.rank && !strcmp(rank, d->line.rank);
	char name[120];
	const struct lane_owner o = { .name = name, .rank = all ? NULL : rank };

	if (all)
		snprintf(name, sizeof name, "all ranks, %s", module);
	else if (same)
		snprintf(name, sizeof name, "%s", module);
	else
		snprintf(name, sizeof name, "rank %s, %s", rank, module);
	return lanes_track(&d->lanes, &d->line, &o, begin_ns, end_ns);
}

struct darshan_span {
	const char *module, *rank, *name, *detail;
	double begin_s, end_s;
};

static int put_span(struct darshan *d, const struct darshan_span *s)
{
	int64_t begin_ns = ns_of(s->begin_s), end_ns = ns_of(s->end_s);
	struct timeline_times *t = &d->times;

	if (end_ns < begin_ns) {
		d->backwards++;
		return 0;
	}
	if (d->x->place.rank && strcmp(s->rank, d->x->place.rank) != 0) {
		d->others++;
		return 0;
	}
	d->spans++;
	if (d->writes) {
		begin_ns -= t->first_ns;
		end_ns -= t->first_ns;
		return timeline_span(&d->line, track_of(d, s->module, s->rank, begin_ns, end_ns),
				     begin_ns, end_ns, s->name, s->detail);
	}
	if (d->spans == 1 || begin_ns < t->first_ns)
		t->first_ns = begin_ns;
	if (d->spans == 1 || end_ns > t->last_ns)
		t->last_ns = end_ns;
	if (d->x->place.align && !t->align_found && !strcmp(s->name, d->x->place.align)) {
		t->align_found = true;
		t->align_ns = begin_ns;
	}
	return 0;
}

/* ---- records of darshan-parser ---- */

static void tell_operation(int which, const struct operation *o, char *out, size_t size)
{
	size_t n = 0;

	*out = '\0';
	if (o->has_calls)
		n += (size_t)snprintf(out, size, "calls=%" PRId64 " ", o->calls);
	if (o->has_bytes)
		n += (size_t)snprintf(out + n, size - n, "bytes=%" PRId64 " ", o->bytes);
	if (which == READ || which == WRITE) /* of others, all metadata's time is one sum */
		n += (size_t)decimal_print(out + n, size - n, "seconds=%.6f ", o->seconds);
	if (n)
		out[n - 1] = '\0';
}

static int put_record(struct darshan *d)
{
	char name[FILE_NAME + 64], detail[160];
	int rc = 0;

	for (int i = 0; i < OPERATIONS && !rc; i++) {
		const struct operation *o = &d->record.of[i];
		const struct darshan_span s = { .module = d->record.module,
						.rank = d->record.rank,
						.name = name,
						.detail = detail,
						.begin_s = o->begin_s,
						.end_s = o->end_s };

		if (o->begin_s <= 0 && o->end_s <= 0) /* there was none */
			continue;
		snprintf(name, sizeof name, "first to last %s %s", operation_names[i],
			 d->record.path);
		tell_operation(i, o, detail, sizeof detail);
		rc = put_span(d, &s);
	}
	memset(&d->record, 0, sizeof d->record);
	return rc;
}

/* Behind the module's name: MPIIO_INDEP_READS is INDEP_READS. */
static const char *without_module(const char *counter)
{
	static const char *const modules[] = {
		"POSIX_", "MPIIO_", "STDIO_",        "H5F_",
		"H5D_",   "DFS_",   "PNETCDF_FILE_", "PNETCDF_VAR_"
	};

	for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
		if (!strncmp(counter, modules[i], strlen(modules[i])))
			return counter + strlen(modules[i]);
	return "";
}

/* Calls of all ways: READS, or INDEP_READS, COLL_READS and so on. */
static bool counts_calls(const char *name, const char *what)
{
	static const char *const ways[] = { "", "INDEP_", "COLL_", "SPLIT_", "NB_" };

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if (!strncmp(name, ways[i], strlen(ways[i])) &&
		    !strcmp(name + strlen(ways[i]), what))
			return true;
	return false;
}

static bool is_time(const char *name, const char *of, const char *which)
{
	size_t n = strlen(of);

	return !strncmp(name, "F_", 2) && !strncmp(name + 2, of, n) && !strcmp(name + 2 + n, which);
}

/* A count that is not known is negative. */
static void add(int64_t *sum, bool *has, const char *value)
{
	int64_t v;

	if (number_i64(&value, &v) && v >= 0) {
		number_add(sum, v);
		*has = true;
	}
}

static void take_counter(struct darshan *d, const char *counter, const char *value)
{
	static const struct {
		const char *in_times, *calls, *bytes;
	} names[OPERATIONS] = { { "OPEN", "OPENS", "" },
				{ "READ", "READS", "BYTES_READ" },
				{ "WRITE", "WRITES", "BYTES_WRITTEN" },
				{ "CLOSE", "CLOSES", "" } };
	const char *name = without_module(counter);
	double v;

	for (int i = 0; i < OPERATIONS; i++) {
		struct operation *o = &d->record.of[i];

		if (is_time(name, names[i].in_times, "_START_TIMESTAMP"))
			o->begin_s = seconds(value, &v) ? v : 0;
		else if (is_time(name, names[i].in_times, "_END_TIMESTAMP"))
			o->end_s = seconds(value, &v) ? v : 0;
		else if (is_time(name, names[i].in_times, "_TIME"))
			o->seconds = seconds(value, &v) ? v : 0;
		else if (counts_calls(name, names[i].calls))
			add(&o->calls, &o->has_calls, value);
		else if (*name && !strcmp(name, names[i].bytes))
			add(&o->bytes, &o->has_bytes, value);
	}
}

/* MODULE RANK RECORD COUNTER VALUE FILE MOUNT TYPE, with tabs between. */
static int take_counters(struct darshan *d)
{
	char *field[FIELDS_MOST];
	unsigned n = split(d->lines.text, "\t", field);
	int rc = 0;

	if (n < 6 || isnan(decimal_of(field[1]))) {
		d->bad++;
		return 0;
	}
	if (strcmp(d->record.id, field[2]) != 0 || strcmp(d->record.rank, field[1]) != 0 ||
	    strncmp(d->record.module, field[0], sizeof d->record.module - 1) != 0) {
		rc = put_record(d);
		snprintf(d->record.module, sizeof d->record.module, "%s", field[0]);
		snprintf(d->record.rank, sizeof d->record.rank, "%s", field[1]);
		snprintf(d->record.id, sizeof d->record.id, "%s", field[2]);
		snprintf(d->record.path, sizeof d->record.path, "%s", field[5]);
	}
	take_counter(d, field[3], field[4]);
	return rc;
}

/* ---- DXT ---- */

static bool is_of_the_node(const struct darshan *d)
{
	const char *host = d->x->place.into ? d->x->place.host : NULL;
	size_t n = host ? strcspn(host, ".") : 0;

	return !host || !d->several_hosts ||
	       (!strncmp(host, d->path_host, n) && strcspn(d->path_host, ".") == n);
}

/* X_MODULE RANK write|read SEGMENT OFFSET LENGTH START END [OST] */
static int take_segment(struct darshan *d)
{
	char *field[FIELDS_MOST], name[FILE_NAME + 16], detail[120];
	unsigned n = split(d->lines.text, " \t", field);
	struct darshan_span s = { .name = name, .detail = detail };

	if (n < 8 || isnan(decimal_of(field[1])) || !seconds(field[6], &s.begin_s) ||
	    !seconds(field[7], &s.end_s)) {
		d->bad++;
		return 0;
	}
	if (!is_of_the_node(d)) {
		d->others++;
		return 0;
	}
	s.module = field[0] + 2;
	s.rank = field[1];
	snprintf(name, sizeof name, "%.10s%s%s", field[2], *d->path ? " " : "", d->path);
	snprintf(detail, sizeof detail, "offset=%.24s bytes=%.24s", field[4], field[5]);
	return put_span(d, &s);
}

/* ---- what is said before them ---- */

static void take_host(struct darshan *d, const char *text)
{
	snprintf(d->path_host, sizeof d->path_host, "%.*s", (int)strcspn(text, ", "), text);
	if (!*d->host)
		snprintf(d->host, sizeof d->host, "%s", d->path_host);
	d->several_hosts |= strcmp(d->host, d->path_host) != 0;
}

static void take_start(struct darshan *d, const char *text)
{
	double s = decimal_of(text);

	if (d->times.stated || !(s > 0 && s < 9e9))
		return;
	d->times.stated = true;
	d->times.zero_utc = ns_of(s);
	snprintf(d->statement, sizeof d->statement, "start_time (to %s)",
		 strchr(text, '.') ? "1 ms" : "1 s");
	d->times.statement = d->statement;
}

static void take_comment(struct darshan *d)
{
	static const char start[] = "# start_time: ", file[] = "file_name: ", host[] = "hostname: ";
	const char *found;

	if (!strncmp(d->lines.text, start, sizeof start - 1))
		take_start(d, d->lines.text + sizeof start - 1);
	if (strncmp(d->lines.text, "# DXT, ", 7) != 0)
		return;
	found = strstr(d->lines.text, file);
	if (found) {
		snprintf(d->path, sizeof d->path, "%s", found + sizeof file - 1);
		*d->path_host = '\0';
	}
	found = strstr(d->lines.text, host);
	if (found)
		take_host(d, found + sizeof host - 1);
}

static int read_text(struct darshan *d)
{
	int rc = lines_begin(&d->lines, &d->file, d->e);

	d->spans = d->bad = d->backwards = d->others = 0;
	*d->path = *d->path_host = '\0';
	while (!rc && lines_next(&d->lines, &d->file)) {
		const char *first = d->lines.text + strspn(d->lines.text, " \t");

		if (*first == '#')
			take_comment(d);
		else if (first[0] == 'X' && first[1] == '_')
			rc = take_segment(d);
		else if (*first)
			rc = take_counters(d);
	}
	return rc ? rc : put_record(d);
}

/* ---- */

static void tell(struct darshan *d)
{
	struct store *s = d->x->store;
	const struct {
		uint64_t n;
		const char *what;
	} left[] = {
		{ d->bad, "lines that are not Darshan's" },
		{ d->backwards, TIMELINE_BACKWARDS },
	}, noted[] = {
		{ d->others, "spans of other ranks or nodes, which are skipped" },
		{ d->lines.cut, "lines that were cut" },
		{ d->lanes.crossing, TIMELINE_CROSSING },
		{ d->line.details_left, "spans whose offset and size are not kept" },
		{ d->line.tracks_left, TIMELINE_TRACKS_LEFT },
	};

	if (d->lines.failed)
		store_leave_out(s, "%s; what comes before is kept", d->file.e.text);
	for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
		if (left[i].n)
			store_leave_out(s, "%.200s: left out, %s: %" PRIu64, d->x->path,
					left[i].what, left[i].n);
	for (size_t i = 0; i < sizeof noted / sizeof noted[0]; i++)
		if (noted[i].n)
			store_note(s, "%.200s: %s: %" PRIu64, d->x->path, noted[i].what,
				   noted[i].n);
}

static int write_line(struct darshan *d)
{
	int rc = timeline_begin(&d->line, &d->times, d->x, "darshan", NULL, d->e);

	if (rc)
		return rc;
	d->writes = true;
	rc = timeline_close(&d->line, read_text(d));
	if (!rc) {
		tell(d);
		d->x->wrote(d->x->ctx, d->line.name);
	}
	return rc;
}

static int find_times(struct darshan *d)
{
	int rc = read_text(d);

	d->times.changed_utc =
		(int64_t)d->file.st.st_mtim.tv_sec * NS_PER_S + d->file.st.st_mtim.tv_nsec;
	if (rc || d->spans)
		return rc;
	if (d->others)
		return err_set(d->e, -ENODATA,
			       "%.300s has no span of that rank or node; choose another one",
			       d->x->path);
	return err_set(
		d->e, -ENODATA,
		"%.200s holds no time of a file that was opened, read or written; give the "
		"output of darshan-dxt-parser, or of darshan-parser, not the log itself%s%.200s",
		d->x->path, d->lines.failed ? ": " : "", d->file.e.text);
}

static int import_darshan(const struct import *x, struct err *e)
{
	struct darshan *d = calloc(1, sizeof *d);
	int rc;

	if (!d)
		return err_set(e, -ENOMEM, "out of memory for %.300s", x->path);
	d->x = x;
	d->e = e;
	rc = packed_open(&d->file, x->path, e);
	if (!rc) {
		rc = find_times(d);
		rc = rc ? rc : write_line(d);
		lanes_free(&d->lanes);
		packed_close(&d->file);
	}
	free(d);
	return rc;
}

const struct importer importer_darshan = {
	.name = "darshan",
	.operand = "FILE",
	.what = "the text of darshan-parser or darshan-dxt-parser",
	.is_timeline = true,
	.run = import_darshan,
};
