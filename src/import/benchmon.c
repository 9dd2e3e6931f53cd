/* SPDX-License-Identifier: Apache-2.0 */
/*
 * benchmon.c - what SKA's benchmon leaves of each node, benchmon_traces_HOST/: the kernel's files
 * as CSV, sampled side by side, perf's energy counts, and beside these directories the events of a
 * pipeline, annotations.csv.
 *
 * A file has a time and one device in a row (the memory's has no device). All that lies at one time
 * is one row of the recording; a device that is not in it has no value then.
 */
#include "import/benchmon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACES "benchmon_traces_"

enum {
	DEVICES_MAX = 4096,
	PADDING_MAX = 1 << 24 /* absent values put before devices that come later */
};

struct device {
	char *name;
	uint32_t first; /* of its columns, in the spool; 0: none */
};

struct reading {
	const struct import *x;
	const struct benchmon_trace *trace;
	uint32_t node;
	struct err *e;
	struct csvfile csv;
	/* The columns that are known, by their place in a row. */
	const struct benchmon_column *column[CSVFILE_CELLS_MAX];
	uint32_t device_cell, cells;
	uint32_t place[CSVFILE_CELLS_MAX]; /* of a column, among the device's */
	struct device *device;
	uint32_t ndevices, cap, hint;
	uint32_t *spool; /* columns of the spool, device by device */
	double *value;   /* side by side with them: of the time at hand */
	uint32_t nspool, spool_cap;
	struct store_group *group;
	uint32_t nrows, times;
	uint64_t padding, malformed, unknown;
	double at;         /* NAN: no row has begun */
	double from;       /* energy: the begin */
	char *whole_disks; /* ",sda,nvme0n1," */
};

/* ---- series ---- */

/* node.cpu_user_seconds of one core is cpu.user_seconds. */
static const char *metric_of(const struct benchmon_column *row, const char *device, char out[64])
{
	static const char all[] = "node.cpu_";

	if (!device || strncmp(row->metric, all, sizeof all - 1) != 0)
		return row->metric;
	snprintf(out, 64, "cpu.%s", row->metric + sizeof all - 1);
	return out;
}

static int add_series(struct reading *r, const struct benchmon_column *row, const char *device,
		      bool aside, uint32_t spool)
{
	struct store *store = r->x->store;
	struct store_series *s;
	char name[64];

	if (!r->group || r->group->nseries == STORE_GROUP_SERIES_MAX) {
		r->group = store_group(store, r->node);
		if (!r->group)
			return -ENOMEM;
		r->group->times = r->times;
	}
	s = store_series(store, r->group);
	if (!s || !r->x->find(metric_of(row, device, name), &s->metric))
		return -ENOMEM;
	s->metric.name = store_text(store, metric_of(row, device, name));
	s->metric.formula = NULL;
	s->metric.storage = STORE_REAL;
	s->metric.mul = s->metric.div = 0;
	s->instance = device ? store_text(store, device) : NULL;
	s->aside = aside;
	s->factor = row->factor;
	s->rises = r->trace->energy;
	s->values = spool;
	return s->metric.name && (!device || s->instance) ? 0 : -ENOMEM;
}

/* A column of the spool that is absent in the rows so far. */
static uint32_t add_spool(struct reading *r)
{
	struct spool *spool = &r->x->store->spool;
	uint32_t id, cap = r->spool_cap ? r->spool_cap * 2 : 256;

	if (r->nspool == r->spool_cap) {
		uint32_t *ids = reallocarray(r->spool, cap, sizeof *ids);
		double *values = ids ? reallocarray(r->value, cap, sizeof *values) : NULL;

		r->spool = ids ? ids : r->spool;
		if (!values)
			return 0;
		r->value = values;
		r->spool_cap = cap;
	}
	id = spool_column(spool);
	for (uint32_t i = 0; id && i < r->nrows; i++)
		if (spool_put(spool, id, NAN))
			return 0;
	r->padding += r->nrows;
	r->spool[r->nspool] = id;
	r->value[r->nspool++] = NAN;
	return id;
}

static int add_columns(struct reading *r, struct device *d, bool aside)
{
	const char *name = r->trace->device || r->trace->energy ? d->name : NULL;
	uint32_t spool;
	int rc = 0;

	d->first = r->nspool;
	for (const struct benchmon_column *row = r->trace->columns; row->column && !rc; row++) {
		bool known = r->trace->named_values || r->trace->energy;

		for (uint32_t i = 0; i < r->cells && !known; i++)
			known = r->column[i] == row;
		if (!known)
			continue;
		spool = add_spool(r);
		rc = spool ? add_series(r, row, name && *name ? name : NULL, aside, spool)
			   : -ENOMEM;
	}
	return rc;
}

