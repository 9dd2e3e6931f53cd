/* SPDX-License-Identifier: Apache-2.0 */
/* nsys.c - what NVIDIA's Nsight Systems exported to SQLite. Its tables differ from version to
 * version and are there only if something is in them, so each is read for what its columns are:
 * with `start`, `end` and `globalTid` it has calls of threads, with `deviceId` and `streamId` work
 * of GPUs. */
#include "import/nsys.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sqlitefile_value value;

static const char *const column_names[NSYS_COLUMNS] = {
	[NSYS_START] = "start",          [NSYS_END] = "end",
	[NSYS_GLOBAL_TID] = "globalTid", [NSYS_GLOBAL_PID] = "globalPid",
	[NSYS_DEVICE] = "deviceId",      [NSYS_STREAM] = "streamId",
	[NSYS_TEXT_OF] = "text",         [NSYS_TEXT_ID] = "textId",
	[NSYS_NAME_ID] = "nameId",       [NSYS_DEMANGLED] = "demangledName",
	[NSYS_SHORT] = "shortName",      [NSYS_NAME] = "name",
	[NSYS_EVENT_TYPE] = "eventType", [NSYS_COPY_KIND] = "copyKind",
	[NSYS_BYTES] = "bytes",          [NSYS_SIZE] = "size",
	[NSYS_GRID_X] = "gridX",         [NSYS_GRID_Y] = "gridY",
	[NSYS_GRID_Z] = "gridZ",         [NSYS_BLOCK_X] = "blockX",
	[NSYS_BLOCK_Y] = "blockY",       [NSYS_BLOCK_Z] = "blockZ",
	[NSYS_REMOTE] = "remoteRank",    [NSYS_RANK] = "rank",
	[NSYS_VALUE] = "value",          [NSYS_UTC_EPOCH] = "utcEpochNs",
};

/* ---- tables ---- */

static int take_table(void *ctx, const struct sqlitefile_table *t)
{
	struct nsys *y = ctx;
	struct nsys_table *mine = &y->table[y->ntables];

	if (y->ntables == NSYS_TABLES_MOST) {
		y->tables_left++;
		return 0;
	}
	mine->t = *t;
	for (int c = 0; c < NSYS_COLUMNS; c++) {
		mine->at[c] = -1;
		for (uint32_t i = 0; i < t->ncolumns; i++)
			if (!strcmp(t->column[i], column_names[c]))
				mine->at[c] = (int)i;
	}
	mine->of_gpu =
		mine->at[NSYS_START] >= 0 && mine->at[NSYS_END] >= 0 && mine->at[NSYS_STREAM] >= 0;
	mine->of_thread = !mine->of_gpu && mine->at[NSYS_START] >= 0 && mine->at[NSYS_END] >= 0 &&
			  mine->at[NSYS_GLOBAL_TID] >= 0;
	y->ntables++;
	return 0;
}

static int take_clock(void *ctx, const value *v, uint32_t n)
{
	struct nsys *y = ctx;
	const value *utc = nsys_column(y, v, NSYS_UTC_EPOCH);

	(void)n;
	if (!utc || utc->type != SQLITEFILE_INTEGER || utc->integer <= 0 || y->times.stated)
		return 0;
	y->times.stated = true;
	y->times.zero_utc = utc->integer;
	y->times.statement = "TARGET_INFO_SESSION_START_TIME (to 1 ns)";
	return 0;
}

/* name, value */
static int take_system(void *ctx, const value *v, uint32_t n)
{
	struct nsys *y = ctx;
	const value *name = nsys_column(y, v, NSYS_NAME), *text = nsys_column(y, v, NSYS_VALUE);

	(void)n;
	if (name && text && name->type == SQLITEFILE_TEXT && text->type == SQLITEFILE_TEXT &&
	    name->n == 8 && !memcmp(name->text, "Hostname", 8))
		snprintf(y->host, sizeof y->host, "%.*s",
			 (int)(text->n < sizeof y->host ? text->n : sizeof y->host - 1),
			 text->text);
	return 0;
}

static int read_table(struct nsys *y, const struct nsys_table *t, sqlitefile_take take)
{
	y->now = t;
	return sqlitefile_rows(&y->db, &t->t, take, y, y->e);
}

/* Whose names, and which clock. */
static int read_about(struct nsys *y)
{
	static const struct {
		const char *table;
		sqlitefile_take take;
	} rows[] = {
		{ "TARGET_INFO_SESSION_START_TIME", take_clock },
		{ "TARGET_INFO_SYSTEM_ENV", take_system },
		{ "PROCESSES", nsys_take_person },
		{ "ThreadNames", nsys_take_person },
		{ "MPI_RANKS", nsys_take_person },
	};
	int rc = 0;

	for (uint32_t i = 0; i < y->ntables && !rc; i++) {
		const struct nsys_table *t = &y->table[i];

		if (!strcmp(t->t.name, "StringIds") && t->t.rowid >= 0)
			y->strings = t;
	}
	for (uint32_t i = 0; i < y->ntables && !rc; i++)
		for (size_t k = 0; k < sizeof rows / sizeof rows[0] && !rc; k++)
			if (!strcmp(y->table[i].t.name, rows[k].table))
				rc = read_table(y, &y->table[i], rows[k].take);
	return rc;
}

static int read_events(struct nsys *y)
{
	int rc = 0;

	y->spans = y->bad_time = y->backwards = y->open = y->nameless = y->others = 0;
	for (uint32_t i = 0; i < y->ntables && !rc; i++)
		if (y->table[i].of_gpu || y->table[i].of_thread)
			rc = read_table(y, &y->table[i], nsys_take_event);
	return rc;
}

/* ---- */

static void tell(struct nsys *y)
{
	const struct {
		uint64_t n;
		const char *what;
		bool left_out;
	} rows[] = {
		{ y->bad_time, "events without a valid time", true },
		{ y->backwards, TIMELINE_BACKWARDS, true },
		{ y->line.marks_left, TIMELINE_MARKS_LEFT, true },
		{ y->tables_left, "tables beyond the first 128", true },
		{ y->open, "spans without an end", false },
		{ y->nameless, "spans without a name, which are called as their table", false },
		{ y->others, "spans of other ranks, which are skipped", false },
		{ y->lanes.crossing, TIMELINE_CROSSING, false },
		{ y->line.details_left, "spans whose details are not kept", false },
		{ y->line.tracks_left, TIMELINE_TRACKS_LEFT, false },
	};
	struct store *s = y->x->store;

	if (y->db.has_log)
		store_note(s, "%.200s: what may be in a log beside it (-wal) was not read",
			   y->x->path);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (rows[i].n && rows[i].left_out)
			store_leave_out(s, "%.200s: left out, %s: %" PRIu64, y->x->path,
					rows[i].what, rows[i].n);
		else if (rows[i].n)
			store_note(s, "%.200s: %s: %" PRIu64, y->x->path, rows[i].what, rows[i].n);
}

static int write_line(struct nsys *y)
{
	struct import x = *y->x;
	int rc;

	if (!x.place.host && *y->host)
		x.place.host = y->host;
	rc = timeline_begin(&y->line, &y->times, &x, "nsys", NULL, y->e);
	if (rc)
		return rc;
	y->writes = true;
	rc = timeline_close(&y->line, read_events(y));
	if (!rc) {
		tell(y);
		x.wrote(x.ctx, y->line.name);
	}
	return rc;
}

static int find_times(struct nsys *y)
{
	int rc;

	y->times.changed_utc =
		(int64_t)y->file.st.st_mtim.tv_sec * NS_PER_S + y->file.st.st_mtim.tv_nsec;
	rc = sqlitefile_tables(&y->db, take_table, y, y->e);
	rc = rc ? rc : read_about(y);
	rc = rc ? rc : read_events(y);
	if (rc || y->spans)
		return rc;
	return err_set(y->e, -ENODATA, "it has no table of Nsight Systems with events%s",
		       y->others ? " of that rank" : "");
}

/* A sentence of the database itself does not name the file. */
static int of_file(struct nsys *y, int rc, const char *hint)
{
	const struct err why = *y->e;

	return rc ? err_set(y->e, rc, "%.200s: %.200s%s", y->x->path, why.text, hint) : 0;
}

static int read_database(struct nsys *y)
{
	int copy, fd = packed_seekable(&y->file, y->x->dirfd, &copy, y->e), rc = fd;

	if (fd >= 0)
		rc = of_file(y, sqlitefile_open(&y->db, fd, y->e),
			     "; make one with nsys export --type sqlite REPORT");
	if (!rc) {
		rc = of_file(y, find_times(y), "");
		rc = rc ? rc : write_line(y);
		sqlitefile_close(&y->db);
	}
	if (copy >= 0)
		close(copy);
	return rc;
}

static int read_file(struct nsys *y)
{
	int rc = packed_open(&y->file, y->x->path, y->e);

	if (rc)
		return rc;
	y->table = calloc(NSYS_TABLES_MOST, sizeof *y->table);
	y->person = calloc(NSYS_PEOPLE_MOST, sizeof *y->person);
	if (y->table && y->person)
		rc = read_database(y);
	else
		rc = err_set(y->e, -ENOMEM, "out of memory for %.300s", y->x->path);
	lanes_free(&y->lanes);
	free(y->table);
	free(y->person);
	packed_close(&y->file);
	return rc;
}

static int import_nsys(const struct import *x, struct err *e)
{
	struct nsys *y = calloc(1, sizeof *y);
	int rc;

	if (!y)
		return err_set(e, -ENOMEM, "out of memory for %.300s", x->path);
	y->x = x;
	y->e = e;
	rc = read_file(y);
	free(y);
	return rc;
}

const struct importer importer_nsys = {
	.name = "nsys",
	.operand = "FILE",
	.what = "the SQLite export of NVIDIA's Nsight Systems",
	.is_timeline = true,
	.run = import_nsys,
};