/* The device of that name, made when it is new. NULL: too many, or no memory. */
static struct device *device_of(struct reading *r, const char *name, bool aside)
{
	struct device *d;

	for (uint32_t i = 0; i < r->ndevices; i++) {
		d = &r->device[(r->hint + i) % r->ndevices];
		if (strcmp(d->name, name) != 0)
			continue;
		r->hint = (uint32_t)(d - r->device) + 1;
		return d;
	}
	if (r->ndevices == DEVICES_MAX || r->padding > PADDING_MAX)
		return NULL;
	if (r->ndevices == r->cap) {
		uint32_t cap = r->cap ? r->cap * 2 : 64;

		d = reallocarray(r->device, cap, sizeof *d);
		if (!d)
			return NULL;
		r->device = d;
		r->cap = cap;
	}
	d = &r->device[r->ndevices];
	*d = (struct device){ .name = pool_text(&r->x->store->pool, name, strlen(name)) };
	if (!d->name || add_columns(r, d, aside))
		return NULL;
	r->ndevices++;
	return d;
}

/* ---- rows ---- */

/* What was read at one time goes into the spool. */
static int end_row(struct reading *r)
{
	struct spool *spool = &r->x->store->spool;
	int rc = 0;

	if (isnan(r->at))
		return 0;
	rc = spool_put(spool, r->times, r->at);
	for (uint32_t i = 0; i < r->nspool && !rc; i++) {
		rc = spool_put(spool, r->spool[i], r->value[i]);
		r->value[i] = NAN;
	}
	r->nrows++;
	r->at = NAN;
	return rc;
}

static int begin_row(struct reading *r, double at)
{
	int rc = r->at != at ? end_row(r) : 0;

	r->at = at;
	return rc;
}

static void take_cells(struct reading *r, const struct device *d, char **cell, uint32_t n)
{
	double v;

	for (uint32_t i = 0; i < n && i < r->cells; i++)
		if (r->column[i] && csvfile_number(cell[i], &v))
			r->value[d->first + r->place[i]] = v;
		else if (r->column[i])
			r->malformed++;
}

static void take_named(struct reading *r, const struct device *d, char **cell)
{
	double v;

	for (uint32_t i = 0; r->trace->columns[i].column; i++)
		if (!strcmp(cell[2], r->trace->columns[i].column)) {
			if (csvfile_number(cell[3], &v))
				r->value[d->first + i] = v;
			else
				r->malformed++;
			return;
		}
	r->unknown++;
}

/* Whom a row is of; NULL: of nobody, or of too many. */
static struct device *begin_device(struct reading *r, double at, char *name, int *rc)
{
	bool aside = false;
	struct device *d;

	*rc = 0;
	if (r->trace->device && !r->trace->name(r->whole_disks, name, &aside))
		return NULL;
	*rc = begin_row(r, at);
	d = *rc ? NULL : device_of(r, r->trace->device ? name : "", aside);
	return d;
}

static int take_row(struct reading *r, char **cell, uint32_t n)
{
	char *name = r->device_cell < n ? cell[r->device_cell] : cell[0];
	struct device *d = NULL;
	double at;
	int rc = 0;

	if (n >= (r->trace->named_values ? 4U : 2U) && (!r->trace->device || r->device_cell < n) &&
	    csvfile_number(cell[0], &at))
		d = begin_device(r, at, name, &rc);
	if (!d)
		r->malformed++;
	else if (r->trace->named_values)
		take_named(r, d, cell);
	else
		take_cells(r, d, cell, n);
	return rc;
}

int benchmon_row(struct reading *r, double at, char *device, const double *v)
{
	int rc;
	struct device *d = begin_device(r, at, device, &rc);

	r->malformed += !d;
	for (uint32_t i = 0; d && i < r->cells; i++)
		if (r->column[i])
			r->value[d->first + r->place[i]] = v[i];
	return rc;
}

bool benchmon_whole_disks(struct reading *r, const char *names)
{
	if (*names)
		r->whole_disks = pool_text(&r->x->store->pool, names, strlen(names));
	return !*names || r->whole_disks;
}

/* "timestamp,cpu_core,user,...": which of them are known. */
bool benchmon_headings(struct reading *r, char **cell, uint32_t n)
{
	uint32_t next = 0;
	bool device = !r->trace->device;

	r->cells = n;
	for (uint32_t i = 1; i < n; i++) {
		char *bracket = strchr(cell[i], '[');

		if (bracket)
			*bracket = '\0';
		if (r->trace->device && !strcmp(cell[i], r->trace->device)) {
			r->device_cell = i;
			device = true;
		}
		for (const struct benchmon_column *row = r->trace->columns; row->column; row++)
			if (!strcmp(cell[i], row->column))
				r->column[i] = row;
	}
	/* A device's columns lie in the order of the table. */
	for (const struct benchmon_column *row = r->trace->columns; row->column; row++)
		for (uint32_t i = 1; i < n; i++)
			if (r->column[i] == row)
				r->place[i] = next++;
	return device && !strcmp(cell[0], "timestamp") && (next || r->trace->named_values);
}

/* "1.0002,CPU0,12.5,Joules,power/energy-pkg/,..." since the begin. The cores and the GPU are a part
 * of the package, and all is a part of the system. */
static int take_energy(struct reading *r, char **cell, uint32_t n)
{
	static const char power[] = "power/energy-";
	char name[96], *part = n > 4 ? cell[4] : NULL;
	struct device *d;
	double at, v;
	int rc;

	if (!part || strncmp(part, power, sizeof power - 1) != 0 || !csvfile_number(cell[0], &at)) {
		r->malformed += n > 1;
		return 0;
	}
	part += sizeof power - 1;
	part[strcspn(part, "/")] = '\0';
	snprintf(name, sizeof name, "%.40s/%.40s", cell[1], strcmp(part, "ram") ? part : "dram");
	rc = begin_row(r, r->from + at);
	d = rc ? NULL : device_of(r, name, strcmp(part, "pkg") != 0 && strcmp(part, "ram") != 0);
	if (d && csvfile_number(cell[2], &v)) /* "<not counted>" */
		r->value[d->first] = v;
	return rc;
}

/* The first line is "# 1717171717.25": the counts begin there, at 0. */
static bool begin_energy(struct reading *r)
{
	if (csvfile_next(&r->csv) <= 0 || r->csv.line[0] != '#' ||
	    !csvfile_number(r->csv.line + 1, &r->from))
		return false;
	r->at = r->from;
	return true;
}

/* How many disks there are, how many block devices, and the disks with their sectors. */
static bool take_disks(struct reading *r, char **cell, uint32_t n)
{
	char names[CSVFILE_LINE_SIZE + 2] = ",";
	size_t used = 1;

	if (n && !strcmp(cell[0], "timestamp"))
		return false;
	for (uint32_t i = 0; n > 1 && i < n; i += 2)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s,", cell[i]);
	if (n > 1)
		r->whole_disks = pool_text(&r->x->store->pool, names, used);
	return true;
}

static bool begin_file(struct reading *r)
{
	char *cell[CSVFILE_CELLS_MAX];

	if (r->trace->energy)
		return begin_energy(r);
	while (csvfile_next(&r->csv) > 0) {
		uint32_t n = csvfile_split(&r->csv, cell);

		if (!r->trace->disks || !take_disks(r, cell, n))
			return benchmon_headings(r, cell, n);
	}
	return false;
}

static int take_lines(struct reading *r)
{
	char *cell[CSVFILE_CELLS_MAX];
	int rc = 0, got;

	while (!rc && (got = csvfile_next(&r->csv)) != 0) {
		if (got < 0) {
			r->malformed++;
			continue;
		}
		if (!r->csv.line[0] || r->csv.line[0] == '#')
			continue;
		rc = r->trace->energy ? take_energy(r, cell, csvfile_split(&r->csv, cell))
				      : take_row(r, cell, csvfile_split(&r->csv, cell));
	}
	return rc ? rc : end_row(r);
}

static void note_file(const struct reading *r, const char *path)
{
	if (r->malformed)
		store_leave_out(r->x->store,
				"%.300s: rows or values that are malformed or too many: %llu", path,
				(unsigned long long)r->malformed);
	if (r->unknown)
		store_note(r->x->store, "%.300s: rows of what Sonde has no name for: %llu", path,
			   (unsigned long long)r->unknown);
}

/* *f stays NULL when there is no such file, or nothing to be read. */
static int open_file(struct reading *r, const char *path, FILE **f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		store_leave_out(r->x->store, "%.300s is not a file", path);
		return 0;
	}
	*f = fd < 0 ? NULL : fdopen(fd, "r");
	return *f ? 0 : err_set(r->e, -errno, "cannot read %.300s: %s", path, strerror(errno));
}

static int take_csv(struct reading *r, const char *path)
{
	if (begin_file(r))
		return r->times ? take_lines(r) : -ENOMEM;
	store_leave_out(r->x->store, "%.300s does not begin as benchmon's %s does", path,
			r->trace->file);
	return 0;
}

static int take_binary(struct reading *r, const char *path)
{
	int rc = r->times ? benchmon_binary(r, r->trace->binary, r->csv.file, &r->malformed)
			  : -ENOMEM;

	if (rc > 0)
		store_leave_out(r->x->store,
				"%.300s is of no layout of benchmon's %s that Sonde can read", path,
				r->trace->binary);
	return rc > 0 ? 0 : rc ? rc : end_row(r);
}

/* Of a file that is there, as CSV or else in its binary form. *any: it had rows. */
static int take_trace(struct reading *r, const char *directory, bool *any)
{
	const char *const names[] = { r->trace->file, r->trace->binary };
	char path[PATH_MAX];
	size_t form = 0;
	int rc = 0;

	for (; form < 2 && names[form] && !rc && !r->csv.file; form += !r->csv.file)
		if (snprintf(path, sizeof path, "%s/%s", directory, names[form]) < PATH_MAX)
			rc = open_file(r, path, &r->csv.file);
	if (!r->csv.file)
		return rc;
	r->at = NAN;
	r->times = spool_column(&r->x->store->spool);
	rc = form ? take_binary(r, path) : take_csv(r, path);
	if (rc)
		err_set(r->e, rc, "cannot keep what was read of %.300s: %s", path, strerror(-rc));
	note_file(r, path);
	*any |= r->nrows > 0;
	fclose(r->csv.file);
	free(r->device);
	free(r->spool);
	free(r->value);
	return rc;
}

/* ---- nodes ---- */

/* Of what benchmon wrote and this does not read. */
static void note_others(const struct import *x, const char *directory)
{
	static const char *const others[] = { "ib_report.bin", "call_report.txt" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (snprintf(path, sizeof path, "%s/%s", directory, others[i]) < PATH_MAX &&
		    !access(path, F_OK))
			store_leave_out(x->store, "%.300s is not read", path);
}

static int take_node(const struct import *x, const char *directory, const char *host, bool *any,
		     struct err *e)
{
	int64_t node = store_node(x->store, *host ? host : "unknown");
	int rc = node < 0 ? err_set(e, -ENOMEM, "out of memory, or too many nodes") : 0;

	for (size_t i = 0; i < benchmon_ntraces && !rc; i++) {
		struct reading *r = calloc(1, sizeof *r);

		if (!r)
			return err_set(e, -ENOMEM, "out of memory");
		*r = (struct reading){
			.x = x, .trace = &benchmon_traces[i], .node = (uint32_t)node, .e = e
		};
		rc = take_trace(r, directory, any);
		free(r);
	}
	if (!rc)
		note_others(x, directory);
	return rc;
}

static const char *host_of(const char *name)
{
	return strncmp(name, TRACES, sizeof TRACES - 1) == 0 ? name + sizeof TRACES - 1 : NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_traces(const struct dirent *d)
{
	return host_of(d->d_name) && d->d_name[sizeof TRACES - 1];
}

static int take_nodes(const struct import *x, bool *any, struct err *e)
{
	struct dirent **entry = NULL;
	char path[PATH_MAX];
	int n = scandir(x->path, &entry, is_traces, by_name), rc = 0;

	if (n < 0)
		return err_set(e, -errno, "cannot read %.300s: %s", x->path, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!rc &&
		    snprintf(path, sizeof path, "%s/%s", x->path, entry[i]->d_name) < PATH_MAX)
			rc = take_node(x, path, host_of(entry[i]->d_name), any, e);
		free(entry[i]);
	}
	free(entry);
	return rc;
}

static int import_benchmon(const struct import *x, struct err *e)
{
	char whole[PATH_MAX], path[PATH_MAX + 32];
	const char *name, *host;
	bool any = false;
	int rc;

	if (!realpath(x->path, whole))
		return err_set(e, -errno, "cannot read %.300s: %s", x->path, strerror(errno));
	name = strrchr(whole, '/') + 1;
	host = host_of(name);
	rc = host ? take_node(x, whole, host, &any, e) : take_nodes(x, &any, e);
	if (!rc && !any)
		rc = err_set(
			e, -ENOENT,
			"%.300s has no benchmon_traces_HOST/*_report.csv or .bin with rows; name the "
			"directory that benchmon-run saved to",
			x->path);
	snprintf(path, sizeof path, "%s%s/annotations.csv", whole, host ? "/.." : "");
	if (!rc)
		benchmon_annotations(x, path);
	return rc;
}

const struct importer importer_benchmon = {
	.name = "benchmon",
	.operand = "DIR",
	.what = "what SKA's benchmon saves of each node",
	.run = import_benchmon,
};
